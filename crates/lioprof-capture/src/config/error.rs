//! Errors of the configuration.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// The configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// No such file, no permission, ...
    #[error("failed to read the configuration `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// Not TOML, an unknown key, a value of the wrong kind.
    #[error("`{}`: {}", path.display(), err.to_string().trim_end())]
    Parse {
        path: PathBuf,
        /// Names the line, the key and what was expected. Not a `#[source]`: the message contains it already.
        err: Box<toml::de::Error>,
    },
    /// Invalid values, reported all at once.
    #[error("`{}` cannot be used:{}", path.display(), list(problems))]
    Invalid {
        /// File, or `command line`.
        path: PathBuf,
        problems: Vec<Problem>,
    },
}

/// An invalid value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line of the file; `None` if the file does not contain the value.
    pub line: Option<usize>,
    /// `section.key`.
    pub key: String,
    /// Values that would be valid.
    pub expected: String,
    /// Value that was found.
    pub found: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{}: expected {}, found {}", self.key, self.expected, self.found)
    }
}

fn list(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("\n  {problem}")).collect()
}
