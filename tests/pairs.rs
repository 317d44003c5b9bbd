//! What is found in runs of a real cluster, each sick and cured: `fixtures/pairs/pairs.csv` says what was done to it, and what must rank
//! first.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use lioprof_testkit::blessed_table;
use serde_json::Value;

use crate::figures::{rows, text};
use crate::util::analyze;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// The rows of the table.
pub(crate) fn runs() -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(fixtures().join("pairs/pairs.csv")).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

/// Where a capture is: some have been fixtures for longer than there are pairs.
pub(crate) fn dir(name: &str) -> PathBuf {
    let dirs = ["pairs", "captures"].map(|folder| fixtures().join(folder).join(name));
    dirs.into_iter().find(|dir| dir.is_dir()).unwrap_or_else(|| panic!("no capture {name}"))
}

#[test]
fn the_first_finding_is_what_was_done() {
    let mut wrong = Vec::new();
    let mut table = "\n| what was done | took s | first finding | would save s |\n|---|---|---|---|\n".to_owned();
    for run in runs() {
        let json = analyze(&[&dir(&run["capture"])], &[]);
        let above = |finding: &&Value| text(finding, "severity") != Some("info");
        let findings: Vec<&Value> = rows(&json, "findings").iter().filter(above).collect();
        let found: Vec<&str> = findings.iter().filter_map(|it| text(it, "id")).collect();
        let title = findings.first().and_then(|it| text(it, "title")).unwrap_or("nothing above info");
        let saves = findings.first().and_then(|it| it["saves_s"].as_f64()).map_or(String::new(), |s| format!("{s:.1}"));
        let took_s: f64 = run["elapsed_s"].parse().unwrap();
        writeln!(table, "| {} | {took_s:.1} | {title} | {saves} |", run["what"]).unwrap();
        if run["capture"].contains("sync_sick") || run["capture"] == "v215_fsync_each_sick" {
            assert!(title.contains(", each followed by a sync ("), "{title}");
        }
        // Nothing at all where nothing was done.
        if found.first().copied().unwrap_or_default() != run["finding"] {
            wrong.push(format!("{} ({}): {found:?} instead of {:?}", run["capture"], run["what"], run["finding"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    blessed_table("docs/findings.md", ("<!-- pairs -->\n", "<!-- end of the pairs -->"), &(table + "\n"));
}

/// A capture that no row names would be looked at by nobody.
#[test]
fn every_run_is_in_the_table() {
    let named: BTreeSet<String> = runs().into_iter().map(|run| run["capture"].clone()).collect();
    for entry in fs::read_dir(fixtures().join("pairs")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(!path.is_dir() || named.contains(&name), "{name} is not in pairs.csv");
    }
}
