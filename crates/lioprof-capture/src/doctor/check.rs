//! What a check found.

use serde::{Deserialize, Serialize};

/// Id of the check that no other lioprof daemon runs: a daemon that has its lock already leaves it out.
pub const OTHER_DAEMON: &str = "other_lioprof";

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// As it should be.
    Ok,
    /// It works, but something is worth knowing.
    Warning,
    /// The daemon cannot start.
    Failed,
    /// It cannot be told, or another check has to succeed first.
    Skipped,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Stable name for scripts.
    pub id: String,
    /// What is checked.
    pub title: String,
    /// How it went.
    pub status: Status,
    /// What was found.
    pub found: String,
    /// What to do; empty if nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
}

/// What is checked: id and title.
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
