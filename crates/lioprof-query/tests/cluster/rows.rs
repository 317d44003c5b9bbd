//! Datasets with more rows than a capture has.

use std::fs;
use std::path::{Path, PathBuf};

/// Gives each RPC file of a dataset `copies` names: more rows without more bytes.
pub(crate) fn multiply(dataset: &Path, copies: usize) {
    for file in files(&dataset.join("rpcs")) {
        for copy in 1..copies {
            let name = format!("copy-{copy}-{}", file.file_name().unwrap().to_str().unwrap());
            fs::hard_link(&file, file.with_file_name(name)).unwrap();
        }
    }
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}
