//! What the node's `/proc`, `/sys` and mounts say about it. Every path is below a root directory, normally `/`.

pub(crate) mod machine;
pub(crate) mod modules;
pub(crate) mod mounts;
pub(crate) mod volumes;

#[cfg(test)]
use std::fs;
#[cfg(test)]
use std::path::Path;

pub(crate) use lioprof_params::{below, host, read_text};

/// Makes a small file below `root`.
#[cfg(test)]
pub(crate) fn put(root: &Path, path: &str, text: &str) {
    let path = below(root, path);
    fs::create_dir_all(path.parent().unwrap_or(root)).unwrap_or_else(|err| panic!("{}: {err}", path.display()));
    fs::write(&path, text).unwrap_or_else(|err| panic!("{}: {err}", path.display()));
}
