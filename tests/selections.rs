//! What was left out by `--client`, `--target`, `--job`, `--opcode`, `--from` and `--to` is not taken for what did not happen.

use serde_json::{Value, json};

use crate::figures::{number, rows, text};
use crate::util::{Run, lioprof};

fn analyze(capture: &str, options: &[&str]) -> Run {
    let dir = lioprof_testkit::files::capture(capture);
    lioprof(&[&["analyze", "--format", "json", dir.to_str().unwrap()], options].concat())
}

fn ids(analysis: &Value) -> Vec<&str> {
    rows(analysis, "findings").iter().filter_map(|finding| text(finding, "id")).collect()
}

/// The reason that a check gives for not knowing.
fn unknown<'a>(analysis: &'a Value, id: &str) -> &'a str {
    let check = rows(analysis, "checks").iter().find(|check| text(check, "id") == Some(id)).unwrap();
    assert_eq!(text(check, "result"), Some("not_enough_evidence"), "{check}");
    text(check, "reason").unwrap()
}

#[test]
fn an_ost_that_was_selected_is_no_hot_spot() {
    for target in ["lustre-OST0000", "lustre-OST0002"] {
        let json = analyze("pair_slow_ost_sick", &["--target", target]).exits(0).json();
        assert_eq!(json["selected"], json!({"targets": [target]}));
        for id in ["hot-ost", "load-imbalance", "sluggish-ost"] {
            assert!(!ids(&json).contains(&id), "{target}: {id}");
            assert!(unknown(&json, id).contains("--target"));
        }
    }
    let all = analyze("pair_slow_ost_sick", &[]).exits(0).json();
    assert_eq!((all.get("selected"), ids(&all)[0]), (None, "sluggish-ost"));
}

/// Clients 11 and 12 fight over an object; 13 has nothing to do with it.
#[test]
fn fights_of_other_clients_are_none_of_the_selected_one() {
    for (options, fights) in [
        (["--client", "10.10.0.13@tcp"], false),
        (["--client", "10.10.0.11@tcp"], true),
        (["--client", "10.10.0.11-10.10.0.12@tcp"], true),
    ] {
        let json = analyze("lock_pingpong_dlm", &options).exits(0).json();
        assert_eq!(ids(&json).contains(&"lock-ping-pong"), fights, "{options:?}");
        assert!(unknown(&json, "slow-client-link").contains("--client"));
    }
}

#[test]
fn what_matches_nothing_is_told_as_that() {
    for (options, selected) in [
        (&["--client", "10.10.0.99@tcp"][..], json!({"clients": ["10.10.0.99@tcp"]})),
        (&["--job", "nojob", "--target", "lustre-OST9999"], json!({"jobs": ["nojob"], "targets": ["lustre-OST9999"]})),
    ] {
        let run = analyze("lock_pingpong_dlm", options).exits(2);
        let json = run.json();
        assert_eq!(json["selected"], selected);
        let finding = &rows(&json, "findings")[0];
        assert_eq!(text(finding, "id"), Some("trace-quality"));
        let title = text(finding, "title").unwrap();
        assert!(options.iter().all(|option| title.contains(option)), "{title}");
        assert!(!finding.to_string().contains("rpctrace"), "{finding}");
    }
}

/// One line, with the marks there are.
#[test]
fn a_mark_that_nobody_made_is_told_once() {
    let dir = lioprof_testkit::files::capture("lock_pingpong_dlm");
    let run = lioprof(&["analyze", dir.to_str().unwrap(), "--from", "run 7", "-q"]).exits(2);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains("marks there are: CAPTURE-START lock_pingpong_dlm, CAPTURE-STOP"), "{}", run.stderr);
}

/// The capture is of one day, 2026-11-21, 08:43:28 to 08:43:53.
#[test]
fn a_time_of_day_is_of_the_day_of_the_log() {
    let short = analyze("lock_pingpong_dlm", &["--from", "8:43:40", "--to", "08:43:45.5"]).exits(0).json();
    let whole = ["--from", "2026-11-21T08:43:40Z", "--to", "2026-11-21 08:43:45.5"];
    assert_eq!(short, analyze("lock_pingpong_dlm", &whole).exits(0).json());
    assert!(number(&short["totals"], "rpcs") > Some(0));
    let error = analyze("lock_pingpong_dlm", &["--from", "08:43:45", "--to", "2026-11-21 08:43:40"]).exits(2).stderr;
    assert!(error.contains("--from (1795250625) is later than --to"), "{error}");
}

/// The capture is of 2026-11-21.
#[test]
fn a_time_in_which_nothing_ended_is_told_as_that() {
    let nothing = [
        (["--from", "2026-11-22T00:00:00Z"], 0),
        (["--to", "2026-11-20T00:00:00Z"], 0),
        (["--from", "nobody wrote this"], 2),
    ];
    for (times, code) in nothing {
        let json = analyze("lock_pingpong_dlm", &times).exits(code).json();
        let finding = &rows(&json, "findings")[0];
        assert_eq!(text(finding, "id"), Some("trace-quality"));
        assert!(text(finding, "title").unwrap().contains("in the time that was chosen"), "{finding}");
        assert!(!finding.to_string().contains("rpctrace"), "{finding}");
        assert_eq!(json["window"]["limited"], true);
    }
    assert_eq!(analyze("lock_pingpong_dlm", &[]).exits(0).json()["window"]["limited"], false);
}

