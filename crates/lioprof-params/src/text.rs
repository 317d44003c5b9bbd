//! Small files below a root directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// `path` (absolute or not) below `root`.
#[must_use]
pub fn below(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

/// Text of a small file below `root`; bytes that are no UTF-8 are replaced.
///
/// # Errors
/// Whatever opening or reading the file gives.
pub fn read_text(root: &Path, path: &str) -> io::Result<String> {
    fs::read(below(root, path)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}
