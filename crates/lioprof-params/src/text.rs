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

/// `512`, `4K`, `1M`: powers of 1024.
#[must_use]
pub fn size_bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "" => 0,
        "K" | "k" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}
