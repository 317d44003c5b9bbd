//! `enqueue_parts`: the time of lock requests against the rows and the text of the logs, and the same from Parquet.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;

use lioprof_testkit::files::{capture, unpacked};
use serde_json::Value;
use tempfile::TempDir;

use crate::captures::captures;
use crate::figures::{number, rows, text};
use crate::util::{analyze_run, lioprof};

const PARTS: [&str; 4] = ["queue", "service", "lock_wait", "other_wait"];

fn sum_us(figures: &Value, part: &str) -> u64 {
    let sum_us = number(&figures[part], "sum_us");
    // Of requests whose parts are not known no sum is known either.
    assert_eq!(sum_us.is_none(), figures["enqueues"] == figures["unknown"], "{part} of {figures}");
    sum_us.unwrap_or(0)
}

#[test]
fn parts_add_up_for_everybody() {
    let (mut known, mut waited, mut unknown) = (0, 0, 0);
    for capture in captures() {
        let json = analyze_run(&[&capture.dir], &[]).json();
        let it = &json["enqueue_parts"];
        let all = &it["all"];
        let of_operations = rows(&json, "operations").iter().filter(|row| text(row, "name") == Some("LDLM_ENQUEUE"));
        let enqueues: u64 = of_operations.filter_map(|row| number(row, "rpcs")).sum();
        assert_eq!(number(all, "enqueues"), Some(enqueues), "{}", capture.name);
        for table in ["targets", "clients"] {
            for figures in rows(it, table).iter().chain([all]) {
                let parts: u64 = PARTS.iter().map(|part| sum_us(figures, part)).sum();
                assert_eq!(parts, sum_us(figures, "total"), "{}: {figures}", capture.name);
                let counts: BTreeSet<u64> =
                    PARTS.iter().map(|part| number(&figures[part]["us"], "count").unwrap()).collect();
                let expected = number(figures, "enqueues").unwrap() - number(figures, "unknown").unwrap();
                assert_eq!(counts, BTreeSet::from([expected]), "{}: {figures}", capture.name);
            }
            for figure in ["enqueues", "unknown", "waited"] {
                let sum: u64 = rows(it, table).iter().filter_map(|row| number(row, figure)).sum();
                assert_eq!(Some(sum), number(all, figure), "{}: {figure} of {table}", capture.name);
            }
            for part in PARTS {
                let sum: u64 = rows(it, table).iter().map(|row| sum_us(row, part)).sum();
                assert_eq!(sum, sum_us(all, part), "{}: {part} of {table}", capture.name);
            }
        }
        known += number(&all["total"]["us"], "count").unwrap();
        waited += number(all, "waited").unwrap();
        unknown += number(all, "unknown").unwrap();
    }
    assert!(known > 400 && waited > 200 && unknown > 1000, "{known} known, {waited} waited, {unknown} unknown");
}

/// A line of a log: time in µs, thread, text.
fn line(line: &str) -> Option<(u64, &str, &str)> {
    let mut fields = line.splitn(9, ':');
    let (seconds, us) = fields.nth(3)?.split_once('.')?;
    let pid = fields.nth(1)?;
    let message = line.split_once(") ")?.1;
    Some((seconds.parse::<u64>().ok()? * 1_000_000 + us.parse::<u64>().ok()?, pid, message))
}

/// Time of handling and of waiting of all lock requests in a text log, read line by line without lioprof.
fn by_hand(log: &str) -> (u64, u64) {
    let mut enqueueing: BTreeMap<&str, u64> = BTreeMap::new();
    let mut waiting: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut handled_us, mut waited_us) = (0, 0);
    for (time_us, pid, message) in log.lines().filter_map(line) {
        let opcode = || message.rsplit(':').nth(1);
        if message.starts_with("Handling RPC") {
            enqueueing.remove(pid);
            if opcode() == Some("101") {
                enqueueing.insert(pid, time_us);
            }
        } else if message.starts_with("Handled RPC") {
            let processed = message.split_once("processed in ").and_then(|it| it.1.split_once("us")).unwrap().0;
            if enqueueing.remove(pid).is_some() {
                handled_us += processed.parse::<u64>().unwrap();
            }
        } else if let Some(lock) = message.split_once("lock: ").and_then(|it| it.1.split_once('/')).map(|it| it.1) {
            let cookie = lock.split_once(' ').unwrap().0;
            if message.starts_with("### About to add this lock")
                && lock.contains("mode: --/")
                && enqueueing.contains_key(pid)
            {
                waiting.insert(cookie, time_us);
            } else if message.starts_with("### lock granted; sending completion AST") {
                waited_us += waiting.remove(cookie).map_or(0, |from| time_us - from);
            }
        }
    }
    (handled_us, waited_us)
}

#[test]
fn waits_are_those_of_the_lines() {
    let mut compared = 0;
    for capture in captures() {
        for server in &capture.servers {
            let Some(log) = server.log("rpc.txt") else { continue };
            let json = analyze_run(&[&log], &[]).json();
            let all = &json["enqueue_parts"]["all"];
            if number(all, "unknown") != Some(0) || number(all, "enqueues") == Some(0) {
                continue;
            }
            let (handled_us, waited_us) = by_hand(&String::from_utf8_lossy(&unpacked(&log)));
            let name = format!("{}/{}", capture.name, server.name);
            assert_eq!(sum_us(all, "lock_wait") + sum_us(all, "other_wait"), waited_us, "{name}");
            assert!(sum_us(all, "service") <= handled_us, "{name}");
            if waited_us == 0 {
                assert_eq!(sum_us(all, "service"), handled_us, "{name}");
            }
            // On OSTs, all waits for other clients' locks are of lock requests.
            let wait_s = json["locks"]["totals"]["wait_s"].as_f64().unwrap()
                + json["locks"]["mdt_totals"]["wait_s"].as_f64().unwrap();
            assert!(sum_us(all, "lock_wait") as f64 <= wait_s * 1e6 + 0.5, "{name}");
            compared += 1;
        }
    }
    assert!(compared > 5, "only {compared} logs have all parts");
}

fn parquet_of(capture: &Path, dir: &TempDir) -> std::path::PathBuf {
    let kept = dir.path().join("rows");
    let args: [&OsStr; 4] = ["export".as_ref(), capture.as_os_str(), "--parquet".as_ref(), kept.as_os_str()];
    assert_eq!(lioprof(&args).code, Some(0));
    kept
}

#[test]
fn rows_give_the_same_as_logs() {
    for name in ["lock_pingpong_dlm", "op_anatomy", "v215_lock_pingpong_dlm", "metadata"] {
        let logs = capture(name);
        let from_logs = analyze_run(&[&logs], &[]).json()["enqueue_parts"].clone();
        let dir = TempDir::new().unwrap();
        let kept = parquet_of(&logs, &dir);
        assert_eq!(analyze_run(&[&kept], &[]).json()["enqueue_parts"], from_logs, "{name}");
    }
}

#[test]
fn with_targets_chosen_only_their_requests_count() {
    let run = analyze_run(&[&capture("lock_pingpong_dlm")], &["--target", "lustre-OST0001"]);
    let json = run.json();
    let targets = rows(&json["enqueue_parts"], "targets");
    assert_eq!(targets.len(), 1, "{json}");
    assert_eq!(text(&targets[0], "target"), Some("lustre-OST0001"));
    // 128 for the ping-pong, one glimpse.
    assert_eq!(number(&targets[0], "enqueues"), Some(129));
}
