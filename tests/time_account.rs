//! `time_account` against the rows: it sums up to the span, and what it calls nothing is nothing.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::captures::captures;
use crate::figures::{number, rows, text};
use crate::util::{analyze_run, lioprof};

/// When requests of clients were under way, by client; pings aside.
fn requests(dir: &Path) -> BTreeMap<String, Vec<(i64, i64)>> {
    let mut reader = csv::Reader::from_path(dir.join("rpcs.csv")).unwrap();
    let mut found: BTreeMap<String, Vec<(i64, i64)>> = BTreeMap::new();
    for row in reader.deserialize() {
        let row: BTreeMap<String, String> = row.unwrap();
        let from_server = row["client_uuid"].ends_with("-mdtlov_UUID") || row["client_uuid"].contains("-lwp-");
        let end_us: i64 = row["end_us"].parse().unwrap();
        let total_us: i64 = row["total_us"].parse().unwrap_or(0);
        if !from_server && row["opcode_name"] != "OBD_PING" {
            found.entry(row["nid"].clone()).or_default().push((end_us - total_us, end_us));
        }
    }
    found
}

/// First, last, and the time that any of the intervals covers.
fn swept(mut intervals: Vec<(i64, i64)>) -> (i64, i64, i64) {
    intervals.sort_unstable();
    let (first, mut until) = (intervals[0].0, i64::MIN);
    let mut covered = 0;
    for (from, to) in intervals {
        covered += (to - from.max(until)).max(0);
        until = until.max(to);
    }
    (first, until, covered)
}

fn sum(of: &Value) -> u64 {
    rows(of, "spent").iter().map(|spent| number(spent, "us").unwrap()).sum()
}

fn on(of: &Value, what: &str) -> u64 {
    let is_it = |spent: &&Value| text(spent, "on") == Some(what);
    rows(of, "spent").iter().filter(is_it).map(|spent| number(spent, "us").unwrap()).sum()
}

#[test]
fn every_microsecond_is_accounted_for() {
    for capture in captures() {
        let json = analyze_run(&[&capture.dir], &[]).json();
        let account = &json["time_account"];
        let all = std::slice::from_ref(&account["all"]).iter().filter(|all| !all.is_null());
        for of in all.chain(rows(account, "clients")).chain(rows(account, "jobs")) {
            assert_eq!(Some(sum(of)), number(of, "span_us"), "{}: {of}", capture.name);
        }
        let series = &account["series"];
        for (bins, spent) in rows(series, "spent").iter().zip(rows(&account["all"], "spent")) {
            let us: u64 = bins["us"].as_array().unwrap().iter().map(|us| us.as_u64().unwrap()).sum();
            assert_eq!((Some(us), &bins["target"]), (number(spent, "us"), &spent["target"]), "{}", capture.name);
        }
    }
}

#[test]
fn nothing_is_what_no_request_covers() {
    let mut compared = 0;
    for capture in captures() {
        let dir = TempDir::new().unwrap();
        let csv = dir.path().join("csv");
        let args = ["export".as_ref(), "-q".as_ref(), capture.dir.as_os_str(), "--csv".as_ref(), csv.as_os_str()];
        lioprof::<&OsStr>(&args);
        let json = analyze_run(&[&capture.dir], &[]).json();
        // Rows are on the clocks of their nodes, the account is on one.
        if rows(&json, "nodes").iter().any(|node| node["clock_aligned"] == true) {
            continue;
        }
        let account = &json["time_account"];
        let requests = requests(&csv);
        let everybody = requests.values().flatten().copied().collect::<Vec<_>>();
        let mut told = vec![(&account["all"], everybody)];
        for of in rows(account, "clients") {
            told.push((of, requests.get(text(of, "name").unwrap()).cloned().unwrap_or_default()));
        }
        // Waits for locks are in no row: the span may begin earlier or end later with them.
        for (of, requests) in told.into_iter().filter(|(of, _)| !of.is_null() && on(of, "lock_wait") == 0) {
            let (first, last, covered) = swept(requests);
            let span_us = u64::try_from(last - first).unwrap();
            assert_eq!(number(of, "span_us"), Some(span_us), "{}: {}", capture.name, of["name"]);
            let nothing = i64::try_from(on(of, "nothing")).unwrap();
            let off = (nothing - (last - first - covered)).unsigned_abs();
            assert!(off * 50 <= span_us, "{}: {off} of {span_us} µs off for {}", capture.name, of["name"]);
            compared += 1;
        }
    }
    assert!(compared > 10, "{compared}");
}

