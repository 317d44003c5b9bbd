//! What can be wrong with a configuration.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// The configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// No such file, no permission, ...
    #[error("failed to read the configuration `{}`", path.display())]
    Read {
        /// File.
        path: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// Not TOML, an unknown key, a value of the wrong kind.
    #[error("`{}`: {}", path.display(), err.to_string().trim_end())]
    Parse {
        /// File.
        path: PathBuf,
        /// Says the line, the key and what was expected. It is no source: it is in the message already.
        err: Box<toml::de::Error>,
    },
    /// Values that make no sense, all of them at once.
    #[error("`{}` cannot be used:{}", path.display(), list(problems))]
    Invalid {
        /// File, or what stands for it (`command line`).
        path: PathBuf,
        /// Each wrong value.
        problems: Vec<Problem>,
    },
}

/// A value that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line of the file; `None` if the value is not in it.
    pub line: Option<usize>,
    /// `section.key`.
    pub key: String,
    /// What would do.
    pub expected: String,
    /// What is there.
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
