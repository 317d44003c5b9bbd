//! Names of folders and files.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use lioprof_model::time::utc_micros;
use lustre_debuglog::TargetName;

/// Folder of the manifests, beside those of the tables.
pub const MANIFESTS: &str = "manifests";
/// What stands for an empty value in Hive's layout.
const EMPTY: &str = "__HIVE_DEFAULT_PARTITION__";

/// Partition of a part: `fs=../node=../date=..`.
pub(crate) fn partition(fs: &str, node: &str, start_us: i64) -> PathBuf {
    let time = utc_micros(start_us);
    let date = time.get(..10).unwrap_or_default();
    [format!("fs={}", hive(fs)), node_folder(node), format!("date={date}")].iter().collect()
}

/// Name of a node's folder.
#[must_use]
pub fn node_folder(node: &str) -> String {
    format!("node={}", hive(node))
}

/// Name without suffix of all files of a part: sorts by time.
pub(crate) fn stem(start_us: i64, session: &str, part: u64) -> String {
    let time: String = utc_micros(start_us).chars().filter(|c| !matches!(c, '-' | ':')).collect();
    format!("{time}-{}-{part:06}", hive(session))
}

/// A value in a folder's name: letters, digits and a few signs stay, other bytes become `%HH`, as Hive does it.
pub(crate) fn hive(value: &str) -> String {
    if value.is_empty() {
        return EMPTY.to_owned();
    }
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'@') {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").expect("writing to a String cannot fail");
        }
    }
    out
}

/// The node of such a folder, [`node_folder`] back; `None` if it is none.
#[must_use]
pub fn node_of_folder(folder: &str) -> Option<String> {
    unhive(folder.strip_prefix("node=")?)
}

/// The value that [`hive`] made a name of.
pub(crate) fn unhive(name: &str) -> Option<String> {
    if name == EMPTY {
        return Some(String::new());
    }
    let mut rest = name;
    let mut value = Vec::with_capacity(rest.len());
    while let Some((head, tail)) = rest.split_once('%') {
        value.extend_from_slice(head.as_bytes());
        value.push(u8::from_str_radix(tail.get(..2)?, 16).ok()?);
        rest = &tail[2..];
    }
    value.extend_from_slice(rest.as_bytes());
    String::from_utf8(value).ok()
}

/// The `fs` of a node with these targets: its file system, several joined by `+`, `unknown` without any.
///
/// The management service belongs to no file system and is passed over.
#[must_use]
pub fn fs_of<'a>(targets: impl IntoIterator<Item = &'a TargetName>) -> String {
    let names: BTreeSet<&str> = targets.into_iter().map(TargetName::fsname).filter(|name| !name.is_empty()).collect();
    if names.is_empty() { "unknown".to_owned() } else { names.into_iter().collect::<Vec<_>>().join("+") }
}

/// Whether a folder is a dataset: it has the folder `manifests` with a file system in it.
#[must_use]
pub fn is_dataset(path: &Path) -> bool {
    path.join(MANIFESTS).read_dir().is_ok_and(|mut entries| {
        entries.any(|entry| entry.is_ok_and(|it| it.file_name().as_encoded_bytes().starts_with(b"fs=")))
    })
}

/// The file of a table that belongs to a manifest of the dataset at `dir`.
pub(crate) fn table_path(dir: &Path, manifest: &Path, table: &str) -> PathBuf {
    sibling(dir, MANIFESTS, manifest, table, "parquet")
}

/// The manifest that a table's file belongs to.
pub(crate) fn manifest_path(dir: &Path, table: &str, file: &Path) -> PathBuf {
    sibling(dir, table, file, MANIFESTS, "json")
}

/// The same place in another folder of the dataset.
fn sibling(dir: &Path, from: &str, path: &Path, to: &str, extension: &str) -> PathBuf {
    let inside = path.strip_prefix(dir.join(from)).unwrap_or(path);
    // Not `with_extension`: the stem has a dot of its own, and a node's or a session's name may.
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    dir.join(to).join(inside).with_file_name(format!("{stem}.{extension}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_time_and_say_it() {
        let us = 1_795_251_082_123_456;
        assert_eq!(partition("lustre", "oss1", us), Path::new("fs=lustre/node=oss1/date=2026-11-21"));
        assert_eq!(stem(us, "a1b2", 7), "20261121T085122.123456Z-a1b2-000007");
        assert!(stem(us, "b", 9) < stem(us + 1, "a", 1));
    }

    #[test]
    fn odd_values_stay_one_folder() {
        assert_eq!(hive("oss/1=ä"), "oss%2F1%3D%C3%A4");
        assert_eq!(hive(""), EMPTY);
        assert_eq!(hive("a+b"), "a+b");
        for value in ["oss/1=ä", "", "a+b", "100%"] {
            assert_eq!(unhive(&hive(value)).as_deref(), Some(value));
        }
        assert_eq!(unhive("oss%2"), None);
        for us in [i64::MIN, -1, i64::MAX] {
            assert_eq!(partition("x", "..", us).components().count(), 3);
        }
    }

    #[test]
    fn fs_comes_from_the_targets() {
        let targets: Vec<TargetName> =
            ["b-OST0000", "a-MDT0000", "b-OST0001", "MGS"].map(|it| it.parse().unwrap()).into();
        assert_eq!(fs_of(&targets), "a+b");
        assert_eq!(fs_of(&targets[..1]), "b");
        assert_eq!(fs_of(&targets[3..]), "unknown");
    }
}
