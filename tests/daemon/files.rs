//! Segments that vanish under the daemon: it says what is lost and goes on.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use lioprof_testkit::until;
use serde_json::Value;

use super::fixture::{analysis, manifests, rich, speed};
use super::node::Node;
use crate::figures::number;

/// Damages one file of the spool while a log is played, and checks that this is told.
fn wound(extension: &str, damage: impl Fn(&Path)) {
    let log = rich();
    let node = Node::playing_with(&log.path, &["--speed", &speed(&log, 15.0)]);
    let daemon = node.daemon(&[("capture.rotate", "\"2s\"")]);
    daemon.wait("rows", |status| status["totals"]["rpcs"].as_u64() > Some(0));
    let files = || node.spooled().into_iter().filter(|path| path.extension().is_some_and(|it| it == extension));
    let old: Vec<_> = files().collect();
    // Only what the daemon has seen in a file can be missed, and it looks every tenth of a second: the kernel's file is damaged
    // once it has held records for half a second. On a busy machine the daemon can miss a file all the same, so files are
    // damaged until it tells, at most one every two seconds.
    let mut seen: Option<(u64, Instant)> = None;
    let mut damaged: Option<Instant> = None;
    let status = until("the loss to be told", || {
        let told = daemon.status().filter(|status| status["segments"]["dropped"].as_u64() > Some(0));
        if told.is_some() || damaged.is_some_and(|at| at.elapsed() < Duration::from_secs(2)) {
            return told;
        }
        let path = files().find(|path| !old.contains(path) || extension == "bin")?;
        if extension == "bin" {
            let inode = fs::metadata(&path).ok().filter(|about| about.len() > 0)?.ino();
            let (_, since) = *seen.insert(seen.filter(|(known, _)| *known == inode).unwrap_or((inode, Instant::now())));
            if since.elapsed() < Duration::from_millis(500) {
                return None;
            }
        }
        damage(&path);
        damaged = Some(Instant::now());
        None
    });
    assert!(status["segments"]["dropped_bytes"].as_u64() > Some(0), "{}", status["segments"]);
    assert_eq!(status["loss"]["dropped_segment_bytes"], status["segments"]["dropped_bytes"], "{}", status["loss"]);
    let text = String::from_utf8(daemon.command(&["status"]).exits(0).stdout).unwrap();
    assert!(text.contains("lost unread") && !text.contains("none found"), "{text}");
    let decoded = status["segments"]["decoded"].as_u64();
    daemon.wait("the next segment", |status| status["segments"]["decoded"].as_u64() > decoded);
    node.wait_played();
    // A segment that waits to be decoded is missed by the decoder, which has failed then; the kernel's file by who looks after it.
    let ended = match extension {
        "seg" => daemon.stop_in_trouble(&["its records are lost"]).exits(1),
        _ => daemon.stop().exits(0),
    };
    let ended = ended.says(&["vanished"]);
    assert!(node.settings().daemon_file.is_empty(), "{ended}");

    let dropped: Vec<Value> =
        manifests(&node.keep()).iter().flat_map(|it| it["facts"]["dropped"].as_array().unwrap().clone()).collect();
    assert!(dropped.iter().any(|stretch| stretch["reason"].as_str().unwrap().contains("vanished")), "{dropped:?}");
    let (kept, original) = (analysis(&[&node.keep()]), analysis(&[&log.path]));
    let rpcs = |json: &Value| number(&json["totals"], "rpcs").unwrap();
    assert!(0 < rpcs(&kept) && rpcs(&kept) < rpcs(&original), "{} of {}", rpcs(&kept), rpcs(&original));
    assert!(number(&kept["loss"], "dropped_segments") > Some(0), "{}", kept["loss"]);
    assert!(kept["warnings"].to_string().contains("lost unread"), "{}", kept["warnings"]);
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
