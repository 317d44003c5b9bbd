//! Lock contention on real captures.
//!
//! `expect.json` beside a capture says what its workload must lead to (two clients that write in turns fight
//! for one object; a client with a file of its own fights with nobody). Counts come from the servers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use lioprof_testkit::files::unpacked;
use serde_json::Value;
use tempfile::TempDir;

use crate::captures::{Capture, captures};
use crate::figures::{number, rows, text};
use crate::util::{analyze, analyze_run};

fn expectation(capture: &Capture) -> Option<Value> {
    let file = fs::read(capture.dir.join("expect.json")).ok()?;
    Some(serde_json::from_slice(&file).unwrap())
}

/// Objects with a sustained fight.
fn fights(json: &Value) -> Vec<&Value> {
    rows(&json["locks"], "objects").iter().filter(|object| object["ping_pong"] == true).collect()
}

#[test]
fn workloads_show() {
    let mut seen = 0;
    for capture in captures() {
        let Some(want) = expectation(&capture) else { continue };
        seen += 1;
        let json = analyze(&[&capture.dir], &["-q"]);
        let name = &capture.name;
        let kinds = &json["locks"]["totals"]["kinds"];
        if let Some(conflicts) = want.get("client_conflicts").and_then(Value::as_bool) {
            assert_eq!(number(kinds, "client") > Some(0), conflicts, "{name}: conflicts between clients: {kinds}");
        }
        if let Some(objects) = number(&want, "ping_pong_objects") {
            assert_eq!(fights(&json).len() as u64, objects, "{name}: {:#}", json["locks"]["objects"]);
        }
        if let Some(fighters) = want.get("fighters") {
            for object in fights(&json) {
                assert_eq!(&object["clients"], fighters, "{name}");
                assert!(number(object, "alternations") > Some(10), "{name}: {object}");
            }
        }
        if want.get("server_conflicts_only").is_some() {
            assert!(number(kinds, "server") > Some(0), "{name}");
            assert_eq!(number(kinds, "server"), number(&json["locks"]["totals"], "blocking_asts"), "{name}");
        }
        if let Some(evictions) = number(&want, "evictions") {
            assert_eq!(number(&json["totals"], "evictions"), Some(evictions), "{name}");
        }
        if let Some(Value::Object(evictions)) = want.get("lock_evictions") {
            let got: BTreeMap<&str, u64> = rows(&json["locks"], "targets")
                .iter()
                .filter_map(|target| Some((text(target, "target")?, number(&target["totals"], "evictions")?)))
                .filter(|(_, evictions)| *evictions > 0)
                .collect();
            let want: BTreeMap<&str, u64> =
                evictions.iter().map(|(target, n)| (target.as_str(), n.as_u64().unwrap())).collect();
            assert_eq!(got, want, "{name}");
        }
    }
    assert!(seen > 0, "no capture has an expect.json");
}

