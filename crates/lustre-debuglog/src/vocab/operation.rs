//! Operations on a client of the file system.

use std::fmt;

/// What a program asked the client of the file system for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum OperationKind {
    /// Open, with the creation of the file if it was asked for.
    Open,
    /// Close of the last descriptor of an open file.
    Close,
    /// Read.
    Read,
    /// Write.
    Write,
    /// fsync, fdatasync.
    Fsync,
    /// stat, fstat, statx.
    Stat,
    /// truncate, chmod, chown, utimes.
    Setattr,
    /// lseek to data or a hole.
    Seek,
    /// Fault of a page of a mapped file.
    Fault,
    /// First write into a page of a mapped file.
    Mkwrite,
    /// unlink.
    Unlink,
    /// rmdir.
    Rmdir,
    /// mkdir.
    Mkdir,
    /// rename.
    Rename,
    /// symlink.
    Symlink,
    /// link.
    Link,
    /// mknod.
    Mknod,
    /// Reading a directory.
    Readdir,
}

impl OperationKind {
    /// All kinds.
    pub const ALL: [Self; 18] = [
        Self::Open,
        Self::Close,
        Self::Read,
        Self::Write,
        Self::Fsync,
        Self::Stat,
        Self::Setattr,
        Self::Seek,
        Self::Fault,
        Self::Mkwrite,
        Self::Unlink,
        Self::Rmdir,
        Self::Mkdir,
        Self::Rename,
        Self::Symlink,
        Self::Link,
        Self::Mknod,
        Self::Readdir,
    ];

    /// The kind whose `START` and `COMPLETED` lines this C function logs.
    #[must_use]
    pub fn of_traced_function(function: &[u8]) -> Option<Self> {
        Some(match function {
            b"ll_file_open" => Self::Open,
            b"ll_file_release" => Self::Close,
            // `ll_file_*_iter` call `do_file_*_iter` since 2.14.
            b"do_file_read_iter" | b"ll_file_read_iter" => Self::Read,
            b"do_file_write_iter" | b"ll_file_write_iter" => Self::Write,
            b"ll_fsync" => Self::Fsync,
            b"ll_getattr_dentry" => Self::Stat,
            b"ll_setattr_raw" => Self::Setattr,
            b"ll_file_seek" | b"ll_lseek" => Self::Seek,
            b"ll_fault" => Self::Fault,
            b"ll_page_mkwrite" => Self::Mkwrite,
            _ => return None,
        })
    }

    /// The kind of an operation of which this C function logs a `VFS Op:` line, and nothing at its end.
    #[must_use]
    pub fn of_vfs_function(function: &[u8]) -> Option<Self> {
        Some(match function {
            b"ll_unlink" => Self::Unlink,
            b"ll_rmdir" => Self::Rmdir,
            // `ll_mkdir` calls `do_mkdir` since 2.16.59.
            b"do_mkdir" | b"ll_mkdir" => Self::Mkdir,
            b"ll_rename" => Self::Rename,
            b"ll_symlink" => Self::Symlink,
            b"ll_link" => Self::Link,
            b"ll_mknod" => Self::Mknod,
            b"ll_readdir" => Self::Readdir,
            _ => return None,
        })
    }

    /// Its name: `open`, `fsync`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Close => "close",
            Self::Read => "read",
            Self::Write => "write",
            Self::Fsync => "fsync",
            Self::Stat => "stat",
            Self::Setattr => "setattr",
            Self::Seek => "seek",
            Self::Fault => "fault",
            Self::Mkwrite => "mkwrite",
            Self::Unlink => "unlink",
            Self::Rmdir => "rmdir",
            Self::Mkdir => "mkdir",
            Self::Rename => "rename",
            Self::Symlink => "symlink",
            Self::Link => "link",
            Self::Mknod => "mknod",
            Self::Readdir => "readdir",
        }
    }
}

impl fmt::Display for OperationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
