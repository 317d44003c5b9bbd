//! File systems: what kind, how much room.

use std::io;
use std::path::{Path, PathBuf};

/// Kinds of file systems, as far as they matter for a log that the kernel writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VolumeKind {
    /// In memory.
    Memory,
    /// On local disks.
    Local,
    /// Lustre itself: writing the log there would make more log.
    Lustre,
    /// On another machine.
    Network,
    /// In user space.
    Fuse,
    /// Layers, as in containers.
    Overlay,
    /// Not in the list.
    Unknown,
}

/// The file system of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Volume {
    /// Its kind.
    pub kind: VolumeKind,
    /// Its name, or its magic number.
    pub name: String,
    /// Free space for whoever is not root, MiB.
    pub free_mib: u64,
}

/// Magic numbers of `f_type`: include/uapi/linux/magic.h and the file systems' own sources.
const KINDS: [(u32, &str, VolumeKind); 20] = [
    (0x0102_1994, "tmpfs", VolumeKind::Memory),
    (0x8584_58f6, "ramfs", VolumeKind::Memory),
    (0xef53, "ext4", VolumeKind::Local),
    (0x5846_5342, "xfs", VolumeKind::Local),
    (0x9123_683e, "btrfs", VolumeKind::Local),
    (0x2fc1_2fc1, "zfs", VolumeKind::Local),
    (0xf2f5_2010, "f2fs", VolumeKind::Local),
    (0x0bd0_0bd0, "lustre", VolumeKind::Lustre),
    (0x6969, "nfs", VolumeKind::Network),
    (0xff53_4d42, "cifs", VolumeKind::Network),
    (0xfe53_4d42, "smb2", VolumeKind::Network),
    (0x517b, "smb", VolumeKind::Network),
    (0x00c3_6400, "ceph", VolumeKind::Network),
    (0x4750_4653, "gpfs", VolumeKind::Network),
    (0x1983_0326, "beegfs", VolumeKind::Network),
    (0x0102_1997, "9p", VolumeKind::Network),
    (0x5346_414f, "afs", VolumeKind::Network),
    (0x0116_1970, "gfs2", VolumeKind::Network),
    (0x6573_5546, "fuse", VolumeKind::Fuse),
    (0x794c_7630, "overlay", VolumeKind::Overlay),
];

/// The file system that holds `path`.
pub(crate) fn volume(path: &Path) -> io::Result<Volume> {
    let magic = magic(path)?;
    let space = rustix::fs::statvfs(path)?;
    let free_mib = space.f_bavail.saturating_mul(space.f_frsize) / 1_048_576;
    let known = KINDS.iter().find(|(number, ..)| *number == magic);
    let (name, kind) =
        known.map_or((format!("{magic:#x}"), VolumeKind::Unknown), |(_, name, kind)| ((*name).to_owned(), *kind));
    Ok(Volume { kind, name, free_mib })
}

/// `f_type` has another width on each architecture; magic numbers have 32 bits.
fn magic(path: &Path) -> io::Result<u32> {
    let stat = rustix::fs::statfs(path)?;
    Ok(u32::try_from(i128::from(stat.f_type) & 0xffff_ffff).unwrap_or_default())
}

/// `path` or the nearest directory above it that exists.
pub(crate) fn existing(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|path| path.exists()).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_file_systems() {
        // /proc has a magic number that is not in the list; /dev/shm is a tmpfs wherever it is mounted.
        assert_eq!(volume(Path::new("/proc")).unwrap().kind, VolumeKind::Unknown);
        if Path::new("/dev/shm").is_dir() {
            assert_eq!(volume(Path::new("/dev/shm")).unwrap().kind, VolumeKind::Memory);
        }
        assert!(volume(Path::new("/nonexistent/x")).is_err());
        assert_eq!(existing(Path::new("/proc/nonexistent/x")), Some(PathBuf::from("/proc")));
    }
}
