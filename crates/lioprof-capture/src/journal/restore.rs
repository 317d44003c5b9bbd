//! Putting things back.
//!
//! The order is that of stopping a capture: masks first, so that nothing more is logged; then the debug daemon, which
//! writes out what it has; then the buffer.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{BufferChange, DaemonChange, Journal, JournalError, JournalStore};
use crate::causes::with_causes;
use crate::control::masks::MaskKind;
use crate::control::profile::Wanted;
use crate::control::sizing::STEP_MIB_PER_CPU;
use crate::control::{Control, ControlError, KERNELS_DAEMON_SIZE_MIB, Param};

/// There was nothing to put back.
const NO_JOURNAL: &str = "nothing to restore: no journal";

/// What became of one setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// lioprof's change was undone.
    Restored {
        /// What was done.
        done: String,
    },
    /// It has somebody else's value now, which stays.
    Left {
        /// What was found.
        why: String,
    },
    /// It still has lioprof's value; try again.
    Failed {
        /// The error, with its causes.
        error: String,
    },
}

/// What became of all settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// One entry per setting that the journal names, in the order of restoring.
    pub settings: Vec<(String, Outcome)>,
    /// Why nothing had to be done, if so.
    pub note: Option<String>,
    /// What is still lioprof's; nothing if all went well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining: Option<Journal>,
}

impl Report {
    /// Did all go well?
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.remaining.is_none()
    }

    /// Adds what another journal's restore came to.
    pub(crate) fn add_report(&mut self, other: Self) {
        let was_nothing = self.settings.is_empty();
        self.note = match (self.note.take(), other.note) {
            (Some(_), None) if was_nothing => None,
            (Some(note), Some(another)) if note == NO_JOURNAL => Some(another),
            (note, another) => note.or(another.filter(|another| was_nothing || another != NO_JOURNAL)),
        };
        self.settings.extend(other.settings);
        self.remaining = self.remaining.take().or(other.remaining);
    }

    fn note(text: &str) -> Self {
        Self { note: Some(text.to_owned()), ..Self::default() }
    }

    fn add(&mut self, setting: &str, outcome: Outcome) {
        self.settings.push((setting.to_owned(), outcome));
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(note) = &self.note {
            writeln!(f, "{note}")?;
        }
        for (setting, outcome) in &self.settings {
            match outcome {
                Outcome::Restored { done } => writeln!(f, "{setting}: restored, {done}")?,
                Outcome::Left { why } => writeln!(f, "{setting}: left alone, {why}")?,
                Outcome::Failed { error } => writeln!(f, "{setting}: NOT restored: {error}")?,
            }
        }
        Ok(())
    }
}

/// Undoes what a journal on disk says, and removes it, or what is done of it.
///
/// For the start of the daemon, after a kill or a power loss, and for `lioprof daemon --restore`. `open` is called only if
/// there is something to undo, so this works on a node without Lustre, too.
pub fn restore_leftover(
    store: &mut dyn JournalStore,
    boot_id: Option<&str>,
    lustre_loaded: Option<bool>,
    open: impl FnOnce() -> Result<Control, ControlError>,
) -> Result<Report, JournalError> {
    let Some(journal) = store.load()? else { return Ok(Report::note(NO_JOURNAL)) };
    let report = match (journal.boot_id.as_deref(), boot_id) {
        (Some(then), Some(now)) if then != now => {
            Report::note("nothing to restore: the node was rebooted, its settings are not lioprof's")
        }
        _ if lustre_loaded == Some(false) => {
            Report::note("nothing to restore: Lustre's modules are not loaded, its settings are gone")
        }
        _ => match open() {
            Ok(control) => restore(&control, &journal),
            Err(err) => {
                let mut report = Report { remaining: Some(journal), ..Report::default() };
                report.add("all settings", Outcome::Failed { error: with_causes(&err) });
                report
            }
        },
    };
    match &report.remaining {
        Some(remaining) => store.save(remaining)?,
        None => store.remove()?,
    }
    Ok(report)
}

