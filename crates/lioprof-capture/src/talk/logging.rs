//! The daemon's messages.
//!
//! On a terminal for people, otherwise as logfmt (one line of `key=value` that people can still read in the journal)
//! or JSON. A message that repeats itself is written a few times a minute; the rest is counted, and [`Repeats::report`] says
//! how often each was left out.

mod logfmt;
mod repeats;

use std::io::{self, IsTerminal};
use std::str::FromStr;
use std::sync::Arc;

use tracing::Subscriber;
pub use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::Registry;

use logfmt::Logfmt;
pub use repeats::{RepeatLimit, Repeats};

/// Format of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

impl FromStr for LogFormat {
    type Err = LogFormatError;

    fn from_str(text: &str) -> Result<Self, LogFormatError> {
        match text {
            "auto" => Ok(Self::Auto),
            "human" => Ok(Self::Human),
            "logfmt" => Ok(Self::Logfmt),
            "json" => Ok(Self::Json),
            _ => Err(LogFormatError { found: text.to_owned() }),
        }
    }
}

/// Messages could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("the program writes messages in another way already")]
pub struct LoggingError(#[from] tracing::subscriber::SetGlobalDefaultError);

/// Messages of `level` and above go to standard error from now on, in the whole program.
///
/// # Errors
/// If that was set up before.
pub fn init(format: LogFormat, level: LevelFilter) -> Result<Arc<Repeats>, LoggingError> {
    let repeats = Arc::new(Repeats::new(RepeatLimit::default()));
    let terminal = io::stderr().is_terminal();
    let format = match format {
        LogFormat::Auto if terminal => LogFormat::Human,
        LogFormat::Auto => LogFormat::Logfmt,
        chosen => chosen,
    };
    // https://no-color.org: any value that is not empty.
    let colors = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let subscriber = subscriber(format, level, colors, io::stderr, &repeats);
    tracing::subscriber::set_global_default(subscriber)?;
    Ok(repeats)
}

fn subscriber<W>(
    format: LogFormat,
    level: LevelFilter,
    colors: bool,
    writer: W,
    repeats: &Arc<Repeats>,
) -> impl Subscriber + Send + Sync + use<W>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let layer = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(colors);
    let layer: Box<dyn Layer<Registry> + Send + Sync> = match format {
        LogFormat::Auto | LogFormat::Human => Box::new(layer.with_target(false)),
        LogFormat::Logfmt => Box::new(layer.with_ansi(false).event_format(Logfmt)),
        LogFormat::Json => Box::new(layer.json().flatten_event(true).with_ansi(false)),
    };
    Registry::default().with(layer).with(repeats.layer(level))
}

#[cfg(test)]
mod tests;
