//! A file system under the segments that does not answer for a while.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lioprof_testkit::until;

use super::fixture::{assert_kept, rich, speed};
use super::node::Node;
use super::process::{free_port, http_get};

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

#[test]
fn a_frozen_spool_is_told_while_it_lasts_and_nothing_is_lost() {
    let log = rich();
    let node = Node::playing_with(&log.path, &["--speed", &speed(&log, 8.0)]);
    node.ctl("pause");
    let disk = Disk::mount(&node.path("disk.img"), &node.spool(), 128);
    let port = free_port();
    let daemon = node.daemon(&[
        ("capture.spool_limit_mib", "64"),
        ("capture.buffer_mib", "64"),
        ("capture.rotate", "\"3s\""),
        ("talk.metrics", &format!("\"{port}\"")),
    ]);
    node.ctl("resume");
    // The kernel stands still with it, and there is something to rename.
    until("a frozen disk with a file of the kernel", || {
        until("the kernel's file", || is_logged(&node).then_some(()));
        node.ctl("stall on");
        disk.freeze();
        let there = is_logged(&node);
        if !there {
            disk.thaw();
            node.ctl("stall off");
        }
        there.then_some(())
    });
    let told = "has not answered for ";
    let warned = |status: &serde_json::Value| status["warnings"][0].as_str().is_some_and(|text| text.contains(told));
    daemon.wait("the warning", warned);
    let health = || http_get(port, "/healthz");
    let sick = health();
    assert!(sick.starts_with("HTTP/1.1 503") && sick.contains(told), "{sick}");
    let seconds = |status: &serde_json::Value| {
        let (_, rest) = status["warnings"][0].as_str()?.split_once(told)?;
        rest.split_once(' ')?.0.parse::<u64>().ok()
    };
    // The state goes on, also with what has to be done now and then in that directory.
    daemon.wait("the time to pass", |status| seconds(status) >= Some(5));
    disk.thaw();
    node.ctl("stall off");
    daemon.wait("the end of it", |status| !warned(status));
    until("the daemon to be healthy again", || health().starts_with("HTTP/1.1 200").then_some(()));
    node.wait_played();
    node.wait_written();
    daemon.stop().exits(0);
    assert_eq!(node.account()["total"]["lost"]["overflow"]["records"], 0);
    assert_kept(&log.name, &node.keep(), &log.path);
}

#[test]
fn a_frozen_spool_is_noticed_though_there_is_nothing_to_rename() {
    let log = rich();
    let node = Node::playing_with(&log.path, &["--speed", &speed(&log, 8.0)]);
    node.ctl("pause");
    let disk = Disk::mount(&node.path("disk.img"), &node.spool(), 128);
    let port = free_port();
    let keys = [("capture.spool_limit_mib", "64"), ("capture.buffer_mib", "64")];
    let daemon = node.daemon(&[&keys[..], &[("talk.metrics", &*format!("\"{port}\""))]].concat());
    // Before anything is logged: the kernel has made no file.
    node.ctl("stall on");
    assert!(!is_logged(&node));
    disk.freeze();
    node.ctl("resume");
    let told = "has not answered for ";
    let warned = |status: &serde_json::Value| status["warnings"][0].as_str().is_some_and(|text| text.contains(told));
    daemon.wait("the warning", warned);
    let sick = http_get(port, "/healthz");
    assert!(sick.starts_with("HTTP/1.1 503") && sick.contains(told), "{sick}");
    disk.thaw();
    node.ctl("stall off");
    daemon.wait("the end of it", |status| !warned(status));
    node.wait_played();
    node.wait_written();
    daemon.stop().exits(0);
}
