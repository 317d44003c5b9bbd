//! Above its budget the daemon does less, step by step, and says so.

use super::fixture::{analysis, manifests, rich, speed};
use super::node::Node;
use super::tmpfs::Tmpfs;
use crate::figures::number;

#[test]
fn step_by_step_down_to_nothing() {
    let log = rich();
    let options = ["--speed", &*speed(&log, 0.8), "--loop", "100000", "--stamp", "now"];
    let node = Node::playing_with(&log.path, &options);
    let before = node.settings();
    let daemon =
        node.daemon(&[("budget.records_per_s", "1000"), ("budget.duty_on", "\"1s\""), ("budget.duty_every", "\"2s\"")]);
    let full = node.settings();
    assert!(full.debug.contains("rpctrace") && full.debug.contains("dlmtrace"), "{full:?}");
    let at = |level: &str| daemon.wait(level, |status| status["budget"]["level"]["level"] == level);

    let wide = at("wide_rotation");
    assert_eq!(node.settings().debug, full.debug);
    assert_eq!(wide["budget"]["last_step"]["why"]["resource"], "record_rate", "{}", wide["budget"]);
    let text = String::from_utf8(daemon.command(&["status"]).exits(0).stdout).unwrap();
    assert!(text.contains("longer segments"), "{text}");

    let light = at("light_profile");
    let now = node.settings();
    assert!(now.debug.contains("rpctrace") && !now.debug.contains("dlmtrace"), "{now:?}");
    assert_eq!((&light["profile"], &light["state"]), (&"light".into(), &"tracing".into()));

    at("duty_cycle");
    daemon.wait("the duty cycle", |status| status["state"] == "duty_cycled");
    for _ in 0..2 {
        daemon.wait("a pause", |_| !node.settings().debug.contains("rpctrace"));
        daemon.wait("the next turn", |_| node.settings().debug.contains("rpctrace"));
    }

    let stopped = at("stopped");
    daemon.wait("tracing to stop", |status| status["state"] == "paused");
    assert_eq!(node.settings().debug, before.debug);
    assert_eq!(stopped["budget"]["steps"], 4);
    let ended = daemon.stop().exits(0).says(&[
        "as configured -> longer segments: record rate at",
        "longer segments -> light profile: record rate at",
        "light profile -> 1 of every 2 s: record rate at",
        "1 of every 2 s -> stopped: record rate at",
    ]);
    assert!(ended.stdout.contains("stopped"), "{ended}");
    assert_eq!(node.settings(), before);

    // Who reads the data is told when there was tracing.
    let mut traced: Vec<(i64, i64)> = manifests(&node.keep())
        .iter()
        .flat_map(|manifest| manifest["facts"]["traced_us"].as_array().unwrap().clone())
        .map(|stretch| (stretch[0].as_i64().unwrap(), stretch[1].as_i64().unwrap()))
        .collect();
    traced.sort_unstable();
    assert!(traced.len() >= 3, "{traced:?}");
    assert!(traced.iter().all(|(from, to)| from < to), "{traced:?}");
    assert!(traced.windows(2).all(|pair| pair[0].1 <= pair[1].0), "they overlap: {traced:?}");
    let pauses = traced.windows(2).filter(|pair| pair[1].0 - pair[0].1 > 500_000).count();
    assert!(pauses >= 2, "{traced:?}");
    assert!(number(&analysis(&[&node.keep()])["totals"], "rpcs") > Some(0));
}

#[test]
fn cpu_time_is_limited_too() {
    let log = rich();
    let options = ["--speed", &*speed(&log, 1.0), "--loop", "100000", "--stamp", "now"];
    let node = Node::playing_with(&log.path, &options);
    let before = node.settings();
    let daemon = node.daemon(&[("budget.cpu_percent", "1")]);
    let status = daemon.wait("a step", |status| status["budget"]["steps"].as_u64() > Some(0));
    assert_eq!(status["budget"]["last_step"]["why"]["resource"], "cpu", "{}", status["budget"]);
    daemon.stop().exits(0).says(&["as configured -> longer segments: CPU time at"]);
    assert_eq!(node.settings(), before);
}

#[test]
fn the_reserve_of_the_disk_stops_it_at_once() {
    let log = rich();
    let node = Node::playing_with(&log.path, &["--speed", &speed(&log, 3.0), "--loop", "100000", "--stamp", "now"]);
    let before = node.settings();
    let disk = Tmpfs::mount(&node.keep(), 32 << 10);
    let daemon = node.daemon(&[("budget.disk_reserve_mib", "8"), ("keep.file_mib", "1")]);
    daemon.wait("rows", |status| status["totals"]["rpcs"].as_u64() > Some(0));
    disk.fill(6 << 20);
    let status = daemon.wait("tracing to stop", |status| status["state"] == "paused");
    assert_eq!(status["budget"]["last_step"]["why"]["resource"], "disk", "{}", status["budget"]);
    assert_eq!(node.settings().debug, before.debug);
    // What was traced until then is kept: there is room for that, that is what the reserve is for.
    daemon.stop().exits(0).says(&["disk space at"]);
    assert!(number(&analysis(&[&node.keep()])["totals"], "rpcs") > Some(0));
}
