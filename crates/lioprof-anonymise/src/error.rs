//! Why nothing could be written.

use std::io;
use std::path::PathBuf;

use crate::key::KeyError;

/// Why nothing, or not all, could be written.
#[derive(Debug, thiserror::Error)]
pub enum AnonymiseError {
    /// No key.
    #[error("there is no key")]
    Key(#[from] KeyError),
    /// Something is there already.
    #[error("`{}` is not empty: give a new folder with `-o`, nothing is overwritten", .0.display())]
    NotEmpty(PathBuf),
    /// Rows cannot be written: the whole sentence.
    #[error("{0}")]
    Rows(String),
    /// A file of ours cannot be written.
    #[error("failed to {action} `{}`", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

impl AnonymiseError {
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}
