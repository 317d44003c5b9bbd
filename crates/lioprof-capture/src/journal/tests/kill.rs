//! `SIGKILL` at every stage: the process dies after each single effect on the kernel or the disk in turn.

use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::control::lustre::LustreVersion;
use crate::control::profile::Profile;
use crate::control::tests::fake::FakeKernel;
use crate::journal::restore::restore_leftover;
use crate::journal::{Journal, JournalError, JournalFile, JournalStore, Report, Session, SessionError};

/// The journal of a process that can be killed.
#[derive(Debug)]
pub(super) struct Mortal<S> {
    kernel: FakeKernel,
    store: S,
}

impl<S: JournalStore> Mortal<S> {
    pub(super) fn new(kernel: &FakeKernel, store: S) -> Self {
        Self { kernel: kernel.clone(), store }
    }

    fn effect(&self) -> Result<(), JournalError> {
        self.kernel.effect().map_err(|source| JournalError::Io { action: "write", path: "journal".into(), source })
    }
}

/// A disk that is never slow, for the tests that write a great deal. Clones are the same one.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory(pub(super) Arc<Mutex<Option<Journal>>>);

impl JournalStore for Memory {
    fn load(&self) -> Result<Option<Journal>, JournalError> {
        Ok(self.0.lock().unwrap().clone())
    }

    fn save(&mut self, journal: &Journal) -> Result<(), JournalError> {
        *self.0.lock().unwrap() = Some(journal.clone());
        Ok(())
    }

    fn remove(&mut self) -> Result<(), JournalError> {
        *self.0.lock().unwrap() = None;
        Ok(())
    }
}

impl<S: JournalStore> JournalStore for Mortal<S> {
    fn load(&self) -> Result<Option<Journal>, JournalError> {
        self.store.load()
    }

    fn save(&mut self, journal: &Journal) -> Result<(), JournalError> {
        self.effect()?;
        self.store.save(journal)
    }

    fn remove(&mut self) -> Result<(), JournalError> {
        self.effect()?;
        self.store.remove()
    }
}

pub(super) fn restore_from(kernel: &FakeKernel, store: impl JournalStore) -> Result<Report, JournalError> {
    let mut store = Mortal::new(kernel, store);
    let boot = kernel.state().boot.to_string();
    restore_leftover(&mut store, Some(&boot), Some(true), || Ok(kernel.control()))
}

fn restore_now(kernel: &FakeKernel, path: &Path) -> Result<Report, JournalError> {
    restore_from(kernel, JournalFile::new(path))
}

/// A capture with everything that a capture can do.
fn capture(kernel: &FakeKernel, path: &Path) -> Result<Report, SessionError> {
    let version = LustreVersion::parse("2.15.8");
    let mut session = Session::begin(kernel.control(), Box::new(Mortal::new(kernel, JournalFile::new(path))))?;
    session.set_buffer(40)?;
    session.empty_buffer(Path::new("/dev/null"))?;
    session.start_daemon(Path::new("/run/lioprof/log"), 64)?;
    session.trace(Profile::Full, version.as_ref())?;
    session.set_buffer(80)?;
    session.trace(Profile::Light, version.as_ref())?;
    session.pause()?;
    session.trace(Profile::Full, version.as_ref())?;
    Ok(session.end())
}

/// Number of effects of a whole capture.
fn effects() -> u32 {
    let dir = tempfile::tempdir().unwrap();
    (1..)
        .find(|&life| {
            let kernel = FakeKernel::new(2);
            kernel.set_life(Some(life));
            capture(&kernel, &dir.path().join(life.to_string())).is_ok_and(|report| report.is_complete())
                && !kernel.is_dead()
        })
        .unwrap()
}

#[test]
fn a_capture_leaves_no_trace() {
    let kernel = FakeKernel::new(2);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.json");
    assert!(capture(&kernel, &path).unwrap().is_complete());
    assert_eq!(kernel.state(), FakeKernel::new(2).state());
    assert!(!path.exists());
}

