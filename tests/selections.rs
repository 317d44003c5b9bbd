//! What was left out by `--client`, `--target`, `--job`, `--opcode`, `--from` and `--to` is not taken for what did not happen.

use serde_json::{Value, json};

use crate::figures::{rows, text};
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