#[test]
fn a_time_that_ends_before_it_begins_is_refused() {
    let times = ["--from", "1795250615", "--to", "1795250611"];
    analyze("lock_pingpong_dlm", &times).exits(2).says(&["--from", "1795250615", "later than --to"]);
}

/// Fifteen writes, whose sizes rpctrace bounds between 401 bytes and 49 MiB; the server counted 25 MiB.
#[test]
fn sizes_that_nobody_knows_are_no_evidence() {
    let json = analyze("lock_pingpong_small", &[]).exits(0).json();
    assert!(!ids(&json).contains(&"small-rpcs"), "{:?}", ids(&json));
    assert!(unknown(&json, "small-rpcs").contains("bounds"));
    let gapped = rows(&json, "findings").iter().find(|finding| text(finding, "id") == Some("gapped-rpcs")).unwrap();
    assert_eq!((&gapped["evidence"]["filled_share"], &gapped["saves_s"]), (&Value::Null, &Value::Null), "{gapped}");
}

/// Three evictions, none of them in this time; and one.
#[test]
fn what_went_wrong_at_another_time_is_not_told() {
    let evicted = |from: &str, to: &str| {
        let run = analyze("eviction_clean", &["--from", from, "--to", to, "--fail-on", "critical"]);
        let json = run.json();
        let found = ids(&json).contains(&"evictions");
        assert_eq!(run.code, Some(i32::from(found)), "{run}");
        number(&json["totals"], "evictions").unwrap()
    };
    assert_eq!(evicted("1795252684", "1795252699"), 0);
    assert_eq!(evicted("1795252670", "1795252699"), 1);
    assert_eq!(evicted("1795252670", "1795252810"), 3);
}

/// Eight writes to the slow OST are being handled all the time, and none ends.
#[test]
fn a_time_in_which_nothing_ends_is_not_called_healthy() {
    let json = analyze("pair_slow_ost_sick", &["--from", "1795412166.504", "--to", "1795412168.454"]).exits(0).json();
    assert_eq!(number(&json["window"], "under_way_rpcs"), Some(8));
    assert!(unknown(&json, "trace-quality").contains("8 requests are being handled"));
    let all = analyze("pair_slow_ost_sick", &[]).exits(0).json();
    assert_eq!(all["window"]["under_way_rpcs"], Value::Null);
}

#[test]
fn without_the_requests_in_between_nothing_is_predicted() {
    let saves = |options: &[&str]| {
        let json = analyze("lock_pingpong_dlm", options).exits(0).json();
        let fight =
            rows(&json, "findings").iter().find(|finding| text(finding, "id") == Some("lock-ping-pong")).unwrap();
        fight["saves_s"].clone()
    };
    assert!(saves(&[]).is_number());
    assert_eq!(saves(&["--opcode", "LDLM_ENQUEUE"]), Value::Null);
}

/// The other server has the slow OST, and its log is not here.
#[test]
fn time_at_a_server_whose_log_is_missing_may_be_the_cause() {
    let run = lioprof(&["analyze", "--format", "json", &one_server("pair_slow_ost_sick", "server1")]);
    let why = run.json();
    let why = unknown(&why, "trace-quality");
    assert!(why.contains("83 % of the clients' time") && why.contains("10.10.0.2@tcp"), "{why}");
    let run = lioprof(&["analyze", "--format", "json", &one_server("pair_slow_ost_sick", "server2")]);
    assert_eq!(ids(&run.json())[0], "sluggish-ost");
    // Both servers' logs: nobody is missing.
    let json = analyze("pair_healthy_run1", &[]).exits(0).json();
    let check = rows(&json, "checks").iter().find(|check| text(check, "id") == Some("trace-quality")).unwrap();
    assert_eq!(text(check, "result"), Some("healthy"));
}

fn one_server(capture: &str, server: &str) -> String {
    lioprof_testkit::files::capture(capture).join(server).to_str().unwrap().to_owned()
}

/// What the servers did between two captures is in neither, and not lost.
#[test]
fn captures_in_folders_of_their_own_lack_nothing() {
    let sick = lioprof_testkit::files::capture("pair_slow_client_sick");
    let cured = lioprof_testkit::files::fixture("pairs/pair_slow_client_cured");
    let run = lioprof(&["analyze", "--format", "json", sick.to_str().unwrap(), cured.to_str().unwrap()]).exits(0);
    let json = run.json();
    assert_eq!(json["loss"]["estimated_lost_fraction"].as_f64(), Some(0.0), "{}", json["loss"]);
}
