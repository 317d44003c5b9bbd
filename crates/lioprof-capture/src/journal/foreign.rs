//! What somebody else changes.

use std::fmt;
use std::path::PathBuf;

/// Something that somebody else changed while lioprof was capturing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// A setting, in words.
    Setting(String),
    /// The debug daemon does not write lioprof's file any more, but this one, if it runs.
    Daemon(Option<PathBuf>),
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(text) => f.write_str(text),
            Self::Daemon(Some(path)) => write!(f, "the debug daemon writes `{}`", path.display()),
            Self::Daemon(None) => f.write_str("the debug daemon was stopped"),
        }
    }
}
