//! When there was tracing, as an analysis of the rows tells it.

use std::thread;
use std::time::Duration;

use lioprof_model::time::now_us;
use lioprof_model::units::seconds;
use serde_json::Value;

use super::fixture::{analysis, rich, speed};
use super::node::Node;
use crate::figures::number;

fn now_s() -> f64 {
    seconds(now_us())
}

/// From when to when, seconds since the epoch.
fn traced(sampled: &Value) -> Vec<[f64; 2]> {
    serde_json::from_value(sampled["traced"].clone()).unwrap_or_else(|err| panic!("{err}: {sampled}"))
}

#[test]
fn parts_closed_before_the_first_pause_were_traced() {
    let log = rich();
    let options = ["--speed", &*speed(&log, 0.8), "--loop", "100000", "--stamp", "now"];
    let node = Node::playing_with(&log.path, &options);
    let daemon = node.daemon(&[
        ("budget.records_per_s", "1000"),
        ("budget.duty_on", "\"1s\""),
        ("budget.duty_every", "\"3s\""),
        ("keep.file_age", "\"1s\""),
    ]);
    let began_s = daemon.status().unwrap()["since_us"].as_f64().unwrap() / 1e6;
    daemon.wait("a part on disk", |status| status["files"]["written"].as_u64() > Some(0));
    daemon.wait("the duty cycle", |status| status["budget"]["level"]["level"] == "duty_cycle");
    daemon.wait("a pause", |_| !node.settings().debug.contains("rpctrace"));
    let paused_s = now_s();
    daemon.wait("the next turn", |_| node.settings().debug.contains("rpctrace"));
    daemon.wait("a pause", |_| !node.settings().debug.contains("rpctrace"));
    daemon.stop().exits(0);

    let json = analysis(&[&node.keep()]);
    let sampled = &json["nodes"][0]["sampled"];
    let [first, .., last] = *traced(sampled) else { panic!("{sampled}") };
    assert!(
        (first[0] - began_s).abs() < 1.0 && (first[1] - paused_s).abs() < 1.0,
        "{sampled}: {began_s} to {paused_s}"
    );
    assert!(last[1] - last[0] < 2.5, "{sampled}");
    let sum: f64 = traced(sampled).iter().map(|[from, to]| to - from).sum();
    let told = sampled["traced_s"].as_f64().unwrap();
    // Before the first record and after the last one nothing counts.
    assert!(told <= sum + 0.001 && told > sum - 2.0, "{sampled}");
}

#[test]
fn time_between_two_captures_was_not_traced() {
    let node = Node::in_scenario("busy", &["--rate", "50", "--duration", "60"]);
    let capture = || {
        let daemon = node.daemon(&[]);
        let before = number(&daemon.status().unwrap()["totals"], "rpcs");
        daemon.wait("rows", |status| number(&status["totals"], "rpcs") > before.map(|rpcs| rpcs + 20));
        daemon.stop().exits(0);
        now_s()
    };
    let ended_s = capture();
    // The gap itself.
    thread::sleep(Duration::from_secs(3));
    let began_s = now_s();
    capture();
    let json = analysis(&[&node.keep()]);
    let sampled = &json["nodes"][0]["sampled"];
    let [first, second] = *traced(sampled) else { panic!("{sampled}") };
    assert!(first[1] <= ended_s && second[0] >= began_s, "{sampled}: {ended_s} to {began_s}");
    let (window, gap_s) = (&json["window"], second[0] - first[1]);
    let untraced_s = window["duration_s"].as_f64().unwrap() - window["traced_s"].as_f64().unwrap();
    // The kernel logs a little beyond the last sample of the counters.
    assert!((untraced_s - gap_s).abs() < 0.5, "{window}, {sampled}");
    let said = json["warnings"].to_string();
    assert!(said.contains("for only") && said.contains("2 parts"), "{said}");
}

/// The schedulers number requests also while nothing is traced.
#[test]
fn what_was_not_traced_is_not_lost() {
    let node = Node::in_scenario("busy", &["--rate", "600", "--duration", "120"]);
    let daemon = node.daemon(&[
        ("budget.records_per_s", "1000"),
        ("budget.duty_on", "\"1s\""),
        ("budget.duty_every", "\"3s\""),
        ("keep.file_age", "\"1s\""),
    ]);
    daemon.wait("the duty cycle", |status| status["budget"]["level"]["level"] == "duty_cycle");
    for _ in 0..2 {
        daemon.wait("a pause", |_| !node.settings().debug.contains("rpctrace"));
        daemon.wait("the next turn", |_| node.settings().debug.contains("rpctrace"));
    }
    daemon.wait("a pause", |_| !node.settings().debug.contains("rpctrace"));
    let ended = daemon.stop().exits(0);
    let loss = &analysis(&[&node.keep()])["loss"];
    assert!(number(loss, "nrs_sequence_seen") > Some(300), "{loss}");
    assert_eq!(
        (number(loss, "nrs_sequence_gaps"), number(loss, "nrs_sequence_gaps_min")),
        (Some(0), Some(0)),
        "{ended}"
    );
}
