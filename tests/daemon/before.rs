//! What the kernel logged before the capture does not belong to it.

use std::fs;

use lioprof_testkit::until;

use super::fixture::{analysis, manifests, rich};
use super::node::Node;
use crate::figures::number;

#[test]
fn a_buffer_full_of_old_records_is_left_out() {
    for version in ["2.15", "2.17"] {
        let node =
            Node::in_scenario("busy", &["--speed", "2", "--rate", "50", "--duration", "12", "--version", version]);
        node.ctl("old 3000");
        node.ctl("pause");
        let daemon = node.daemon(&[]);
        let began_us = daemon.status().unwrap()["since_us"].as_i64().unwrap();
        node.ctl("resume");
        let status = daemon.wait("the counters to be reached", |status| {
            let counters = &status["loss"]["counters"];
            // The simulator counts an RPC when it makes its first record, a moment before it logs it.
            number(counters, "counted_rpcs") > Some(300) && number(counters, "rpcs") == Some(0)
        });
        node.wait_played();
        assert_eq!(status["left_out"]["records"], 3000, "{}", status["left_out"]);
        let text = String::from_utf8(daemon.command(&["status"]).exits(0).stdout).unwrap();
        assert!(text.contains("3,000 records from before the capture"), "{text}");
        let ended = daemon.stop().exits(0).says(&["skipped records that the kernel had logged before this capture"]);
        assert!(ended.stdout.contains(" 0 differ"), "{ended}");

        let manifests = manifests(&node.keep());
        let first_us = manifests.iter().filter_map(|it| it["facts"]["summary"]["first_us"].as_i64()).min();
        assert!(first_us > Some(began_us - 1_000_000), "{first_us:?}, began {began_us}");
        assert!(manifests.iter().all(|it| it["facts"]["extra"]["left_out"]["records"] == 3000), "{manifests:?}");
        let window = &analysis(&[&node.keep()])["window"];
        assert!(window["duration_s"].as_f64().unwrap() < 300.0, "{window}");
        assert!(node.spooled().is_empty(), "{:?}", node.spooled());
    }
}

#[test]
fn rpcs_that_somebody_traced_before_are_no_rows() {
    let log = rich();
    let node = Node::playing(&log.path);
    // Somebody traces into the ring, without a debug daemon.
    node.write("debug", "+rpctrace +dlmtrace +net");
    node.ctl("start");
    node.wait_played();
    let logged = node.account()["total"]["pending"]["records"].as_u64().unwrap();
    assert!(logged > 1000, "{}", node.account());
    let daemon = node.daemon(&[]);
    let status = daemon.status().unwrap();
    assert_eq!(status["left_out"]["records"].as_u64(), Some(logged), "{status}");
    let played = node.played();
    node.ctl("burst 1000");
    until("the burst to be logged", || (node.played() >= played).then_some(()));
    daemon.stop().exits(0);
    let kept = analysis(&[&node.keep()]);
    assert_eq!(number(&kept["totals"], "rpcs"), Some(0), "{}", kept["totals"]);
    let records: u64 = manifests(&node.keep()).iter().filter_map(|it| it["facts"]["summary"]["records"].as_u64()).sum();
    assert_eq!(records, 1000);
}

#[test]
fn what_a_killed_daemon_left_out_is_deleted() {
    let node = Node::playing(&rich().path);
    let old = node.spool().join("0005f3a1b2c3d4e5.old");
    fs::write(&old, "old records").unwrap();
    let others = node.spool().join("notes.old");
    fs::write(&others, "somebody's").unwrap();
    node.daemon(&[]).stop().exits(0);
    assert!(!old.exists() && others.exists());
}
