//! Other people on the same server.

use std::fs;

use lioprof_testkit::until;
use serde_json::Value;

use super::fixture::{analysis, assert_kept, rich, speed};
use super::node::Node;
use crate::figures::number;
use crate::util::lioprof;

#[test]
fn another_debug_daemon_takes_over() {
    let log = rich();
    let node = Node::playing_with(&log.path, &["--speed", &speed(&log, 20.0)]);
    let before = node.settings();
    let daemon = node.daemon(&[]);
    daemon.wait("rows", |status| status["totals"]["rpcs"].as_u64() > Some(0));
    let theirs = node.path("theirs.bin");
    node.write("daemon_file", &theirs.display().to_string());
    let theirs_text = theirs.display().to_string();
    let ended = daemon.ended().exits(1).says(&[&theirs_text]);
    assert!(ended.stdout.contains(&theirs_text), "{ended}");
    // Theirs goes on; all else is as before.
    let after = node.settings();
    assert_eq!(after.daemon_file, theirs_text);
    assert_eq!((&after.debug, &after.subsystem_debug), (&before.debug, &before.subsystem_debug));
    assert!(!node.path("keep/journal.json").exists());
    assert!(number(&analysis(&[&node.keep()])["totals"], "rpcs") > Some(0));
    node.write("daemon_file", "stop");
}

#[test]
fn another_debug_daemon_was_there_first() {
    let node = Node::playing(&rich().path);
    let theirs = node.path("theirs.bin").display().to_string();
    node.write("daemon_file", &theirs);
    let before = node.settings();
    node.start(&[], &[]).ended().exits(2).says(&[&theirs, "lctl debug_daemon stop"]);
    assert_eq!(node.settings(), before);
    assert!(node.spooled().is_empty() && !node.path("keep/journal.json").exists());
    node.write("daemon_file", "stop");
}

#[test]
fn somebody_stops_the_debug_daemon() {
    let node = Node::playing(&rich().path);
    let before = node.settings();
    let daemon = node.daemon(&[]);
    node.write("daemon_file", "stop");
    daemon.ended().exits(1).says(&["stopped by somebody else"]);
    assert_eq!(node.settings(), before);
}

#[test]
fn masks_changed_by_others_survive() {
    let log = rich();
    let node = Node::playing(&log.path);
    let before = node.settings();
    let daemon = node.daemon(&[]);
    node.wait_played();
    node.write("debug", "+info");
    node.write("debug", "-dlmtrace");
    node.write("subsystem_debug", "+mds");
    let status = daemon.wait("the change to be seen", |status| {
        let warnings = status["warnings"].to_string();
        warnings.contains("+info") && warnings.contains("-dlmtrace")
    });
    assert!(status["masks"]["debug"].as_str().unwrap().contains("info"), "{}", status["masks"]);
    let text = String::from_utf8(daemon.command(&["status"]).exits(0).stdout).unwrap();
    assert!(text.contains("+info"), "{text}");
    // As it was needed: what was missing is no longer worth a warning.
    node.write("debug", "+dlmtrace");
    daemon.wait("the warning to go", |status| !status["warnings"].to_string().contains("dlmtrace"));
    node.write("debug", "-dlmtrace");
    daemon.wait("it to come again", |status| status["warnings"].to_string().contains("-dlmtrace"));
    daemon.stop().exits(0).says(&["somebody else changed"]);
    let after = node.settings();
    assert_eq!(after.debug, with(&before.debug, "info"));
    assert_eq!(after.subsystem_debug, before.subsystem_debug);
    assert_kept(&log.name, &node.keep(), &log.path);
}

