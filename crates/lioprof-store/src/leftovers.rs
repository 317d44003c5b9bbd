//! What a crash left behind.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::files::TEMPORARY_SUFFIX;
use crate::find;
use crate::layout::{self, MANIFESTS};
use crate::table::Table;
use crate::table::counters::CounterColumns;
use crate::table::lock_events::LockEventColumns;
use crate::table::rpcs::RpcColumns;
use crate::table::sent_rpcs::SentRpcColumns;

/// Folders of the tables.
pub(crate) const TABLES: [&str; 4] =
    [RpcColumns::NAME, LockEventColumns::NAME, SentRpcColumns::NAME, CounterColumns::NAME];

/// Deletes what is left of parts of `node` that were never completed: temporary files, and Parquet files without a
/// manifest. Returns the files deleted.
///
/// To be called before a writer of the node begins, never beside one: its open part has no manifest either.
///
/// # Errors
/// If a folder cannot be listed or a file not deleted.
pub fn clean_leftovers(dir: &Path, node: &str) -> Result<Vec<PathBuf>, StoreError> {
    let mut deleted = Vec::new();
    for table in TABLES.into_iter().chain([MANIFESTS]) {
        for folder in find::node_folders(&dir.join(table), node)? {
            let entries = fs::read_dir(&folder).map_err(StoreError::io("list", &folder))?;
            for entry in entries {
                let path = entry.map_err(StoreError::io("list", &folder))?.path();
                if is_leftover(dir, table, &path) {
                    fs::remove_file(&path).map_err(StoreError::io("delete", &path))?;
                    deleted.push(path);
                }
            }
        }
    }
    deleted.sort();
    Ok(deleted)
}

/// Parquet files of a dataset, and of those below a folder, that have no manifest, in the order of their names.
///
/// # Errors
/// If a folder cannot be listed.
pub(crate) fn without_manifest(path: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut found = Vec::new();
    for dir in find::datasets(path)? {
        let mut rows = Vec::new();
        for table in TABLES {
            let files = find::files_below(&dir.join(table), "parquet")?;
            rows.extend(files.into_iter().map(|file| (layout::manifest_path(&dir, table, &file), file)));
        }
        // Listed last: a part that a daemon has closed meanwhile has its manifest by now.
        let manifests: HashSet<PathBuf> = find::files_below(&dir.join(MANIFESTS), "json")?.into_iter().collect();
        found.extend(rows.into_iter().filter(|(manifest, _)| !manifests.contains(manifest)).map(|(_, file)| file));
    }
    Ok(found)
}

fn is_leftover(dir: &Path, table: &str, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    if name.starts_with(b".") {
        return name.ends_with(TEMPORARY_SUFFIX.as_bytes());
    }
    table != MANIFESTS
        && path.extension().is_some_and(|it| it == "parquet")
        && !layout::manifest_path(dir, table, path).exists()
}
