//! How a capture ends.

use super::error::DaemonError;
use crate::counters::Comparison;
use crate::journal::Report;
use crate::talk::status::Status;

/// How a capture ended.
#[derive(Debug)]
pub struct Ending {
    /// Why.
    pub reason: Reason,
    /// The last state.
    pub status: Status,
    /// What became of the kernel's settings.
    pub restored: Option<Report>,
    /// The trace beside the server's own counters.
    pub comparison: Option<Comparison>,
    /// What could not be done.
    pub failures: Vec<String>,
}

impl Ending {
    /// Whether everything was put back and written.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.failures.is_empty() && self.restored.as_ref().is_none_or(Report::is_complete) && self.reason.is_wanted()
    }
}

/// Why a capture ended.
#[derive(Debug)]
pub enum Reason {
    /// `lioprof stop`.
    Asked,
    /// A signal.
    Signal(&'static str),
    /// The time that was asked for is over.
    Over,
    /// Something made it impossible to go on.
    Error(DaemonError),
}

impl Reason {
    pub(super) fn is_wanted(&self) -> bool {
        !matches!(self, Self::Error(_))
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Asked => f.write_str("asked to stop"),
            Self::Signal(name) => write!(f, "{name}"),
            Self::Over => f.write_str("the time asked for is over"),
            Self::Error(err) => write!(f, "{err}"),
        }
    }
}
