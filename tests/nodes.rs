//! Which server a log is of: laid out as people name logs, in pieces, and of several servers in one file.

use std::fs;

use lioprof_testkit::files::{capture, fixture, unpacked};
use serde_json::Value;

use crate::figures::{number, rows, text};
use crate::util::{Run, analyze, analyze_run, assert_same, figures_only, folder, lioprof};

const HOSTS: [&str; 2] = ["server1", "server2"];

/// Real logs of two servers of one run, as text.
fn real() -> [String; 2] {
    HOSTS.map(|host| {
        let log = unpacked(capture(format!("file_per_process/{host}/rpc.txt.zst")));
        String::from_utf8(log).unwrap()
    })
}

/// Logs of two servers whose threads have the same pids, which no two real servers have.
fn twins() -> [String; 2] {
    ["oss01", "oss02"].map(|host| fs::read_to_string(fixture(format!("two-servers/{host}.txt"))).unwrap())
}

fn nodes(json: &Value) -> Vec<&str> {
    rows(json, "nodes").iter().map(|node| text(node, "name").unwrap()).collect()
}

fn node_from(json: &Value) -> Vec<&str> {
    rows(json, "inputs").iter().map(|input| text(input, "node_from").unwrap()).collect()
}

/// The lines of both logs by time, as `sort -m` puts them.
fn sorted(logs: &[String]) -> String {
    let mut lines: Vec<&str> = logs.iter().flat_map(|log| log.split_inclusive('\n')).collect();
    let time = |line: &&str| line.split(':').nth(3).unwrap_or_default().to_owned();
    lines.sort_by_key(time);
    lines.concat()
}

#[test]
fn two_servers_are_two_nodes_however_their_logs_are_named() {
    for (logs, hosts) in [(real(), HOSTS), (twins(), ["oss01", "oss02"])] {
        let lay_out = |scheme: &str| {
            folder(hosts.iter().zip(&logs).map(|(host, log)| (scheme.replace("HOST", host), log.as_str())))
        };
        let want = analyze(&[lay_out("HOST/rpc.txt").path()], &[]);
        assert_eq!(nodes(&want), hosts);
        for scheme in [
            "HOST/lctl_debug_kernel",
            "case12345/HOST/var/log/lustre/debug.log",
            "HOST/tmp/lustre-log.1795600000.5432",
            "HOST/2026-11-20-14:00:01",
            "debug-HOST.log",
            "debug_log.HOST.txt",
            "lustre-log.HOST.1795600000",
            "debug_kernel.HOST",
            "sosreport-HOST-2026-11-25-abcdefg/sos_commands/lustre/lctl_debug_kernel",
            "HOST/run.txt",
        ] {
            let got = analyze(&[lay_out(scheme).path()], &[]);
            assert_same(scheme, &figures_only(got.clone()), &figures_only(want.clone()));
            assert!(rows(&got, "inputs").iter().all(|input| input.get("several_servers").is_none()), "{scheme}");
        }
    }
}

#[test]
fn what_told_the_node_is_in_the_json_and_said_with_verbose() {
    let [one, two] = twins();
    let dir = folder([("oss01/dk.txt".to_owned(), one.as_str()), ("rpc-oss02.txt".to_owned(), &two)]);
    let run = analyze_run(&[dir.path()], &["-v"]).says(&["oss01/dk.txt` is a log of node oss01 (by its folder)"]);
    assert_eq!(node_from(&run.json()), ["folder", "name"]);
    let run = analyze_run(&[dir.path()], &["--node", "a=*/oss01/*"]);
    assert!(!run.stderr.contains("is a log of node"), "{run}");
    assert_eq!(node_from(&run.json()), ["--node", "name"]);
    let dir = folder([("a/run.txt".to_owned(), one.as_str()), ("b/run.txt".to_owned(), &two)]);
    let run = analyze_run(&[dir.path()], &["-v"]).says(&["they are of different servers: thread ll_ost_io00_000"]);
    assert_eq!((nodes(&run.json()), node_from(&run.json())), (vec!["a", "b"], vec!["path", "path"]));
}

