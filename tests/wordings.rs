//! The wordings of every Lustre version: `fixtures/wordings/VERSION/rpc.txt`, a log as that version prints
//! it, and `expected.json`, the figures as the author of the log knows them (see `scripts/make-wordings`). Of clients
//! `fixtures/client-wordings` (`scripts/make-client-wordings`).
//!
//! A new version is a new folder; no test names one.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use lioprof_testkit::files::{fixture, folders_in};
use serde_json::{Value, json};

use crate::figures::rows;
use crate::util::{analyze_run, lioprof};

/// What tells the rows of an array apart.
const KEYS: [&str; 13] =
    ["end", "client", "name", "nid", "target", "job", "service", "opcode", "fid", "uid", "device", "time", "operation"];

/// Unix seconds as `f64` are this exact.
const EPSILON: f64 = 1e-6;

fn folders(of: &str) -> Vec<PathBuf> {
    let folders = folders_in(fixture(of));
    assert!(!folders.is_empty(), "no folders in fixtures/{of}");
    folders
}

fn expected(folder: &Path) -> (String, Value) {
    let name = folder.file_name().unwrap().to_string_lossy().into_owned();
    let expected = fs::read_to_string(folder.join("expected.json")).unwrap();
    let expected = serde_json::from_str(&expected).unwrap_or_else(|err| panic!("{name}: {err}"));
    (name, expected)
}

/// Logs of a client and of servers: every kind of operation that the version's client logs, and each part of its time.
#[test]
fn every_version_of_a_client_gives_the_expected_operations() {
    let mut differences = Vec::new();
    for folder in folders("client-wordings") {
        let (name, expected) = expected(&folder);
        let args: [&OsStr; 5] =
            ["operations".as_ref(), "-q".as_ref(), folder.as_os_str(), "--format".as_ref(), "json".as_ref()];
        compare(&name, &lioprof(&args).exits(0).json(), &expected, &mut differences);
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn every_version_gives_the_expected_figures() {
    let mut differences = Vec::new();
    for folder in folders("wordings") {
        let (name, expected) = expected(&folder);
        let run = analyze_run(&[&folder.join("rpc.txt")], &["--node", "oss1", "-q"]);
        if run.code != Some(0) {
            differences.push(format!("{name}: exit code {:?}", run.code));
        }
        let mut got = run.json();
        name_sample(&mut got);
        compare(&name, &got, &expected, &mut differences);
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}

/// Replaces the indices of the single RPCs by the names they stand for.
fn name_sample(json: &mut Value) {
    let names =
        |array: &str, key: &str| -> Vec<Value> { rows(json, array).iter().map(|row| row[key].clone()).collect() };
    let tables = [("client", names("clients", "nid")), ("target", names("targets", "name"))];
    for rpc in json["sample"]["rpcs"].as_array_mut().unwrap() {
        for (key, table) in &tables {
            if let Some(at) = rpc[*key].as_u64() {
                rpc[*key] = table[usize::try_from(at).unwrap()].clone();
            }
        }
    }
}

/// Whatever `want` names must be in `got`; rows in any order, but no others.
fn compare(path: &str, got: &Value, want: &Value, out: &mut Vec<String>) {
    match (got, want) {
        (Value::Number(number), Value::Object(range)) if range.contains_key("at_least") => {
            let (low, high) = (range["at_least"].as_f64().unwrap(), range["at_most"].as_f64().unwrap());
            if !(low..=high).contains(&number.as_f64().unwrap()) {
                out.push(format!("{path}: {got}, expected {low} to {high}"));
            }
        }
        (Value::Object(_), Value::Object(want)) => {
            for (key, want) in want {
                compare(&format!("{path}/{key}"), got.get(key).unwrap_or(&json!("missing")), want, out);
            }
        }
        (Value::Array(got), Value::Array(want)) => compare_rows(path, got, want, out),
        (Value::Number(a), Value::Number(b)) => {
            if (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() > EPSILON {
                out.push(format!("{path}: {got}, expected {want}"));
            }
        }
        _ if got == want => {}
        _ => out.push(format!("{path}: {got}, expected {want}")),
    }
}

fn compare_rows(path: &str, got: &[Value], want: &[Value], out: &mut Vec<String>) {
    if got.len() != want.len() {
        out.push(format!("{path}: {} rows, expected {}", got.len(), want.len()));
    }
    // By what the expected rows have: new keys may be added to the others.
    let scalar = |row: &Value, key: &str| row.get(key).is_some_and(|value| !value.is_object());
    let keys: Vec<&str> = KEYS.into_iter().filter(|key| want.first().is_some_and(|row| scalar(row, key))).collect();
    let by_key = |rows: &[Value]| -> BTreeMap<String, Value> {
        let key = |(at, row): (usize, &Value)| {
            let parts: Vec<String> = keys.iter().map(|key| row[*key].to_string()).collect();
            // Rows without a name, like buckets of a histogram, are in order.
            if parts.is_empty() { at.to_string() } else { parts.join(" ") }
        };
        rows.iter().enumerate().map(|row| (key(row), row.1.clone())).collect()
    };
    let (got, want) = (by_key(got), by_key(want));
    for key in got.keys().filter(|key| !want.contains_key(*key)) {
        out.push(format!("{path}: has a row {key}, which is not expected"));
    }
    for (key, want) in &want {
        match got.get(key) {
            Some(got) => compare(&format!("{path}[{key}]"), got, want, out),
            None => out.push(format!("{path}: no row {key}")),
        }
    }
}
