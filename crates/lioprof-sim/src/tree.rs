//! The control tree: a directory that looks like the `/` of a Lustre server, as a FUSE file system.
//!
//! Below it are `/proc`, `/sys` and `/dev/kmsg` as far as a profiler looks at them, `bin/lctl` (a stand-in for
//! Lustre's tool that works on these files), and two files of the simulator: `sim/ctl` (commands, and the state as
//! JSON) and `sim/account` (what was logged and lost, as JSON).
//!
//! Commands for `sim/ctl`, one per write: `unload` and `load` the modules, `load lnet` only those of LNet; `stall on|off` the debug daemon's
//! thread; `enospc BYTES|off`, room left on the daemon's disk; `clockstep MICROSECONDS`; `burst RECORDS`, many at once; `old RECORDS`, of the
//! hour before; `pause`, `resume`, `start`, `quit` for a player; `mark TEXT` and `clear`, which are ioctls before Lustre 2.15.62.

mod content;
mod director;
mod files;
mod fs;
mod kmsg;
mod layout;
mod node;
mod state;
mod stats;
mod system;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use fuser::{BackgroundSession, Config, MountOption, Session, SessionACL};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};

pub use director::Director;
pub(crate) use stats::DISK;
pub use stats::{FixedStats, Stats};

use crate::kernel::Kernel;
use content::Server;
use fs::TreeFs;

/// Requests answered at the same time: stopping the daemon and reading `/dev/kmsg` wait.
const THREADS: usize = 4;
/// Dropping the tree waits so long for files that are still open.
const PATIENCE: Duration = Duration::from_secs(2);

/// A tree could not be mounted.
#[derive(Debug, thiserror::Error)]
#[error("failed to mount the simulated server on `{}`: root and /dev/fuse are needed, and an empty directory", directory.display())]
pub struct MountError {
    /// Directory on which the tree should have been mounted.
    pub directory: PathBuf,
    /// Why.
    #[source]
    pub err: io::Error,
}

/// A mounted tree; dropping it unmounts.
#[derive(Debug)]
pub struct Tree {
    directory: PathBuf,
    session: Option<BackgroundSession>,
}

impl Tree {
    /// Mounts the tree of a server on `directory`, which must exist.
    ///
    /// # Errors
    /// If mounting is not possible.
    pub fn mount(
        directory: &Path,
        kernel: Arc<Kernel>,
        stats: Arc<dyn Stats>,
        director: Arc<Director>,
    ) -> Result<Self, MountError> {
        let error = |err| MountError { directory: directory.to_owned(), err };
        remove_dead_mount(directory);
        let directory = directory.canonicalize().map_err(error)?;
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName("lioprof-sim".to_owned()),
            MountOption::Subtype("lioprof-sim".to_owned()),
            MountOption::DefaultPermissions,
            MountOption::NoAtime,
        ];
        // The modes of the files decide, as on a server.
        config.acl = SessionACL::All;
        config.n_threads = Some(THREADS);
        let fs = TreeFs::new(Server { kernel, stats, director });
        let session = Session::new(fs, &directory, &config).and_then(Session::spawn).map_err(error)?;
        Ok(Self { directory, session: Some(session) })
    }

    /// Where the tree is mounted.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let Some(session) = self.session.take() else { return };
        // Lazily: a process that still has a file open does not keep the directory busy.
        let detached = unmount(&self.directory, UnmountFlags::DETACH);
        let deadline = Instant::now() + PATIENCE;
        while detached.is_ok() && !session.guard.is_finished() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A simulator that was killed leaves a mount point behind that nobody serves.
fn remove_dead_mount(directory: &Path) {
    let dead = rustix::fs::stat(directory).is_err_and(|errno| errno == Errno::NOTCONN);
    if dead && unmount(directory, UnmountFlags::DETACH).is_err() {
        // Mounting will fail and say why.
    }
}
