//! What is found in runs of a real cluster, each sick and cured: `fixtures/pairs/pairs.csv` says what was done to it, and what must rank
//! first.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

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
    for run in runs() {
        let json = analyze(&[&dir(&run["capture"])], &[]);
        let above = |finding: &&Value| text(finding, "severity") != Some("info");
        let found: Vec<&str> = rows(&json, "findings").iter().filter(above).filter_map(|it| text(it, "id")).collect();
        // Nothing at all where nothing was done.
        if found.first().copied().unwrap_or_default() != run["finding"] {
            wrong.push(format!("{} ({}): {found:?} instead of {:?}", run["capture"], run["what"], run["finding"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
