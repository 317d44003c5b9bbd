//! The result of a check.

use serde::{Deserialize, Serialize};

/// Id of the check that no other lioprof daemon runs; a daemon that already holds the lock skips it.
pub const OTHER_DAEMON: &str = "other_lioprof";

/// Outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// No problem was found.
    Ok,
    /// The daemon can start, but the user should know about this.
    Warning,
    /// The daemon cannot start.
    Failed,
    /// The check is not possible, or another check has to succeed first.
    Skipped,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Stable name for scripts.
    pub id: String,
    /// Title: what is checked.
    pub title: String,
    /// Outcome of the check.
    pub status: Status,
    /// What was found.
    pub found: String,
    /// What to do about it; empty if there is nothing to do.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
}

/// Id and title of a check.
#[derive(Clone, Copy)]
pub(super) struct Subject(pub(super) &'static str, pub(super) &'static str);

impl Subject {
    pub(super) fn came_to(self, status: Status, found: impl Into<String>, remedy: impl Into<String>) -> Check {
        Check { id: self.0.to_owned(), title: self.1.to_owned(), status, found: found.into(), remedy: remedy.into() }
    }

    pub(super) fn ok(self, found: impl Into<String>) -> Check {
        self.came_to(Status::Ok, found, "")
    }

    pub(super) fn warning(self, found: impl Into<String>, remedy: impl Into<String>) -> Check {
        self.came_to(Status::Warning, found, remedy)
    }

    pub(super) fn failed(self, found: impl Into<String>, remedy: impl Into<String>) -> Check {
        self.came_to(Status::Failed, found, remedy)
    }

    pub(super) fn skipped(self, found: impl Into<String>, remedy: impl Into<String>) -> Check {
        self.came_to(Status::Skipped, found, remedy)
    }
}
