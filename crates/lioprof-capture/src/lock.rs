//! One daemon per node: a lock that ends with the process, however it ends.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// The lock cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another daemon runs.
    #[error("another lioprof daemon runs{}: it holds `{}`; see `lioprof status`", by(pid.as_deref()), path.display())]
    Held {
        path: PathBuf,
        /// Its process, as far as known.
        pid: Option<String>,
    },
    /// No permission, disk full, ...
    #[error("failed to lock `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
}

fn by(pid: Option<&str>) -> String {
    pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
}

/// Held until it is dropped or the process ends. The file stays: removing it would let two processes hold two files.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock at `path`, whose directory is made if need be.
    pub(crate) fn take(path: &Path) -> Result<Self, LockError> {
        let failed = |source| LockError::Io { path: path.to_owned(), source };
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(failed)?;
        }
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .map_err(failed)?;
        // Whoever asks `is_held` holds it for a moment: that is no daemon.
        let mut attempts = (0..4).map(|_| {
            let attempt = file.try_lock();
            if matches!(attempt, Err(TryLockError::WouldBlock)) {
                thread::sleep(Duration::from_millis(25));
            }
            attempt
        });
        match attempts.find(Result::is_ok).unwrap_or_else(|| file.try_lock()) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let pid = holder(path).map(|pid| pid.to_string());
                return Err(LockError::Held { path: path.to_owned(), pid });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        let write = |file: &mut File| file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        write(&mut file).map_err(failed)?;
        Ok(Self { _file: file })
    }
}

/// The process that took the lock at `path` last, if it is known.
pub(crate) fn holder(path: &Path) -> Option<u32> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Does somebody hold the lock at `path`? `None` if that cannot be told. Makes no file.
pub(crate) fn is_held(path: &Path) -> Option<bool> {
    match File::open(path) {
        Ok(file) => match file.try_lock_shared() {
            Ok(()) => Some(false),
            Err(TryLockError::WouldBlock) => Some(true),
            Err(TryLockError::Error(_)) => None,
        },
        Err(err) if err.kind() == io::ErrorKind::NotFound => Some(false),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_and_the_other_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/lock");
        assert_eq!(is_held(&path), Some(false));
        let first = Lock::take(&path).unwrap();
        assert_eq!(is_held(&path), Some(true));
        let error = Lock::take(&path).unwrap_err().to_string();
        assert!(error.contains(&std::process::id().to_string()) && error.contains("lioprof status"), "{error}");
        drop(first);
        assert_eq!(is_held(&path), Some(false));
        drop(Lock::take(&path).unwrap());
    }
}
