//! The result of a capture.

use super::error::DaemonError;
use crate::counters::Comparison;
use crate::journal::Report;
use crate::status::Status;

/// The result of a capture.
#[derive(Debug)]
pub struct Ending {
    /// Why the capture ended.
    pub reason: Reason,
    /// The last status.
    pub status: Status,
    /// How restoring the kernel's settings went.
    pub restored: Option<Report>,
    /// Comparison of the trace with the server's own counters; `None` if there is none.
    pub comparison: Option<Comparison>,
    /// Failures, as texts.
    pub failures: Vec<String>,
}

impl Ending {
    /// Whether all settings were restored and everything was written.
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
    /// The requested time is over.
    Over,
    /// Nobody renewed the lease in time.
    NotRenewed,
    /// An error made it impossible to go on.
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
            Self::NotRenewed => f.write_str("nobody renewed the lease"),
            Self::Error(err) => write!(f, "{err}"),
        }
    }
}
