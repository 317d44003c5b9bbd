//! The analysis by an engine is the analysis: its tasks make what `lioprof analyze` makes of the same rows.

use std::fs;
use std::path::{Path, PathBuf};

use lioprof_analysis::{Config, analyze_with_stores};
use lioprof_insight::{Limits, find_and_predict};
use lioprof_model::Analysis;
use lioprof_query::analyze;
use lioprof_store::Datasets;
use serde_json::Value;

use crate::rollups::roll_up_all;
use crate::support::{Rows, ask, open, wait};

#[test]
fn captures_give_the_same_analysis() {
    for capture in [
        "dk_plain",
        "eviction_clean",
        "lock_pingpong",
        "lock_pingpong_dlm",
        "masks",
        "metadata",
        "ops_mix",
        "ring_wrap_dlm_net",
        "shared_striped_write",
        "v215_masks",
    ] {
        let rows = Rows::of(capture);
        let expected = in_order(rows.path());
        let found = by_sql(rows.name()).unwrap();
        assert_same(capture, &json(&expected), &json(&found));
    }
}

#[test]
fn a_log_gives_the_same_but_for_what_was_read() {
    let rows = Rows::of("masks");
    let (mut expected, mut found) = (json(&rows.analysis), json(&by_sql(rows.name()).unwrap()));
    // The log's files; and sentences about them.
    for analysis in [&mut expected, &mut found] {
        analysis["inputs"] = Value::Null;
    }
    assert_same("masks", &expected, &found);
}

#[test]
fn sums_that_are_kept_are_taken_if_they_are_of_the_rows() {
    let rows = Rows::of("masks");
    let expected = json(&by_sql(rows.name()).unwrap());
    roll_up_all(rows.path());
    assert_same("rolled up", &expected, &json(&by_sql(rows.name()).unwrap()));
    // They are what was taken: no row is needed.
    let tables = ["rpcs", "lock_events", "sent_rpcs"]
        .map(|table| (rows.path().join(table), rows.path().join(format!("_{table}"))));
    tables.iter().for_each(|(there, away)| fs::rename(there, away).unwrap());
    assert_same("without rows", &expected, &json(&by_sql(rows.name()).unwrap()));
    let sums = rows.path().join("rollups/sums/server1.sums");
    let kept = fs::read(&sums).unwrap();
    // Of other parts, of another program, damaged: then rows are asked for.
    let text = String::from_utf8_lossy(&kept).into_owned();
    let (part, _) = text.split_once(r#""parts":[""#).unwrap().1.split_once('"').unwrap();
    let swapped = |from: &str, to: &str| {
        let at = kept.windows(from.len()).position(|bytes| bytes == from.as_bytes()).unwrap();
        [&kept[..at], to.as_bytes(), &kept[at + from.len()..]].concat()
    };
    let cut = kept[..kept.len() - 1].to_vec();
    for changed in [swapped(part, "another"), swapped("lioprof.sums/1", "lioprof.sums/0"), cut, Vec::new()] {
        fs::write(&sums, changed).unwrap();
        let problem = by_sql(rows.name()).unwrap_err();
        assert!(problem.contains("the rows of server1"), "{problem}");
    }
    tables.iter().for_each(|(there, away)| fs::rename(away, there).unwrap());
    assert_same("with rows", &expected, &json(&by_sql(rows.name()).unwrap()));
}

#[test]
fn what_is_left_of_the_rows_is_analyzed() {
    let rows = Rows::of("masks");
    roll_up_all(rows.path());
    fs::remove_dir_all(rows.path().join("manifests/fs=lustre/node=server2")).unwrap();
    assert_same("of server1", &json(&in_order(rows.path())), &json(&by_sql(rows.name()).unwrap()));
    // Rollups alone can be queried.
    let rpcs = "SELECT sum(read_rpcs + write_rpcs) AS rpcs FROM rollup.seconds";
    let expected = ask(&rows.session(), rpcs);
    for folder in ["manifests", "rpcs", "lock_events", "sent_rpcs"] {
        fs::remove_dir_all(rows.path().join(folder)).unwrap();
    }
    assert_eq!(ask(&rows.session(), rpcs), expected);
}

#[test]
fn a_part_under_two_names_counts_once() {
    let rows = Rows::of("masks");
    let expected = json(&by_sql(rows.name()).unwrap());
    for table in ["manifests", "rpcs", "lock_events", "sent_rpcs"] {
        let file = first_file(&rows.path().join(table));
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let (stem, extension) = name.rsplit_once('.').unwrap();
        fs::copy(&file, file.with_file_name(format!("{stem} (1).{extension}"))).unwrap();
    }
    assert_same("copied", &expected, &json(&by_sql(rows.name()).unwrap()));
}

#[test]
fn damaged_rows_are_named() {
    let rows = Rows::of("masks");
    let file = first_file(&rows.path().join("rpcs"));
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let problem = by_sql(rows.name()).unwrap_err();
    assert!(problem.contains(&file.display().to_string()), "{problem}");
}

fn in_order(dir: &Path) -> Analysis {
    let mut outcome = analyze_with_stores(&[dir.to_owned()], &Datasets, &Config::default(), None).unwrap();
    find_and_predict(&mut outcome.analysis, &Limits::default(), &mut outcome.replay);
    outcome.analysis
}

fn by_sql(dataset: &str) -> Result<Analysis, String> {
    let session = open(dataset);
    wait(async move {
        let outcome = analyze(&session, &Config::default()).await.map_err(|err| err.to_string())?;
        Ok(outcome.analysis)
    })
}

fn first_file(folder: &Path) -> PathBuf {
    let mut entries: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let first = entries.remove(0);
    if first.is_dir() { first_file(&first) } else { first }
}

fn json(analysis: &Analysis) -> Value {
    serde_json::to_value(analysis).unwrap()
}

/// The first difference, with its place.
fn assert_same(what: &str, expected: &Value, found: &Value) {
    if let Some(difference) = difference(expected, found, String::new()) {
        panic!("{what}: {difference}");
    }
}

fn difference(expected: &Value, found: &Value, at: String) -> Option<String> {
    match (expected, found) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            keys.into_iter().find_map(|key| difference(&expected[key], &found[key], format!("{at}.{key}")))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(index, (a, b))| difference(a, b, format!("{at}[{index}]")))
        }
        _ => (expected != found).then(|| format!("{at}: expected {expected}, found {found}")),
    }
}
