//! Full disks.

use std::fs;

use super::fixture::{Log, assert_kept, rich};
use super::node::{Keys, Node};
use super::process::Daemon;
use super::tmpfs::Tmpfs;

/// Rows in small files on a small disk. Counters would fill it, too.
const SMALL: Keys<'_> = &[("keep.file_mib", "1"), ("counters.every", "\"off\"")];

/// A node whose rows find no room.
fn without_room(log: &Log) -> (Node, Tmpfs, Daemon, std::path::PathBuf) {
    let node = Node::playing(&log.path);
    let disk = Tmpfs::mount(&node.keep(), 4096);
    node.ctl("pause");
    let daemon = node.daemon(SMALL);
    // Not quite full: the budget would stop tracing at once.
    let ballast = disk.fill(16 << 10);
    node.ctl("resume");
    node.wait_played();
    let status = daemon.wait("rows that cannot be written", |status| {
        status["warnings"].as_array().is_some_and(|warnings| !warnings.is_empty())
    });
    let warning = status["warnings"].to_string();
    assert!(warning.contains("No space left") && warning.contains("node=oss7"), "{warning}");
    (node, disk, daemon, ballast)
}

#[test]
fn rows_are_written_once_there_is_room() {
    let log = rich();
    let (node, _disk, daemon, ballast) = without_room(&log);
    let before = "ioctl neterror warning error emerg ha config console lfsck";
    fs::remove_file(ballast).unwrap();
    daemon.wait("the rows to be written", |status| status["files"]["written"].as_u64() > Some(0));
    // What could be done after all is no failure.
    daemon.stop().exits(0).says(&["No space left"]);
    assert_eq!(node.settings().debug, before);
    assert_kept(&log.name, &node.keep(), &log.path);
}

#[test]
fn rows_without_room_stay_in_the_spool() {
    let log = rich();
    let (node, _disk, daemon, ballast) = without_room(&log);
    let ended = daemon.stop().exits(1).says(&["No space left"]);
    assert!(ended.stdout.contains("No space left"), "{ended}");
    assert!(node.settings().daemon_file.is_empty() && !node.settings().debug.contains("rpctrace"));
    assert!(!node.spooled().is_empty());
    fs::remove_file(ballast).unwrap();
    node.daemon(SMALL).stop().exits(0);
    assert!(node.spooled().is_empty());
    assert_kept(&log.name, &node.keep(), &log.path);
}

#[test]
fn the_kernel_finds_no_room_for_a_while() {
    let log = rich();
    let node = Node::playing(&log.path);
    node.ctl("pause");
    let daemon = node.daemon(&[]);
    // Not at a page's end.
    node.ctl("enospc 100001");
    node.ctl("resume");
    node.wait_played();
    let status = daemon.wait("the kernel's error", |status| status["kernel_log"]["errors"].as_u64() > Some(0));
    assert!(node.account()["total"]["pending"]["records"].as_u64() > Some(0));
    let text = String::from_utf8(daemon.command(&["status"]).exits(0).stdout).unwrap();
    assert!(text.contains("debug daemon error"), "{status} {text}");
    node.ctl("enospc off");
    node.wait_written();
    daemon.stop().exits(0);
    let account = node.account();
    assert_eq!(account["total"]["lost"]["overflow"]["records"], 0, "the buffer was too small for this test");
    assert!(account["file"]["torn_bytes"].as_u64() > Some(0), "{}", account["file"]);
    assert_kept(&log.name, &node.keep(), &log.path);
}

#[test]
fn the_spool_is_full_for_a_while() {
    let log = rich();
    let node = Node::playing(&log.path);
    let disk = Tmpfs::mount(&node.spool(), 24 << 10);
    node.ctl("pause");
    let daemon = node.daemon(&[("capture.spool_limit_mib", "20")]);
    let ballast = disk.fill(64 << 10);
    node.ctl("resume");
    node.wait_played();
    daemon.wait("the kernel's error", |status| status["kernel_log"]["errors"].as_u64() > Some(0));
    fs::remove_file(ballast).unwrap();
    node.wait_written();
    daemon.stop().exits(0);
    assert_eq!(node.account()["total"]["lost"]["overflow"]["records"], 0);
    assert_kept(&log.name, &node.keep(), &log.path);
}
