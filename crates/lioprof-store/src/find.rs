//! Finds manifests.

use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::files;
use crate::layout::{self, MANIFESTS};

/// Folders below a dataset's: `manifests/fs=../node=../date=..`.
const PARTITION_DEPTH: usize = 3;
/// Folders between what the user named and a dataset.
const MAX_DEPTH: usize = 16;

/// The manifests at `path` and below, each with the folder of its dataset; sorted by path.
pub(crate) fn manifests(path: &Path) -> Result<Vec<(PathBuf, PathBuf)>, StoreError> {
    let mut found = Vec::new();
    for dir in datasets(path)? {
        let manifests = files_below(&dir.join(MANIFESTS), "json")?;
        found.extend(manifests.into_iter().map(|manifest| (dir.clone(), manifest)));
    }
    Ok(found)
}

/// The folders of the datasets at `path` and below; sorted.
pub(crate) fn datasets(path: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut found = Vec::new();
    walk(path, MAX_DEPTH, &mut found)?;
    found.sort();
    Ok(found)
}

fn walk(path: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), StoreError> {
    if layout::is_dataset(path) {
        found.push(path.to_owned());
        return Ok(());
    }
    if depth == 0 {
        return Ok(());
    }
    for entry in entries(path)? {
        if entry.is_dir() {
            walk(&entry, depth - 1, found)?;
        }
    }
    Ok(())
}

/// The files with an extension in the partitions of a table's or the manifests' folder. None if there is no such folder.
pub(crate) fn files_below(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, StoreError> {
    let mut found = Vec::new();
    if folder.is_dir() {
        files(folder, PARTITION_DEPTH, extension, &mut found)?;
    }
    Ok(found)
}

/// Files with an extension, so many folders down. Names that begin with a dot are not complete.
fn files(path: &Path, depth: usize, extension: &str, found: &mut Vec<PathBuf>) -> Result<(), StoreError> {
    for entry in entries(path)? {
        let hidden = entry.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if depth > 0 {
            if entry.is_dir() {
                files(&entry, depth - 1, extension, found)?;
            }
        } else if !hidden && entry.extension().is_some_and(|it| it == extension) {
            found.push(entry);
        }
    }
    Ok(())
}

/// The `date=` folders of a node below a table's or the manifests' folder. None if there is no such folder.
pub(crate) fn node_folders(table: &Path, node: &str) -> Result<Vec<PathBuf>, StoreError> {
    let mut found = Vec::new();
    if !table.is_dir() {
        return Ok(found);
    }
    for fs in entries(table)? {
        let node = fs.join(layout::node_folder(node));
        if node.is_dir() {
            found.extend(entries(&node)?.into_iter().filter(|path| path.is_dir()));
        }
    }
    Ok(found)
}

/// A node's files with an extension below a table's or the manifests' folder.
pub(crate) fn node_files(table: &Path, node: &str, extension: &str) -> Result<Vec<PathBuf>, StoreError> {
    let mut found = Vec::new();
    for folder in node_folders(table, node)? {
        files(&folder, 0, extension, &mut found)?;
    }
    Ok(found)
}

fn entries(path: &Path) -> Result<Vec<PathBuf>, StoreError> {
    files::entries(path).map_err(StoreError::io("list", path))
}
