//! SIGKILL at any stage, then a restart: all settings as before, no row lost, none twice.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use lioprof_model::NEVER_ON_DISK;
use lioprof_model::time::now_us;
use lioprof_model::units::seconds;
use lioprof_testkit::files::files_under;
use lioprof_testkit::until;
use rustix::process::Signal;
use serde_json::Value;

use super::fixture::{analysis, assert_kept, manifests, medium, rich, speed};
use super::node::Node;
use crate::figures::number;
use crate::util::lioprof;

/// Starts a daemon after the last one was killed, and stops it: what was left is decoded, the settings are back.
fn recover(node: &Node) {
    let daemon = node.daemon(&[]);
    daemon.stop().exits(0);
    assert!(node.spooled().is_empty(), "left in the spool: {:?}", node.spooled());
    assert!(files_under(node.keep()).iter().all(|path| path.extension().is_none_or(|it| it != "tmp")));
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
        // Each time it comes a little further: the pause is the stage.
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
    let is_open = || files_under(node.keep()).iter().any(|path| path.extension().is_some_and(|it| it == "tmp"));
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
    let spool = node.spool().display().to_string();
    assert!(
        told.contains(&format!("{spool}: ")) && told.contains("of the log that a killed daemon has not decoded"),
        "{told}"
    );
    let now = node.settings();
    assert!(now.debug.contains("vfstrace"), "{now:?}");
    node.write("debug", "-vfstrace");
    assert_eq!(node.settings(), before);
    let run = lioprof(&["daemon", "--restore", "--config", &config]).exits(0);
    assert!(String::from_utf8_lossy(&run.stdout).contains("nothing to restore"), "{run}");

    recover(&node);
    assert_kept(&log.name, &node.keep(), &log.path);
}

#[test]
fn what_cannot_be_drained_in_time_is_decoded_at_the_next_start() {
    let node = Node::in_scenario("busy", &["--speed", "max", "--rate", "8000", "--duration", "8"]);
    let before = node.settings();
    let keys = [
        ("capture.rotate", "\"1h\""),
        ("capture.segment_mib", "32"),
        ("keep.file_age", "\"1h\""),
        ("keep.drain_at_most", "\"1s\""),
        ("capture.buffer_mib", "400"),
        ("capture.spool_limit_mib", "512"),
    ];
    node.ctl("pause");
    let daemon = node.daemon(&keys);
    // All of it is in the kernel's buffer when the daemon is told to end, however fast this machine is.
    node.ctl("stall on");
    node.ctl("resume");
    node.wait_played();
    let begun = Instant::now();
    daemon.signal(Signal::TERM);
    let ended = daemon.ended().exits(1).says(&["keep.drain_at_most", "the next start of the daemon decodes them"]);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}: {ended}", begun.elapsed());
    assert!(ended.stdout.contains("keep.drain_at_most = \"1s\"") && ended.stdout.contains("segment"), "{ended}");
    assert_eq!(node.settings(), before);
    assert!(!node.spooled().is_empty());
    recover(&node);
    let totals = &analysis(&[&node.keep()])["totals"];
    let rpcs = |direction: &str| number(&totals[direction], "rpcs").unwrap();
    assert_eq!((rpcs("read"), rpcs("write")), (node.counted("read_bytes"), node.counted("write_bytes")), "{totals}");
}

/// After a power failure the system has the names of files, but not yet what was written to them.
#[test]
fn segments_that_were_not_on_disk_are_lost_and_told() {
    let log = rich();
    let node = Node::playing_with(&log.path, &["--stamp", "now", "--speed", &speed(&log, 4.0)]);
    let daemon = node.daemon(&[("keep.file_age", "\"1h\"")]);
    node.wait_played();
    node.wait_written();
    daemon.kill();
    let config = node.config(&[]).display().to_string();
    lioprof(&["daemon", "--restore", "--config", &config]).exits(0);
    let is_log = |path: &PathBuf| path.extension().is_some_and(|it| it == "seg" || it == "bin");
    let mut segments: Vec<PathBuf> = node.spooled().into_iter().filter(is_log).collect();
    segments.retain(|path| fs::metadata(path).unwrap().len() > 0);
    assert!(segments.len() > 2, "{segments:?}");
    // The first one is whole, the second one has one page of several, of the others nothing is left.
    for (path, bytes) in segments[1..].iter().zip([5000].into_iter().chain(std::iter::repeat(0))) {
        fs::OpenOptions::new().write(true).open(path).unwrap().set_len(bytes).unwrap();
    }
    let lost = segments.len() - 1;
    let began_s = seconds(now_us());
    let daemon = node.daemon(&[]);
    daemon.stop().exits(0).says(&["the node went down", "keep.file_age"]);
    assert!(node.spooled().is_empty(), "left in the spool: {:?}", node.spooled());

    let recovered = &manifests(&node.keep())[0]["facts"];
    let dropped = recovered["dropped"].as_array().unwrap();
    assert_eq!(dropped.len(), lost, "{dropped:?}");
    assert!(dropped.iter().all(|it| it["reason"] == NEVER_ON_DISK && it["from_us"].as_u64() > Some(0)), "{dropped:?}");
    let json = analysis(&[&node.keep()]);
    let loss = &json["loss"];
    assert_eq!(
        (number(loss, "dropped_segments"), &loss["decided_by"]),
        (Some(lost as u64), &"unknown".into()),
        "{loss}"
    );
    assert!(loss["estimated_lost_fraction"].is_null(), "{loss}");
    let said = json["warnings"].to_string();
    assert!(said.contains(NEVER_ON_DISK) && said.contains("keep.file_age"), "{said}");
    // Until the last segment was written to, and not until the next start.
    let us = |value: &Value| value.as_f64().unwrap();
    let mut through_us = us(&recovered["summary"]["last_us"]);
    for stretch in dropped {
        assert!(
            us(&stretch["from_us"]) >= through_us && us(&stretch["to_us"]) >= us(&stretch["from_us"]),
            "{dropped:?}"
        );
        through_us = us(&stretch["from_us"]);
    }
    assert!(dropped.iter().all(|it| us(&it["to_us"]) < began_s * 1e6), "{dropped:?}: {began_s}");
}

