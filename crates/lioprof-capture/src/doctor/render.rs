//! The checks as text.

use std::fmt::Write as _;

use lioprof_text::hanging;

use super::check::{Check, Status};

/// Indentation, as wide as the column of the status.
const INDENT: &str = "         ";

/// One paragraph per check, at most 80 columns wide, and a last line that says whether the daemon may start.
#[must_use]
pub fn text(checks: &[Check]) -> String {
    let mut out = String::new();
    for check in checks {
        let status = match check.status {
            Status::Ok => "ok",
            Status::Warning => "warning",
            Status::Failed => "FAILED",
            Status::Skipped => "skipped",
        };
        let first = format!("{status:<9}");
        out += &hanging(&format!("{}: {}", check.title, one_line(&check.found)), &first);
        if !check.remedy.is_empty() {
            out += &hanging(&one_line(&check.remedy), &format!("{INDENT}-> "));
        }
    }
    let count = |status| checks.iter().filter(|check| check.status == status).count();
    let (failed, warnings) = (count(Status::Failed), count(Status::Warning));
    let verdict = if failed == 0 { "This node can be traced." } else { "This node cannot be traced yet." };
    // Writing to a String cannot fail.
    let _infallible = writeln!(out, "\n{verdict} {} checks, {failed} failed, {warnings} with warnings.", checks.len());
    out
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Auto, Config, OrOff};
    use crate::doctor::{may_start, preflight};
    use crate::system::put;
    use std::fs;
    use std::path::Path;

    fn config(root: &Path) -> Config {
        let mut config = Config::default();
        config.control.root = root.to_owned();
        config.control.lctl = "/nonexistent/lctl".into();
        config.capture.spool_dir = Auto::Is(root.join("run/lioprof/spool"));
        config.capture.spool_limit_mib = Auto::Is(1);
        config.keep.dir = root.join("var/lib/lioprof");
        config.keep.file_mib = 1;
        config.budget.disk_reserve_mib = 1;
        config.talk.socket = root.join("run/lioprof/socket");
        config.talk.metrics = OrOff::Off;
        config
    }

    /// A healthy OSS with 2.15.
    fn server() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let lnet = "sys/kernel/debug/lnet";
        put(root.path(), &format!("{lnet}/debug"), "ioctl neterror warning error emerg ha config console lfsck\n");
        put(root.path(), &format!("{lnet}/subsystem_debug"), "undefined mdc mds osc ost rpc filter ldlm\n");
        put(root.path(), &format!("{lnet}/daemon_file"), "\n");
        put(root.path(), "sys/module/libcfs/parameters/libcfs_debug_mb", "201\n");
        put(root.path(), "sys/kernel/debug/lustre/devices", "  3 UP obdfilter lustre-OST0000 lustre-OST0000_UUID 9\n");
        put(root.path(), "sys/fs/lustre/version", "2.15.8\n");
        put(root.path(), "proc/modules", "ofd 1 1 - Live 0x0\nlibcfs 1 1 - Live 0x0\n");
        put(root.path(), "sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
        put(root.path(), "dev/kmsg", "");
        root
    }

    fn status(checks: &[Check], id: &str) -> Status {
        checks.iter().find(|check| check.id == id).unwrap_or_else(|| panic!("{id}")).status
    }

    fn after(change: impl Fn(&Path)) -> Vec<Check> {
        let root = server();
        change(root.path());
        preflight(&config(root.path()))
    }

    #[test]
    fn a_healthy_server_has_no_failures() {
        let checks = after(|_| {});
        // Tests may run as another user than root; nothing else may fail.
        assert!(checks.iter().all(|check| check.id == "root" || check.status != Status::Failed), "{}", text(&checks));
        for id in
            ["modules", "lockdown", "control", "writable", "version", "targets", "debug_daemon", "masks", "kernel_log"]
        {
            assert_eq!(status(&checks, id), Status::Ok, "{id}\n{}", text(&checks));
        }
    }

    #[test]
    fn each_trouble_is_found() {
        let daemon = |root: &Path| put(root, "sys/kernel/debug/lnet/daemon_file", "/var/tmp/theirs\n");
        let checks = after(daemon);
        assert_eq!(status(&checks, "debug_daemon"), Status::Failed);
        assert!(!may_start(&checks));
        assert!(text(&checks).contains("/var/tmp/theirs"));

        let heavy = after(|root| put(root, "sys/kernel/debug/lnet/debug", "info ha rpctrace\n"));
        assert_eq!(status(&heavy, "masks"), Status::Warning);
        let locked = after(|root| put(root, "sys/kernel/security/lockdown", "none [integrity] confidentiality\n"));
        assert_eq!(status(&locked, "lockdown"), Status::Failed);
        let unmounted = after(|root| fs::remove_dir_all(root.join("sys/kernel/security")).unwrap());
        assert_eq!(status(&unmounted, "lockdown"), Status::Skipped);
        let client = after(|root| put(root, "proc/modules", "lnet 1 1 - Live 0x0\n"));
        assert_eq!(status(&client, "modules"), Status::Warning);
        let empty = after(|root| put(root, "proc/modules", "xfs 1 1 - Live 0x0\n"));
        assert_eq!(status(&empty, "modules"), Status::Failed);
        let stopped =
            after(|root| put(root, "sys/kernel/debug/lustre/devices", "  3 ST obdfilter a-OST0000 a-OST0000_UUID 9\n"));
        assert_eq!(status(&stopped, "targets"), Status::Warning);
        let old = after(|root| put(root, "sys/fs/lustre/version", "lustre: 2.12.9\n"));
        assert_eq!(status(&old, "version"), Status::Warning);
        let deaf = after(|root| fs::remove_file(root.join("dev/kmsg")).unwrap());
        assert_eq!(status(&deaf, "kernel_log"), Status::Warning);
        let gone = after(|root| fs::remove_dir_all(root.join("sys/kernel/debug/lnet")).unwrap());
        assert_eq!(status(&gone, "control"), Status::Failed);
        assert_eq!(status(&gone, "masks"), Status::Skipped);
    }

    #[test]
    fn text_fits_a_terminal_and_json_is_stable() {
        for checks in [after(|_| {}), after(|root| fs::remove_dir_all(root.join("sys")).unwrap())] {
            let text = text(&checks);
            for line in text.lines() {
                // A path has no place to break.
                let widest = line.split_whitespace().map(str::len).max().unwrap_or(0);
                assert!(line.chars().count() <= 80 || widest > 60, "{line}");
            }
            let json = serde_json::to_string(&checks).unwrap();
            assert!(json.contains(r#""status":"ok""#) && json.contains(r#""id":"lockdown""#), "{json}");
            assert_eq!(serde_json::from_str::<Vec<Check>>(&json).unwrap(), checks);
        }
    }
}
