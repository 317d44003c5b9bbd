//! A file system under the segments that does not answer for a while.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use lioprof_testkit::until;
use serde_json::Value;

use super::fixture::{Log, assert_kept, rich, speed};
use super::node::Node;
use super::process::{Daemon, free_port, http_get};

/// A disk of a test's own, which can be frozen as snapshots of volumes do it.
struct Disk {
    path: PathBuf,
}

impl Disk {
    fn mount(image: &Path, path: &Path, mib: u64) -> Self {
        fs::File::create(image).unwrap().set_len(mib << 20).unwrap();
        run("mkfs.ext4", &["-q", "-F", &image.display().to_string()]);
        run("mount", &["-o", "loop", &image.display().to_string(), &path.display().to_string()]);
        Self { path: path.to_owned() }
    }

    fn freeze(&self) {
        run("fsfreeze", &["--freeze", &self.path.display().to_string()]);
    }

    fn thaw(&self) {
        run("fsfreeze", &["--unfreeze", &self.path.display().to_string()]);
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Of a test that failed it may still be frozen.
        for command in [["fsfreeze", "--unfreeze"], ["umount", "--lazy"]] {
            drop(Command::new(command[0]).arg(command[1]).arg(&self.path).output());
        }
    }
}

#[track_caller]
fn run(program: &str, args: &[&str]) {
    let out = Command::new(program).args(args).output().unwrap();
    assert!(out.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&out.stderr));
}

/// Whether the kernel's file has something in it.
fn is_logged(node: &Node) -> bool {
    let files = node.spooled();
    let mut current = files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "bin"));
    current.any(|path| fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0))
}

/// A daemon whose spool is on a disk of its own.
struct Capture {
    daemon: Daemon,
    metrics: SocketAddr,
    disk: Disk,
    node: Node,
}

impl Capture {
    /// The log is not played yet.
    fn paused(log: &Log, keys: &[(&str, &str)]) -> Self {
        let node = Node::playing_with(&log.path, &["--speed", &speed(log, 8.0)]);
        node.ctl("pause");
        let disk = Disk::mount(&node.path("disk.img"), &node.spool(), 128);
        let metrics = free_port();
        let always = [
            ("capture.spool_limit_mib", "64"),
            ("capture.buffer_mib", "64"),
            ("talk.metrics", &*format!("\"{metrics}\"")),
        ];
        let daemon = node.daemon(&[&always[..], keys].concat());
        Self { daemon, metrics, disk, node }
    }

    /// The kernel's writing stands still with the disk.
    fn freeze(&self) {
        self.node.ctl("stall on");
        self.disk.freeze();
    }

    fn thaw(&self) {
        self.disk.thaw();
        self.node.ctl("stall off");
    }

    fn health(&self) -> String {
        http_get(self.metrics, "/healthz")
    }

    fn wait_sick(&self) {
        self.daemon.wait("the warning", is_warned);
        let health = self.health();
        assert!(health.starts_with("HTTP/1.1 503") && health.contains(TOLD), "{health}");
    }

    fn wait_well(&self) {
        self.daemon.wait("the end of the warning", |status| !is_warned(status));
        until("the daemon to be healthy again", || self.health().starts_with("HTTP/1.1 200").then_some(()));
    }

    /// Plays to the end of the log and stops the daemon.
    fn finish(self) -> Node {
        let Self { daemon, node, .. } = self;
        node.wait_played();
        node.wait_written();
        daemon.stop().exits(0);
        node
    }
}

const TOLD: &str = "has not answered for ";

fn is_warned(status: &Value) -> bool {
    status["warnings"][0].as_str().is_some_and(|text| text.contains(TOLD))
}

/// The time that the warning tells.
fn silent_s(status: &Value) -> Option<u64> {
    let (_, rest) = status["warnings"][0].as_str()?.split_once(TOLD)?;
    rest.split_once(' ')?.0.parse().ok()
}

#[test]
fn a_frozen_spool_is_told_while_it_lasts_and_nothing_is_lost() {
    let log = rich();
    let capture = Capture::paused(&log, &[("capture.rotate", "\"3s\"")]);
    capture.node.ctl("resume");
    // There is something to rename.
    until("a frozen disk with a file of the kernel", || {
        until("the kernel's file", || is_logged(&capture.node).then_some(()));
        capture.freeze();
        let there = is_logged(&capture.node);
        if !there {
            capture.thaw();
        }
        there.then_some(())
    });
    capture.wait_sick();
    // The state goes on, also with what has to be done now and then in that directory.
    capture.daemon.wait("the time to pass", |status| silent_s(status) >= Some(5));
    capture.thaw();
    capture.wait_well();
    let node = capture.finish();
    assert_eq!(node.account()["total"]["lost"]["overflow"]["records"], 0);
    assert_kept(&log.name, &node.keep(), &log.path);
}

#[test]
fn a_frozen_spool_is_noticed_though_there_is_nothing_to_rename() {
    let log = rich();
    let capture = Capture::paused(&log, &[]);
    // Before anything is logged: the kernel has made no file.
    assert!(!is_logged(&capture.node));
    capture.freeze();
    capture.node.ctl("resume");
    capture.wait_sick();
    capture.thaw();
    capture.wait_well();
    capture.finish();
}
