//! What the node's `/proc`, `/sys` and mounts say about it. Every path is below a root directory, normally `/`.

pub(crate) mod boot;
pub(crate) mod cpus;
pub(crate) mod host;
pub(crate) mod memory;
pub(crate) mod modules;
pub(crate) mod mounts;
pub(crate) mod volumes;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// `path` (absolute or not) below `root`.
pub(crate) fn below(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

/// Text of a small file below `root`; bytes that are no UTF-8 are replaced.
pub(crate) fn read_text(root: &Path, path: &str) -> io::Result<String> {
    fs::read(below(root, path)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Makes a small file below `root`.
#[cfg(test)]
pub(crate) fn put(root: &Path, path: &str, text: &str) {
    let path = below(root, path);
    fs::create_dir_all(path.parent().unwrap_or(root)).unwrap_or_else(|err| panic!("{}: {err}", path.display()));
    fs::write(&path, text).unwrap_or_else(|err| panic!("{}: {err}", path.display()));
}
