//! Changes that somebody else makes.

use std::fmt;
use std::path::PathBuf;

/// Something that somebody else changed while lioprof was capturing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// A changed setting, as text.
    Setting(String),
    /// The debug daemon no longer writes lioprof's file, but this one; `None`: it does not run.
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
