//! Changing the settings for a capture, in the one right order, and putting them back.
//!
//! Every change is three steps, so that a kill between any two of them leaves a journal from which everything can be
//! undone: (1) the journal says what will be changed, safe on disk; (2) one write to the kernel, looked at; (3) the journal
//! says what is changed now. Step 3 only makes the journal smaller or more exact, so its failure (a full disk) is not
//! fatal, and undoing never needs step 1.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::restore::{self, Report};
use super::{BufferChange, DaemonChange, Journal, JournalError, JournalStore};
use crate::control::lustre::LustreVersion;
use crate::control::masks::{MaskKind, MaskSet};
use crate::control::profile::{Profile, Wanted};
use crate::control::{Control, ControlError, SMALLEST_DAEMON_SIZE_MIB};

/// The kernel's new thread has run by then, also on a busy machine.
const THREAD_BEGINS: Duration = Duration::from_millis(100);

/// The settings cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// There is one debug daemon per node.
    #[error(
        "somebody else's debug daemon writes `{}`; a node has only one. If nobody needs it: `lctl debug_daemon stop`",
        path.display()
    )]
    DaemonRuns {
        /// Its file.
        path: PathBuf,
    },
    /// An earlier capture was not put back.
    #[error("an earlier lioprof left changed settings behind: run `lioprof daemon --restore` first")]
    Leftover,
    /// A setting.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Something that somebody else changed while lioprof was capturing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// Bits of a mask.
    Mask {
        /// Which mask.
        kind: MaskKind,
        /// On since the last look.
        on: MaskSet,
        /// Off since the last look.
        off: MaskSet,
        /// Something that the capture needs is among it.
        hurts: bool,
    },
    /// The size of the buffer.
    Buffer {
        /// MiB now.
        mib: u64,
    },
    /// The debug daemon does not write lioprof's file any more.
    Daemon {
        /// What it writes now, if it runs.
        path: Option<PathBuf>,
    },
}

impl std::fmt::Display for Foreign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Mask { kind, on, off, hurts } => {
                write!(f, "{kind}:")?;
                for (sign, names) in [('+', on), ('-', off)] {
                    for name in names.iter() {
                        write!(f, " {sign}{name}")?;
                    }
                }
                if *hurts { f.write_str("; the trace misses what it needs") } else { Ok(()) }
            }
            Self::Buffer { mib } => write!(f, "debug_mb: {mib}"),
            Self::Daemon { path: Some(path) } => write!(f, "the debug daemon writes `{}`", path.display()),
            Self::Daemon { path: None } => f.write_str("the debug daemon was stopped"),
        }
    }
}

/// A capture's changes to the kernel's settings. Dropping it puts them back.
#[derive(Debug)]
pub struct Session {
    control: Control,
    store: Box<dyn JournalStore>,
    journal: Journal,
    /// Masks as they were when last looked at.
    seen_debug: MaskSet,
    seen_subsystems: MaskSet,
    /// What was asked for last.
    tracing: Option<Profile>,
    ended: bool,
}

impl Session {
    /// Takes the node's settings in hand. Changes nothing yet.
    pub fn begin(control: Control, store: Box<dyn JournalStore>) -> Result<Self, SessionError> {
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
        let seen_debug = control.mask(MaskKind::Debug)?;
        let seen_subsystems = control.mask(MaskKind::SubsystemDebug)?;
        Ok(Self { control, store, journal, seen_debug, seen_subsystems, tracing: None, ended: false })
    }

    /// The node's settings.
    #[must_use]
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// What is changed at the moment.
    #[must_use]
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The masks as last seen: `debug` and `subsystem_debug`.
    #[must_use]
    pub fn masks(&self) -> (&MaskSet, &MaskSet) {
        (&self.seen_debug, &self.seen_subsystems)
    }

    /// What is traced; `None` before, between and after.
    #[must_use]
    pub fn tracing(&self) -> Option<Profile> {
        self.tracing
    }

    /// Sets the debug buffer's size, see [`crate::control::sizing`], and returns what the kernel shows then. A size that is
    /// there already is left as it is.
    pub fn set_buffer(&mut self, mib: u64) -> Result<u64, SessionError> {
        let found = self.control.debug_mb()?;
        if found == mib || found == mib.saturating_add(1) {
            return Ok(found);
        }
        let mut change = match self.journal.debug_mb.take() {
            Some(ours) if ours.is_ours(found) => ours,
            // Somebody else set it: that is what to go back to.
            _ => BufferChange { old_mib: found, written_mib: Vec::new() },
        };
        change.written_mib.push(mib);
        self.journal.debug_mb = Some(change);
        self.store.save(&self.journal)?;
        let shown = self.control.set_debug_mb(mib)?;
        if let Some(change) = &mut self.journal.debug_mb {
            // The value before is gone, and the kernel may have clipped this one.
            change.written_mib = vec![mib];
            if !change.is_ours(shown) {
                change.written_mib.push(shown);
            }
        }
        self.record();
        Ok(shown)
    }

    /// Starts the kernel's debug daemon on a file that does not exist yet.
    pub fn start_daemon(&mut self, path: &Path, size_mib: u64) -> Result<(), SessionError> {
        match self.control.daemon_file()? {
            Some(now) if self.journal.daemon.as_ref().is_none_or(|ours| ours.path != now) => {
                return Err(SessionError::DaemonRuns { path: now });
            }
            _ => {}
        }
        self.journal.daemon = Some(DaemonChange { path: path.to_owned(), size_mib });
        self.store.save(&self.journal)?;
        self.control.start_daemon(path, size_mib)?;
        Ok(())
    }

