//! The files of a recording.

use std::fs::{self, File};
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::capture::LOG;
use crate::copied::{is_inside, sha256_of};
use crate::protocol::RemoteFile;

/// What ends with this is finished: the writer renames its files when they are complete.
const FINISHED: [&str; 2] = ["parquet", "json"];
/// Beside the tables, and no part of the data: the journal, and segments with what is known of them.
const NOT_DATA: [&str; 2] = ["journal.json", "spool"];

/// All finished files of the data, and the daemon's log, with their checksums.
pub(super) fn list(dir: &Path) -> Result<Vec<RemoteFile>, String> {
    let mut paths = Vec::new();
    if dir.exists() {
        find(dir, &mut paths).map_err(|err| format!("`{}`: {err}", dir.display()))?;
    }
    paths.sort();
    let file = |path: &PathBuf| {
        let inside = path.strip_prefix(dir).unwrap_or(path).to_str();
        let inside = inside.ok_or_else(|| format!("`{}`: not a name that a dataset has", path.display()))?.to_owned();
        let (bytes, sha256) = sha256_of(path).map_err(|err| format!("`{}`: {err}", path.display()))?;
        Ok(RemoteFile { path: inside, bytes, sha256 })
    };
    paths.iter().map(file).collect()
}

fn find(dir: &Path, into: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if NOT_DATA.contains(&name) {
            continue;
        }
        if kind.is_dir() {
            find(&path, into)?;
        } else if kind.is_file() && (name == LOG || FINISHED.contains(&extension)) {
            into.push(path);
        }
    }
    Ok(())
}

/// A file from an offset on, and how many bytes that are.
pub(super) fn open(dir: &Path, path: &str, offset: u64) -> Result<(impl Read + use<>, u64), String> {
    if !is_inside(path) {
        return Err(format!("`{path}` is no file of a recording"));
    }
    let path = dir.join(path);
    let open = || -> io::Result<(File, u64)> {
        let mut file = File::open(&path)?;
        let bytes = file.metadata()?.len().saturating_sub(offset);
        file.seek(SeekFrom::Start(offset))?;
        Ok((file, bytes))
    };
    let (file, bytes) = open().map_err(|err| format!("`{}`: {err}", path.display()))?;
    Ok((file.take(bytes), bytes))
}
