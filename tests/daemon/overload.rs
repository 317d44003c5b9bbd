//! More than the kernel's buffer takes, and a clock that is stepped.

use lioprof_model::units::thousands;
use lioprof_testkit::until;
use serde_json::Value;

use super::fixture::{analysis, manifests, rich, speed};
use super::node::Node;
use crate::figures::number;

fn at<'a>(json: &'a Value, path: &[&str]) -> &'a Value {
    path.iter().fold(json, |json, key| &json[key])
}

fn count(json: &Value, path: &[&str]) -> u64 {
    at(json, path).as_u64().unwrap_or_else(|| panic!("no number {path:?} in {json}"))
}

#[test]
fn a_burst_above_the_buffer_is_told() {
    let log = rich();
    let node = Node::playing_with(&log.path, &["--speed", &speed(&log, 3.0)]);
    let original = analysis(&[&log.path]);
    // As small as the kernel makes it.
    let daemon = node.daemon(&[("capture.buffer_mib", "2")]);
    assert!(node.read("debug_mb").parse::<u64>().unwrap() <= 3);
    // A busy machine: the kernel's thread does not get to write.
    until("some records to be written", || (count(&node.account(), &["file", "passes"]) > 1).then_some(()));
    node.ctl("stall on");
    node.wait_played();
    node.ctl("burst 20000");
    let lost = node.account()["total"]["lost"]["overflow"].clone();
    assert!(count(&lost, &["handled_rpcs"]) > 0, "the buffer took everything: {lost}");
    node.ctl("stall off");
    node.wait_written();
    let status = daemon.wait("the kernel's words", |status| count(status, &["kernel_log", "buffer_overflows"]) > 0);
    assert!(count(&status, &["masks", "debug_mb"]) <= 3, "a size that was asked for stays");
    let ended = daemon.stop().exits(0).says(&["debug buffer overflow, "]);
    assert!(ended.stdout.contains("buffer overflow"), "{ended}");

    // What is there and what is lost are everything, and the loss is seen in the log, too.
    let kept = analysis(&[&node.keep()]);
    let lost_rpcs = count(&lost, &["handled_rpcs"]);
    let rpcs = |json: &Value| number(&json["totals"], "rpcs").unwrap();
    assert_eq!(rpcs(&kept) + lost_rpcs, rpcs(&original));
    assert!(count(&kept, &["loss", "discarded_heads"]) > 0, "{}", kept["loss"]);
    #[expect(clippy::cast_precision_loss, reason = "thousands")]
    let truth = lost_rpcs as f64 / rpcs(&original) as f64;
    let told = kept["loss"]["estimated_lost_fraction"].as_f64().unwrap();
    assert!((told - truth).abs() < 0.1, "lost {truth}, told {told}: {}", kept["loss"]);
    let overflows: u64 =
        manifests(&node.keep()).iter().map(|it| count(it, &["facts", "summary", "loss", "kernel_overflows"])).sum();
    assert!(overflows > 0, "the manifests must hold what the kernel said");
}

#[test]
fn the_comparison_at_the_end_tells_the_bytes_that_are_lost() {
    let node = Node::in_scenario("direct-io", &["--speed", "max", "--size", "128"]);
    node.ctl("pause");
    // The lines that tell the size of direct writes are not in this profile.
    let daemon = node.daemon(&[("capture.buffer_mib", "2"), ("capture.profile", "\"light\"")]);
    node.ctl("stall on");
    node.ctl("resume");
    node.wait_played();
    assert!(count(&node.account()["total"]["lost"]["overflow"], &["handled_rpcs"]) > 100, "the buffer took everything");
    node.ctl("stall off");
    node.wait_written();
    // Also while it runs.
    let truth = count(&node.account(), &["total", "lost", "overflow", "handled_rpcs"]);
    // Each sample tells more, until one is taken after the last RPC.
    let status = daemon.wait("the counters' difference", |status| {
        let missing = status["loss"]["counters"]["rpcs"].as_u64().unwrap_or(0);
        missing.abs_diff(truth) * 50 < truth
    });
    assert!(count(&status, &["loss", "kernel_overflows"]) > 0, "{}", status["loss"]);
    let text = String::from_utf8(daemon.command(&["status"]).exits(0).stdout).unwrap();
    assert!(text.contains("reads and writes that the OSTs counted"), "{text}");
    let ended = daemon.stop().exits(0);
    let kept = analysis(&[&node.keep()]);
    let numbers = |of: &str| -> Vec<u64> {
        let line = ended.stdout.lines().find(|line| line.starts_with(of)).unwrap();
        assert!(line.contains("differs by +"), "{ended}");
        line.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
    };
    let [counted_rpcs, counted, rpcs, bytes, unsized_rpcs] = *numbers("node write ") else { panic!("{ended}") };
    // The line above says the same of reads and writes together.
    let [counted_reads, _, reads, ..] = *numbers("node read ") else { panic!("{ended}") };
    let said = format!("{} of {} reads and writes", thousands(reads + rpcs), thousands(counted_reads + counted_rpcs));
    assert!(ended.stdout.contains(&said), "{said}: {ended}");
    let written = &kept["totals"]["write"];
    assert_eq!(unsized_rpcs, count(written, &["unsized_rpcs"]), "{ended}");
    assert!(unsized_rpcs > 0, "with all sizes known this proves nothing: {written}");
    let traced = written["bytes"].as_u64().unwrap_or(0);
    assert_eq!((rpcs, bytes), (counted_rpcs - count(written, &["rpcs"]), counted - traced), "{ended}");
}

