//! How a session was captured, kept beside its segments: who decodes them after a crash describes the capture and not the node
//! as it is then.
//!
//! The journal would not do: it is removed when the settings are put back, which comes before the segments are decoded.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::left_out::LeftOut;
use super::spool::{leftovers, session_of};
use crate::control::lustre::Target;

/// `SESSION.json`.
const RECORD: &str = "json";

/// What is known of a session besides its log. Keys may be added; what is not there is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionRecord {
    /// Version of the Lustre modules.
    pub lustre_version: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Boot id of the kernel.
    pub boot_id: Option<String>,
    /// `debug` while it was traced, as the kernel printed it.
    pub debug: String,
    /// `subsystem_debug`, likewise.
    pub subsystem_debug: String,
    /// Size of the debug buffer as the kernel showed it.
    pub debug_mb: Option<u64>,
    /// `full` or `light`.
    pub profile: String,
    /// The node's targets.
    pub targets: Vec<Target>,
    /// Size limit of the kernel's file, MiB.
    pub file_limit_mib: Option<u64>,
    /// What was in the kernel's buffer before.
    pub left_out: LeftOut,
    /// Stretches in which tracing was on; the last one may be open.
    pub traced_us: Vec<(i64, Option<i64>)>,
    /// Tracing was switched off in between.
    pub sampled: bool,
    /// Data directory that its rows belong into.
    pub keep_dir: Option<PathBuf>,
}

impl SessionRecord {
    fn path(dir: &Path, session: &str) -> PathBuf {
        dir.join(format!("{session}.{RECORD}"))
    }

    /// The record of a session; `None` if there is none that can be read.
    #[must_use]
    pub fn read(dir: &Path, session: &str) -> Option<Self> {
        let path = Self::path(dir, session);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(err) if err.kind() == io::ErrorKind::NotFound => return None,
            Err(err) => {
                tracing::warn!(path = %path.display(), error = %err, "how the segments were captured cannot be read");
                return None;
            }
        };
        let read = serde_json::from_slice(&bytes);
        read.inspect_err(
            |err| tracing::warn!(path = %path.display(), error = %err, "how the segments were captured cannot be read"),
        )
        .ok()
    }

    /// Writes the record of a session, synced, in place of the one before.
    ///
    /// # Errors
    /// If it cannot be written; then the one before is still there.
    pub fn write(&self, dir: &Path, session: &str) -> io::Result<()> {
        let path = Self::path(dir, session);
        let temporary = path.with_extension("tmp");
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(&serde_json::to_vec_pretty(self)?)?;
        file.sync_all()?;
        fs::rename(&temporary, &path)?;
        File::open(dir)?.sync_all()
    }
}

/// Deletes the records of sessions of which no segment is left, but for that of the one that goes on.
///
/// # Errors
/// If the folder cannot be read, or a file cannot be deleted.
pub fn remove_records(dir: &Path, current: Option<&str>) -> io::Result<()> {
    let left: Vec<Option<String>> = leftovers(dir)?.iter().map(|segment| session_of(&segment.path)).collect();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let is_record = path.extension().is_some_and(|extension| extension == RECORD || extension == "tmp");
        if let Some(session) = session_of(&path).filter(|_| is_record)
            && current != Some(session.as_str())
            && !left.contains(&Some(session))
        {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::spool::session_name;
    use super::*;

    #[test]
    fn a_record_lives_as_long_as_its_segments() {
        let dir = tempfile::tempdir().unwrap();
        let [gone, left, current] = [1, 2, 3].map(session_name);
        let record = SessionRecord { debug: "rpctrace".to_owned(), file_limit_mib: Some(64), ..Default::default() };
        for session in [&gone, &left, &current] {
            record.write(dir.path(), session).unwrap();
        }
        fs::write(dir.path().join(format!("{left}-00000007.seg")), b"x").unwrap();
        fs::write(dir.path().join("notes.json"), b"x").unwrap();
        remove_records(dir.path(), Some(&current)).unwrap();
        assert_eq!(SessionRecord::read(dir.path(), &gone), None);
        assert_eq!(SessionRecord::read(dir.path(), &left), Some(record.clone()));
        assert_eq!(SessionRecord::read(dir.path(), &current), Some(record));
        assert!(dir.path().join("notes.json").exists());
        fs::write(dir.path().join(format!("{left}.json")), b"rubbish").unwrap();
        assert_eq!(SessionRecord::read(dir.path(), &left), None);
    }
}
