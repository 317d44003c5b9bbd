//! `service_parts` against the rows: sums, and ranks by comparing every pair.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use serde_json::Value;
use tempfile::TempDir;

use crate::captures::captures;
use crate::figures::{number, rows, text};
use crate::util::{analyze_run, lioprof};

/// A row of the CSV export with parts.
#[derive(Clone)]
struct Row {
    target: String,
    nid: String,
    opcode: String,
    /// The smallest power of two not below its bytes.
    size: u64,
    parts_us: [u64; 3],
}

const PARTS: [&str; 3] = ["before", "transfer", "after"];

/// The rows of one direction whose parts are known.
fn split_rows(dir: &std::path::Path) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(dir.join("rpcs.csv")).unwrap();
    let mut found = Vec::new();
    for row in reader.deserialize() {
        let row: BTreeMap<String, String> = row.unwrap();
        let us = |column: &str| row[column].parse::<u64>().ok();
        let is_io = ["OST_READ", "OST_WRITE"].contains(&row["opcode_name"].as_str());
        let (Some(before), Some(transfer), Some(service), Some(bytes)) =
            (us("before_bulk_us"), us("bulk_us"), us("service_us"), us("bytes"))
        else {
            continue;
        };
        if is_io {
            found.push(Row {
                target: row["target"].clone(),
                nid: row["nid"].clone(),
                opcode: row["opcode_name"].clone(),
                size: bytes.next_power_of_two(),
                parts_us: [before, transfer, service.checked_sub(before + transfer).unwrap()],
            });
        }
    }
    found
}

fn direction(opcode: &str) -> &'static str {
    if opcode == "OST_READ" { "read" } else { "write" }
}

#[test]
fn parts_are_those_of_the_rows() {
    let mut split = 0;
    for capture in captures() {
        let dir = TempDir::new().unwrap();
        let csv = dir.path().join("csv");
        let args = ["export".as_ref(), "-q".as_ref(), capture.dir.as_os_str(), "--csv".as_ref(), csv.as_os_str()];
        lioprof::<&OsStr>(&args);
        let csv_rows = split_rows(&csv);
        let json = analyze_run(&[&capture.dir], &[]).json();
        let all = &json["service_parts"];
        split += csv_rows.len();

        for (table, name) in [("targets", "target"), ("clients", "nid")] {
            let mut told = 0;
            for figures in rows(all, table) {
                let mine = |row: &&Row| {
                    let key = if name == "nid" { &row.nid } else { &row.target };
                    key == text(figures, name).unwrap_or_default()
                        && Some(direction(&row.opcode)) == text(figures, "direction")
                };
                let own: Vec<&Row> = csv_rows.iter().filter(mine).collect();
                assert_eq!(number(figures, "rpcs"), Some(own.len() as u64), "{}: {figures}", capture.name);
                told += own.len();
                for (at, part) in PARTS.iter().enumerate() {
                    let us = &figures[part]["us"];
                    let sum_us: u64 = own.iter().map(|row| row.parts_us[at]).sum();
                    assert_eq!(us["mean"], sum_us as f64 / own.len() as f64, "{}: {part} of {figures}", capture.name);
                    assert_eq!(number(us, "max"), own.iter().map(|row| row.parts_us[at]).max());
                    against_peers(&capture.name, &own, &csv_rows, at, name == "nid", &figures[part]["against_peers"]);
                }
            }
            assert_eq!(told, csv_rows.len(), "{}: every row is somebody's ({table})", capture.name);
        }
        let of_sizes: u64 = rows(all, "sizes").iter().filter_map(|row| number(row, "rpcs")).sum();
        assert_eq!(of_sizes, csv_rows.len() as u64, "{}", capture.name);
    }
    assert!(split > 300, "parts of only {split} RPCs were known");
}

/// Ranks by comparing every pair, with the times themselves instead of buckets of them.
fn against_peers(name: &str, own: &[&Row], all: &[Row], at: usize, clients: bool, told: &Value) {
    let (mut rpcs, mut pairs, mut longer, mut least, mut expected_us, mut own_us) = (0u64, 0.0, 0.0, 0.0, 0.0, 0.0);
    for row in own {
        let is_peer = |peer: &&Row| {
            let (stratum, other) = if clients {
                (peer.target == row.target, peer.nid != row.nid)
            } else {
                (peer.nid == row.nid, peer.target != row.target)
            };
            stratum && other && !peer.target.is_empty() && peer.opcode == row.opcode && peer.size == row.size
        };
        let peers: Vec<f64> = all.iter().filter(is_peer).map(|peer| peer.parts_us[at] as f64).collect();
        if peers.is_empty() || row.target.is_empty() {
            continue;
        }
        let us = row.parts_us[at] as f64;
        // Times this close may be in one bucket, and then count as equal.
        let beyond = |peer: &&f64| us > **peer + 1.0 && us > **peer * 1.008;
        let below = |peer: &&f64| us + 1.0 < **peer && us * 1.008 < **peer;
        let (more, less) = (peers.iter().filter(beyond).count(), peers.iter().filter(below).count());
        rpcs += 1;
        pairs += peers.len() as f64;
        least += more as f64;
        longer += (peers.len() - less) as f64;
        own_us += us;
        expected_us += peers.iter().sum::<f64>() / peers.len() as f64;
    }
    if rpcs == 0 {
        assert_eq!(told, &Value::Null, "{name}");
        return;
    }
    let figure = |key: &str| told[key].as_f64().unwrap();
    assert_eq!(number(told, "rpcs"), Some(rpcs), "{name}: {told}");
    let share = figure("longer_share");
    assert!(
        least / pairs - 1e-9 <= share && share <= longer / pairs + 1e-9,
        "{name}: {least} to {longer} of {pairs}: {told}"
    );
    assert!(
        (figure("peers_mean_us") - expected_us / rpcs as f64).abs() < 1e-6 * expected_us.max(1.0),
        "{name}: {told}"
    );
    if let Some(ratio) = told["ratio"].as_f64() {
        assert!((ratio - own_us / expected_us).abs() < 1e-9 * ratio.max(1.0), "{name}: {told}");
    }
}
