//! Operations on a client of the file system.

use super::words::words;

words! {
    /// What a program asked the client of the file system for.
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
    OperationKind;
    /// Open, with the creation of the file if it was asked for.
    Open = "open",
    /// Close of the last descriptor of an open file.
    Close = "close",
    /// Read.
    Read = "read",
    /// Write.
    Write = "write",
    /// fsync, fdatasync.
    Fsync = "fsync",
    /// stat, fstat, statx.
    Stat = "stat",
    /// truncate, chmod, chown, utimes.
    Setattr = "setattr",
    /// lseek to data or a hole.
    Seek = "seek",
    /// Fault of a page of a mapped file.
    Fault = "fault",
    /// First write into a page of a mapped file.
    Mkwrite = "mkwrite",
    /// unlink.
    Unlink = "unlink",
    /// rmdir.
    Rmdir = "rmdir",
    /// mkdir.
    Mkdir = "mkdir",
    /// rename.
    Rename = "rename",
    /// symlink.
    Symlink = "symlink",
    /// link.
    Link = "link",
    /// mknod.
    Mknod = "mknod",
    /// Reading a directory.
    Readdir = "readdir",
}

impl OperationKind {
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

    /// The kind of an operation at whose begin this C function logs a `VFS Op:` line, in versions that log no `START` and `COMPLETED` of it.
    #[must_use]
    pub fn of_entry_function(function: &[u8]) -> Option<Self> {
        Some(match function {
            b"ll_file_open" => Self::Open,
            b"ll_file_release" => Self::Close,
            b"ll_fsync" => Self::Fsync,
            b"ll_getattr" | b"ll_getattr_dentry" => Self::Stat,
            b"ll_file_seek" => Self::Seek,
            _ => return None,
        })
    }
}
