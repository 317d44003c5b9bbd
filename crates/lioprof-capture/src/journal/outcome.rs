//! How restoring a setting went.

use serde::{Deserialize, Serialize};

/// What became of one setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// lioprof's change was undone.
    Restored {
        /// What was done.
        done: String,
    },
    /// It has somebody else's value now, which stays.
    Left {
        /// What was found.
        why: String,
    },
    /// It still has lioprof's value; try again.
    Failed {
        /// The error, with its causes.
        error: String,
    },
}