/// Undoes what is still lioprof's. Doing it twice is harmless.
#[must_use]
pub fn restore(control: &Control, journal: &Journal) -> Report {
    if let (Some(then), Some(now)) = (&journal.boot_id, control.boot_id())
        && *then != now
    {
        return Report::note("nothing to restore: the node was rebooted, its settings are not lioprof's");
    }
    if control.debug_log_loaded() == Some(false) {
        return Report::note("nothing to restore: Lustre's modules are not loaded, its settings are gone");
    }
    let mut report = Report::default();
    let mut remaining = journal.clone();
    let debug_failed = !restore_mask(control, MaskKind::Debug, &mut remaining, &mut report);
    if debug_failed && !remaining.subsystem_debug.is_nothing() {
        // Subsystems without limit and lioprof's masks still on: that would be a flood.
        let error = "put off: first `debug` must be restored".to_owned();
        report.add(Param::SubsystemDebug.name(), Outcome::Failed { error });
    } else {
        restore_mask(control, MaskKind::SubsystemDebug, &mut remaining, &mut report);
    }
    if let Some(daemon) = &remaining.daemon {
        let outcome = or_failed(stop_daemon(control, daemon));
        if !matches!(outcome, Outcome::Failed { .. }) {
            remaining.daemon = None;
        }
        report.add(Param::DaemonFile.name(), outcome);
    }
    if let Some(buffer) = &remaining.debug_mb {
        let outcome = or_failed(restore_buffer(control, buffer));
        if !matches!(outcome, Outcome::Failed { .. }) {
            remaining.debug_mb = None;
        }
        report.add(Param::DebugMb.name(), outcome);
    }
    report.remaining = (!remaining.is_empty()).then_some(remaining);
    report
}

/// `false` if lioprof's bits may still be there.
fn restore_mask(control: &Control, kind: MaskKind, journal: &mut Journal, report: &mut Report) -> bool {
    let change = journal.mask(kind);
    if change.is_nothing() {
        return true;
    }
    let undo = || -> Result<Outcome, ControlError> {
        let found = control.mask(kind)?;
        let step = change.step(&found, &Wanted::default());
        if step.is_nothing() {
            return Ok(Outcome::Left { why: "nothing of lioprof's is left in it".to_owned() });
        }
        let now = control.change_mask(kind, &step.on, &step.off)?;
        Ok(Outcome::Restored { done: format!("now `{now}`") })
    };
    let outcome = or_failed(undo());
    let well = !matches!(outcome, Outcome::Failed { .. });
    if well {
        *journal.mask_mut(kind) = super::MaskChange::default();
    }
    report.add(kind.param().name(), outcome);
    well
}

fn stop_daemon(control: &Control, daemon: &DaemonChange) -> Result<Outcome, ControlError> {
    match control.daemon_file()? {
        Some(path) if path == daemon.path => {
            control.stop_daemon()?;
            // Nobody can read the former limit. With lioprof's, the next daemon that is started without one might fill a disk.
            control.set_daemon_size(KERNELS_DAEMON_SIZE_MIB)?;
            Ok(Outcome::Restored { done: format!("stopped; file size limit back to {KERNELS_DAEMON_SIZE_MIB} MiB") })
        }
        Some(path) => Ok(Outcome::Left { why: format!("somebody else's daemon writes `{}`", path.display()) }),
        None => {
            control.set_daemon_size(KERNELS_DAEMON_SIZE_MIB)?;
            Ok(Outcome::Left { why: "the daemon does not run".to_owned() })
        }
    }
}

fn restore_buffer(control: &Control, buffer: &BufferChange) -> Result<Outcome, ControlError> {
    let old = buffer.old_mib;
    let shown = control.debug_mb()?;
    if !buffer.is_ours(shown) {
        return Ok(Outcome::Left { why: format!("it shows {shown} MiB, which lioprof did not set") });
    }
    // What shows the old value need not be the old value: the kernel counts whole pages and adds one, so its default of 5 MiB
    // per CPU shows as one more, and on a node with one CPU both 5 and 6 show as 6.
    let one_less = old.saturating_sub(1);
    let likely = if one_less.is_multiple_of(STEP_MIB_PER_CPU) { [one_less, old] } else { [old, one_less] };
    for mib in likely.into_iter().filter(|&mib| mib > 0) {
        if control.set_debug_mb(mib)? == old {
            return Ok(Outcome::Restored { done: format!("from {shown} to {old} MiB") });
        }
    }
    let now = control.set_debug_mb(old)?;
    if now == old.saturating_add(1) {
        return Ok(Outcome::Restored { done: format!("from {shown} to {old} MiB, shown as {now}") });
    }
    Err(ControlError::NotAccepted { param: Param::DebugMb, wrote: old.to_string(), found: now.to_string() })
}

