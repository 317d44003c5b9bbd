//! What the rules found.

use serde::Serialize;

/// How a check ended, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// A run will fail, hang, or lose much of its bandwidth.
    Critical,
    /// A run may be slower than it should be.
    Warning,
    /// It could not be told.
    Unknown,
    /// Nothing wrong.
    Ok,
}

/// One thing that a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Detail {
    /// How bad it is.
    pub status: Status,
    /// The server; empty if it is about several.
    pub server: String,
    /// The target; empty if it is about the server.
    pub target: String,
    /// What was found.
    pub found: String,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Result {
    /// Stable name for scripts.
    pub id: &'static str,
    /// What was checked.
    pub title: &'static str,
    /// The worst of the details.
    pub status: Status,
    /// What was found, in one line.
    pub found: String,
    /// What was expected.
    pub expected: &'static str,
    /// What to do if it is otherwise.
    pub remedy: &'static str,
    /// What was found where, the worst first; nothing of what is as it should be.
    pub details: Vec<Detail>,
}

/// All checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// `lioprof.check/1`.
    pub schema: &'static str,
    /// Servers that were checked, sorted.
    pub servers: Vec<String>,
    /// Servers that could not be checked, and why.
    pub failed: Vec<Detail>,
    /// The checks, the worst first.
    pub results: Vec<Result>,
}

impl Report {
    /// The worst status of all checks; servers that could not be checked are unknown.
    #[must_use]
    pub fn worst(&self) -> Status {
        let failed = self.failed.iter().map(|detail| detail.status);
        self.results.iter().map(|result| result.status).chain(failed).min().unwrap_or(Status::Unknown)
    }
}
