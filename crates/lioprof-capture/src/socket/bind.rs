//! Taking the place of a dead daemon's socket, never that of a living one.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::error::SocketError;

/// Extension of the name under which the socket is prepared.
const NEW: &str = "new";
/// `sun_path` has 108 bytes, the last one NUL.
const MOST_BYTES: usize = 107 - ".".len() - NEW.len();

/// A listening socket, for its owner only (0600). Dropping it removes the file.
#[derive(Debug)]
pub(crate) struct ControlSocket {
    path: PathBuf,
    listener: UnixListener,
    /// Device and inode of the socket file.
    identity: (u64, u64),
    /// Locked as long as this daemon lives, so that of two daemons that start at once only one gets the name.
    _lock: File,
}

impl ControlSocket {
    /// Listens on `path`. Beside it stays an empty file `<path>.lock`.
    /// Fails if another daemon listens there, or if the file system does not allow it.
    pub(crate) fn bind(path: &Path) -> Result<Self, SocketError> {
        check_length(path)?;
        let lock = lock(path)?;
        refuse_if_alive(path)?;

        // Bound under another name and renamed, so that nobody ever sees the socket with wider permissions.
        let new = path.with_added_extension(NEW);
        remove(&new)?;
        let step = |step| move |path: &Path, source| SocketError::Io { step, path: path.to_owned(), source };
        let listener = UnixListener::bind(&new).map_err(|err| step("create the socket")(&new, err))?;
        fs::set_permissions(&new, fs::Permissions::from_mode(0o600))
            .map_err(|err| step("set the permissions of")(&new, err))?;
        let metadata = fs::symlink_metadata(&new).map_err(|err| step("look at")(&new, err))?;
        fs::rename(&new, path).map_err(|err| step("rename the new socket to")(path, err))?;
        listener.set_nonblocking(true).map_err(|err| step("prepare")(path, err))?;
        Ok(Self { path: path.to_owned(), listener, identity: (metadata.dev(), metadata.ino()), _lock: lock })
    }

    /// Whether a daemon could listen on `path`, as far as that can be told without doing so.
    ///
    /// # Errors
    /// As of [`Self::bind`].
    pub(crate) fn could_bind(path: &Path) -> Result<(), SocketError> {
        check_length(path)?;
        refuse_if_alive(path)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The listener, not blocking.
    pub(super) fn listener(&self) -> io::Result<UnixListener> {
        self.listener.try_clone()
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        let ours = |metadata: fs::Metadata| (metadata.dev(), metadata.ino()) == self.identity;
        if fs::symlink_metadata(&self.path).is_ok_and(ours)
            && let Err(err) = fs::remove_file(&self.path)
        {
            tracing::warn!(path = %self.path.display(), %err, "failed to remove the control socket");
        }
    }
}

fn check_length(path: &Path) -> Result<(), SocketError> {
    let length = path.as_os_str().as_bytes().len();
    if length > MOST_BYTES {
        return Err(SocketError::TooLong { path: path.to_owned(), most: MOST_BYTES, found: length });
    }
    Ok(())
}

fn lock(path: &Path) -> Result<File, SocketError> {
    let lock_path = path.with_added_extension("lock");
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&lock_path)
        .map_err(|source| SocketError::Io { step: "create the lock file", path: lock_path.clone(), source })?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(SocketError::InUse { path: path.to_owned() }),
        Err(err) => Err(SocketError::Io { step: "lock", path: lock_path, source: err.into() }),
    }
}

/// A socket that nobody listens on may be replaced. One that somebody listens on may not, even without a lock: its
/// lock file may have been deleted.
fn refuse_if_alive(path: &Path) -> Result<(), SocketError> {
    match fs::symlink_metadata(path) {
        Err(err) if matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(()),
        Err(source) => return Err(SocketError::Io { step: "look at", path: path.to_owned(), source }),
        Ok(metadata) if !metadata.file_type().is_socket() => {
            return Err(SocketError::NotASocket { path: path.to_owned() });
        }
        Ok(_) => {}
    }
    match UnixStream::connect(path) {
        Err(err) if matches!(err.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => Ok(()),
        Err(source) => Err(SocketError::Io { step: "find out who listens on", path: path.to_owned(), source }),
        Ok(_) => Err(SocketError::InUse { path: path.to_owned() }),
    }
}

fn remove(path: &Path) -> Result<(), SocketError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(SocketError::Io { step: "remove the leftover", path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}
