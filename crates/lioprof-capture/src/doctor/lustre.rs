//! Checks of Lustre and its debug log.

use std::path::Path;

use super::{Check, Status};
use crate::causes::with_causes;
use crate::config::Config;
use crate::control::masks::MaskKind;
use crate::control::profile::heavy;
use crate::control::{Control, ControlError, Param};
use crate::journal::{JournalFile, JournalStore};
use crate::system::below;
use crate::system::mounts::{mounts_of, place};

/// Releases whose logs the tests hold real captures of.
const TRIED: [(u32, u32); 2] = [(2, 15), (2, 17)];
/// First release whose wordings are known.
const FIRST: (u32, u32) = (2, 5);

pub(super) fn reachable(root: &Path, control: &Result<Control, ControlError>) -> Check {
    let (id, title) = ("control", "control files reachable");
    match control {
        Ok(control) => Check::new(id, title, Status::Ok, control.access(), ""),
        Err(error) => {
            let debugfs = below(root, "sys/kernel/debug");
            let mounted = mounts_of(root, "self")
                .and_then(|mounts| place(&mounts, &debugfs))
                .map(|place| place.kind == "debugfs" || place.kind == "tracefs");
            let remedy = match mounted {
                Some(false) => "debugfs is not mounted: `mount -t debugfs none /sys/kernel/debug`.",
                _ => "Load the modules: `modprobe lustre`.",
            };
            Check::new(id, title, Status::Failed, with_causes(error), remedy)
        }
    }
}

pub(super) fn checks(control: Option<&Control>, config: &Config) -> Vec<Check> {
    let Some(control) = control else {
        let waiting = [
            ("writable", "control files writable"),
            ("version", "Lustre version known"),
            ("targets", "targets on this node"),
            ("debug_daemon", "debug daemon free"),
            ("masks", "debug masks as usual"),
        ];
        return waiting
            .map(|(id, title)| Check::new(id, title, Status::Skipped, "control files are not reachable", ""))
            .into();
    };
    vec![writable(control), version(control), targets(control), debug_daemon(control, config), masks(control, config)]
}

fn writable(control: &Control) -> Check {
    let (id, title) = ("writable", "control files writable");
    let mut told = true;
    for param in [Param::Debug, Param::SubsystemDebug, Param::DebugMb, Param::DaemonFile] {
        match control.writable(param) {
            Some(Ok(())) => {}
            Some(Err(error)) => {
                return Check::new(
                    id,
                    title,
                    Status::Failed,
                    with_causes(&error),
                    "Run as root on a kernel without lockdown.",
                );
            }
            None => told = false,
        }
    }
    if told {
        Check::new(id, title, Status::Ok, "debug, subsystem_debug, debug_mb, daemon_file", "")
    } else {
        Check::new(id, title, Status::Skipped, "with lctl that shows only when it is tried", "")
    }
}

fn version(control: &Control) -> Check {
    let (id, title) = ("version", "Lustre version known");
    let Some(version) = control.version() else {
        return Check::new(id, title, Status::Warning, "no version found", "lioprof goes by what the log says.");
    };
    let numbers = (version.major, version.minor);
    let (status, remedy) = if TRIED.contains(&numbers) {
        (Status::Ok, "")
    } else if numbers < FIRST {
        (Status::Warning, "Older than all that is known; see docs/log-format.md.")
    } else {
        (Status::Warning, "Not tried on a real server; known from the sources. Compare with the servers' counters.")
    };
    Check::new(id, title, status, version.text, remedy)
}

fn targets(control: &Control) -> Check {
    let (id, title) = ("targets", "targets on this node");
    let targets = match control.targets() {
        Ok(targets) => targets,
        Err(error) => return Check::new(id, title, Status::Warning, with_causes(&error), "See `lctl dl`."),
    };
    if targets.is_empty() {
        return Check::new(
            id,
            title,
            Status::Warning,
            "none",
            "Mount the targets; until then there is nothing to trace.",
        );
    }
    let down: Vec<_> = targets.iter().filter(|target| !target.is_up()).map(|target| target.name.as_str()).collect();
    let names: Vec<_> = targets.iter().map(|target| target.name.as_str()).collect();
    if down.is_empty() {
        Check::new(id, title, Status::Ok, names.join(", "), "")
    } else {
        let found = format!("{}; not up: {}", names.join(", "), down.join(", "));
        Check::new(id, title, Status::Warning, found, "See `lctl dl`.")
    }
}

fn debug_daemon(control: &Control, config: &Config) -> Check {
    let (id, title) = ("debug_daemon", "debug daemon free");
    let path = match control.daemon_file() {
        Ok(None) => return Check::new(id, title, Status::Ok, "no daemon runs", ""),
        Ok(Some(path)) => path,
        Err(error) => return Check::new(id, title, Status::Failed, with_causes(&error), ""),
    };
    let ours = JournalFile::new(&config.journal_path()).load().ok().flatten().and_then(|journal| journal.daemon);
    let found = format!("a debug daemon writes `{}`", path.display());
    if ours.is_some_and(|ours| ours.path == path) {
        let remedy = "It is lioprof's own. If lioprof does not run: `lioprof daemon --restore` (or just start it).";
        return Check::new(id, title, Status::Warning, found, remedy);
    }
    let remedy = "A node has only one, and this one is somebody else's. If nobody needs it: `lctl debug_daemon stop`.";
    Check::new(id, title, Status::Failed, found, remedy)
}

fn masks(control: &Control, config: &Config) -> Check {
    let (id, title) = ("masks", "debug masks as usual");
    let debug = match control.mask(MaskKind::Debug) {
        Ok(debug) => debug,
        Err(error) => return Check::new(id, title, Status::Failed, with_causes(&error), ""),
    };
    let ours = JournalFile::new(&config.journal_path()).load().ok().flatten().unwrap_or_default().debug.switched_on;
    let others = heavy(&debug.minus(&ours));
    if others.is_empty() {
        return Check::new(id, title, Status::Ok, debug.to_string(), "");
    }
    Check::new(
        id,
        title,
        Status::Warning,
        format!("somebody has switched on `{others}`"),
        "These print a lot for each operation, also into lioprof's log; it leaves them on. If nobody needs them: \
         `lctl set_param debug=-NAME`.",
    )
}
