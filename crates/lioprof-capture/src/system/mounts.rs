//! Mount tables: which file system holds a path, and is it the same for the kernel's own threads?

use std::path::{Path, PathBuf};

use super::read_text;

/// One line of a `mountinfo` file (proc_pid_mountinfo(5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    /// `major:minor` of the file system.
    pub device: String,
    /// Directory of that file system that is mounted.
    pub root: PathBuf,
    /// Mount point, absolute.
    pub point: PathBuf,
    /// Type, for example `tmpfs`.
    pub kind: String,
}

/// A file or directory by file system, independent of where that is mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileSystemPath {
    /// `major:minor` of the file system.
    pub device: String,
    /// Path inside the file system.
    pub inner: PathBuf,
    /// Type of the file system.
    pub kind: String,
}

/// Mounts as the process `pid` (or `self`) sees them; `None` if its table cannot be read.
pub(crate) fn mounts_of(root: &Path, pid: &str) -> Option<Vec<Mount>> {
    Some(parse(&read_text(root, &format!("proc/{pid}/mountinfo")).ok()?))
}

/// Where an absolute path without symbolic links leads in a mount table. Later mounts cover earlier ones.
pub(crate) fn place(mounts: &[Mount], path: &Path) -> Option<FileSystemPath> {
    let covers = |mount: &&Mount| path.starts_with(&mount.point);
    let depth = mounts.iter().filter(covers).map(|mount| mount.point.components().count()).max()?;
    let mount = mounts.iter().filter(covers).rfind(|mount| mount.point.components().count() == depth)?;
    let rest = path.strip_prefix(&mount.point).ok()?;
    Some(FileSystemPath { device: mount.device.clone(), inner: mount.root.join(rest), kind: mount.kind.clone() })
}

fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_line).collect()
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw`; the fields before ` - ` vary in number.
fn parse_line(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(2);
    let device = left.next()?.to_owned();
    let root = unescape(left.next()?);
    let point = unescape(left.next()?);
    let kind = right.split(' ').next()?.to_owned();
    Some(Mount { device, root, point, kind })
}

/// Space, tab, line break and backslash are written as `\` and three octal digits.
fn unescape(text: &str) -> PathBuf {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let code = after.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match (code, after.get(3..)) {
            (Some(code), Some(tail)) => {
                out.push(char::from(code));
                rest = tail;
            }
            _ => {
                out.push('\\');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    PathBuf::from(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "\
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 27 0:26 / /run rw,nosuid shared:5 - tmpfs tmpfs rw,size=1000k
31 27 254:16 / /mnt/a\\040b rw - xfs /dev/vdb rw
";
    /// The same node in a service with `PrivateTmp` and `ReadWritePaths=/run/lioprof`.
    const PRIVATE: &str = "\
627 500 254:0 / / ro,relatime shared:1 - ext4 /dev/vda rw
630 627 0:26 / /run ro,nosuid - tmpfs tmpfs rw,size=1000k
631 630 0:26 /lioprof /run/lioprof rw,nosuid - tmpfs tmpfs rw,size=1000k
632 627 254:0 /tmp/systemd-private-1-lioprof/tmp /tmp rw - ext4 /dev/vda rw
";

    fn place_in(table: &str, path: &str) -> FileSystemPath {
        place(&parse(table), Path::new(path)).unwrap()
    }

    #[test]
    fn a_bind_mount_of_the_same_directory_is_the_same_place() {
        assert_eq!(place_in(FIRST, "/run/lioprof/spool"), place_in(PRIVATE, "/run/lioprof/spool"));
    }

    #[test]
    fn private_tmp_is_another_place() {
        let (kernel, own) = (place_in(FIRST, "/tmp/spool"), place_in(PRIVATE, "/tmp/spool"));
        assert_eq!(kernel.device, own.device);
        assert_ne!(kernel.inner, own.inner);
    }

    #[test]
    fn escaped_names_and_covering_mounts() {
        assert_eq!(place_in(FIRST, "/mnt/a b/c").device, "254:16");
        let covered = format!("{FIRST}40 30 0:99 / /run rw - tmpfs tmpfs rw\n");
        assert_eq!(place_in(&covered, "/run/x").device, "0:99");
        assert_eq!(unescape("a\\"), PathBuf::from("a\\"));
        assert_eq!(unescape("a\\04"), PathBuf::from("a\\04"));
    }
}