    /// Empties the buffer into `path`: what was logged before the capture does not belong to it. Other than `lctl clear`
    /// this is the same in all versions, takes no privilege but root's, and tells how much it was.
    ///
    /// The file takes 10 MiB; of more than that the oldest is overwritten.
    pub fn empty_buffer(&mut self, path: &Path) -> Result<(), SessionError> {
        self.start_daemon(path, SMALLEST_DAEMON_SIZE_MIB)?;
        // Its thread writes everything before it ends, once it has begun.
        let begun = Instant::now();
        while begun.elapsed() < THREAD_BEGINS && !path.exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(self.control.stop_daemon()?)
    }

    /// Sets the masks for a profile; also to change from one to another, and to insist after [`Self::look`].
    pub fn trace(&mut self, profile: Profile, version: Option<&LustreVersion>) -> Result<(), SessionError> {
        let found = self.control.mask(MaskKind::Debug)?;
        let others = found.minus(&self.journal.debug.switched_on);
        let debug = profile.debug();
        let subsystems = profile.subsystems(&others, version);
        // Limit the subsystems before masks that print a lot go on, lift the limit after they went off.
        if self.journal.debug.step(&found, &debug).off.is_empty() {
            self.change(MaskKind::SubsystemDebug, &subsystems)?;
            self.change(MaskKind::Debug, &debug)?;
        } else {
            self.change(MaskKind::Debug, &debug)?;
            self.change(MaskKind::SubsystemDebug, &subsystems)?;
        }
        self.tracing = Some(profile);
        Ok(())
    }

    /// Puts the masks back for a while; the daemon goes on with an empty log. For sampling by time.
    pub fn pause(&mut self) -> Result<(), SessionError> {
        self.change(MaskKind::Debug, &Wanted::default())?;
        self.change(MaskKind::SubsystemDebug, &Wanted::default())?;
        self.tracing = None;
        Ok(())
    }

    /// Tells what somebody else changed since the last look (or change of our own). What they switched back is theirs from
    /// now on and will not be restored; [`Self::trace`] switches it again.
    pub fn look(&mut self) -> Result<Vec<Foreign>, SessionError> {
        let mut foreign = Vec::new();
        for kind in [MaskKind::Debug, MaskKind::SubsystemDebug] {
            let found = self.control.mask(kind)?;
            let seen = self.seen(kind);
            let (on, off) = (found.minus(seen), seen.minus(&found));
            if on.is_empty() && off.is_empty() {
                continue;
            }
            let needed = self.tracing.map(|profile| match kind {
                MaskKind::Debug => profile.debug().on,
                MaskKind::SubsystemDebug => profile.subsystems(&MaskSet::default(), None).on,
            });
            let hurts = needed.is_some_and(|needed| !needed.and(&off).is_empty());
            let change = self.journal.mask_mut(kind);
            *change = change.still_ours(&found);
            *self.seen_mut(kind) = found;
            foreign.push(Foreign::Mask { kind, on, off, hurts });
        }
        if let Some(buffer) = &self.journal.debug_mb {
            let mib = self.control.debug_mb()?;
            if !buffer.is_ours(mib) {
                self.journal.debug_mb = None;
                foreign.push(Foreign::Buffer { mib });
            }
        }
        if let Some(daemon) = &self.journal.daemon {
            let path = self.control.daemon_file()?;
            if path.as_ref() != Some(&daemon.path) {
                self.journal.daemon = None;
                foreign.push(Foreign::Daemon { path });
            }
        }
        if !foreign.is_empty() {
            self.record();
        }
        Ok(foreign)
    }

    /// Puts everything back and removes the journal. What fails stays in the journal for the next try.
    pub fn end(mut self) -> Report {
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
            tracing::warn!(error = %err, "the journal could not be brought up to date");
        }
        report
    }

    fn change(&mut self, kind: MaskKind, wanted: &Wanted) -> Result<(), SessionError> {
        let found = self.control.mask(kind)?;
        let step = self.journal.mask(kind).step(&found, wanted);
        if step.is_nothing() {
            *self.journal.mask_mut(kind) = step.after;
            *self.seen_mut(kind) = found;
            self.record();
            return Ok(());
        }
        let ours = self.journal.mask(kind);
        let only_undoes = step.during.switched_on.minus(&ours.switched_on).is_empty()
            && step.during.switched_off.minus(&ours.switched_off).is_empty();
        if !only_undoes {
            *self.journal.mask_mut(kind) = step.during;
            self.store.save(&self.journal)?;
        }
        let now = self.control.change_mask(kind, &step.on, &step.off)?;
        *self.journal.mask_mut(kind) = step.after;
        *self.seen_mut(kind) = now;
        self.record();
        Ok(())
    }

    /// Step 3: the journal may say too much for a while, never too little.
    fn record(&mut self) {
        let kept = if self.journal.is_empty() { self.store.remove() } else { self.store.save(&self.journal) };
        if let Err(err) = kept {
            tracing::warn!(error = %err, "the journal could not be brought up to date");
        }
    }

    fn seen(&self, kind: MaskKind) -> &MaskSet {
        match kind {
            MaskKind::Debug => &self.seen_debug,
            MaskKind::SubsystemDebug => &self.seen_subsystems,
        }
    }

    fn seen_mut(&mut self, kind: MaskKind) -> &mut MaskSet {
        match kind {
            MaskKind::Debug => &mut self.seen_debug,
            MaskKind::SubsystemDebug => &mut self.seen_subsystems,
        }
    }
}

impl Drop for Session {
    /// The way out of errors and panics.
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let report = self.finish();
        if !report.is_complete() {
            tracing::error!(%report, "settings could not be put back; run `lioprof daemon --restore`");
        }
    }
}