/// Callbacks per target, from the servers' own counters, between the capture's marks.
#[test]
fn callbacks_per_target_are_the_servers() {
    let mut compared = 0;
    for capture in captures() {
        for server in &capture.servers {
            let log = server.binary().or_else(|| server.text()).unwrap();
            let all = analyze_run(&[&log], &["-q"]).json();
            let marks: Vec<&str> = rows(&all, "markers").iter().filter_map(|mark| text(mark, "text")).collect();
            let mark = |start: &str| marks.iter().find(|mark| mark.starts_with(start)).copied();
            let (Some(from), Some(to)) = (mark("CAPTURE-START"), mark("CAPTURE-STOP")) else { continue };
            let json = analyze(&[&log], &["-q", "--from", from, "--to", to]);
            for kind in ["obdfilter", "mdt"] {
                let mut truth: BTreeMap<(String, &str), u64> = BTreeMap::new();
                for (target, _, stats) in server.truth.exports(kind, "ldlm_stats") {
                    for (counter, key) in [
                        ("ldlm_bl_callback", "blocking_asts"),
                        ("ldlm_cp_callback", "completion_asts"),
                        ("ldlm_gl_callback", "glimpse_asts"),
                    ] {
                        *truth.entry((target.clone(), key)).or_default() +=
                            stats.get(counter).map_or(0, |it| it.samples);
                    }
                }
                for ((target, key), want) in truth {
                    let row = rows(&json["locks"], "targets").iter().find(|row| text(row, "target") == Some(&target));
                    let got = row.map_or(0, |row| number(&row["totals"], key).unwrap());
                    assert_eq!(got, want, "{}/{}: {key} of {target}", capture.name, server.name);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 0);
}

/// Pairs with their conflicts.
fn pairs(json: &Value) -> BTreeMap<(String, String, String), u64> {
    rows(&json["locks"], "pairs")
        .iter()
        .map(|pair| {
            let name = |key| text(pair, key).unwrap().to_owned();
            ((name("target"), name("holder_nid"), name("waiter_nid")), number(pair, "conflicts").unwrap())
        })
        .collect()
}

/// Lines of a log with dlmtrace: whether a line is one of the lock manager's.
fn is_dlmtrace(line: &[u8]) -> bool {
    line.get(9..17).and_then(|mask| u32::from_str_radix(std::str::from_utf8(mask).ok()?, 16).ok()) == Some(0x1_0000)
}

fn with_dlmtrace() -> Vec<(String, Vec<u8>, Value)> {
    let mut found = Vec::new();
    for capture in captures() {
        for server in &capture.servers {
            let Some(path) = server.text() else { continue };
            let json = analyze_run(&[&path], &["-q"]).json();
            let fought = number(&json["locks"]["totals"], "conflicts") > Some(0);
            if json["locks"]["evidence"] == "dlmtrace" && fought && json["loss"]["head_overwritten"] == false {
                found.push((format!("{}/{}", capture.name, server.name), unpacked(&path), json));
            }
        }
    }
    assert!(!found.is_empty(), "no capture with dlmtrace and conflicts");
    found
}

fn analyzed(log: &[u8]) -> Value {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("server.txt");
    fs::write(&path, log).unwrap();
    analyze_run(&[Path::new(&path)], &["-q"]).json()
}

#[test]
fn callbacks_alone_find_the_same_osts_and_pairs() {
    for (name, log, full) in with_dlmtrace() {
        let weak: Vec<u8> =
            log.split_inclusive(|&b| b == b'\n').filter(|line| !is_dlmtrace(line)).flatten().copied().collect();
        let weak = analyzed(&weak);
        assert_eq!(weak["locks"]["evidence"], "rpctrace", "{name}");
        assert_eq!(pairs(&weak), pairs(&full), "{name}");
        let contended = |json: &Value| -> BTreeSet<String> {
            let targets = rows(&json["locks"], "targets").iter();
            let fought = targets.filter(|target| number(&target["totals"], "conflicts") > Some(0));
            fought.map(|target| text(target, "target").unwrap().to_owned()).collect()
        };
        assert_eq!(contended(&weak), contended(&full), "{name}");
        for object in rows(&weak["locks"], "objects") {
            assert_eq!(object["inferred"], true, "{name}");
        }
        // Objects that are inferred are among the real ones.
        let objects = |json: &Value| -> BTreeSet<String> {
            rows(&json["locks"], "objects").iter().map(|object| text(object, "fid").unwrap().to_owned()).collect()
        };
        assert!(objects(&weak).is_subset(&objects(&full)), "{name}");
    }
}

#[test]
fn damaged_logs_degrade_and_invent_nothing() {
    for (name, log, full) in with_dlmtrace() {
        let lines: Vec<&[u8]> = log.split_inclusive(|&b| b == b'\n').collect();
        let total = |json: &Value, key: &str| number(&json["locks"]["totals"], key).unwrap_or(0);
        let mut wounded: Vec<(String, Vec<u8>)> = vec![
            ("second half".to_owned(), lines[lines.len() / 2..].concat()),
            ("first half".to_owned(), lines[..lines.len() / 2].concat()),
        ];
        for nth in [3, 7, 50] {
            let kept = lines.iter().enumerate().filter(|(i, _)| i % nth != nth - 1);
            wounded.push((format!("every {nth}th line lost"), kept.flat_map(|(_, line)| line.to_vec()).collect()));
        }
        for (wound, log) in wounded {
            let got = analyzed(&log);
            // A request without its start line has no sender: what it conflicts with is then nobody's.
            for key in ["conflicts", "true_conflicts", "expansion_conflicts", "handovers", "blocking_asts"] {
                assert!(total(&got, key) <= total(&full, key), "{name}, {wound}: {key}");
            }
            let known = pairs(&full);
            for (pair, conflicts) in pairs(&got) {
                assert!(known.get(&pair).is_some_and(|all| conflicts <= *all), "{name}, {wound}: {pair:?}");
            }
        }
    }
}

#[test]
fn locks_can_be_left_out() {
    let capture = &captures()[0];
    let json = analyze_run(&[&capture.dir], &["-q", "--no-locks"]).json();
    assert!(json["locks"].is_null());
}

/// Each completion that is missing leaves one wait open, and the others as they are: a completion names no request.
#[test]
fn a_missing_completion_changes_one_wait() {
    let log = unpacked(lioprof_testkit::files::capture("lock_pingpong").join("server1/rpc.txt.zst"));
    let lines: Vec<&[u8]> = log.split_inclusive(|byte| *byte == b'\n').collect();
    let wait_s = |log: &[u8]| analyzed(log)["locks"]["totals"]["wait_s"].as_f64().unwrap();
    let whole_s = wait_s(&log);
    let has = |line: &[u8], text: &str| line.windows(text.len()).any(|at| at == text.as_bytes());
    // `105` is LDLM_CP_CALLBACK.
    let is_completion = |line: &[u8]| has(line, "Sending RPC") && has(line, ":105:");
    let completions: Vec<usize> = (0..lines.len()).filter(|&at| is_completion(lines[at])).collect();
    assert!(completions.len() > 100, "{}", completions.len());
    for &missing in completions.iter().step_by(7) {
        let others: Vec<&[u8]> = (0..lines.len()).filter(|&at| at != missing).map(|at| lines[at]).collect();
        let without_s = wait_s(&others.concat());
        assert!((0.9 * whole_s..=1.02 * whole_s).contains(&without_s), "line {missing}: {without_s} of {whole_s} s");
    }
}
