//! Checks of the node itself.

use std::path::Path;

use super::check::{Check, Subject};
use crate::kmsg::KernelLog;
use crate::system::{below, machine, modules, read_text};
use lioprof_model::with_causes;

pub(super) fn superuser() -> Check {
    let check = Subject("root", "running as root");
    match rustix::process::geteuid() {
        uid if uid.is_root() => check.ok("yes"),
        uid => check.failed(
            format!("user id {}", uid.as_raw()),
            "Run as root: root owns Lustre's control files and the segments that the kernel writes.",
        ),
    }
}

/// Inside a container `/proc/1` is not the node's init, so paths cannot be compared with those that the kernel sees.
pub(super) fn container(root: &Path) -> Check {
    let check = Subject("container", "not in a container");
    match machine::in_first_pid_namespace(root) {
        Some(true) => check.ok("first pid namespace"),
        Some(false) => check.warning(
            "another pid namespace: a container",
            "The kernel opens the segment path in its own mount namespace. Run on the node itself, or bind-mount the \
             directory at the same path.",
        ),
        None => check.skipped("no /proc/self/ns/pid", ""),
    }
}

/// Checks that Lustre's modules are loaded. A daemon that waits for them starts without them.
pub(super) fn modules(root: &Path, waits: bool) -> Check {
    let check = Subject("modules", "Lustre modules loaded");
    let Some(names) = modules::loaded(root) else {
        return check.skipped("/proc/modules cannot be read", "");
    };
    let has = |name: &str| names.iter().any(|loaded| loaded == name);
    let servers: Vec<_> = ["ofd", "ost", "mdt", "mgs"].into_iter().filter(|name| has(name)).collect();
    match modules::debug_log_loaded(root) {
        _ if waits && modules::lustre_loaded(root) == Some(false) => check.warning(
            "Lustre is not loaded",
            "lioprof waits until it is, then starts tracing.",
        ),
        Some(true) if servers.is_empty() => check.warning(
            "no server module (ofd, ost, mdt, mgs)",
            "This looks like a client. lioprof traces servers.",
        ),
        Some(true) => check.ok(servers.join(", ")),
        _ => check.failed(
            "neither libcfs nor lnet is loaded",
            "Start Lustre first: mount the targets, or `modprobe lustre`. `lioprof daemon --wait` waits for it, and so does the \
             systemd unit.",
        ),
    }
}

/// Lockdown at `integrity` or above forbids opening writable files in debugfs (LOCKDOWN_DEBUGFS of
/// include/linux/security.h, debugfs_locked_down in fs/debugfs/file.c).
pub(super) fn lockdown(root: &Path) -> Check {
    let check = Subject("lockdown", "kernel not locked down");
    let Ok(text) = read_text(root, "sys/kernel/security/lockdown") else {
        // An empty directory is where securityfs would be mounted.
        let mounted = below(root, "sys/kernel/security").read_dir().is_ok_and(|mut entries| entries.next().is_some());
        return if mounted {
            check.ok("the kernel has no lockdown")
        } else {
            let remedy = "To see it: `mount -t securityfs none /sys/kernel/security`. Not needed if the control files below are usable.";
            check.skipped("securityfs is not mounted", remedy)
        };
    };
    let chosen = text.split(['[', ']']).nth(1).unwrap_or("unknown");
    let in_debugfs = below(root, "sys/kernel/debug/lnet").is_dir() || !below(root, "proc/sys/lnet").is_dir();
    match chosen {
        "none" => check.ok("none"),
        "integrity" | "confidentiality" if in_debugfs => check.failed(
            format!("lockdown is `{chosen}`"),
            "It blocks debugfs, where Lustre's control files are. Boot without secure boot, or without `lockdown=` on the \
             kernel's command line. lctl cannot do it either.",
        ),
        other => check.warning(format!("lockdown is `{other}`"), "Writing may be forbidden."),
    }
}

pub(super) fn kernel_log(root: &Path) -> Check {
    let check = Subject("kernel_log", "kernel log readable");
    match KernelLog::open(root) {
        Ok(_) => check.ok("/dev/kmsg"),
        Err(error) => check.warning(
            with_causes(&error),
            "Without it lioprof notices overflows of the kernel's buffer only in the debug log. Grant CAP_SYSLOG and the device.",
        ),
    }
}

/// Looks for the pid or state files of the programs that synchronise the clock.
pub(super) fn clock(root: &Path) -> Check {
    const TRACES: [(&str, &str); 5] = [
        ("run/systemd/timesync/synchronized", "systemd-timesyncd"),
        ("run/chrony/chronyd.pid", "chronyd"),
        ("run/chronyd.pid", "chronyd"),
        ("run/ntpd.pid", "ntpd"),
        ("run/ptp4l", "ptp4l"),
    ];
    let check = Subject("clock", "clock synchronised");
    match TRACES.iter().find(|(path, _)| below(root, path).exists()) {
        Some((_, program)) => check.ok(*program),
        None => check.skipped(
            "found none of chronyd, ntpd, systemd-timesyncd, ptp4l",
            "Without synchronised clocks, times of different servers cannot be compared exactly.",
        ),
    }
}
