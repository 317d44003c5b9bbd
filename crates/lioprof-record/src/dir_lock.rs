//! One program at a time works on a recording: whoever fetches while it runs would stop its daemons.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::error::RecordError;

/// Held until it is dropped or the process ends, however that ends.
#[derive(Debug)]
pub(crate) struct DirLock {
    _dir: Option<File>,
}

impl DirLock {
    /// Takes the recording's directory, which is there. Not every file system can lock: then nothing is held.
    pub(crate) fn take(dir: &Path) -> Result<Self, RecordError> {
        let Ok(file) = File::open(dir) else { return Ok(Self { _dir: None }) };
        match file.try_lock() {
            Ok(()) => Ok(Self { _dir: Some(file) }),
            Err(TryLockError::WouldBlock) => Err(RecordError::InUse(dir.to_owned())),
            Err(TryLockError::Error(_)) => Ok(Self { _dir: None }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let held = DirLock::take(dir.path()).unwrap();
        let said = DirLock::take(dir.path()).unwrap_err().to_string();
        assert!(said.contains("still runs"), "{said}");
        drop(held);
        DirLock::take(dir.path()).unwrap();
    }
}
