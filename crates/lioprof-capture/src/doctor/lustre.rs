//! Checks of Lustre and its debug log.

use std::path::Path;

use super::check::{Check, Status, Subject};
use crate::config::Config;
use crate::control::masks::MaskSet;
use crate::control::profile::heavy;
use crate::control::{Control, ControlError, Param};
use crate::pointers::{self, Pointer};
use crate::system::mounts::{mounts_of, place};
use crate::system::{below, modules};
use lioprof_model::with_causes;

/// Releases of which the tests have real captures.
const TRIED: [(u32, u32); 2] = [(2, 15), (2, 17)];
/// First release whose log messages are known.
const FIRST: (u32, u32) = (2, 5);

pub(super) fn reachable(root: &Path, control: &Result<Control, ControlError>, waits: bool) -> Check {
    let check = Subject("control", "control files reachable");
    let error = match control {
        Ok(control) => return check.ok(control.access()),
        Err(error) => error,
    };
    let debugfs = below(root, "sys/kernel/debug");
    let mounted = mounts_of(root, "self")
        .and_then(|mounts| place(&mounts, &debugfs))
        .map(|place| place.kind == "debugfs" || place.kind == "tracefs");
    const MOUNT: &str = "`mount -t debugfs none /sys/kernel/debug`";
    if modules::debug_log_loaded(root) == Some(false) {
        // Without the modules there are no files, wherever debugfs is mounted.
        let status = if waits { Status::Skipped } else { Status::Failed };
        let mut remedy = "Load the modules first: mount the targets, or `modprobe lustre`.".to_owned();
        if mounted == Some(false) {
            remedy += &format!(" debugfs is not mounted either: {MOUNT}.");
        }
        return check.came_to(status, "the modules that create them are not loaded", remedy);
    }
    let remedy = match mounted {
        Some(false) => format!("debugfs is not mounted: {MOUNT}."),
        _ => "Load the modules: `modprobe lustre`.".to_owned(),
    };
    check.failed(with_causes(error), remedy)
}

pub(super) fn checks(control: Option<&Control>, config: &Config) -> Vec<Check> {
    let Some(control) = control else {
        let waiting = [
            Subject("writable", "control files writable"),
            Subject("version", "Lustre version known"),
            Subject("targets", "targets on this node"),
            Subject("debug_daemon", "debug daemon free"),
            Subject("masks", "debug masks as usual"),
        ];
        return waiting.map(|check| check.skipped("control files are not reachable", "")).into();
    };
    let known = pointers::with_own(config);
    vec![writable(control), version(control), targets(control), debug_daemon(control, &known), masks(control, &known)]
}

fn writable(control: &Control) -> Check {
    let check = Subject("writable", "control files writable");
    let mut told = true;
    for param in Param::settings() {
        match control.writable(param) {
            Some(Ok(())) => {}
            Some(Err(error)) => {
                return check.failed(with_causes(&error), "Run as root on a kernel without lockdown.");
            }
            None => told = false,
        }
    }
    if told {
        check.ok(Param::settings().map(Param::name).collect::<Vec<_>>().join(", "))
    } else {
        check.skipped("with lctl, only an actual write shows it", "")
    }
}

fn version(control: &Control) -> Check {
    let check = Subject("version", "Lustre version known");
    let Some(version) = control.version() else {
        return check.warning("no version found", "lioprof detects the version from the log.");
    };
    let numbers = (version.major, version.minor);
    let (status, remedy) = if TRIED.contains(&numbers) {
        (Status::Ok, "")
    } else if numbers < FIRST {
        (Status::Warning, "Older than all supported releases; see docs/log-format.md.")
    } else {
        (
            Status::Warning,
            "Supported from its sources, not tested on a real server. Compare with the servers' counters.",
        )
    };
    check.came_to(status, version.text, remedy)
}

fn targets(control: &Control) -> Check {
    let check = Subject("targets", "targets on this node");
    let targets = match control.targets() {
        Ok(targets) => targets,
        Err(error) => return check.warning(with_causes(&error), "See `lctl dl`."),
    };
    if targets.is_empty() {
        return check.warning("none", "Mount the targets; until then there is nothing to trace.");
    }
    let down: Vec<_> = targets.iter().filter(|target| !target.is_up()).map(|target| target.name.as_str()).collect();
    let names: Vec<_> = targets.iter().map(|target| target.name.as_str()).collect();
    if down.is_empty() {
        check.ok(names.join(", "))
    } else {
        let found = format!("{}; not up: {}", names.join(", "), down.join(", "));
        check.warning(found, "See `lctl dl`.")
    }
}

fn debug_daemon(control: &Control, known: &[Pointer]) -> Check {
    let check = Subject("debug_daemon", "debug daemon free");
    let path = match control.daemon_file() {
        Ok(None) => return check.ok("no debug daemon is running"),
        Ok(Some(path)) => path,
        Err(error) => return check.failed(with_causes(&error), ""),
    };
    let found = format!("a debug daemon writes `{}`", path.display());
    let ours = |pointer: &Pointer| {
        let journal = pointer.load().ok().flatten();
        journal.is_some_and(|journal| journal.daemon().is_some_and(|daemon| daemon.path == path))
    };
    if let Some(pointer) = known.iter().find(|pointer| ours(pointer)) {
        let remedy = match pointer.is_running() {
            Some(true) => format!("It belongs to the running lioprof daemon, process {}.", pointer.pid),
            _ => {
                "It belongs to a lioprof daemon that was killed: the next start or `lioprof daemon --restore` stops it."
                    .to_owned()
            }
        };
        return check.warning(found, remedy);
    }
    let remedy =
        "A node has only one, and lioprof did not start this one. If nobody needs it: `lctl debug_daemon stop`.";
    check.failed(found, remedy)
}

fn masks(control: &Control, known: &[Pointer]) -> Check {
    let check = Subject("masks", "debug masks as usual");
    let debug = match control.mask(Param::Debug) {
        Ok(debug) => debug,
        Err(error) => return check.failed(with_causes(&error), ""),
    };
    let ours = known.iter().filter_map(|pointer| pointer.load().ok().flatten());
    let ours = ours.fold(MaskSet::default(), |all, journal| all.or(&journal.mask(Param::Debug).switched_on));
    let others = heavy(&debug.minus(&ours));
    if others.is_empty() {
        return check.ok(debug.to_string());
    }
    check.warning(
        format!("`{others}` were already enabled"),
        "These log a lot per operation, also into lioprof's log; lioprof leaves them on. If nobody needs them: \
         `lctl set_param debug=-NAME`.",
    )
}
