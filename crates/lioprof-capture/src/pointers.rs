//! Where the journals of this node's daemons are, whatever their data directories: one small file for each in `/run/lioprof`.
//!
//! A journal is in the data directory, which only whoever started the daemon knows. Its pointer is written before any setting is
//! changed and deleted once everything is put back, so that `lioprof daemon --restore`, `doctor`, `status` and the next
//! start find what a killed daemon left. It outlives the daemon, but no reboot: neither do the settings.

use std::fs::{self, DirBuilder};
use std::hash::Hasher as _;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::durable;
use crate::journal::{Journal, JournalError, JournalFile, JournalStore};
use crate::lock;
use crate::system::machine::boot_id;

/// The one known place: root's own, gone after a reboot.
pub(crate) const FOLDER: &str = "/run/lioprof/journals";

/// One daemon's journal and how to reach the daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pointer {
    /// Directory that stands for `/`: a simulated server has daemons of its own.
    pub root: PathBuf,
    /// Data directory of the daemon, `keep.dir`; absolute.
    pub dir: PathBuf,
    /// The journal; there is none while nothing is changed.
    pub journal: PathBuf,
    /// Held while the daemon runs.
    pub lock: PathBuf,
    /// Where its segments are.
    pub spool: PathBuf,
    /// The daemon's socket.
    pub socket: PathBuf,
    /// Process id of the daemon that wrote this pointer; it may have ended.
    pub pid: u32,
}

impl Pointer {
    /// Of a daemon with this configuration, in this process.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self {
            root: canonical(&config.control.root),
            dir: config.keep.dir.clone(),
            journal: config.journal_path(),
            lock: config.lock_path(),
            spool: config.capture.spool_dir().to_owned(),
            socket: config.talk.socket.clone(),
            pid: std::process::id(),
        }
    }

    /// Does the daemon run? `None` if that cannot be told.
    #[must_use]
    pub fn is_running(&self) -> Option<bool> {
        lock::is_held(&self.lock)
    }

    /// What it changed and did not put back yet. What it changed before the last boot is no more.
    ///
    /// # Errors
    /// If there is a file that cannot be read as a journal.
    pub fn load(&self) -> Result<Option<Journal>, JournalError> {
        let of_this_boot = |journal: &Journal| {
            let now = boot_id(&self.root);
            journal.boot_id.is_none() || now.is_none() || journal.boot_id == now
        };
        Ok(JournalFile::new(&self.journal).load()?.filter(of_this_boot))
    }

    /// One name for one journal of one root.
    fn path(&self) -> PathBuf {
        let mut hasher = FxHasher::default();
        for part in [&self.root, &self.journal] {
            hasher.write(part.as_os_str().as_encoded_bytes());
            hasher.write_u8(0);
        }
        Path::new(FOLDER).join(format!("{:016x}.json", hasher.finish()))
    }

    /// The journal is gone for good, not only on a file system that is not mounted at the moment.
    fn is_stale(&self) -> bool {
        let gone =
            |path: &Path| matches!(fs::symlink_metadata(path), Err(err) if err.kind() == io::ErrorKind::NotFound);
        gone(&self.journal) && self.is_running() == Some(false) && (!gone(&self.dir) || gone(&self.root))
    }

    /// Deletes the pointer if nothing is left that it could lead to.
    pub(crate) fn forget_if_done(&self) {
        if self.is_stale() {
            self.remove();
        }
    }

    fn remove(&self) {
        if let Err(err) = fs::remove_file(self.path())
            && err.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(path = %self.path().display(), error = %err, "a pointer to a journal could not be deleted");
        }
    }
}

/// The pointer of the daemon that runs in this process. Dropping it deletes the pointer, unless the journal is still there.
#[derive(Debug)]
pub(crate) struct Registered(Pointer);

impl Registered {
    /// Writes the pointer. Without it the capture can be put back with its directory only, which is no reason not to start.
    pub(crate) fn new(config: &Config) -> Self {
        // Those of servers that are gone.
        all().iter().for_each(Pointer::forget_if_done);
        let pointer = Pointer::new(config);
        if let Err(err) = save(&pointer) {
            tracing::warn!(
                folder = FOLDER,
                error = %err,
                "no pointer to the journal: after a kill `lioprof daemon --restore` needs the same --dir"
            );
        }
        Self(pointer)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        if !self.0.journal.exists() {
            self.0.remove();
        }
    }
}

fn save(pointer: &Pointer) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(FOLDER)?;
    let path = pointer.path();
    durable::replace(&path, &path.with_extension("tmp"), &serde_json::to_vec(pointer)?)
}

/// All pointers, of all roots, in a fixed order. Files that are none are not ours.
fn all() -> Vec<Pointer> {
    let Ok(entries) = fs::read_dir(FOLDER) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths.iter().filter_map(|path| serde_json::from_slice(&fs::read(path).ok()?).ok()).collect()
}

/// The daemons of a node that run or have left a journal.
#[must_use]
pub fn of_root(root: &Path) -> Vec<Pointer> {
    let root = canonical(root);
    all().into_iter().filter(|pointer| pointer.root == root).collect()
}

/// The daemon with this configuration, whether it is registered or not, and then the others of its node.
#[must_use]
pub fn with_own(config: &Config) -> Vec<Pointer> {
    let mut own = Pointer::new(config);
    own.pid = lock::holder(&own.lock).unwrap_or(own.pid);
    let mut known = of_root(&config.control.root);
    let own = match known.iter().position(|other| other.journal == own.journal) {
        Some(at) => known.remove(at),
        None => own,
    };
    known.insert(0, own);
    known
}

fn canonical(root: &Path) -> PathBuf {
    root.canonicalize().unwrap_or_else(|_| root.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_before_a_reboot_is_nothing_to_put_back() {
        let dir = tempfile::tempdir().unwrap();
        let random = dir.path().join("proc/sys/kernel/random");
        fs::create_dir_all(&random).unwrap();
        let boots = |id: &str| fs::write(random.join("boot_id"), format!("{id}\n")).unwrap();
        let mut config = Config::default();
        config.control.root = dir.path().to_owned();
        config.keep.dir = dir.path().to_owned();
        let pointer = Pointer::new(&config);
        let of_boot = |id: Option<&str>| {
            let journal = Journal { boot_id: id.map(str::to_owned), pid: 7, ..Journal::default() };
            JournalFile::new(&pointer.journal).save(&journal).unwrap();
            pointer.load().unwrap().is_some()
        };
        boots("acd1b0ca");
        assert!(of_boot(Some("acd1b0ca")));
        assert!(!of_boot(Some("5e461eac")));
        // What is not known does not exclude it.
        assert!(of_boot(None));
        fs::remove_file(random.join("boot_id")).unwrap();
        assert!(of_boot(Some("5e461eac")));
    }
}
