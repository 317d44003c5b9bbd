//! Startup: checks, undoing what an earlier daemon left behind, sockets.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::config::{Auto, Config};
use crate::control::Control;
use crate::doctor;
use crate::drain::LeftLog;
use crate::journal::restore::restore_leftover;
use crate::journal::{JournalFile, Report};
use crate::lock::{self, Lock};
use crate::pointers::{self, Pointer, Registered};
use crate::system;

use super::DaemonError;

/// What became of the settings that killed daemons left changed, and what they left besides.
#[derive(Clone, Debug)]
pub struct Restored {
    /// The settings.
    pub report: Report,
    /// Log that nobody has decoded yet.
    pub left: Vec<LeftLog>,
}

/// Restores the settings that killed daemons left changed, whatever their data directories.
///
/// # Errors
/// If a daemon is running, or a journal cannot be read. Settings that could not be restored are in the report.
pub fn restore(config: &Config) -> Result<Restored, DaemonError> {
    let known = pointers::with_own(config);
    if let Some(running) = known.iter().find(|pointer| lock::is_held(&pointer.lock) == Some(true)) {
        return Err(DaemonError::InUse { socket: running.socket.clone() });
    }
    let report = put_back(config, &known)?;
    let mut spools = config.spool_dirs();
    spools.extend(known.into_iter().map(|pointer| pointer.spool));
    spools.sort_unstable();
    spools.dedup();
    let left = spools.iter().map(|spool| LeftLog::of(spool)).filter(|left| left.bytes > 0).collect();
    Ok(Restored { report, left })
}

fn put_back(config: &Config, known: &[Pointer]) -> Result<Report, DaemonError> {
    let root = &config.control.root;
    let boot_id = system::machine::boot_id(root);
    let loaded = system::modules::debug_log_loaded(root);
    let mut all = Report::default();
    for pointer in known {
        let mut store = JournalFile::new(&pointer.journal);
        let open = || Control::open(root, config.control.access, &config.control.lctl);
        all.add_report(restore_leftover(&mut store, boot_id.as_deref(), loaded, open)?);
        pointer.forget_if_done();
    }
    Ok(all)
}

/// A node that is ready to be traced.
pub(super) struct Prepared {
    /// The configuration with all automatic settings chosen.
    pub(super) config: Config,
    /// Killed daemons with other data directories, where the rows of their segments belong.
    pub(super) killed: Vec<Pointer>,
    /// Files that this start created and must remove if it is refused.
    pub(super) made: Made,
    _pointer: Registered,
    _lock: Lock,
}

/// Creates the folders, takes the lock, restores what killed daemons changed, and checks that the node can be traced.
pub(super) fn prepare(config: &Config) -> Result<Prepared, DaemonError> {
    let mut made = Made::default();
    made.folder(&config.keep.dir)?;
    made.file(config.lock_path());
    let lock = Lock::take(&config.lock_path())?;
    let known = pointers::with_own(config);
    let others = known.iter().filter(|pointer| pointer.lock != config.lock_path());
    if let Some(other) = others.clone().find(|pointer| pointer.is_running() == Some(true)) {
        return Err(DaemonError::OtherDaemon(Box::new(other.clone())));
    }
    let killed: Vec<Pointer> = others.filter(|pointer| pointer.journal.exists()).cloned().collect();
    let report = put_back(config, &known)?;
    if !report.is_complete() {
        return Err(DaemonError::NotRestored(Box::new(report)));
    }
    if !report.settings.is_empty() {
        tracing::warn!(%report, "an earlier daemon was killed; restored its settings");
    }
    let config = doctor::settled(config);
    let mut checks = doctor::preflight(&config);
    // That other daemon is this one; there is none besides.
    checks.retain(|check| check.id != doctor::OTHER_DAEMON);
    if !doctor::may_start(&checks) {
        let failed: Vec<_> = checks.into_iter().filter(|check| check.status == doctor::Status::Failed).collect();
        return Err(DaemonError::Preflight(doctor::text(&failed)));
    }
    for check in checks.iter().filter(|check| check.status == doctor::Status::Warning) {
        tracing::warn!(check = %check.id, remedy = %check.remedy, "{}", check.found);
    }
    let capture = &config.capture;
    tracing::info!(
        directory = %capture.spool_dir().display(),
        limit_mib = capture.spool_limit_mib(),
        segment_mib = capture.segment_mib(),
        "chose directory and size of the segments"
    );
    made.folder(capture.spool_dir())?;
    if let Some(folder) = config.talk.socket.parent() {
        made.folder(folder)?;
    }
    made.file(config.talk.socket.with_added_extension("lock"));
    if let Err(err) = made.folder(Path::new(pointers::FOLDER)) {
        tracing::debug!("{err}");
    }
    let pointer = Registered::new(&config);
    Ok(Prepared { config, killed, made, _pointer: pointer, _lock: lock })
}

/// Removes the folder of segments again if it was chosen automatically and is empty.
pub(super) fn tidy(asked: &Config, config: &Config) {
    if asked.capture.spool_dir == Auto::Auto && config.capture.spool_dir().starts_with(&config.keep.dir) {
        // It stays if there are segments in it.
        drop(fs::remove_dir(config.capture.spool_dir()));
    }
}

/// Folders and files that a start created. Dropping it removes them unless the start succeeded, so that a refused start
/// leaves nothing behind.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// In the order of creation: outer folders first.
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl Made {
    /// Creates a folder and its parents, readable for root only: they will contain NIDs, job ids and user ids.
    fn folder(&mut self, path: &Path) -> Result<(), DaemonError> {
        let missing: Vec<PathBuf> = path.ancestors().take_while(|path| !path.exists()).map(Path::to_owned).collect();
        for folder in missing.iter().rev() {
            fs::DirBuilder::new().mode(0o700).create(folder).map_err(|source| DaemonError::Io {
                doing: "create the directory",
                path: path.to_owned(),
                source,
            })?;
            self.folders.push(folder.clone());
        }
        if path.is_dir() {
            Ok(())
        } else {
            Err(DaemonError::Io {
                doing: "create the directory",
                path: path.to_owned(),
                source: std::io::ErrorKind::NotADirectory.into(),
            })
        }
    }

    /// A file that will be made in one of the folders, if this start has made that folder: in any other one somebody may wait
    /// for the lock that it is.
    fn file(&mut self, path: PathBuf) {
        if path.parent().is_some_and(|parent| self.folders.iter().any(|folder| folder == parent)) {
            self.files.push(path);
        }
    }

    /// The start has succeeded.
    pub(super) fn keep(&mut self) {
        self.folders.clear();
        self.files.clear();
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for file in &self.files {
            drop(fs::remove_file(file));
        }
        // What somebody else has put into one of them stays.
        for folder in self.folders.iter().rev() {
            drop(fs::remove_dir(folder));
        }
    }
}