#[test]
fn servers_that_no_path_tells_apart_are_refused_until_the_user_says_which_is_which() {
    for (logs, other) in [(real(), twins()), (twins(), real())] {
        let dir = folder([("in/debug.log.1".to_owned(), logs[0].as_str()), ("in/debug.log.2".to_owned(), &logs[1])]);
        let path = dir.path().to_str().unwrap();
        let run = lioprof(&["analyze", path]).exits(2);
        // The sentence has what to give.
        let rule = |number: usize| format!("--node server{number}='{path}/in/debug.log.{number}'");
        let run = run.says(&["are logs of different servers, but both would be node in", &rule(1), &rule(2)]);
        assert!(!run.stderr.contains("debug_mb"), "{run}");
        let given: Vec<String> = (1..3).map(|n| rule(n).trim_start_matches("--node ").replace('\'', "")).collect();
        let run = analyze_run(&[dir.path()], &["--node", &given[0], "--node", &given[1]]).exits(0);
        assert_eq!(nodes(&run.json()), ["server1", "server2"]);
        // Other inputs are read all the same.
        fs::create_dir(dir.path().join("oss07")).unwrap();
        fs::write(dir.path().join("oss07/dk.txt"), &other[0]).unwrap();
        let run = lioprof(&["analyze", path, "--format", "json"]).exits(2);
        assert_eq!(nodes(&run.json()), ["oss07"]);
    }
}

#[test]
fn pieces_of_a_log_are_one_node_with_the_same_figures() {
    let [log, _] = real();
    let want = analyze(&[folder([("server1/rpc.txt".to_owned(), log.as_str())]).path()], &[]);
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    let (first, second) = lines.split_at(lines.len() / 2);
    let odd = |odd: usize| lines.iter().skip(odd).step_by(2).copied().collect::<String>();
    for (what, names, pieces) in [
        ("split", ["server1/xaa", "server1/xab"], [first.concat(), second.concat()]),
        ("split", ["in/server1.txt.aa", "in/server1.txt.ab"], [first.concat(), second.concat()]),
        ("split -n r/2", ["server1/xaa", "server1/xab"], [odd(0), odd(1)]),
        ("split -d", ["server1/part-00", "server1/part-01"], [odd(0), odd(1)]),
        ("rotation", ["server1/debug.log.1", "server1/debug.log"], [first.concat(), second.concat()]),
    ] {
        let dir = folder(names.iter().map(|name| (*name).to_owned()).zip(pieces.iter().map(String::as_str)));
        let got = analyze(&[dir.path()], &[]);
        assert_eq!(nodes(&got), ["server1"], "{what} {names:?}");
        assert_same(what, &got["totals"], &want["totals"]);
        assert_same(what, &got["flows"], &want["flows"]);
    }
}

#[test]
fn logs_by_operation_are_one_node_by_their_contents() {
    let [log, _] = real();
    let of = |opcodes: &[&str]| -> String {
        let lines = log.split_inclusive('\n').filter(|line| {
            opcodes.iter().any(|opcode| line.contains("Handl") && line.contains(&format!("@tcp:{opcode}:")))
        });
        lines.collect()
    };
    let (writes, others) = (of(&["4"]), of(&["400", "38", "33", "35", "36", "101", "103", "6", "16"]));
    assert!(writes.len() > 1000 && others.len() > 1000);
    let dir =
        folder([("in/server1-write.txt".to_owned(), writes.as_str()), ("in/server1-other.txt".to_owned(), &others)]);
    let got = analyze_run(&[dir.path()], &[]).json();
    assert_eq!((nodes(&got), node_from(&got)), (vec!["server1"], vec!["contents", "contents"]));
}

