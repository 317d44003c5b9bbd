//! Lustre that is loaded late, unloaded, and loaded again.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use lioprof_model::time::{now_us, utc};

use super::fixture::{analysis, assert_kept, manifests, rich, speed};
use super::node::Node;
use super::process::Daemon;
use crate::figures::number;
use crate::util::lioprof;

fn wait_waiting(daemon: &Daemon) {
    daemon.wait("it to wait for Lustre", |status| status["state"] == "waiting_for_lustre");
}

#[test]
fn a_service_starts_before_lustre() {
    let log = rich();
    let node = Node::playing(&log.path);
    let before = node.settings();
    node.ctl("unload");
    let manager = UnixDatagram::bind(node.path("manager")).unwrap();
    let daemon = node.service(&[], &node.path("manager"));
    // A manager reads what it is told; this one as long as the test runs.
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let mut line = vec![0; 4096];
        while let Ok(bytes) = manager.recv(&mut line) {
            drop(tell.send(String::from_utf8_lossy(&line[..bytes]).into_owned()));
        }
    });
    let first = told.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(first, "READY=1\n", "what is ordered after it may start");
    wait_waiting(&daemon);
    let text = String::from_utf8(daemon.command(&["status"]).exits(0).stdout).unwrap();
    assert!(text.contains("waiting for Lustre") && text.contains("not loaded"), "{text}");
    daemon.command(&["mark", "x"]).exits(2).says(&["waiting for Lustre"]);
    let (ticks, pause) = (daemon.cpu_ticks(), Duration::from_secs(4));
    // The time in which it should hardly do anything.
    thread::sleep(pause);
    let used = Duration::from_millis(10 * (daemon.cpu_ticks() - ticks));
    assert!(used < pause / 20, "waiting costs {used:?} in {pause:?}");
    let told: Vec<String> = told.try_iter().collect();
    assert_eq!(told, ["STATUS=waiting for Lustre to be loaded\n"], "the manager is told once");

    // LNet alone, at boot, is nothing to trace: neither version nor targets are known.
    node.ctl("load lnet");
    // It looks every three seconds, and nothing tells that it has looked and found nothing.
    thread::sleep(Duration::from_secs(4));
    wait_waiting(&daemon);
    assert_eq!(node.settings(), before);
    node.ctl("load");
    let status = daemon.wait("it to trace", |status| status["state"] == "tracing");
    assert!(status["lustre_version"].is_string() && !status["targets"].as_array().unwrap().is_empty(), "{status}");
    node.wait_played();
    daemon.stop().exits(0);
    assert_eq!(node.settings(), before);
    assert_kept(&log.name, &node.keep(), &log.path);
}

#[test]
fn lustre_goes_and_comes_back() {
    let log = rich();
    let options = ["--speed", &*speed(&log, 4.0), "--loop", "100000", "--stamp", "now"];
    let node = Node::playing_with(&log.path, &options);
    let before = node.settings();
    // Parts are closed when the modules are gone, and by nothing else.
    let daemon = node.daemon_with(&[("keep.file_age", "\"1h\"")], &["--wait"]);
    let traced = node.settings();
    assert_ne!(traced.debug_mb, before.debug_mb, "the buffer is enlarged");
    let mut rpcs = 0;
    for _ in 0..2 {
        let more = |status: &serde_json::Value| status["totals"]["rpcs"].as_u64() > Some(rpcs);
        daemon.wait("rows", more);
        node.ctl("unload");
        wait_waiting(&daemon);
        assert!(!node.keep().join("journal.json").exists(), "there is nothing to put back");
        let decoded = || node.spooled().iter().all(|path| path.extension().is_some_and(|it| it == "json"));
        daemon.wait("what was logged to be kept", |_| decoded());
        rpcs = daemon.status().unwrap()["totals"]["rpcs"].as_u64().unwrap();
        let text = String::from_utf8(daemon.command(&["status"]).exits(0).stdout).unwrap();
        assert!(!text.contains("masks") && !text.contains("debug_mb"), "there are none: {text}");
        node.ctl("load");
        daemon.wait("it to trace again", |status| status["state"] == "tracing");
        let again = node.settings();
        assert_eq!((&again.debug, &again.debug_mb), (&traced.debug, &traced.debug_mb), "as at the first start");
    }
    daemon.wait("rows", |status| status["totals"]["rpcs"].as_u64() > Some(rpcs));
    daemon.stop().exits(0).says(&["Lustre's modules were unloaded", "Lustre was loaded"]);
    assert_eq!(node.settings(), before);
    let parts = manifests(&node.keep());
    assert!(parts.len() >= 3, "one part for each time: {parts:?}");
    for facts in parts.iter().map(|part| &part["facts"]) {
        assert!(facts["debug"].as_str().is_some_and(|debug| debug.contains("rpctrace")), "{facts}");
        assert_eq!(facts["debug_mb"].to_string(), traced.debug_mb, "{facts}");
        assert!(facts["subsystem_debug"].is_string() && facts["profile"] == "full", "{facts}");
    }
    assert!(number(&analysis(&[&node.keep()])["totals"], "rpcs") > Some(rpcs));
}

#[test]
fn it_ends_while_it_waits() {
    let node = Node::playing(&rich().path);
    node.ctl("unload");
    // Whoever starts it by hand is told at once, and how to wait.
    node.start(&[], &[]).ended().exits(2).says(&["Start Lustre first", "--wait"]);
    node.start(&[("capture.wait_for_lustre", "false")], &[]).ended().exits(2);
    let daemon = node.start(&[("capture.wait_for_lustre", "true")], &[]);
    wait_waiting(&daemon);
    daemon.stop().exits(0).says(&["asked to stop"]);
    // `--for` counts from when it traces; `--until` is a time of the day.
    let at = utc(now_us() + 3_000_000);
    node.start(&[], &["--wait", "--until", &at]).ended().exits(0).says(&["the time asked for is over"]);
    assert!(node.spooled().is_empty());
    lioprof(&["status", "--root", &node.root().display().to_string()]).exits(2);
}

#[test]
fn control_files_may_come_later_than_lustre() {
    let node = Node::playing(&rich().path);
    node.ctl("unload");
    let lctl = node.path("lctl");
    let path = format!("\"{}\"", lctl.display());
    let daemon = node.start(&[("control.access", "\"lctl\""), ("control.lctl", &path)], &["--wait"]);
    wait_waiting(&daemon);
    node.ctl("load");
    let why = |status: &serde_json::Value| status["warnings"].to_string().contains("Lustre is loaded, but");
    daemon.wait("the reason", why);
    wait_waiting(&daemon);
    let script = format!("#!/bin/sh\nexec {} \"$@\"\n", node.root().join("bin/lctl").display());
    fs::write(node.path("new"), script).unwrap();
    fs::set_permissions(node.path("new"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(node.path("new"), &lctl).unwrap();
    let status = daemon.wait("it to trace", |status| status["state"] == "tracing");
    assert!(!why(&status), "{status}");
    daemon.stop().exits(0);
}

#[test]
fn a_trigger_waits_for_lustre_first() {
    let node = Node::playing(&rich().path);
    node.ctl("unload");
    let keys = [("trigger.start_rpcs_per_s", "1000000000"), ("trigger.every", "\"1s\"")];
    let daemon = node.start(&keys, &["--wait"]);
    wait_waiting(&daemon);
    node.ctl("load");
    daemon.wait("it to wait for load", |status| status["state"] == "waiting_for_trigger");
    node.ctl("unload");
    wait_waiting(&daemon);
    daemon.stop().exits(0);
}
