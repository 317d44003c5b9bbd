//! An input that was found.

use std::path::PathBuf;

/// An input to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Path as given, or below the given directory; `-` is standard input.
    pub path: PathBuf,
    /// Node it belongs to.
    pub node: String,
    /// Read standard input instead of a file.
    pub is_stdin: bool,
}
