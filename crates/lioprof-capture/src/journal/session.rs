//! Changes the settings for a capture in the one safe order, and restores them.
//!
//! Every change is three steps, so that a kill between any two of them leaves a journal from which everything can be
//! undone: (1) the journal says what will be changed, safe on disk; (2) one write to the kernel, looked at; (3) the journal
//! says what is changed now. Step 3 only makes the journal smaller or more exact, so its failure (a full disk) is not
//! fatal, and undoing never needs step 1.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lioprof_model::with_causes;

use super::change::Change;
use super::daemon::DaemonChange;
use super::outcome::Foreign;
use super::restore::{self, Report};
use super::size::SizeChange;
use super::{Journal, JournalError, JournalStore};
use crate::control::lustre::LustreVersion;
use crate::control::masks::MaskSet;
use crate::control::param::Kind;
use crate::control::profile::{Profile, Wanted};
use crate::control::{Control, ControlError, Param, SMALLEST_DAEMON_SIZE_MIB};

/// By then the kernel's new thread has run, even on a busy machine.
const THREAD_BEGINS: Duration = Duration::from_millis(100);

/// The settings cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Somebody else's debug daemon is running: a node has only one.
    #[error(
        "somebody else's debug daemon writes `{}`; a node has only one. If nobody needs it: `lctl debug_daemon stop`",
        path.display()
    )]
    DaemonRuns { path: PathBuf },
    /// The settings of an earlier capture were not restored.
    #[error("an earlier lioprof left changed settings behind: run `lioprof daemon --restore` first")]
    Leftover,
    /// A setting cannot be read or changed.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// A capture's changes to the kernel's settings. Dropping it restores them.
#[derive(Debug)]
pub(crate) struct Session {
    /// The node's settings.
    pub(crate) control: Control,
    store: Box<dyn JournalStore>,
    journal: Journal,
    /// Masks at the last look.
    seen: BTreeMap<Param, MaskSet>,
    /// The profile that was requested last.
    pub(crate) tracing: Option<Profile>,
    ended: bool,
}