#[test]
fn a_recovered_part_describes_its_own_capture() {
    let log = rich();
    let node = Node::playing(&log.path);
    let daemon = node.daemon(&[("keep.file_age", "\"1h\""), ("capture.buffer_mib", "80")]);
    node.wait_played();
    node.wait_written();
    let (status, traced) = (daemon.status().unwrap(), node.settings());
    daemon.kill();
    assert!(manifests(&node.keep()).is_empty(), "nothing was left to be recovered");
    // What is put back first, as the unit does it, takes nothing of this along. And the node is another one by then.
    let config = node.config(&[]).display().to_string();
    lioprof(&["daemon", "--restore", "--config", &config]).exits(0);
    node.write("debug", "+vfstrace");
    node.write("debug_mb", "30");
    recover(&node);
    let manifests = manifests(&node.keep());
    let recovered = &manifests[0]["facts"];
    assert!(recovered["summary"]["records"].as_u64() > Some(0), "{recovered}");
    assert_eq!(
        (&recovered["debug"], &recovered["subsystem_debug"]),
        (&status["masks"]["debug"], &status["masks"]["subsystem_debug"])
    );
    assert!(traced.debug.contains("rpctrace") && recovered["debug"].as_str().unwrap().contains("rpctrace"));
    assert_eq!(recovered["debug_mb"].to_string(), traced.debug_mb);
    assert_eq!(recovered["profile"], "full");
    assert_eq!(recovered["lustre_version"], status["lustre_version"]);
    assert!(recovered["kernel"].is_string(), "{recovered}");
    assert_kept(&log.name, &node.keep(), &log.path);
}

/// Kills a daemon before anything is in its data directory, and puts its settings back.
fn killed_and_restored(node: &Node) {
    let daemon = node.daemon(&[("keep.file_age", "\"1h\"")]);
    node.wait_played();
    node.wait_written();
    daemon.kill();
    assert!(manifests(&node.keep()).is_empty(), "nothing was left to be recovered");
    let config = node.config(&[]).display().to_string();
    lioprof(&["daemon", "--restore", "--config", &config]).exits(0);
}

#[test]
fn rows_of_a_killed_daemon_go_where_it_kept_its_own() {
    let log = rich();
    let node = Node::playing(&log.path);
    killed_and_restored(&node);
    // With another directory for what comes now.
    let other = node.path("other");
    let daemon = node.daemon(&[("keep.dir", &format!("\"{}\"", other.display())), ("counters.every", "\"off\"")]);
    daemon.stop().exits(0);
    assert!(node.spooled().is_empty(), "left in the spool: {:?}", node.spooled());
    assert_kept(&log.name, &node.keep(), &log.path);
    let rows = files_under(&other).into_iter().filter(|path| path.extension().is_some_and(|it| it == "parquet"));
    let rows = rows.filter(|path| !path.starts_with(other.join("counters")));
    assert_eq!(rows.collect::<Vec<_>>(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn rows_of_a_killed_daemon_whose_directory_is_gone_are_kept_all_the_same() {
    let log = rich();
    let node = Node::playing(&log.path);
    killed_and_restored(&node);
    fs::remove_dir_all(node.keep()).unwrap();
    let other = node.path("other");
    let daemon = node.daemon(&[("keep.dir", &format!("\"{}\"", other.display()))]);
    let gone = format!("gone={}", node.keep().display());
    daemon.stop().exits(0).says(&["no longer exists", &gone]);
    assert!(!node.keep().exists());
    assert_kept(&log.name, &other, &log.path);
}
