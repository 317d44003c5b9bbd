//! The analysis by SQL is the analysis: of rows and rollups comes what `lioprof-analysis` makes of the same rows in order.

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

/// Keys that may differ: none.
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
        roll_up_all(rows.path());
        let expected = in_order(rows.path());
        let found = by_sql(rows.name()).unwrap();
        assert_same(capture, &json(&expected), &json(&found));
    }
}

#[test]
fn a_log_gives_the_same_but_for_what_was_read() {
    let rows = Rows::of("masks");
    roll_up_all(rows.path());
    let (mut expected, mut found) = (json(&rows.analysis), json(&by_sql(rows.name()).unwrap()));
    // The log's files; and sentences about them.
    for analysis in [&mut expected, &mut found] {
        analysis["inputs"] = Value::Null;
    }
    assert_same("masks", &expected, &found);
}

#[test]
fn without_rollups_it_says_what_to_do() {
    let rows = Rows::of("masks");
    let problem = by_sql(rows.name()).unwrap_err();
    assert!(problem.contains("server1, server2") && problem.contains("lioprof rollup"), "{problem}");
    roll_up_all(rows.path());
    // A rollup that does not have all rows.
    let manifest = first_file(&rows.path().join("manifests"));
    let other = manifest.with_file_name("20270101T000000.000000Z-other-000001.json");
    fs::copy(&manifest, &other).unwrap();
    let problem = by_sql(rows.name()).unwrap_err();
    assert!(problem.contains("older than the rows"), "{problem}");
}

#[test]
fn a_rollup_of_rows_that_are_gone_is_told_from_an_old_one() {
    let rows = Rows::of("masks");
    roll_up_all(rows.path());
    fs::remove_dir_all(rows.path().join("manifests/fs=lustre/node=server2")).unwrap();
    let problem = by_sql(rows.name()).unwrap_err();
    assert!(problem.starts_with("rows that the rollups of server2 were made of are gone"), "{problem}");
    assert!(problem.contains("with --forget"), "{problem}");
    // Rollups alone can be queried.
    let rpcs = "SELECT sum(read_rpcs + write_rpcs) AS rpcs FROM rollup.seconds";
    let expected = ask(&rows.session(), rpcs);
    for folder in ["manifests", "rpcs", "lock_events", "sent_rpcs"] {
        fs::remove_dir_all(rows.path().join(folder)).unwrap();
    }
    assert_eq!(ask(&rows.session(), rpcs), expected);
    assert!(
        by_sql(rows.name()).unwrap_err().starts_with("rows that the rollups of server1, server2 were made of are gone")
    );
}

#[test]
fn a_part_under_two_names_is_named() {
    let rows = Rows::of("masks");
    for table in ["manifests", "rpcs", "lock_events", "sent_rpcs"] {
        let file = first_file(&rows.path().join(table));
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let (stem, extension) = name.rsplit_once('.').unwrap();
        fs::copy(&file, file.with_file_name(format!("{stem} (1).{extension}"))).unwrap();
    }
    roll_up_all(rows.path());
    let problem = by_sql(rows.name()).unwrap_err();
    assert!(problem.starts_with("a part of server1 is there twice, as `20261121T"), "{problem}");
    assert!(problem.contains("-000001 (1)`") && problem.contains("delete the files of one"), "{problem}");
}

#[test]
fn rows_that_are_there_twice_are_noticed() {
    let rows = Rows::of("masks");
    roll_up_all(rows.path());
    let file = first_file(&rows.path().join("rpcs"));
    fs::copy(&file, file.with_file_name("copy.parquet")).unwrap();
    let problem = by_sql(rows.name()).unwrap_err();
    assert!(problem.contains("RPCs in its files") && problem.contains("in its rollup"), "{problem}");
}

#[test]
fn a_node_without_manifest_and_rollup_is_noticed() {
    let rows = Rows::of("masks");
    fs::remove_dir_all(rows.path().join("manifests/fs=lustre/node=server2")).unwrap();
    roll_up_all(rows.path());
    let expected = "node server2 has 46 RPCs in its files, but neither a manifest nor a rollup";
    let problem = by_sql(rows.name()).unwrap_err();
    assert!(problem.starts_with(expected), "{problem}");
    // Lines of RPCs that it sent are counted, too.
    fs::remove_dir_all(rows.path().join("rpcs/fs=lustre/node=server2")).unwrap();
    let problem = by_sql(rows.name()).unwrap_err();
    assert!(problem.starts_with("node server2 has 0 RPCs in its files, but"), "{problem}");
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
