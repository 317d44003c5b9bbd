//! One line of `key=value` per message.

use std::fmt::{self, Debug, Write};

use lioprof_model::time::{now_us, utc_micros};
use lioprof_model::with_causes;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// The format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Logfmt;

impl<S, N> FormatEvent<S, N> for Logfmt
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let time = utc_micros(now_us());
        let level = event.metadata().level().as_str().to_ascii_lowercase();
        write!(writer, "time={time} level={level}")?;
        let mut fields = Fields { writer: &mut writer, result: Ok(()) };
        event.record(&mut fields);
        fields.result?;
        writeln!(writer)
    }
}

struct Fields<'a, 'b> {
    writer: &'a mut Writer<'b>,
    result: fmt::Result,
}

impl Fields<'_, '_> {
    fn pair(&mut self, field: &Field, value: &str) {
        let name = if field.name() == "message" { "msg" } else { field.name() };
        if self.result.is_ok() {
            self.result = write!(self.writer, " {name}={}", Quoted(value));
        }
    }
}

impl Visit for Fields<'_, '_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.pair(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.pair(field, &format!("{value:?}"));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.pair(field, &with_causes(value));
    }
}

/// A value, in quotes where it needs them; never more than one line.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '"' | '=' | '\\');
        if !self.0.is_empty() && self.0.chars().all(plain) {
            return f.write_str(self.0);
        }
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                '\n' => f.write_str("\\n")?,
                '\t' => f.write_str("\\t")?,
                c if c.is_control() => write!(f, "\\u{:04x}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}
