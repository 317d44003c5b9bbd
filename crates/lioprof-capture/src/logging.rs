//! The daemon's messages.
//!
//! On a terminal for people, otherwise as logfmt (one line of `key=value` that people can still read in the journal)
//! or JSON. A message that repeats itself is written a few times a minute; the rest is counted, and `report_repeats` says
//! how often each was left out.

mod logfmt;
mod repeats;

use std::io::{self, IsTerminal};
use std::sync::{Arc, OnceLock};

use tracing::Subscriber;
pub use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::Registry;

use logfmt::Logfmt;
use repeats::{RepeatLimit, Repeats};

/// Counts the messages of this process that repeat themselves; set by [`init`].
static REPEATS: OnceLock<Arc<Repeats>> = OnceLock::new();

/// Format of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase", parse_err_fn = unknown, parse_err_ty = LogFormatError)]
pub enum LogFormat {
    /// [`Self::Human`] on a terminal, otherwise [`Self::Logfmt`].
    #[default]
    Auto,
    /// For people.
    Human,
    /// `time=.. level=.. msg=".." key=value`.
    Logfmt,
    /// One JSON object per line.
    Json,
}

/// The text is not the name of a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected one of the log formats auto, human, logfmt, json, found {found:?}")]
pub struct LogFormatError {
    found: String,
}

fn unknown(found: &str) -> LogFormatError {
    LogFormatError { found: found.to_owned() }
}

/// Messages could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("the program writes messages in another way already")]
pub struct LoggingError(#[from] tracing::subscriber::SetGlobalDefaultError);

/// Messages of `level` and above go to standard error from now on, in the whole program.
///
/// # Errors
/// If that was set up before.
pub fn init(format: LogFormat, level: LevelFilter) -> Result<(), LoggingError> {
    let repeats = REPEATS.get_or_init(|| Arc::new(Repeats::new(RepeatLimit::default())));
    let terminal = io::stderr().is_terminal();
    let format = match format {
        LogFormat::Auto if terminal => LogFormat::Human,
        LogFormat::Auto => LogFormat::Logfmt,
        chosen => chosen,
    };
    let subscriber = subscriber(format, level, io::stderr, repeats);
    Ok(tracing::subscriber::set_global_default(subscriber)?)
}

/// Writes how often messages were left out since the last call: to be called once a minute or so, and at the end.
pub(crate) fn report_repeats() {
    if let Some(repeats) = REPEATS.get() {
        repeats.report();
    }
}

fn subscriber<W>(
    format: LogFormat,
    level: LevelFilter,
    writer: W,
    repeats: &Arc<Repeats>,
) -> impl Subscriber + Send + Sync + use<W>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let layer = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(false);
    let layer: Box<dyn Layer<Registry> + Send + Sync> = match format {
        LogFormat::Auto | LogFormat::Human => Box::new(layer.with_target(false)),
        LogFormat::Logfmt => Box::new(layer.event_format(Logfmt)),
        LogFormat::Json => Box::new(layer.json().flatten_event(true)),
    };
    Registry::default().with(layer).with(repeats.layer(level))
}

#[cfg(test)]
mod tests;