fn or_failed(result: Result<Outcome, ControlError>) -> Outcome {
    result.unwrap_or_else(|err| Outcome::Failed { error: with_causes(&err) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::fake::FakeKernel;
    use crate::control::masks::MaskSet;
    use crate::journal::MaskChange;

    fn traced() -> (FakeKernel, Journal) {
        let kernel = FakeKernel::new(1);
        let journal = Journal {
            boot_id: Some("1".into()),
            debug: MaskChange { switched_on: MaskSet::of(&["rpctrace", "net"]), ..MaskChange::default() },
            subsystem_debug: MaskChange { switched_off: MaskSet::of(&["mdc", "osc"]), ..MaskChange::default() },
            debug_mb: Some(BufferChange { old_mib: 6, written_mib: vec![40] }),
            daemon: Some(DaemonChange { path: "/run/lioprof/log".into(), size_mib: 64 }),
            ..Journal::default()
        };
        kernel.other(|state| {
            state.debug |= 0x10_0200;
            state.subsystem_debug &= !0xa;
            state.mib_per_cpu = 40;
            state.daemon_file = "/run/lioprof/log".to_owned();
            state.daemon_size_mib = 64;
        });
        (kernel, journal)
    }

    #[test]
    fn everything_back_in_order_and_twice_is_harmless() {
        let (kernel, journal) = traced();
        let report = restore(&kernel.control(), &journal);
        assert!(report.is_complete(), "{report}");
        // With one CPU the kernel shows 6 for 5: restoring must not enlarge the buffer.
        assert_eq!(kernel.state(), FakeKernel::new(1).state());
        let order: Vec<_> = report.settings.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(order, ["debug", "subsystem_debug", "daemon_file", "debug_mb"]);

        kernel.take_writes();
        let again = restore(&kernel.control(), &journal);
        assert!(again.settings.iter().all(|(_, outcome)| matches!(outcome, Outcome::Left { .. })), "{again}");
        assert_eq!(kernel.state(), FakeKernel::new(1).state());
    }

    #[test]
    fn what_others_changed_survives() {
        let (kernel, journal) = traced();
        kernel.other(|state| {
            state.debug = state.debug & !0x200 | 0x40; // net off, info on
            state.subsystem_debug |= 0x2; // mdc on
            state.mib_per_cpu = 100;
            state.daemon_file = "/var/tmp/theirs".to_owned();
        });
        let report = restore(&kernel.control(), &journal);
        assert!(report.is_complete(), "{report}");
        let (now, fresh) = (kernel.state(), FakeKernel::new(1).state());
        assert_eq!(now.debug, fresh.debug | 0x40);
        assert_eq!(now.subsystem_debug, u32::MAX);
        assert_eq!((now.mib_per_cpu, now.daemon_file.as_str()), (100, "/var/tmp/theirs"));
    }

    #[test]
    fn a_failure_is_reported_and_the_rest_is_done() {
        let (kernel, journal) = traced();
        kernel.break_writes(Some((Param::Debug, 1)));
        let report = restore(&kernel.control(), &journal);
        let text = report.to_string();
        assert!(text.contains("debug: NOT restored") && text.contains("locked down"), "{text}");
        assert!(text.contains("subsystem_debug: NOT restored: put off"), "{text}");
        let left = report.remaining.unwrap();
        assert!(left.daemon.is_none() && left.debug_mb.is_none());
        assert_eq!(left.debug, journal.debug);

        kernel.break_writes(None);
        assert!(restore(&kernel.control(), &left).is_complete());
        assert_eq!(kernel.state(), FakeKernel::new(1).state());
    }

    #[test]
    fn nothing_is_undone_after_a_reboot_or_without_modules() {
        let (kernel, journal) = traced();
        kernel.other(|state| state.boot = 2);
        let before = kernel.state();
        assert!(restore(&kernel.control(), &journal).is_complete());
        assert_eq!(kernel.state(), before);

        let (kernel, journal) = traced();
        kernel.unload();
        let report = restore(&kernel.control(), &journal);
        assert!(report.is_complete() && report.note.unwrap().contains("not loaded"));
    }
}
