//! The analysis by SQL is the analysis: of rows and rollups comes what `lioprof-analysis` makes of the same rows in order.

use std::fs;
use std::path::{Path, PathBuf};

use lioprof_analysis::{Config, RowStores, analyze_with_stores, roll_up, stale_clocks};
use lioprof_model::parts::rollup::{ClockLine, Rollup};
use lioprof_model::{Analysis, RowSource};
use lioprof_query::analyze;
use lioprof_store::{Dataset, Rollups};
use serde_json::Value;

use crate::support::{Rows, open, wait};

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
    // A rollup of rows that are not all there any more.
    let manifest = first_file(&rows.path().join("manifests"));
    let other = manifest.with_file_name("20270101T000000.000000Z-other-000001.json");
    fs::copy(&manifest, &other).unwrap();
    let problem = by_sql(rows.name()).unwrap_err();
    assert!(problem.contains("older than the rows"), "{problem}");
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

/// What `lioprof rollup` does.
fn roll_up_all(dir: &Path) {
    let dataset = Dataset::open(dir).unwrap();
    let rollups = Rollups::new(dir);
    let mut known = Rollup::default();
    for source in dataset.node_sources() {
        let rollup = roll_up_one(&dataset, source, None);
        known.nodes.extend(rollup.nodes.iter().cloned());
        known.exchanges.extend(rollup.exchanges.iter().cloned());
        rollups.write(&rollup, &dataset.part_names(&rollup.nodes[0].node)).unwrap();
    }
    for (node, clock) in stale_clocks(&known).unwrap() {
        let source = dataset.node_sources().into_iter().find(|source| source.node() == node).unwrap();
        let mut rollup = roll_up_one(&dataset, source, clock);
        rollup.exchanges = rollups.exchanges(&node).unwrap();
        rollups.write(&rollup, &dataset.part_names(&node)).unwrap();
    }
}

fn roll_up_one(dataset: &Dataset, mut source: Box<dyn RowSource>, clock: Option<ClockLine>) -> Rollup {
    assert!(dataset.problems().is_empty());
    roll_up(source.as_mut(), clock, &Config::default()).unwrap()
}

fn in_order(dir: &Path) -> Analysis {
    analyze_with_stores(&[dir.to_owned()], &Stores, &Config::default(), None).unwrap().analysis
}

struct Stores;

impl RowStores for Stores {
    fn is_store(&self, dir: &Path) -> bool {
        lioprof_store::is_dataset(dir)
    }

    fn open(&self, dir: &Path) -> Result<Vec<Box<dyn RowSource>>, String> {
        Ok(Dataset::open(dir).map_err(|err| err.chain())?.node_sources())
    }
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