#[test]
fn the_order_of_the_writes() {
    let kernel = FakeKernel::new(2);
    let dir = tempfile::tempdir().unwrap();
    capture(&kernel, &dir.path().join("journal.json")).unwrap();
    let writes = kernel.take_writes();
    let settings: Vec<_> = writes.iter().map(|write| write.split_once('=').unwrap().0).collect();
    let expected = [
        "debug_mb",
        "daemon_file",     // size
        "daemon_file",     // a path for what is in the buffer
        "daemon_file",     // stop
        "daemon_file",     // size
        "daemon_file",     // path
        "subsystem_debug", // limited before ..
        "debug",           // .. net goes on
        "debug_mb",
        "debug",           // light: net goes off before ..
        "subsystem_debug", // .. the limit is lifted
        "debug",           // pause; the subsystems are as they were
        "subsystem_debug",
        "debug",
        "debug", // end
        "subsystem_debug",
        "daemon_file", // stop
        "daemon_file", // size
        "debug_mb",
    ];
    assert_eq!(settings, expected, "{writes:#?}");
    assert!(writes[7].starts_with("debug=+dlmtrace +net +rpctrace"));
}

#[test]
fn killed_anywhere_then_restored() {
    let all = effects();
    assert!(all > 25, "{all}");
    for life in 0..all {
        let kernel = FakeKernel::new(2);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.json");
        kernel.set_life(Some(life));
        let ended = capture(&kernel, &path).is_ok_and(|report| report.is_complete());
        assert!(!ended || kernel.is_dead(), "life {life}");
        kernel.set_life(None);

        assert!(restore_now(&kernel, &path).unwrap().is_complete());
        assert_eq!(kernel.state(), FakeKernel::new(2).state(), "killed after {life} effects");
        assert!(!path.exists());
        kernel.take_writes();
        restore_now(&kernel, &path).unwrap();
        assert!(kernel.take_writes().is_empty(), "the second time changes nothing");
    }
}

#[test]
fn killed_anywhere_and_again_while_restoring() {
    for life in 0..effects() {
        for second in 0..8 {
            let kernel = FakeKernel::new(2);
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("journal.json");
            kernel.set_life(Some(life));
            drop(capture(&kernel, &path));
            kernel.set_life(Some(second));
            drop(restore_now(&kernel, &path));
            kernel.set_life(None);
            assert!(restore_now(&kernel, &path).unwrap().is_complete());
            assert_eq!(kernel.state(), FakeKernel::new(2).state(), "killed after {life}, then after {second} effects");
        }
    }
}

#[test]
fn a_panic_puts_everything_back() {
    let kernel = FakeKernel::new(2);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.json");
    let doomed = kernel.clone();
    let journal = path.clone();
    let result = std::thread::spawn(move || {
        let mut session =
            Session::begin(doomed.control(), Box::new(Mortal::new(&doomed, JournalFile::new(&journal)))).unwrap();
        session.trace(Profile::Full, None).unwrap();
        panic!("a bug");
    })
    .join();
    assert!(result.is_err());
    assert_eq!(kernel.state(), FakeKernel::new(2).state());
    assert!(!path.exists());
}

#[test]
fn no_journal_no_change() {
    let kernel = FakeKernel::new(2);
    let store = JournalFile::new(Path::new("/proc/nonexistent/journal.json"));
    let mut session = Session::begin(kernel.control(), Box::new(store)).unwrap();
    assert!(matches!(session.trace(Profile::Full, None), Err(SessionError::Journal(_))));
    assert!(session.set_buffer(40).is_err());
    assert!(session.start_daemon(Path::new("/run/lioprof/log"), 64).is_err());
    assert_eq!(kernel.state(), FakeKernel::new(2).state());
    assert!(kernel.take_writes().is_empty());
}

#[test]
fn refuses_a_leftover_and_somebody_elses_daemon() {
    let kernel = FakeKernel::new(2);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.json");
    kernel.set_life(Some(6));
    drop(capture(&kernel, &path));
    kernel.set_life(None);
    let begin = || Session::begin(kernel.control(), Box::new(Mortal::new(&kernel, JournalFile::new(&path))));
    assert!(matches!(begin(), Err(SessionError::Leftover)));
    restore_now(&kernel, &path).unwrap();

    kernel.other(|state| state.daemon_file = "/var/tmp/theirs".to_owned());
    let error = begin().unwrap_err().to_string();
    assert!(error.contains("/var/tmp/theirs"), "{error}");
}
