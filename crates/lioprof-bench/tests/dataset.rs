//! A made-up dataset is as good as a captured one: its analysis finds the sums that were counted while it was written, and
//! the lock conflicts of each capture, as often as it was played.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use lioprof_analysis::{Analysis, Config, analyze, analyze_with_stores};
use lioprof_bench::dataset::{self, DatasetError, DatasetOptions, Truth};
use lioprof_bench::stage::Stage;
use lioprof_model::{LockEvent, LockEvidence, ReadWrite, RowSink, RpcRow, SentRpc, Symbols};
use lioprof_store::Datasets;
use lioprof_testkit::files::{capture, fixture};

fn options(threads: usize) -> DatasetOptions {
    DatasetOptions {
        rows: 15_000,
        // One node has no partner.
        nodes: 3,
        seconds: 120,
        clients: 40,
        osts_per_node: 3,
        part_seconds: 50,
        seed: 7,
        threads: Some(threads),
        captures: fixture("captures"),
    }
}

struct Written {
    dir: tempfile::TempDir,
    truth: Truth,
}

fn written(threads: usize) -> Written {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let truth = dataset::write(dir.path(), &options(threads)).expect("a dataset");
    Written { dir, truth }
}

/// What must be unique, and what must follow each other.
#[derive(Default)]
struct Rows {
    requests: BTreeSet<(String, u64)>,
    repeated: u64,
    rpcs: u64,
    windows: BTreeSet<(String, u64)>,
    sent: BTreeMap<u64, u32>,
    /// When the thread of a node was last busy.
    threads: BTreeMap<(String, String), Vec<(i64, i64)>>,
}

impl RowSink for Rows {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.rpcs += 1;
        let node = symbols.text(row.node);
        let peer = match symbols.text(row.nid).as_str() {
            "0@lo" => node.clone(),
            nid => nid.to_owned(),
        };
        self.repeated += u64::from(!self.requests.insert((peer, row.xid.0)));
        if let Some(start_us) = row.start_us() {
            self.threads.entry((node, symbols.text(row.thread))).or_default().push((start_us, row.end_us));
        }
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        if let Some(window) = event.window {
            let nid = match symbols.text(window.nid).as_str() {
                "0@lo" => symbols.text(event.node),
                nid => nid.to_owned(),
            };
            self.windows.insert((nid, window.xid.0));
        }
    }

    fn sent_rpc(&mut self, sent: &SentRpc, _: &Symbols) {
        *self.sent.entry(sent.xid.0).or_default() += 1;
    }
}

fn analyzed(dir: &Path, sink: &mut Rows) -> Analysis {
    let config = Config::default();
    let outcome = analyze_with_stores(&[dir.to_owned()], &Datasets, &config, Some(sink)).expect("a dataset");
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    assert_eq!(outcome.damage, 0.0);
    outcome.analysis
}

#[test]
fn sums_are_those_counted_on_the_way() {
    let Written { dir, truth } = written(2);
    let mut rows = Rows::default();
    let analysis = analyzed(dir.path(), &mut rows);
    assert!(truth.rpcs >= 15_000, "{}", truth.rpcs);
    assert_eq!(analysis.totals.rpcs, truth.rpcs);
    assert!(truth.moved.read.bytes > 0 && truth.moved.write.bytes > 0);
    assert_eq!(ReadWrite { read: analysis.totals.read, write: analysis.totals.write }, truth.moved);
    let osts: BTreeMap<&str, (u64, u64)> = analysis
        .targets
        .iter()
        .filter(|target| target.name.contains("OST"))
        .map(|target| (target.name.as_str(), (target.read.io.bytes, target.write.io.bytes)))
        .collect();
    let expected: BTreeMap<&str, (u64, u64)> = truth
        .targets
        .iter()
        .filter(|(name, _)| name.contains("OST"))
        .map(|(name, target)| (name.as_str(), (target.moved.read.bytes, target.moved.write.bytes)))
        .collect();
    assert_eq!(osts, expected);
    assert_eq!(osts.len(), 9, "three nodes with three OSTs each");
    assert_eq!(analysis.nodes.len(), 3);
    // The first two were servers of one capture all the time, and talked to each other.
    let clocks: Vec<bool> = analysis.nodes.iter().map(|node| node.clock_offset_us.is_some()).collect();
    assert_eq!(clocks, [true, true, false], "{:?}", analysis.warnings);
    assert!(truth.parts >= 6, "several parts of each node: {}", truth.parts);
}

#[test]
fn stages_find_all_rows() {
    let Written { dir, truth } = written(2);
    let mut rows = Rows::default();
    analyzed(dir.path(), &mut rows);
    let stages = [Stage::Columns, Stage::Rows, Stage::Written];
    let [columns, made, written] = stages.map(|stage| stage.run(dir.path()).unwrap().1);
    assert_eq!((columns, written), (made, made));
    assert!(made > truth.rpcs && rows.rpcs == truth.rpcs);
    assert!(Stage::Records.run(dir.path()).is_err());
}

#[test]
fn requests_are_unique_and_threads_do_one_thing_at_a_time() {
    let Written { dir, truth } = written(2);
    let mut rows = Rows::default();
    analyzed(dir.path(), &mut rows);
    assert_eq!(rows.rpcs, truth.rpcs);
    assert_eq!(rows.repeated, 0, "requests of the same peer with the same xid");
    let lost = rows.windows.difference(&rows.requests).count();
    // A capture ends while requests are under way.
    assert!(lost * 100 < rows.windows.len(), "{lost} of {} requests have lock events but no RPC", rows.windows.len());
    for ((node, thread), spans) in &mut rows.threads {
        spans.sort_unstable();
        for pair in spans.windows(2) {
            assert!(pair[0].1 <= pair[1].0, "{thread} of {node} handles two requests at once: {pair:?}");
        }
    }
}

#[test]
fn lock_conflicts_are_those_of_the_captures() {
    let Written { dir, truth } = written(2);
    let locks = analyzed(dir.path(), &mut Rows::default()).locks.expect("lock lines");
    let mut expected = 0;
    for (name, plays) in &truth.plays {
        let capture = analyze(&[capture(name)], &Config::default(), None).expect("a capture").analysis;
        // A node that logs lock lines is judged by them alone.
        if let Some(locks) = capture.locks.filter(|locks| locks.evidence == LockEvidence::Dlmtrace) {
            expected += plays * locks.totals.conflicts;
        }
    }
    assert!(expected > 0, "{:?}", truth.plays);
    assert_eq!(locks.totals.conflicts, expected, "{:?}", truth.plays);
}

#[test]
fn same_seed_same_bytes() {
    let (one, two) = (written(1), written(3));
    assert_eq!(one.truth, two.truth);
    let files = files(one.dir.path());
    assert!(files.len() > 20, "{files:?}");
    for file in files {
        let [a, b] = [&one, &two].map(|it| fs::read(it.dir.path().join(&file)).expect("the same files"));
        assert!(a == b, "{} differs", file.display());
    }
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(dir).expect("inside").to_owned());
            }
        }
    }
    found
}

#[test]
fn rows_are_not_mixed_with_other_files() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    fs::write(dir.path().join("thesis.tex"), "years of work").expect("room on disk");
    let result = dataset::write(dir.path(), &options(1));
    assert!(matches!(result, Err(DatasetError::NotEmpty { .. })), "{result:?}");
}
