//! Full disks.

use std::fs;

use lioprof_testkit::until;
use rustix::process::Signal;

use super::fixture::{Log, analysis, assert_kept, rich};
use super::node::{Keys, Node};
use super::process::{Daemon, free_port, http_get};
use super::tmpfs::Tmpfs;
use crate::util::lioprof;

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
    let ended = daemon.stop_in_trouble(&["No space left"]).exits(1).says(&["No space left"]);
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
    let port = free_port();
    let daemon = node.daemon(&[("capture.spool_limit_mib", "20"), ("talk.metrics", &format!("\"{port}\""))]);
    let health = || http_get(port, "/healthz");
    assert!(health().starts_with("HTTP/1.1 200"), "{}", health());
    let ballast = disk.fill(64 << 10);
    node.ctl("resume");
    node.wait_played();
    let status = daemon.wait("the kernel's error", |status| status["kernel_log"]["errors"].as_u64() > Some(0));
    let why = status["kernel_log"]["cannot_write"].as_str().unwrap();
    assert!(why.contains("wanted to write") && why.contains("spool"), "{why}");
    assert_eq!(status["warnings"][0], why);
    let sick = health();
    assert!(sick.starts_with("HTTP/1.1 503") && sick.contains("the kernel cannot write its log"), "{sick}");
    let metrics = http_get(port, "/metrics");
    assert!(metrics.contains("\nlioprof_kernel_can_write 0\n"), "{metrics}");
    fs::remove_file(ballast).unwrap();
    node.wait_written();
    until("the daemon to be healthy again", || health().starts_with("HTTP/1.1 200").then_some(()));
    daemon.stop().exits(0);
    assert_eq!(node.account()["total"]["lost"]["overflow"]["records"], 0);
    assert_kept(&log.name, &node.keep(), &log.path);
}

/// RPCs that were read and written, by the rows that are kept and by the server's own counters.
fn reads_and_writes(node: &Node) -> [(u64, u64); 2] {
    let totals = analysis(&[&node.keep()])["totals"].clone();
    [("read", "read_bytes"), ("write", "write_bytes")]
        .map(|(direction, line)| (totals[direction]["rpcs"].as_u64().unwrap_or(0), node.counted(line)))
}

#[test]
fn what_the_kernel_held_back_is_decoded_though_it_is_more_than_may_wait() {
    let node = Node::in_scenario("busy", &["--speed", "max", "--rate", "1000", "--duration", "5"]);
    node.ctl("pause");
    let daemon = node.daemon(&[("capture.spool_limit_mib", "20"), ("capture.buffer_mib", "40")]);
    node.ctl("enospc 0");
    node.ctl("resume");
    node.wait_played();
    daemon.wait("the kernel's error", |status| status["kernel_log"]["errors"].as_u64() > Some(0));
    let held_back = node.account()["total"]["pending"]["bytes"].as_u64().unwrap();
    assert!(held_back > 11 << 20, "{held_back} bytes may wait");
    node.ctl("enospc off");
    node.wait_written();
    let ended = daemon.stop().exits(0);
    assert!(!ended.log.contains("part of the log is lost"), "{ended}");
    assert_eq!(node.account()["total"]["lost"]["overflow"]["records"], 0, "the buffer was too small for this test");
    for (kept, counted) in reads_and_writes(&node) {
        assert_eq!(kept, counted);
    }
}

#[test]
fn a_spool_without_room_is_told_before_the_kernel_meets_it() {
    let node = Node::playing(&rich().path);
    let disk = Tmpfs::mount(&node.spool(), 24 << 10);
    node.ctl("pause");
    let port = free_port();
    let daemon = node.daemon(&[("capture.spool_limit_mib", "20"), ("talk.metrics", &format!("\"{port}\""))]);
    disk.fill(0);
    let status = daemon.wait("the warning", |status| !status["kernel_log"]["cannot_write"].is_null());
    assert_eq!(status["kernel_log"]["errors"], 0, "{status}");
    assert!(http_get(port, "/healthz").starts_with("HTTP/1.1 503"));
    let text = String::from_utf8(daemon.command(&["status"]).exits(0).stdout).unwrap();
    assert!(text.contains("warning   the kernel cannot write its log: 0 B free"), "{text}");
}

#[test]
fn a_daemon_that_hangs_does_not_fill_the_spool() {
    let node = Node::in_scenario("busy", &["--speed", "max", "--rate", "1000", "--duration", "20"]);
    let keys = [("capture.spool_limit_mib", "20"), ("capture.buffer_mib", "10")];
    let config = node.config(&keys).display().to_string();
    let told = lioprof(&["doctor", "--config", &config]);
    let told = String::from_utf8_lossy(&told.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("at most 15 MiB") && told.contains("30 MiB even if the daemon hangs"), "{told}");
    node.ctl("pause");
    let daemon = node.daemon(&keys);
    daemon.signal(Signal::STOP);
    node.ctl("resume");
    node.wait_played();
    node.wait_written();
    let written = node.account()["total"]["written"]["bytes"].as_u64().unwrap();
    assert!(written > 60 << 20, "{written} bytes prove nothing");
    let spooled: u64 = node.spooled().iter().map(|path| fs::metadata(path).unwrap().len()).sum();
    assert!(spooled <= (30 << 20) + 4096, "{spooled} bytes in the spool");
    daemon.signal(Signal::CONT);
    daemon.stop().exits(0);
    // What was overwritten is no secret.
    assert!(analysis(&[&node.keep()])["loss"]["torn_seams"].as_u64() > Some(0));
}
