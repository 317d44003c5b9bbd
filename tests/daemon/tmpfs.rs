//! A small file system of a test's own.

use std::ffi::CString;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

/// Mounted until it is dropped.
pub(crate) struct Tmpfs {
    path: PathBuf,
}

impl Tmpfs {
    /// On an empty directory, with so much room.
    pub(crate) fn mount(path: &Path, kib: u64) -> Self {
        let options = CString::new(format!("size={kib}k,mode=0755")).unwrap();
        mount("lioprof-test", path, "tmpfs", MountFlags::empty(), options.as_c_str()).unwrap();
        Self { path: path.to_owned() }
    }

    /// Fills it up to a rest of so many bytes; returns the file that does it.
    pub(crate) fn fill(&self, rest: u64) -> PathBuf {
        let path = self.path.join("ballast");
        let free = self.free();
        fs::write(&path, vec![0; usize::try_from(free.saturating_sub(rest)).unwrap()]).unwrap();
        path
    }

    /// Bytes that are free.
    pub(crate) fn free(&self) -> u64 {
        let room = rustix::fs::statvfs(&self.path).unwrap();
        room.f_bavail * room.f_frsize
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        unmount(&self.path, UnmountFlags::DETACH).unwrap_or_default();
    }
}
