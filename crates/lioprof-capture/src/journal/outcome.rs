//! What becomes of a setting: the result of restoring it, and what somebody else made of it.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::control::param::Param;

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

/// Something that somebody else changed while lioprof was capturing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// A changed setting, as text.
    Setting(String),
    /// A changed mask.
    Mask {
        /// Its name.
        param: Param,
        /// What was switched on and off.
        change: String,
        /// Of what the trace needs something is off now.
        hurts: bool,
    },
    /// The debug daemon no longer writes lioprof's file, but this one; `None`: it does not run.
    Daemon(Option<PathBuf>),
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(text) => f.write_str(text),
            Self::Mask { param, change, hurts: false } => write!(f, "{param}:{change}"),
            Self::Mask { param, change, hurts: true } => write!(f, "{param}:{change}; the trace misses what it needs"),
            Self::Daemon(Some(path)) => write!(f, "the debug daemon writes `{}`", path.display()),
            Self::Daemon(None) => f.write_str("the debug daemon was stopped"),
        }
    }
}