#[test]
fn somebody_takes_rpctrace_out_of_the_mask() {
    let node = Node::in_scenario("busy", &["--rate", "600", "--duration", "120"]);
    let daemon = node.daemon(&[]);
    let rpcs = |status: &Value| number(&status["totals"], "rpcs").unwrap_or(0);
    daemon.wait("some rows", |status| rpcs(status) > 1000);
    node.write("debug", "-rpctrace");
    daemon.wait("the change to be seen", |status| status["warnings"].to_string().contains("-rpctrace"));
    let before = rpcs(&daemon.status().unwrap());
    node.write("debug", "+rpctrace");
    daemon.wait("rows to come again", |status| rpcs(status) > before + 500);
    daemon.stop();
    let findings = analysis(&[&node.keep()])["findings"].to_string();
    assert!(findings.contains("whoever took rpctrace out of the mask"), "{findings}");
    assert!(!findings.contains("capture.buffer_mib"), "a larger buffer does not help: {findings}");
}

/// The names of a mask and one more, in the kernel's order: that of the bits.
fn with(mask: &str, name: &str) -> String {
    // `info` is bit 6, before `ioctl`, which is on by default.
    assert!(mask.contains("ioctl") && name == "info");
    mask.replace("ioctl", "info ioctl")
}

#[test]
fn the_modules_are_unloaded_and_loaded_again() {
    let log = rich();
    let node = Node::playing_with(&log.path, &["--speed", &speed(&log, 20.0)]);
    let before = node.settings();
    let daemon = node.daemon(&[]);
    daemon.wait("rows", |status| status["totals"]["rpcs"].as_u64() > Some(0));
    node.ctl("unload");
    let ended = daemon.ended().exits(1).says(&["unloaded"]);
    assert!(ended.stdout.contains("unloaded"), "{ended}");
    assert!(node.spooled().is_empty(), "what was written before is decoded: {:?}", node.spooled());
    assert!(number(&analysis(&[&node.keep()])["totals"], "rpcs") > Some(0));
    // Without modules nothing can be traced, and it says so.
    node.start(&[], &[]).ended().exits(2).says(&["modules"]);
    node.ctl("load");
    assert_eq!(node.settings(), before);
    node.daemon(&[]).stop().exits(0);
    assert_eq!(node.settings(), before);
}

#[test]
fn a_second_daemon_is_refused_and_the_first_goes_on() {
    let log = rich();
    let node = Node::playing(&log.path);
    let before = node.settings();
    let daemon = node.daemon(&[]);
    let during = node.settings();
    let pid = daemon.pid().to_string();
    node.start(&[], &[]).ended().exits(2).says(&["another lioprof daemon", &pid]);
    // With other directories, too: there is one debug daemon per server.
    let elsewhere = ["keep2", "spool2"].map(|name| format!("\"{}\"", node.path(name).display()));
    let socket = format!("\"{}\"", node.path("socket2").display());
    let keys = [("keep.dir", &*elsewhere[0]), ("capture.spool_dir", &*elsewhere[1]), ("talk.socket", &*socket)];
    let ours = format!("lioprof status --socket {}", node.socket().display());
    let refused = node.start(&keys, &[]).ended().exits(2).says(&["another lioprof daemon", &pid, &ours]);
    assert!(!refused.log.contains("debug_daemon stop"), "it must not advise to stop our own capture: {refused}");
    for path in ["keep2", "spool2"] {
        assert!(!node.path(path).exists(), "a refused start leaves nothing behind: {path}");
    }
    // Whoever asks whether it could start is told the same.
    let config = node.config(&keys).display().to_string();
    let told = lioprof(&["doctor", "--config", &config]).exits(1);
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains(&pid) && told.contains("--socket") && !told.contains("debug_daemon stop"), "{told}");
    assert_eq!(node.settings(), during);
    assert!(daemon.status().is_some());
    node.wait_played();
    daemon.stop().exits(0);
    assert_eq!(node.settings(), before);
    assert_kept(&log.name, &node.keep(), &log.path);
}

#[test]
fn somebody_empties_the_buffer() {
    // `lctl clear` takes at most what one flush pass would have written; the daemon neither notices nor minds.
    let node = Node::playing(&rich().path);
    let daemon = node.daemon(&[]);
    node.wait_played();
    node.ctl("clear");
    until("the daemon to go on", || daemon.status());
    daemon.stop().exits(0);
    assert!(fs::metadata(node.keep().join("manifests")).is_ok());
}
