//! What comes before tracing: checks, what an earlier daemon left behind, sockets.

use std::fs;
use std::path::Path;

use crate::config::Config;
use crate::control::Control;
use crate::doctor;
use crate::journal::restore::restore_leftover;
use crate::journal::{JournalFile, Report};
use crate::lock::{self, Lock};
use crate::system;

use super::DaemonError;

/// Undoes what a daemon that was killed left behind.
///
/// # Errors
/// If a daemon runs, or the journal cannot be read; what could not be undone is in the report.
pub fn restore(config: &Config) -> Result<Report, DaemonError> {
    if lock::is_held(&config.lock_path()) == Some(true) {
        return Err(DaemonError::InUse);
    }
    put_back(config)
}

fn put_back(config: &Config) -> Result<Report, DaemonError> {
    let root = &config.control.root;
    let mut store = JournalFile::new(&config.journal_path());
    let boot_id = system::boot::boot_id(root);
    let loaded = system::modules::debug_log_loaded(root);
    let open = || Control::open(root, config.control.access, &config.control.lctl);
    Ok(restore_leftover(&mut store, boot_id.as_deref(), loaded, open)?)
}

/// Makes the folders, takes the lock, puts back what a killed daemon left, and looks whether the node can be traced.
pub(super) fn prepare(config: &Config) -> Result<Lock, DaemonError> {
    make_folder(&config.keep.dir)?;
    make_folder(&config.capture.spool_dir)?;
    let lock = Lock::take(&config.lock_path())?;
    let report = put_back(config)?;
    if !report.is_complete() {
        return Err(DaemonError::NotRestored(Box::new(report)));
    }
    if !report.settings.is_empty() {
        tracing::warn!(%report, "an earlier daemon was killed; its settings were put back");
    }
    let mut checks = doctor::preflight(config);
    // That other daemon is this one.
    checks.retain(|check| check.id != doctor::OTHER_DAEMON);
    if !doctor::may_start(&checks) {
        let failed: Vec<_> = checks.into_iter().filter(|check| check.status == doctor::Status::Failed).collect();
        return Err(DaemonError::Preflight(doctor::text(&failed)));
    }
    for check in checks.iter().filter(|check| check.status == doctor::Status::Warning) {
        tracing::warn!(check = %check.id, remedy = %check.remedy, "{}", check.found);
    }
    Ok(lock)
}

fn make_folder(path: &Path) -> Result<(), DaemonError> {
    fs::create_dir_all(path).map_err(|err| DaemonError::Folder { path: path.to_owned(), err })
}