impl Session {
    /// Takes control of the node's settings without changing any yet.
    pub(crate) fn begin(control: Control, store: Box<dyn JournalStore>) -> Result<Self, SessionError> {
        if store.load()?.is_some() {
            return Err(SessionError::Leftover);
        }
        if let Some(path) = control.daemon_file()? {
            return Err(SessionError::DaemonRuns { path });
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let journal = Journal {
            boot_id: control.boot_id(),
            pid: std::process::id(),
            since_us: u64::try_from(since.as_micros()).unwrap_or(u64::MAX),
            ..Journal::default()
        };
        let seen = Param::masks().map(|param| Ok((param, control.mask(param)?)));
        let seen = seen.collect::<Result<_, ControlError>>()?;
        Ok(Self { control, store, journal, seen, tracing: None, ended: false })
    }

    /// Sets the debug buffer's size, see [`crate::control::sizing`], unless it is set already, and returns the size that the
    /// kernel then shows.
    pub(crate) fn set_buffer(&mut self, mib: u64) -> Result<u64, SessionError> {
        let param = Param::DebugMb;
        let found = self.control.mib(param)?;
        if found == mib || found == mib.saturating_add(1) {
            return Ok(found);
        }
        let mut change = match self.journal.change(param) {
            Some(Change::Size(ours)) if ours.is_ours(found) => ours.clone(),
            // Somebody else set it: that is what to go back to.
            _ => SizeChange { old_mib: found, written_mib: Vec::new() },
        };
        change.written_mib.push(mib);
        self.journal.set(param, Change::Size(change.clone()));
        self.store.save(&self.journal)?;
        let shown = self.control.set_mib(param, mib)?;
        // The value before is gone, and the kernel may have clipped this one.
        change.written_mib = vec![mib];
        if !change.is_ours(shown) {
            change.written_mib.push(shown);
        }
        self.journal.set(param, Change::Size(change));
        self.record();
        Ok(shown)
    }

    /// Starts the kernel's debug daemon on a file that does not exist yet.
    pub(crate) fn start_daemon(&mut self, path: &Path, size_mib: u64) -> Result<(), SessionError> {
        match self.control.daemon_file()? {
            Some(now) if self.journal.daemon().is_none_or(|ours| ours.path != now) => {
                return Err(SessionError::DaemonRuns { path: now });
            }
            _ => {}
        }
        let ours = DaemonChange { path: path.to_owned(), size_mib };
        self.journal.set(Param::DaemonFile, Change::Daemon(ours));
        self.store.save(&self.journal)?;
        self.control.start_daemon(path, size_mib)?;
        Ok(())
    }

    /// Empties the buffer into `path`: what was logged before the capture does not belong to it. Other than `lctl clear`
    /// this is the same in all versions, takes no privilege but root's, and tells how much it was.
    ///
    /// The file takes 10 MiB; of more than that the oldest is overwritten.
    pub(crate) fn empty_buffer(&mut self, path: &Path) -> Result<(), SessionError> {
        self.start_daemon(path, SMALLEST_DAEMON_SIZE_MIB)?;
        // Its thread writes everything before it ends, once it has begun.
        let begun = Instant::now();
        while begun.elapsed() < THREAD_BEGINS && !path.exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(self.control.stop_daemon()?)
    }

    /// Sets the masks for a profile; also to change from one to another, and to insist after [`Self::look`].
    pub(crate) fn trace(&mut self, profile: Profile, version: Option<&LustreVersion>) -> Result<(), SessionError> {
        let (found, ours) = (self.control.mask(Param::Debug)?, self.journal.mask(Param::Debug));
        let others = found.minus(&ours.switched_on);
        let wanted = |param| profile.wanted(param, &others, version);
        // Limit the subsystems before masks that print a lot go on, lift the limit after they went off.
        let grows = ours.step(&found, &wanted(Param::Debug)).off.is_empty();
        let masks: Vec<Param> = if grows { Param::masks().rev().collect() } else { Param::masks().collect() };
        for param in masks {
            self.change(param, &wanted(param))?;
        }
        self.tracing = Some(profile);
        Ok(())
    }

    /// Restores the masks for a while, for tracing part of the time; the debug daemon keeps running without new records.
    pub(crate) fn pause(&mut self) -> Result<(), SessionError> {
        for param in Param::masks() {
            self.change(param, &Wanted::default())?;
        }
        self.tracing = None;
        Ok(())
    }

    /// Tells what somebody else changed since the last look (or change of our own). What they switched back is theirs from
    /// now on and will not be restored; [`Self::trace`] switches it again.
    pub(crate) fn look(&mut self) -> Result<Vec<Foreign>, SessionError> {
        let mut foreign = Vec::new();
        for param in Param::settings() {
            foreign.extend(match (param.about().kind, self.journal.change(param)) {
                (Kind::Mask(_), _) => self.look_at_mask(param)?,
                (_, Some(change)) => {
                    let replaced = change.replaced(&self.control, param)?;
                    if replaced.is_some() {
                        self.journal.forget(param);
                    }
                    replaced
                }
                (_, None) => None,
            });
        }
        if !foreign.is_empty() {
            self.record();
        }
        Ok(foreign)
    }

    fn look_at_mask(&mut self, param: Param) -> Result<Option<Foreign>, ControlError> {
        let found = self.control.mask(param)?;
        let seen = self.seen.insert(param, found.clone()).unwrap_or_default();
        let (on, off) = (found.minus(&seen), seen.minus(&found));
        if on.is_empty() && off.is_empty() {
            return Ok(None);
        }
        let needed = self.tracing.map(|profile| profile.wanted(param, &MaskSet::default(), None).on);
        let hurts = needed.is_some_and(|needed| !needed.minus(&found).is_empty());
        self.journal.set(param, Change::Mask(self.journal.mask(param).still_ours(&found)));
        let change = on.iter().map(|name| format!(" +{name}")).chain(off.iter().map(|name| format!(" -{name}")));
        Ok(Some(Foreign::Mask { param, change: change.collect(), hurts }))
    }

    /// Restores everything and removes the journal. Failed changes stay in the journal for the next try.
    pub(crate) fn end(mut self) -> Report {
        self.finish()
    }

    fn finish(&mut self) -> Report {
        self.ended = true;
        let report = restore::restore(&self.control, &self.journal);
        self.journal = report.remaining.clone().unwrap_or_default();
        let kept = match &report.remaining {
            Some(remaining) => self.store.save(remaining),
            None => self.store.remove(),
        };
        if let Err(err) = kept {
            // Harmless: restoring once more finds nothing of lioprof's.
            tracing::warn!(error = with_causes(&err), "failed to update the journal");
        }
        report
    }

    fn change(&mut self, param: Param, wanted: &Wanted) -> Result<(), SessionError> {
        let (mut now, ours) = (self.control.mask(param)?, self.journal.mask(param));
        let step = ours.step(&now, wanted);
        if !step.is_nothing() {
            let only_undoes = step.during.switched_on.minus(&ours.switched_on).is_empty()
                && step.during.switched_off.minus(&ours.switched_off).is_empty();
            if !only_undoes {
                self.journal.set(param, Change::Mask(step.during));
                self.store.save(&self.journal)?;
            }
            now = self.control.change_mask(param, &step.on, &step.off)?;
        }
        self.journal.set(param, Change::Mask(step.after));
        self.seen.insert(param, now);
        self.record();
        Ok(())
    }

    /// Step 3: the journal may say too much for a while, never too little.
    fn record(&mut self) {
        let kept = if self.journal.is_empty() { self.store.remove() } else { self.store.save(&self.journal) };
        if let Err(err) = kept {
            tracing::warn!(error = with_causes(&err), "failed to update the journal");
        }
    }
}

impl Drop for Session {
    /// Restores the settings on errors and panics.
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let report = self.finish();
        if !report.is_complete() {
            tracing::error!(%report, "failed to restore settings; run `lioprof daemon --restore`");
        }
    }
}
