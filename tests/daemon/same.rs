//! What the daemon keeps gives the same analysis as the log that was played.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use lioprof_testkit::files::{files_under, unpacked};

use crate::binlog::BinaryLog;

use super::fixture::{Log, analysis, assert_kept, assert_same_figures, logs, medium};
use super::node::{Keys, Node, Settings};
use super::process::Ended;

/// Runs `check` for each log, some at a time: most of the time they wait.
fn each(logs: &[Log], check: impl Fn(&Log) + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(log) = logs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(log);
                }
            });
        }
    });
}

/// Captures everything that is played, and stops.
fn capture(node: &Node, keys: Keys<'_>, options: &[&str]) -> (Settings, Ended) {
    let before = node.settings();
    let daemon = node.daemon_with(keys, options);
    node.wait_played();
    let ended = daemon.stop().exits(0);
    assert_eq!(node.settings(), before, "{ended}");
    assert!(node.spooled().is_empty(), "left in the spool: {:?}", node.spooled());
    (before, ended)
}

#[test]
fn every_capture_comes_back() {
    each(&logs(), |log| {
        let node = Node::playing(&log.path);
        capture(&node, &[], &[]);
        assert_kept(&log.name, &node.keep(), &log.path);
        // Nothing but whole files.
        assert!(files_under(node.keep()).iter().all(|path| path.extension().is_none_or(|it| it != "tmp")));
    });
}

#[test]
fn the_light_profile_keeps_what_rpctrace_says() {
    /// `dlmtrace` and `net`.
    const NOT_LIGHT: u32 = 0x1_0000 | 0x200;
    let binary: Vec<Log> = medium(6).into_iter().filter(|log| log.path.to_string_lossy().contains(".bin")).collect();
    assert!(!binary.is_empty());
    each(&binary, |log| {
        let node = Node::playing(&log.path);
        capture(&node, &[], &["--profile", "light"]);
        // The records that the kernel would have logged with the light profile.
        let all = BinaryLog::new(unpacked(&log.path));
        let light: Vec<u8> = (0..all.len())
            .filter(|&index| all.mask(index) & !NOT_LIGHT != 0)
            .flat_map(|index| all.record(index).to_vec())
            .collect();
        let path = node.path("light.bin");
        fs::write(&path, light).unwrap();
        assert_kept(&log.name, &node.keep(), &path);
    });
}

#[test]
fn the_log_itself_can_be_kept() {
    each(&medium(2), |log| {
        let node = Node::playing(&log.path);
        capture(&node, &[], &["--keep", "raw"]);
        assert_kept(&format!("{}, raw", log.name), &node.keep().join("raw"), &log.path);
        assert_kept(&format!("{}, the folder of raw", log.name), &node.keep(), &log.path);
        assert!(files_under(node.keep()).iter().all(|path| path.extension().is_none_or(|it| it != "parquet")));

        let node = Node::playing(&log.path);
        capture(&node, &[], &["--keep", "both"]);
        let (rows, raw) = (analysis(&[&node.keep()]), analysis(&[&node.keep().join("raw")]));
        let original = analysis(&[&log.path]);
        assert_same_figures(&format!("{}, both, rows", log.name), &rows, &original);
        assert_same_figures(&format!("{}, both, raw", log.name), &raw, &original);
    });
}

#[test]
fn the_layouts_of_all_versions_serve() {
    for version in ["2.10", "2.15", "2.17"] {
        each(&medium(2), |log| {
            let node = Node::playing_with(&log.path, &["--speed", "max", "--version", version]);
            let old = node.root().join("proc/sys/lnet/daemon_file").exists();
            assert_eq!(old, version == "2.10");
            capture(&node, &[], &[]);
            assert_kept(&format!("{} as {version}", log.name), &node.keep(), &log.path);
        });
    }
}

#[test]
fn lctl_serves_as_well_as_the_files() {
    each(&medium(2), |log| {
        let node = Node::playing(&log.path);
        let lctl = format!("\"{}\"", node.root().join("bin/lctl").display());
        capture(&node, &[("control.access", "\"lctl\""), ("control.lctl", &lctl)], &[]);
        assert_kept(&log.name, &node.keep(), &log.path);
    });
}