/// Says that `all.txt` is of two servers, and nothing of loss.
#[track_caller]
fn told_as_two(what: &str, log: &str, evidence: &str) -> Run {
    let dir = folder([("all.txt".to_owned(), log)]);
    let run = analyze_run(&[&dir.path().join("all.txt")], &[]).exits(0);
    let run = run.says(&[
        "all.txt holds the logs of two servers or more",
        evidence,
        "give each server's log as a file of its own",
    ]);
    let json = run.json();
    for wrong in ["debug_mb", "not in the log", "not in the capture", "clock was stepped"] {
        assert!(
            !run.stderr.contains(wrong) && !json["findings"].to_string().contains(wrong),
            "{what}: {wrong} in {run}"
        );
    }
    assert!(json["loss"]["estimated_lost_fraction"].is_null(), "{what}: {}", json["loss"]);
    assert!(number(&rows(&json, "inputs")[0]["several_servers"], "seen") > Some(0), "{what}");
    let summary = lioprof(&["analyze", dir.path().join("all.txt").to_str().unwrap()]).exits(0);
    assert!(String::from_utf8_lossy(&summary.stdout).contains("two servers"), "{what}: {summary}");
    run
}

#[test]
fn two_servers_in_one_file_are_told_and_are_no_loss() {
    let logs = real();
    let both = analyze(
        &[folder(HOSTS.iter().zip(&logs).map(|(host, log)| (format!("{host}/dk.txt"), log.as_str()))).path()],
        &[],
    );
    for (what, log) in [("sort -m", sorted(&logs)), ("cat", logs.concat())] {
        let json = told_as_two(what, &log, "at the same time").json();
        // Pids tell the threads apart: all figures are those of both servers.
        for key in ["rpcs", "read", "write"] {
            assert_same(what, &json["totals"][key], &both["totals"][key]);
        }
        assert_same(what, &without_nodes(&json["flows"]), &without_nodes(&both["flows"]));
    }
}

#[test]
fn one_server_under_two_names_is_told() {
    let [log, other] = real();
    let cut = log.split_inclusive('\n').count() / 2;
    let lines = |from: usize, to: usize| log.split_inclusive('\n').skip(from).take(to - from).collect::<String>();
    let want = analyze(&[folder([("oss07.txt".to_owned(), log.as_str())]).path()], &[]);
    let (before, after) = (lines(0, cut + 100), lines(cut - 100, 2 * cut + 1));
    for [first, second] in [[log.as_str(), log.as_str()], [before.as_str(), after.as_str()]] {
        let dir = folder([
            ("before.txt".to_owned(), first),
            ("after.txt".to_owned(), second),
            ("oss02.txt".to_owned(), other.as_str()),
        ]);
        let run = analyze_run(&[dir.path()], &[]).exits(0);
        let run = run.says(&["after, before are one server", "--node NAME=PATTERN"]);
        let json = run.json();
        let same: Vec<&Value> = rows(&json, "nodes").iter().map(|node| &node["same_server_as"]).collect();
        assert_eq!(same, [&serde_json::json!(["before"]), &serde_json::json!(["after"]), &Value::Null]);
        assert!(json["findings"].to_string().contains("after, before are one server"), "{}", json["findings"]);
        assert_ne!(text(&json["verdict"], "state"), Some("no_problem"));
        // As the warning says.
        let pattern = format!("oss07={}/*e*r*.txt", dir.path().display());
        let one = analyze(&[dir.path()], &["--node", &pattern]);
        assert_eq!(nodes(&one), ["oss02", "oss07"]);
        assert_same("oss07", &rows(&one, "nodes")[1]["write"], &rows(&want, "nodes")[0]["write"]);
        assert_eq!(rows(&one, "nodes")[1]["rpcs"], rows(&want, "nodes")[0]["rpcs"]);
    }
}

/// Rows without the node that they are of.
fn without_nodes(rows: &Value) -> Value {
    let mut rows = rows.clone();
    for row in rows.as_array_mut().unwrap() {
        row.as_object_mut().unwrap().remove("node").unwrap();
    }
    rows
}

#[test]
fn two_servers_with_equal_pids_in_one_file_are_told() {
    let logs = twins();
    let both = analyze(
        &[folder(["oss01", "oss02"].iter().zip(&logs).map(|(host, log)| (format!("{host}/dk.txt"), log.as_str())))
            .path()],
        &[],
    );
    let json = told_as_two("sort -m", &sorted(&logs), "handles two requests at the same time").json();
    assert_eq!(json["totals"]["rpcs"], both["totals"]["rpcs"]);
    let halves = ["missing_handled", "missing_handling"].map(|key| number(&json["loss"], key));
    assert_eq!(halves, [Some(0), Some(0)]);
}
