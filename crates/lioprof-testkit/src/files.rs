//! Files of the repository, and files in general.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A path in the repository.
#[must_use]
pub fn repository(path: impl AsRef<Path>) -> PathBuf {
    // Of the crate, which is in `crates`.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the crate is in `crates`");
    root.join(path)
}

/// A path in `fixtures`.
#[must_use]
pub fn fixture(path: impl AsRef<Path>) -> PathBuf {
    repository("fixtures").join(path)
}

/// A capture in `fixtures`, or something in it: `masks`, `masks/server1/rpc.bin.zst`.
#[must_use]
pub fn capture(path: impl AsRef<Path>) -> PathBuf {
    fixture("captures").join(path)
}

/// Where the captures are that tests of all captures take: those in `fixtures`, or those that `LIOPROF_CAPTURES` names.
#[must_use]
pub fn captures() -> PathBuf {
    std::env::var_os("LIOPROF_CAPTURES").map_or_else(|| fixture("captures"), PathBuf::from)
}

/// The content of a file, unpacked if its name ends with `.zst`.
///
/// # Panics
/// If there is no such file, or it is damaged.
#[must_use]
#[track_caller]
pub fn unpacked(path: impl AsRef<Path>) -> Vec<u8> {
    let path = path.as_ref();
    let read = || match path.extension() {
        Some(extension) if extension == "zst" => zstd::decode_all(File::open(path)?),
        _ => fs::read(path),
    };
    read().unwrap_or_else(|err| panic!("`{}`: {err}", path.display()))
}

/// The folders in a folder, in the order of their names.
///
/// # Panics
/// If there is no such folder.
#[must_use]
#[track_caller]
pub fn folders_in(dir: impl AsRef<Path>) -> Vec<PathBuf> {
    let dir = dir.as_ref();
    let entries = fs::read_dir(dir).unwrap_or_else(|err| panic!("`{}`: {err}", dir.display()));
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// All files under a folder; none if it is not there. Files may come and go meanwhile.
#[must_use]
pub fn files_under(dir: impl AsRef<Path>) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { out.extend(files_under(&path)) } else { out.push(path) }
    }
    out.sort();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fixtures_are_there() {
        assert!(folders_in(fixture("captures")).contains(&capture("masks")));
        assert!(files_under(capture("masks")).contains(&capture("masks/server1/rpc.bin.zst")));
        assert!(unpacked(capture("masks/server1/rpc.txt.zst")).starts_with(b"0"));
        assert!(unpacked(repository("ARCHITECTURE.md")).starts_with(b"# Architecture"));
    }

    #[test]
    fn a_folder_that_is_not_there_holds_no_files() {
        assert_eq!(files_under(fixture("no such folder")), Vec::<PathBuf>::new());
    }
}
