//! Names of members: texts to show and to tell nodes by, never paths to open.

use std::path::{Component, Path, PathBuf};

/// Longest name that is kept, in bytes (`PATH_MAX` of Linux); the rest is cut.
const MAX_NAME: usize = 4096;

/// A name as people can read it: what is not UTF-8, and what moves a terminal's cursor, as escapes.
pub(super) fn readable(name: &[u8]) -> String {
    let name = &name[..name.len().min(MAX_NAME)];
    let Ok(text) = std::str::from_utf8(name) else { return name.escape_ascii().to_string() };
    let mut readable = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            readable.extend(c.escape_default());
        } else {
            readable.push(c);
        }
    }
    readable
}

/// Where a member would lie if the archive were a folder beside it: `oss01.tar.gz` and `a/../b` give `oss01/a/b`. `..` and `/` lead nowhere.
pub(super) fn place(archive: &Path, member: &str) -> PathBuf {
    let mut place = folder(archive);
    place.extend(Path::new(member).components().filter(|part| matches!(part, Component::Normal(_))));
    place
}

/// `dir/oss01` of `dir/oss01.tar.gz`.
fn folder(archive: &Path) -> PathBuf {
    if archive == Path::new("-") {
        return PathBuf::from("stdin");
    }
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    let stem = ENDINGS.iter().find_map(|ending| {
        let at = name.len().checked_sub(ending.len())?;
        name.get(at..).filter(|tail| tail.eq_ignore_ascii_case(ending)).map(|_| &name[..at])
    });
    archive.with_file_name(stem.filter(|stem| !stem.is_empty()).unwrap_or(&name))
}

/// Longest first.
const ENDINGS: [&str; 15] = [
    ".tar.bz2", ".tar.zst", ".tar.gz", ".tar.xz", ".tbz2", ".tzst", ".tar", ".tgz", ".txz", ".tbz", ".zip", ".gz",
    ".xz", ".zst", ".eml",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_are_only_names() {
        assert_eq!(readable("a/ö 1.txt".as_bytes()), "a/ö 1.txt");
        assert_eq!(readable(b"a\x1b[2J\nb"), "a\\u{1b}[2J\\nb");
        assert_eq!(readable(b"a\xff"), "a\\xff");
        assert_eq!(readable(&[b'x'; 9999]).len(), MAX_NAME);
        let at = |member| place(Path::new("dir/oss01.tar.gz"), member);
        assert_eq!(at("rpc.txt"), Path::new("dir/oss01/rpc.txt"));
        assert_eq!(at("../../../etc/./passwd"), Path::new("dir/oss01/etc/passwd"));
        assert_eq!(at("/etc/passwd"), Path::new("dir/oss01/etc/passwd"));
        assert_eq!(at(".."), Path::new("dir/oss01"));
    }

    #[test]
    fn archives_are_folders_of_their_names() {
        for name in ["x.tar", "x.tgz", "x.TAR.XZ", "x.tar.zst", "x.zip", "x"] {
            assert_eq!(place(Path::new(name), "a"), Path::new("x/a"), "{name}");
        }
        assert_eq!(place(Path::new(".tar"), "a"), Path::new(".tar/a"));
        assert_eq!(place(Path::new("-"), "a/b"), Path::new("stdin/a/b"));
        assert_eq!(place(&place(Path::new("d/x.zip"), "y.tar.xz"), "z"), Path::new("d/x/y/z"));
    }
}
