//! Where the segments go, and how much room they get.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::fixture::{assert_kept, rich, speed};
use super::node::{Keys, Node};
use super::tmpfs::Tmpfs;
use crate::util::lioprof;

/// The configuration as it is installed, but for the directory.
const LEFT_OPEN: Keys<'_> = &[("capture.spool_limit_mib", "\"auto\""), ("capture.segment_mib", "\"auto\"")];

#[test]
fn a_small_tmpfs_gets_small_segments() {
    let log = rich();
    let node = Node::playing(&log.path);
    // A tenth of the memory of a small server, as distributions make it for /run.
    let _run = Tmpfs::mount(&node.spool(), 350 << 10);
    // Neither segments nor a full buffer on top of them fill it.
    let config = node.config(LEFT_OPEN).display().to_string();
    let told = lioprof(&["doctor", "--config", &config]);
    let told = String::from_utf8_lossy(&told.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("the kernel's file takes at most 218 MiB, all segments and it 350 MiB"), "{told}");
    assert!(!told.contains("MiB are free; segments and buffer"), "{told}");
    let daemon = node.daemon(LEFT_OPEN);
    let spool = daemon.status().unwrap()["spool"].clone();
    let mib = |key: &str| spool[key].as_u64().unwrap() >> 20;
    assert_eq!((mib("limit_bytes"), mib("segment_bytes")), (175, 43), "{spool}");
    assert_eq!(spool["directory"], node.spool().display().to_string());
    let text = String::from_utf8(daemon.command(&["status"]).exits(0).stdout).unwrap();
    assert!(text.contains("at most 175 MiB in"), "{text}");
    node.wait_played();
    daemon.stop().exits(0).says(&["chose directory and size of the segments", "limit_mib=175"]);
    assert_kept(&log.name, &node.keep(), &log.path);
}

#[test]
fn a_limit_without_a_size_of_segments_is_enough() {
    let node = Node::playing(&rich().path);
    let daemon = node.daemon(&[("capture.spool_limit_mib", "200"), ("capture.segment_mib", "\"auto\"")]);
    assert_eq!(daemon.status().unwrap()["spool"]["segment_bytes"], 50 << 20);
    daemon.stop().exits(0);
}

#[test]
fn without_room_nothing_is_started_and_both_say_why() {
    let node = Node::playing(&rich().path);
    let before = node.settings();
    let _run = Tmpfs::mount(&node.spool(), 24 << 10);
    let parts = ["24 MiB free", "Twice 20 MiB must be free", "--spool"];
    node.start(LEFT_OPEN, &[]).ended().exits(2).says(&parts);
    let config = node.config(LEFT_OPEN).display().to_string();
    let told = lioprof(&["doctor", "--config", &config]).exits(1);
    let told = String::from_utf8_lossy(&told.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(parts.iter().all(|part| told.contains(part)), "{told}");
    assert_eq!(node.settings(), before);
}

/// The one test that uses the place of the built-in configuration.
#[test]
fn where_run_is_too_small_the_segments_are_beside_the_data() {
    let log = rich();
    let node = Node::playing(&log.path);
    let run = Path::new("/run/lioprof/spool");
    fs::create_dir_all(run).unwrap();
    fs::set_permissions(run, fs::Permissions::from_mode(0o700)).unwrap();
    let small = Tmpfs::mount(run, 16 << 10);
    let keys = [&[("capture.spool_dir", "\"auto\"")], LEFT_OPEN].concat();
    let daemon = node.daemon(&keys);
    let beside = node.keep().join("spool");
    assert_eq!(daemon.status().unwrap()["spool"]["directory"], beside.display().to_string());
    assert!(node.settings().daemon_file.starts_with(&*beside.to_string_lossy()));
    node.wait_played();
    daemon.stop().exits(0);
    assert!(!beside.exists(), "nothing is left of it");
    assert_kept(&log.name, &node.keep(), &log.path);

    // What a killed daemon left there is found, although there is room in /run now.
    let node = Node::playing_with(&log.path, &["--speed", &speed(&log, 4.0)]);
    let beside = node.keep().join("spool");
    let daemon = node.daemon(&keys);
    daemon.wait("rows", |status| status["totals"]["rpcs"].as_u64() > Some(0));
    daemon.kill();
    node.wait_played();
    let left = fs::read_dir(&beside).unwrap().count();
    assert!(left > 0, "the kernel's file is there");
    drop(small);
    node.daemon(&keys).stop().exits(0);
    assert_eq!(fs::read_dir(&beside).unwrap().count(), 0);
    assert_kept(&log.name, &node.keep(), &log.path);
    // Somebody else's segments stay.
    drop(fs::remove_dir(run));
}
