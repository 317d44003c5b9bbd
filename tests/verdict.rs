//! The verdict never contradicts lioprof's own figures: where these say that something is wrong, it does not say "No problem found".

use std::path::Path;

use lioprof_testkit::blessed_table;
use lioprof_testkit::files::repository;
use serde_json::Value;

use crate::captures::captures;
use crate::figures::{rows, text};
use crate::util::{analyze, lioprof};

/// What the figures of an analysis, or what `lioprof what-if` predicts by itself, say against its verdict.
fn contradictions(json: &Value, what_if: &Value) -> Vec<String> {
    let mut against = Vec::new();
    let verdict = &json["verdict"];
    let state = text(verdict, "state").unwrap();
    let all = &json["time_account"]["all"];
    let span_us = all["span_us"].as_f64().unwrap_or(0.0);
    for spent in rows(all, "spent").iter().filter(|spent| spent["us"].as_f64().unwrap() > 0.2 * span_us) {
        match text(spent, "state") {
            None => against.push(format!("no state: {spent}")),
            Some("cannot_tell") if state == "no_problem" => against.push(format!("unexplained: {spent}")),
            Some("cause") if state == "no_problem" => against.push(format!("has a cause: {spent}")),
            Some(_) => {}
        }
    }
    let found = |id: &str| rows(json, "findings").iter().any(|finding| text(finding, "id") == Some(id));
    for failure in rows(json, "failures").iter().filter(|failure| failure["everyday"].is_null()) {
        let name = text(failure, "name").unwrap();
        let of_kind = rows(json, "operations").iter().filter(|operation| text(operation, "name") == Some(name));
        let rpcs: u64 = of_kind.map(|operation| operation["rpcs"].as_u64().unwrap()).sum();
        if 100 * failure["rpcs"].as_u64().unwrap() > rpcs && !found("failed-requests") {
            against.push(format!("without a word: {failure}"));
        }
    }
    if !rows(json, "findings").is_empty() && state == "no_problem" {
        let alarms = rows(json, "findings").iter().filter(|finding| text(finding, "severity") != Some("info"));
        against.extend(alarms.map(|finding| format!("is found: {}", finding["id"])));
    }
    let elapsed_s = what_if["elapsed_s"].as_f64().unwrap_or(0.0);
    let tried = rows(what_if, "predictions").iter();
    let saving = tried.filter(|prediction| prediction["saves_s_min"].as_f64().unwrap() > 0.1 * elapsed_s);
    if state == "no_problem" {
        // See `could_be_faster.rs`: of several writers for one no replay knows all.
        let told = saving.filter(|prediction| prediction["changes"][0]["change"] != "writers");
        against.extend(told.map(|prediction| format!("would save time: {prediction}")));
    }
    against
}

fn judged(dir: &Path) -> (Value, Value) {
    let what_if = lioprof(&["what-if", "--quiet", "--max-loss", "1", "--format", "json", dir.to_str().unwrap()]);
    (analyze(&[dir], &["--max-loss", "1"]), what_if.json())
}

#[test]
fn no_verdict_contradicts_the_figures() {
    let pairs = std::fs::read_dir(repository("fixtures/pairs")).unwrap().map(|entry| entry.unwrap().path());
    let dirs = captures().into_iter().map(|capture| capture.dir).chain(pairs.filter(|path| path.is_dir()));
    let mut seen = std::collections::BTreeSet::new();
    let mut lines = std::collections::BTreeSet::new();
    for dir in dirs {
        let (json, what_if) = judged(&dir);
        let against = contradictions(&json, &what_if);
        assert!(against.is_empty(), "{}: {}\n{}", dir.display(), json["verdict"], against.join("\n"));
        let state = text(&json["verdict"], "state").unwrap();
        let name = dir.file_name().unwrap().to_str().unwrap();
        lines.insert(format!("    {name}: {state}: {}\n", text(&json["verdict"], "text").unwrap()));
        seen.insert(state.to_owned());
    }
    // They show something: captures of each kind are there.
    for state in ["failed", "cause", "could_be_faster", "no_problem"] {
        assert!(seen.contains(state), "{state} is not among {seen:?}");
    }
    if std::env::var_os("LIOPROF_CAPTURES").is_none() {
        let marks = ("<!-- verdicts -->\n\n", "\n<!-- end of the verdicts -->");
        blessed_table("docs/validation.md", marks, &lines.into_iter().collect::<String>());
    }
}

