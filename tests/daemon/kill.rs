//! SIGKILL at any stage, then a restart: all settings as before, no row lost, none twice.

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::fixture::{assert_kept, files_under, medium, rich, speed};
use super::node::Node;
use super::process::until;
use crate::util::lioprof;

/// Starts a daemon after the last one was killed, and stops it: what was left is decoded, the settings are back.
fn recover(node: &Node) {
    let daemon = node.daemon(&[]);
    daemon.stop().exits(0);
    assert!(node.spooled().is_empty(), "left in the spool: {:?}", node.spooled());
    assert!(files_under(&node.keep()).iter().all(|path| path.extension().is_none_or(|it| it != "tmp")));
}

#[test]
fn while_tracing_under_load() {
    let log = rich();
    let node = Node::playing_with(&log.path, &["--speed", &speed(&log, 4.0)]);
    let before = node.settings();
    let daemon = node.daemon(&[]);
    // Some are on disk, others are not.
    daemon.wait("rows", |status| status["totals"]["rpcs"].as_u64() > Some(0));
    let files = daemon.status().and_then(|status| status["files"]["written"].as_u64());
    daemon.wait("a part on disk", |status| status["files"]["written"].as_u64() > files);
    daemon.kill();
    // The kernel goes on as it was told.
    let during = node.settings();
    assert!(during.debug.contains("rpctrace") && !during.daemon_file.is_empty(), "{during:?}");
    node.wait_played();
    recover(&node);
    assert_eq!(node.settings(), before);
    assert_kept(&log.name, &node.keep(), &log.path);
}

#[test]
fn again_and_again_also_while_recovering() {
    for log in medium(2) {
        let node = Node::playing_with(&log.path, &["--speed", &speed(&log, 3.0)]);
        let before = node.settings();
        let daemon = node.daemon(&[]);
        daemon.wait("rows", |status| status["totals"]["rpcs"].as_u64() > Some(0));
        daemon.kill();
        node.wait_played();
        // Each time it comes a little further.
        for stage in 0..10 {
            let daemon = node.start(&[], &[]);
            thread::sleep(Duration::from_millis(25 * stage));
            daemon.kill();
        }
        recover(&node);
        assert_eq!(node.settings(), before);
        assert_kept(&log.name, &node.keep(), &log.path);
    }
}

#[test]
fn while_a_part_is_being_closed() {
    let log = rich();
    let node = Node::playing_with(&log.path, &["--speed", &speed(&log, 3.0)]);
    let before = node.settings();
    let daemon = node.daemon(&[]);
    let is_open = || files_under(&node.keep()).iter().any(|path| path.extension().is_some_and(|it| it == "tmp"));
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_open() {
        assert!(Instant::now() < deadline, "no part was ever written");
    }
    daemon.kill();
    node.wait_played();
    // Once more, while what was left is written.
    let daemon = node.start(&[], &[]);
    while !is_open() && node.spooled().len() > 1 {}
    daemon.kill();
    recover(&node);
    assert_eq!(node.settings(), before);
    assert_kept(&log.name, &node.keep(), &log.path);
}

#[test]
fn while_draining() {
    let log = rich();
    let node = Node::playing(&log.path);
    let before = node.settings();
    let daemon = node.daemon(&[("capture.rotate", "\"1h\""), ("keep.file_age", "\"1h\"")]);
    node.wait_played();
    daemon.signal(Signal::TERM);
    until("the settings to be put back", || (node.settings() == before).then_some(()));
    assert!(daemon.is_running(), "it was through before it could be killed");
    daemon.kill();
    assert!(!node.spooled().is_empty(), "nothing was left to be drained");
    recover(&node);
    assert_eq!(node.settings(), before);
    assert_kept(&log.name, &node.keep(), &log.path);
}

#[test]
fn restore_alone_puts_everything_back_and_leaves_the_log() {
    let log = rich();
    let node = Node::playing(&log.path);
    let before = node.settings();
    let daemon = node.daemon(&[]);
    let config = node.config(&[]).display().to_string();
    let run = lioprof(&["daemon", "--restore", "--config", &config]);
    run.exits(2).says(&["lioprof stop"]);
    node.wait_played();
    daemon.kill();
    // Somebody switches a mask that lioprof has nothing to do with.
    node.write("debug", "+vfstrace");

    let run = lioprof(&["daemon", "--restore", "--config", &config]).exits(0);
    let told = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(told.contains("debug: restored") && told.contains("daemon_file: restored"), "{told}");
    let now = node.settings();
    assert!(now.debug.contains("vfstrace"), "{now:?}");
    node.write("debug", "-vfstrace");
    assert_eq!(node.settings(), before);
    let run = lioprof(&["daemon", "--restore", "--config", &config]).exits(0);
    assert!(String::from_utf8_lossy(&run.stdout).contains("nothing to restore"), "{run}");

    recover(&node);
    assert_kept(&log.name, &node.keep(), &log.path);
}