/// A file per client on an OST of its own, fsync after each write: no line of a log names the OST of a sync.
#[test]
fn a_sync_is_work_of_the_disk_that_was_written_to() {
    let json = analyze_run(&[&crate::pairs::dir("v215_fsync_each_sick")], &[]).json();
    let all = &json["time_account"]["all"];
    let most = &rows(all, "spent")[0];
    assert_eq!((text(most, "on"), text(most, "target")), (Some("sync"), Some("lustre-OST0002")), "{most}");
    assert!(number(most, "us").unwrap() * 2 > number(all, "span_us").unwrap(), "{most}");
    // Counts stay with what the log says.
    let target = rows(&json, "targets").iter().find(|target| text(target, "name") == Some("lustre-OST0002")).unwrap();
    assert_eq!(target["opcodes"]["OST_SYNC"], Value::Null, "{target}");
    // Two files of a client on two OSTs of a server: a sync may be of either.
    let json = analyze_run(&[&crate::pairs::dir("pair_slow_ost_sick")], &[]).json();
    let syncs = rows(&json["time_account"]["all"], "spent").iter().filter(|spent| text(spent, "on") == Some("sync"));
    let most: Vec<_> = syncs.map(|spent| (&spent["target"], text(spent, "node"))).take(2).collect();
    assert_eq!(most, [(&Value::Null, Some("server2")), (&Value::Null, Some("server1"))]);
}

/// By client, and by job, against the lines of the log: `Handled RPC pname:cluuid+ref:pid:xid:nid:opc:job THREAD:UUID+REF:PID:xXID:NID:OPC:JOB
/// Request processed in Nus`.
#[test]
fn who_took_the_time_of_servers_for_what() {
    let log = lioprof_testkit::files::capture("metadata/server2/rpc.bin.zst");
    let lines = String::from_utf8(lioprof(&[OsStr::new("decode"), log.as_os_str()]).exits(0).stdout).unwrap();
    type Sums = BTreeMap<(String, u64), (u64, u64)>;
    let (mut clients, mut jobs) = (Sums::new(), Sums::new());
    for line in lines.lines() {
        let Some((_, handled)) = line.split_once("Handled RPC req@") else { continue };
        let (head, tail) = handled.split_once(" Request processed in ").unwrap();
        let mut fields = head.split_once(":opc:job ").unwrap().1.splitn(7, ':').skip(4);
        let nid = fields.next().unwrap().split_once('-').unwrap().1;
        let (opcode, job) = (fields.next().unwrap().parse().unwrap(), fields.next().unwrap());
        let us: u64 = tail.split_once("us").unwrap().0.parse().unwrap();
        for (sums, name) in [(&mut clients, nid), (&mut jobs, job)] {
            let sum = sums.entry((name.to_owned(), opcode)).or_default();
            *sum = (sum.0 + 1, sum.1 + us);
        }
    }
    assert!(clients.len() > 10 && jobs.len() > 10, "{clients:?} {jobs:?}");

    let out = TempDir::new().unwrap();
    let json = analyze_run(&[&log], &["-o", out.path().to_str().unwrap()]).exits(0).json();
    let numbers: BTreeMap<&str, u64> =
        rows(&json, "operations").iter().map(|it| (text(it, "name").unwrap(), number(it, "opcode").unwrap())).collect();
    let mut found = BTreeMap::from([("client", Sums::new()), ("job", Sums::new())]);
    for row in csv::Reader::from_path(out.path().join("operations-by.csv")).unwrap().deserialize() {
        let row: BTreeMap<String, String> = row.unwrap();
        let sum = (row["rpcs"].parse().unwrap(), row["service_us"].parse().unwrap());
        found.get_mut(&*row["by"]).unwrap().insert((row["name"].clone(), numbers[&*row["operation"]]), sum);
    }
    assert_eq!(found["client"], clients);
    assert_eq!(found["job"], jobs);
    // The lists in JSON say the same.
    for (list, name, sums) in [("clients", "nid", &clients), ("jobs", "job", &jobs)] {
        let sum: u64 = rows(&json, list)
            .iter()
            .map(|row| row["service_us"].as_object().unwrap().values().map(|us| us.as_u64().unwrap()).sum::<u64>())
            .sum();
        assert_eq!(sum, sums.values().map(|(_, us)| us).sum::<u64>(), "{list} by {name}");
    }
}
