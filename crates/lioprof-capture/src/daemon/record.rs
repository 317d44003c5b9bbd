//! Describes how a session was captured, in a file beside its segments: a daemon that decodes them after a crash must
//! describe the node as it was during the capture.
//!
//! The journal cannot hold this: it is removed when the settings are restored, before the segments are decoded.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::facts::NodeFacts;
use crate::drain::{leftovers, session_of};
use crate::durable;

/// `SESSION.json`.
const RECORD: &str = "json";

fn path(dir: &Path, session: &str) -> PathBuf {
    dir.join(format!("{session}.{RECORD}"))
}

/// The record of a session; `None` if there is none that can be read.
pub(super) fn read(dir: &Path, session: &str) -> Option<NodeFacts> {
    let path = path(dir, session);
    let read = match fs::read(&path) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => return None,
        bytes => bytes.and_then(|bytes| Ok(serde_json::from_slice(&bytes)?)),
    };
    read.inspect_err(
        |err| tracing::warn!(path = %path.display(), error = %err, "failed to read how the segments were captured"),
    )
    .ok()
}

/// The record of a session.
pub(super) fn of(facts: &NodeFacts) -> io::Result<Vec<u8>> {
    Ok(serde_json::to_vec_pretty(facts)?)
}

/// Writes the record of a session in place of the one before, which stays if that fails.
pub(super) fn write(record: &[u8], dir: &Path, session: &str) -> io::Result<()> {
    let path = path(dir, session);
    durable::replace(&path, &path.with_extension("tmp"), record)
}

/// Deletes the records of sessions without segments, except that of the current session.
pub(super) fn remove(dir: &Path, current: Option<&str>) -> io::Result<()> {
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
    use super::*;
    use crate::drain::session_name;

    #[test]
    fn a_record_lives_as_long_as_its_segments() {
        let dir = tempfile::tempdir().unwrap();
        let [gone, left, current] = [1, 2, 3].map(session_name);
        let record = NodeFacts { profile: "full".to_owned(), file_limit_mib: Some(64), ..NodeFacts::default() };
        for session in [&gone, &left, &current] {
            write(&of(&record).unwrap(), dir.path(), session).unwrap();
        }
        fs::write(dir.path().join(format!("{left}-00000007.seg")), b"x").unwrap();
        fs::write(dir.path().join("notes.json"), b"x").unwrap();
        remove(dir.path(), Some(&current)).unwrap();
        assert_eq!(read(dir.path(), &gone), None);
        assert_eq!(read(dir.path(), &left), Some(record.clone()));
        assert_eq!(read(dir.path(), &current), Some(record));
        assert!(dir.path().join("notes.json").exists());
        fs::write(dir.path().join(format!("{left}.json")), b"rubbish").unwrap();
        assert_eq!(read(dir.path(), &left), None);
    }
}
