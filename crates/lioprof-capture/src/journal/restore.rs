//! Restores settings in the order of stopping a capture, see [`Param`].

use std::fmt;

use serde::{Deserialize, Serialize};

use super::outcome::Outcome;
use super::{Journal, JournalError, JournalStore};
use crate::control::{Control, ControlError, Param};
use lioprof_model::with_causes;

/// Nothing had to be restored.
const NO_JOURNAL: &str = "nothing to restore: no journal";
const REBOOTED: &str = "nothing to restore: the node was rebooted, its settings are not lioprof's";
const UNLOADED: &str = "nothing to restore: Lustre's modules are not loaded, its settings are gone";

/// The results of restoring all settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// One entry per setting that the journal names, in the order of restoring.
    pub settings: Vec<(String, Outcome)>,
    /// Why nothing had to be restored, if so.
    pub note: Option<String>,
    /// Changes that are still in force; empty if all went well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining: Option<Journal>,
}

impl Report {
    /// Whether everything was restored.
    pub fn is_complete(&self) -> bool {
        self.remaining.is_none()
    }

    /// Adds the report of another journal.
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

/// Undoes the changes of a journal on disk and removes it, or those entries that were undone.
///
/// For the start of the daemon, after a kill or a power loss, and for `lioprof daemon --restore`. `open` is called only if
/// there is something to undo, so this works on a node without Lustre, too.
pub(crate) fn restore_leftover(
    store: &mut dyn JournalStore,
    boot_id: Option<&str>,
    lustre_loaded: Option<bool>,
    open: impl FnOnce() -> Result<Control, ControlError>,
) -> Result<Report, JournalError> {
    let Some(journal) = store.load()? else { return Ok(Report::note(NO_JOURNAL)) };
    let report = match nothing_to_undo(&journal, boot_id, lustre_loaded) {
        Some(why) => Report::note(why),
        None => match open() {
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

/// Settings outlive neither the boot nor the modules.
fn nothing_to_undo(journal: &Journal, boot_id: Option<&str>, lustre_loaded: Option<bool>) -> Option<&'static str> {
    let rebooted = journal.boot_id.as_deref().zip(boot_id).is_some_and(|(then, now)| then != now);
    if rebooted { Some(REBOOTED) } else { (lustre_loaded == Some(false)).then_some(UNLOADED) }
}

/// Undoes what is still lioprof's. Doing it twice is harmless.
pub(crate) fn restore(control: &Control, journal: &Journal) -> Report {
    if let Some(why) = nothing_to_undo(journal, control.boot_id().as_deref(), control.debug_log_loaded()) {
        return Report::note(why);
    }
    let mut report = Report::default();
    let mut remaining = journal.clone();
    for param in Param::as_put_back() {
        let Some(change) = remaining.change(param) else { continue };
        let outcome = match param.about().after.filter(|first| remaining.change(*first).is_some()) {
            Some(first) => Outcome::Failed { error: format!("put off: first `{first}` must be restored") },
            None => change.put_back(control, param).unwrap_or_else(|err| Outcome::Failed { error: with_causes(&err) }),
        };
        if !matches!(outcome, Outcome::Failed { .. }) {
            remaining.forget(param);
        }
        report.add(param.name(), outcome);
    }
    report.remaining = (!remaining.is_empty()).then_some(remaining);
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::masks::MaskSet;
    use crate::control::tests::fake::FakeKernel;
    use crate::journal::size::SizeChange;
    use crate::journal::{Change, DaemonChange, MaskChange};

    fn traced() -> (FakeKernel, Journal) {
        let kernel = FakeKernel::new(1);
        let on = MaskChange { switched_on: MaskSet::of(&["rpctrace", "net"]), ..MaskChange::default() };
        let off = MaskChange { switched_off: MaskSet::of(&["mdc", "osc"]), ..MaskChange::default() };
        let mut journal = Journal { boot_id: Some("1".into()), ..Journal::default() };
        journal.set(Param::Debug, Change::Mask(on));
        journal.set(Param::SubsystemDebug, Change::Mask(off));
        journal.set(Param::DebugMb, Change::Size(SizeChange { old_mib: 6, written_mib: vec![40] }));
        let daemon = DaemonChange { path: "/run/lioprof/log".into(), size_mib: 64 };
        journal.set(Param::DaemonFile, Change::Daemon(daemon));
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
        assert!(left.change(Param::DaemonFile).is_none() && left.change(Param::DebugMb).is_none());
        assert_eq!(left.change(Param::Debug), journal.change(Param::Debug));

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