#[test]
fn the_buffer_is_enlarged_when_it_overflows() {
    let log = rich();
    let node = Node::playing(&log.path);
    let before = node.settings();
    let daemon = node.daemon(&[]);
    let first = count(&daemon.status().unwrap(), &["masks", "debug_mb"]);
    node.ctl("stall on");
    node.wait_played();
    node.ctl("burst 400000");
    assert!(count(&node.account(), &["total", "lost", "overflow", "records"]) > 0);
    node.ctl("stall off");
    daemon.wait("a larger buffer", |_| node.read("debug_mb").parse::<u64>().unwrap() > first);
    daemon.stop().exits(0).says(&["enlarged the kernel"]);
    assert_eq!(node.settings(), before);
}

#[test]
fn a_clock_that_is_stepped_loses_no_row() {
    let log = rich();
    let node = Node::playing_with(&log.path, &["--speed", &speed(&log, 6.0)]);
    let daemon = node.daemon(&[]);
    let rpcs = |at_least: u64| move |status: &Value| count(status, &["totals", "rpcs"]) >= at_least;
    let original = analysis(&[&log.path]);
    let all = number(&original["totals"], "rpcs").unwrap();
    daemon.wait("some rows", rpcs(all / 8));
    node.ctl("clockstep 3600000000");
    daemon.wait("more rows", rpcs(all / 3));
    node.ctl("clockstep -7200000000");
    daemon.wait("even more rows", rpcs(all / 2));
    node.ctl("clockstep 3600000000");
    node.wait_played();
    daemon.stop().exits(0);
    let kept = analysis(&[&node.keep()]);
    for key in ["rpcs", "sent_rpcs", "dropped_rpcs"] {
        assert_eq!(kept["totals"][key], original["totals"][key], "{key}");
    }
    for (direction, figure) in [("read", "rpcs"), ("read", "bytes"), ("write", "rpcs"), ("write", "bytes")] {
        assert_eq!(kept["totals"][direction][figure], original["totals"][direction][figure], "{direction} {figure}");
    }
    assert!(count(&kept, &["loss", "clock_steps"]) > 0, "{}", kept["loss"]);
}

#[test]
fn a_stepped_clock_and_a_kill_lose_no_row() {
    let log = rich();
    let node = Node::playing_with(&log.path, &["--speed", &speed(&log, 5.0)]);
    let daemon = node.daemon(&[]);
    daemon.wait("rows", |status| count(status, &["totals", "rpcs"]) > 0);
    node.ctl("clockstep -3600000000");
    let files = count(&daemon.status().unwrap(), &["files", "written"]);
    daemon.wait("another part", |status| count(status, &["files", "written"]) > files);
    daemon.kill();
    node.wait_played();
    node.daemon(&[]).stop().exits(0);
    let (kept, original) = (analysis(&[&node.keep()]), analysis(&[&log.path]));
    assert_eq!(kept["totals"]["rpcs"], original["totals"]["rpcs"]);
    for direction in ["read", "write"] {
        let (kept, original) = (&kept["totals"][direction], &original["totals"][direction]);
        assert_eq!(kept["rpcs"], original["rpcs"], "{direction}");
        // What a size rests on may have been said before the oldest segment left: then it is unknown or bounded, never wrong.
        let truth = count(original, &["bytes"]);
        assert!(count(kept, &["bytes_min"]) <= truth, "{direction}: {kept}");
        assert!(truth <= count(kept, &["bytes_max"]) || count(kept, &["unsized_rpcs"]) > 0, "{direction}: {kept}");
        assert!(count(kept, &["unsized_rpcs"]) + count(kept, &["bounded_rpcs"]) < 10, "{direction}: {kept}");
    }
}
