//! The result of restoring a setting.

use serde::{Deserialize, Serialize};

/// The result of restoring one setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// lioprof's change was undone.
    Restored {
        /// Description of what was done.
        done: String,
    },
    /// Somebody else has set it meanwhile; their value stays.
    Left {
        /// Description of their value.
        why: String,
    },
    /// It still has lioprof's value; restoring can be tried again.
    Failed {
        /// The error, with its causes.
        error: String,
    },
}
