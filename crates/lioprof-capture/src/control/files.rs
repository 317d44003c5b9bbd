//! The settings as files.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::io::ControlIo;
use super::{ControlError, Param};
use crate::system::below;

/// Control files below a root directory. Each use looks up their paths anew: modules come and go.
#[derive(Clone, Debug)]
pub(super) struct Files {
    root: PathBuf,
}

impl Files {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// The files below `root`, if the debug mask is among them.
    pub(super) fn found(&self) -> Result<Self, ControlError> {
        let tried = self.paths(Param::Debug);
        // An error other than "not there" (no permission, locked down) is better reported when the file is used.
        let there = |path: &PathBuf| fs::metadata(path).map_or_else(|err| !absent(&err), |_| true);
        if tried.iter().any(there) { Ok(self.clone()) } else { Err(ControlError::NothingFound { tried }) }
    }

    fn paths(&self, param: Param) -> Vec<PathBuf> {
        param.paths().iter().map(|place| below(&self.root, place)).collect()
    }

    /// The first place whose file exists.
    fn first<T>(
        &self,
        param: Param,
        attempt: impl Fn(&Path) -> io::Result<T>,
        failed: impl Fn(PathBuf, io::Error) -> ControlError,
    ) -> Result<T, ControlError> {
        let tried = self.paths(param);
        for path in &tried {
            match attempt(path) {
                Err(err) if absent(&err) => {}
                Err(err) => return Err(failed(path.clone(), err)),
                Ok(value) => return Ok(value),
            }
        }
        Err(ControlError::NoFile { param, tried })
    }
}

fn absent(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl ControlIo for Files {
    fn name(&self) -> &'static str {
        "files"
    }

    fn read(&self, param: Param) -> Result<String, ControlError> {
        let read = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        self.first(param, read, |path, source| ControlError::Read { path, source })
    }

    fn write(&self, param: Param, value: &str) -> Result<(), ControlError> {
        let mut bytes = value.as_bytes().to_vec();
        if param == Param::DebugMarker {
            // The kernel reads a C string here and refuses a text without its end (`strndup_user`, lnet/libcfs/module.c).
            bytes.push(0);
        }
        self.first(
            param,
            |path| one_write(path, &bytes),
            |path, source| ControlError::Write { param, path, value: value.to_owned(), source },
        )
    }

    /// Opens the file for writing without writing, which the kernel does not take as a command.
    fn writable(&self, param: Param) -> Option<Result<(), ControlError>> {
        Some(self.first(
            param,
            |path| OpenOptions::new().write(true).open(path).map(drop),
            |path, source| ControlError::Write { param, path, value: String::new(), source },
        ))
    }
}

/// Exactly one `write(2)`: a second one would be a second command. Never creates the file.
fn one_write(path: &Path, value: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    loop {
        return match file.write(value) {
            Ok(written) if written == value.len() => Ok(()),
            Ok(written) => Err(io::Error::other(format!("the kernel took {written} of {} bytes", value.len()))),
            Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
            Err(err) => Err(err),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::put;

    #[test]
    fn finds_both_layouts_and_the_link_of_debug_mb() {
        for (dir, mb) in [
            ("sys/kernel/debug/lnet", "sys/module/libcfs/parameters/libcfs_debug_mb"),
            ("proc/sys/lnet", "proc/sys/lnet/debug_mb"),
        ] {
            let root = tempfile::tempdir().unwrap();
            put(root.path(), &format!("{dir}/debug"), "ioctl ha\n");
            put(root.path(), mb, "201\n");
            let files = Files::new(root.path()).found().unwrap();
            assert_eq!(files.read(Param::Debug).unwrap(), "ioctl ha\n");
            assert_eq!(files.read(Param::DebugMb).unwrap(), "201\n");
            files.write(Param::DebugMb, "400").unwrap();
            assert_eq!(fs::read_to_string(root.path().join(mb)).unwrap(), "400\n"); // no truncation: a control file
        }
    }

    #[test]
    fn a_marker_ends_as_a_c_string() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), "sys/kernel/debug/lnet/debug_marker", "");
        Files::new(root.path()).write(Param::DebugMarker, "run 7").unwrap();
        assert_eq!(fs::read(root.path().join("sys/kernel/debug/lnet/debug_marker")).unwrap(), b"run 7\0");
    }

    #[test]
    fn what_is_missing_is_named_and_not_created() {
        let root = tempfile::tempdir().unwrap();
        let error = Files::new(root.path()).found().unwrap_err().to_string();
        assert!(error.contains("sys/kernel/debug/lnet/debug") && error.contains("proc/sys/lnet/debug"), "{error}");
        put(root.path(), "proc/sys/lnet/debug", "0\n");
        let files = Files::new(root.path()).found().unwrap();
        let error = files.write(Param::DaemonFile, "stop").unwrap_err();
        assert!(matches!(error, ControlError::NoFile { param: Param::DaemonFile, .. }), "{error}");
        assert!(!root.path().join("proc/sys/lnet/daemon_file").exists());
    }
}