/// The test above can fail: a verdict that nothing is wrong is found out.
#[test]
fn a_verdict_without_reasons_is_found_out() {
    for name in ["masks", "metadata", "pair_slow_ost_sick"] {
        let (mut json, what_if) = judged(&lioprof_testkit::files::capture(name));
        json["verdict"]["state"] = "no_problem".into();
        let spent = json["time_account"]["all"]["spent"].as_array_mut().unwrap();
        for spent in spent {
            spent.as_object_mut().unwrap().remove("state");
        }
        assert!(!contradictions(&json, &what_if).is_empty(), "{name}");
    }
}

/// What the capture lost is said by the finding, and not again by a line and a note.
#[test]
fn a_loss_is_told_once() {
    let dir = lioprof_testkit::files::capture("ring_wrap_dlm_net");
    let dir = dir.to_str().unwrap();
    let short = String::from_utf8(lioprof(&["analyze", dir]).exits(0).stdout).unwrap();
    assert_eq!(short.matches("overwritten").count(), 1, "{short}");
    assert!(!short.contains("Loss:") && short.contains("\n1 note: --tables\n"), "{short}");
    let tables = String::from_utf8(lioprof(&["analyze", dir, "--tables"]).exits(0).stdout).unwrap();
    assert!(tables.contains("\nLoss: unknown") && tables.contains("\nNote: "), "{tables}");
    // Where no finding tells of it, the line does.
    let dir = lioprof_testkit::files::capture("metadata");
    let clean = String::from_utf8(lioprof(&["analyze", dir.to_str().unwrap()]).exits(0).stdout).unwrap();
    assert!(clean.contains("\nLoss: no RPC missing"), "{clean}");
    assert!(clean.split_whitespace().collect::<Vec<_>>().join(" ").contains("metadata-bound: "), "{clean}");
    assert!(clean.contains("metadata-bound"), "names stay whole: {clean}");
}

/// The first example of the README, as the command prints it today.
#[test]
fn the_readme_shows_what_the_command_prints() {
    let out = tempfile::TempDir::new().unwrap();
    let dir = lioprof_testkit::files::capture("pair_slow_ost_sick");
    let args = ["analyze", dir.to_str().unwrap(), "-o", out.path().to_str().unwrap(), "--plots", "none"];
    let printed = String::from_utf8(lioprof(&args).exits(0).stdout).unwrap();
    let lines = printed.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") });
    let command = "fixtures/captures/pair_slow_ost_sick -o report\n";
    blessed_table("README.md", (command, "\nIt also writes"), &lines.collect::<String>());
}

/// Figures have the digits that are sure, and what did not happen is not counted.
#[test]
fn titles_have_no_false_digits() {
    let shown = |path: &str| {
        let path = repository(path);
        String::from_utf8(lioprof(&["analyze", path.to_str().unwrap(), "--max-loss", "1"]).exits(0).stdout).unwrap()
    };
    let lossy = shown("fixtures/overloads/full_spool");
    assert!(lossy.starts_with("The capture lost 76 % of the RPCs."), "{lossy}");
    let events = shown("fixtures/kernel-logs/both");
    assert!(events.contains("\n  2026-11-27 09:08:21 UTC\n"), "one moment is no interval: {events}");
    assert!(events.contains("\nNo RPC handled\n") && !events.contains("(0 of them"), "{events}");
}
