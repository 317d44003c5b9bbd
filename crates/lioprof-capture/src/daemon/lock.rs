//! One daemon at a time.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use super::DaemonError;

/// Held while the daemon runs; the kernel lets it go with the process, however that ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock, or tells who has it.
    pub(crate) fn take(path: &Path) -> Result<Self, DaemonError> {
        let failed = |err| DaemonError::Lock { path: path.to_owned(), err };
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = open.map_err(failed)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let mut pid = String::new();
            file.read_to_string(&mut pid).map_err(failed)?;
            return Err(DaemonError::Running { path: path.to_owned(), pid: pid.trim().to_owned() });
        }
        file.set_len(0).and_then(|()| file.rewind()).map_err(failed)?;
        writeln!(file, "{}", std::process::id()).map_err(failed)?;
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_one_is_told_who_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let held = Lock::take(&path).unwrap();
        let error = Lock::take(&path).unwrap_err().to_string();
        assert!(error.contains(&std::process::id().to_string()), "{error}");
        drop(held);
        Lock::take(&path).unwrap();
    }
}
