//! A program that rests in the middle of a run: what is wrong with the run stays as wrong, and a remedy saves no rest.

use std::fs;

use lioprof_testkit::files::{fixture, unpacked};
use serde_json::Value;
use tempfile::TempDir;

use crate::binlog::{BinaryLog, shift_seconds};
use crate::figures::{rows, text};
use crate::util::analyze_run;

/// How long it rests.
const REST_S: i32 = 60;

/// The capture with a rest at this moment, at which no request was under way.
fn rested(capture: &str, at_us: u64) -> Value {
    let dir = TempDir::new().unwrap();
    for server in ["server1", "server2"] {
        let log = BinaryLog::new(unpacked(fixture(format!("pairs/{capture}/{server}/rpc.bin.zst"))));
        let later = log.map(|index, record| {
            if log.time_us(index) > at_us {
                shift_seconds(record, REST_S);
            }
        });
        fs::create_dir(dir.path().join(server)).unwrap();
        fs::write(dir.path().join(server).join("rpc.bin"), later).unwrap();
    }
    analyze_run(&[dir.path()], &[]).json()
}

fn finding<'a>(analysis: &'a Value, id: &str) -> &'a Value {
    let found = rows(analysis, "findings").iter().find(|finding| text(finding, "id") == Some(id));
    found.unwrap_or_else(|| panic!("no {id}: {}", analysis["findings"]))
}

#[test]
fn a_remedy_saves_no_rest() {
    for (capture, id, at_us) in [
        ("pair_small_sync_sick", "small-rpcs", 1_795_412_412_333_306),
        // Before a small read, as when a program computes and then reads a header.
        ("pair_hdf5_like_sick", "small-io-between-large", 1_795_412_540_999_747),
        ("pair_lock_pingpong_sick", "lock-ping-pong", 1_795_413_721_064_661),
        ("pair_lock_pingpong_paced_sick", "lock-ping-pong", 1_795_413_393_882_997),
    ] {
        let dir = fixture(format!("pairs/{capture}"));
        let through = analyze_run(&[&dir], &[]).json();
        let rested = rested(capture, at_us);
        let elapsed_s = |json: &Value| json["what_if"]["elapsed_s"].as_f64().unwrap();
        assert!((elapsed_s(&rested) - elapsed_s(&through) - f64::from(REST_S)).abs() < 0.1, "{capture}");
        let [through, rested] = [&through, &rested].map(|json| finding(json, id));
        assert_eq!(
            (text(rested, "severity"), text(rested, "title")),
            (text(through, "severity"), text(through, "title"))
        );
        for bound in ["saves_s", "saves_s_min", "saves_s_max"] {
            let [through_s, rested_s] = [through, rested].map(|finding| finding[bound].as_f64().unwrap());
            assert!(
                (rested_s - through_s).abs() < f64::from(REST_S) / 20.0,
                "{capture}: {bound} {through_s} s, with a rest {rested_s} s"
            );
        }
    }
}
