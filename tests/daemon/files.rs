//! Segments that vanish under the daemon: it says what is lost and goes on.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::fixture::{analysis, manifests, rich, speed};
use super::node::Node;
use super::process::until;
use crate::figures::number;

/// Damages one file of the spool while a log is played, and checks that this is told.
fn wound(extension: &str, damage: impl Fn(&Path)) {
    let log = rich();
    let node = Node::playing_with(&log.path, &["--speed", &speed(&log, 15.0)]);
    let daemon = node.daemon(&[("capture.rotate", "\"2s\"")]);
    daemon.wait("rows", |status| status["totals"]["rpcs"].as_u64() > Some(0));
    let files = || node.spooled().into_iter().filter(|path| path.extension().is_some_and(|it| it == extension));
    let old: Vec<_> = files().collect();
    // Only what the daemon has seen in a file can be missed, and it looks every tenth of a second: on a busy machine it can
    // miss a file that lived shorter than that, so it is damaged until it is told.
    let status = until("the loss to be told", || {
        let path = files().find(|path| !old.contains(path) || extension == "bin")?;
        if extension == "bin" {
            let before = fs::metadata(&path).ok().filter(|about| about.len() > 0)?;
            thread::sleep(Duration::from_millis(500));
            fs::metadata(&path).ok().filter(|about| about.ino() == before.ino())?;
        }
        damage(&path);
        let told = Instant::now() + Duration::from_secs(2);
        loop {
            let status = daemon.status().filter(|status| status["segments"]["dropped"].as_u64() > Some(0));
            if status.is_some() || Instant::now() > told {
                return status;
            }
            thread::sleep(Duration::from_millis(20));
        }
    });
    assert!(status["segments"]["dropped_bytes"].as_u64() > Some(0), "{}", status["segments"]);
    assert_eq!(status["loss"]["dropped_segment_bytes"], status["segments"]["dropped_bytes"], "{}", status["loss"]);
    let text = String::from_utf8(daemon.command(&["status"]).exits(0).stdout).unwrap();
    assert!(text.contains("lost unread") && !text.contains("none found"), "{text}");
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
    wound("bin", |path| drop(fs::remove_file(path)));
}

#[test]
fn the_kernels_file_is_truncated() {
    wound("bin", |path| drop(File::options().write(true).open(path).and_then(|file| file.set_len(0))));
}

#[test]
fn a_closed_segment_is_deleted() {
    wound("seg", |path| drop(fs::remove_file(path)));
}
