//! Segments that vanish under the daemon: it says what is lost and goes on.

use std::fs::{self, File};
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::fixture::{analysis, manifests, rich, speed};
use super::node::Node;
use super::process::until;
use crate::figures::number;

/// Damages one file of the spool while a log is played, and checks that this is told.
fn wound(extension: &str, damage: impl Fn(&Path)) {
    let log = rich();
    let node = Node::playing_with(&log.path, &["--speed", &speed(&log, 8.0)]);
    let daemon = node.daemon(&[("capture.rotate", "\"2s\"")]);
    daemon.wait("rows", |status| status["totals"]["rpcs"].as_u64() > Some(0));
    let files = || node.spooled().into_iter().filter(|path| path.extension().is_some_and(|it| it == extension));
    let old: Vec<_> = files().collect();
    until("a file that can be damaged", || {
        let path = files().find(|path| !old.contains(path) || extension == "bin")?;
        if extension == "bin" {
            // The daemon must have seen what is about to vanish: it looks every tenth of a second.
            thread::sleep(Duration::from_millis(300));
            fs::metadata(&path).ok().filter(|about| about.len() > 0)?;
        }
        damage(&path);
        Some(())
    });
    let status = daemon.wait("the loss to be told", |status| status["segments"]["dropped"].as_u64() > Some(0));
    assert!(status["segments"]["dropped_bytes"].as_u64() > Some(0), "{}", status["segments"]);
    let decoded = status["segments"]["decoded"].as_u64();
    daemon.wait("the next segment", |status| status["segments"]["decoded"].as_u64() > decoded);
    node.wait_played();
    let ended = daemon.stop().says(&["vanished"]);
    assert!(node.settings().daemon_file.is_empty(), "{ended}");

    let dropped: Vec<Value> =
        manifests(&node.keep()).iter().flat_map(|it| it["facts"]["dropped"].as_array().unwrap().clone()).collect();
    assert!(dropped.iter().any(|stretch| stretch["reason"].as_str().unwrap().contains("vanished")), "{dropped:?}");
    let (kept, original) = (analysis(&[&node.keep()]), analysis(&[&log.path]));
    let rpcs = |json: &Value| number(&json["totals"], "rpcs").unwrap();
    assert!(0 < rpcs(&kept) && rpcs(&kept) < rpcs(&original), "{} of {}", rpcs(&kept), rpcs(&original));
    assert!(number(&kept["loss"], "dropped_segments") > Some(0), "{}", kept["loss"]);
    assert!(kept["warnings"].to_string().contains("before they were read"), "{}", kept["warnings"]);
}

#[test]
fn the_kernels_file_is_deleted() {
    wound("bin", |path| fs::remove_file(path).unwrap());
}

#[test]
fn the_kernels_file_is_truncated() {
    wound("bin", |path| File::options().write(true).open(path).unwrap().set_len(0).unwrap());
}

#[test]
fn a_closed_segment_is_deleted() {
    wound("seg", |path| drop(fs::remove_file(path)));
}
