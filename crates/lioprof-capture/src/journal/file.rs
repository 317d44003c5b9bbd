//! The journal on disk.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Journal;
use crate::control::Param;
use crate::durable::{self, directory};

/// Storage of a journal.
pub(crate) trait JournalStore: std::fmt::Debug + Send {
    /// Reads the journal, if there is one.
    fn load(&self) -> Result<Option<Journal>, JournalError>;
    /// Replaces the journal, durably.
    fn save(&mut self, journal: &Journal) -> Result<(), JournalError>;
    /// Removes the journal; succeeds if there is none.
    fn remove(&mut self) -> Result<(), JournalError>;
}

/// The journal cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Disk full, no permission, ...
    #[error("failed to {action} the journal `{}`; without it lioprof changes no setting", path.display())]
    Io {
        /// `read`, `write`, `remove`.
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// Not a journal, or one of a later lioprof.
    #[error(
        "`{}` is not a journal that this lioprof knows: expected the format {FORMAT}; use the lioprof that wrote it, or compare by hand \
         with `lctl get_param {}` and delete it",
        path.display(),
        names()
    )]
    Format { path: PathBuf, source: serde_json::Error },
}

fn names() -> String {
    Param::settings().map(Param::name).collect::<Vec<_>>().join(" ")
}

const FORMAT: &str = "lioprof.journal/1";

/// The file's content, by format.
#[derive(Serialize, Deserialize)]
#[serde(tag = "format")]
enum Stored {
    #[serde(rename = "lioprof.journal/1")]
    V1(Journal),
}

/// One file, replaced as a whole: temporary file, fsync, rename, fsync of the directory.
#[derive(Debug)]
pub(crate) struct JournalFile {
    path: PathBuf,
    /// The journal on disk, if known.
    saved: Option<Journal>,
}

impl JournalFile {
    /// The journal at `path`, whose directory is created at the first write.
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), saved: None }
    }

    fn failed(&self, action: &'static str) -> impl FnOnce(io::Error) -> JournalError {
        let path = self.path.clone();
        move |source| JournalError::Io { action, path, source }
    }

    fn replace(&self, text: &[u8]) -> io::Result<()> {
        fs::create_dir_all(directory(&self.path))?;
        durable::replace(&self.path, &self.path.with_added_extension("tmp"), text)
    }
}

impl JournalStore for JournalFile {
    fn load(&self) -> Result<Option<Journal>, JournalError> {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(err) => return Err(self.failed("read")(err)),
        };
        match serde_json::from_slice(&bytes) {
            Ok(Stored::V1(journal)) => Ok(Some(journal)),
            Err(source) => Err(JournalError::Format { path: self.path.clone(), source }),
        }
    }

    fn save(&mut self, journal: &Journal) -> Result<(), JournalError> {
        if self.saved.as_ref() == Some(journal) {
            return Ok(());
        }
        let mut text = serde_json::to_vec_pretty(&Stored::V1(journal.clone()))
            .map_err(|err| self.failed("write")(io::Error::other(err)))?;
        text.push(b'\n');
        // If this fails, the disk may hold either.
        self.saved = None;
        self.replace(&text).map_err(self.failed("write"))?;
        self.saved = Some(journal.clone());
        Ok(())
    }

    fn remove(&mut self) -> Result<(), JournalError> {
        self.saved = None;
        match fs::remove_file(&self.path) {
            Ok(()) => File::open(directory(&self.path)).and_then(|dir| dir.sync_all()).map_err(self.failed("remove")),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(err) => Err(self.failed("remove")(err)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::masks::MaskSet;
    use crate::journal::size::SizeChange;
    use crate::journal::{Change, DaemonChange, MaskChange};
    use std::os::unix::fs::PermissionsExt;

    fn journal() -> Journal {
        let mut journal = Journal { boot_id: Some("b".into()), pid: 7, since_us: 1, ..Journal::default() };
        let (old, switched_on) = (MaskSet::of(&["ha"]), MaskSet::of(&["rpctrace"]));
        let mask = MaskChange { old, switched_on, switched_off: MaskSet::default() };
        let daemon = DaemonChange { path: "/run/lioprof/log".into(), size_mib: 64 };
        journal.set(Param::Debug, Change::Mask(mask));
        journal.set(Param::DebugMb, Change::Size(SizeChange { old_mib: 321, written_mib: vec![1280, 1281] }));
        journal.set(Param::DaemonFile, Change::Daemon(daemon));
        journal
    }

    /// As lioprof has written it since there is this format.
    const STORED: &str = r#"{
  "format": "lioprof.journal/1",
  "boot_id": "b",
  "pid": 7,
  "since_us": 1,
  "debug": {
    "old": [
      "ha"
    ],
    "switched_on": [
      "rpctrace"
    ],
    "switched_off": []
  },
  "debug_mb": {
    "old_mib": 321,
    "written_mib": [
      1280,
      1281
    ]
  },
  "daemon": {
    "path": "/run/lioprof/log",
    "size_mib": 64
  }
}
"#;

    #[test]
    fn other_versions_read_and_write_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.json");
        fs::write(&path, STORED).unwrap();
        assert_eq!(JournalFile::new(&path).load().unwrap(), Some(journal()));
        JournalFile::new(&path).save(&journal()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), STORED);
        // A change that is not of its parameter's kind, and one that nobody knows how to undo.
        for (known, unknown) in
            [("\"debug_mb\"", "\"subsystem_debug\""), ("\"daemon\"", "\"debug_path\""), ("size_mib", "size_kib")]
        {
            fs::write(&path, STORED.replace(known, unknown)).unwrap();
            assert!(JournalFile::new(&path).load().is_err(), "{unknown}");
        }
    }

    #[test]
    fn round_trip_private_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/journal.json");
        let mut file = JournalFile::new(&path);
        assert_eq!(file.load().unwrap(), None);
        file.remove().unwrap();
        file.save(&journal()).unwrap();
        assert_eq!(JournalFile::new(&path).load().unwrap(), Some(journal()));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        file.remove().unwrap();
        assert_eq!(file.load().unwrap(), None);
    }

    #[test]
    fn a_kill_before_the_rename_leaves_the_old_journal() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.json");
        let mut file = JournalFile::new(&path);
        file.save(&journal()).unwrap();
        // As left behind by a process that died while writing the temporary file.
        fs::write(dir.path().join("journal.json.tmp"), b"{\"format\":\"liopr").unwrap();
        assert_eq!(file.load().unwrap(), Some(journal()));
        let next = Journal { pid: 8, ..journal() };
        JournalFile::new(&path).save(&next).unwrap();
        assert_eq!(file.load().unwrap(), Some(next));
    }

    #[test]
    fn what_is_no_journal_is_an_error_that_helps() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.json");
        for text in ["", "{}", "{\"format\":\"lioprof.journal/2\"}", "{\"format\":\"lioprof.journal/1\",\"pid\":1}"] {
            fs::write(&path, text).unwrap();
            let error = JournalFile::new(&path).load().unwrap_err().to_string();
            assert!(error.contains("lioprof.journal/1") && error.contains("lctl get_param"), "{error}");
        }
    }

    #[test]
    fn a_full_or_forbidden_disk_is_named() {
        let mut file = JournalFile::new(Path::new("/proc/nonexistent/journal.json"));
        let error = file.save(&journal()).unwrap_err().to_string();
        assert!(error.contains("/proc/nonexistent/journal.json") && error.contains("changes no setting"), "{error}");
    }
}
