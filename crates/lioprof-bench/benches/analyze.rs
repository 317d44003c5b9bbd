//! The whole analysis and its stages: bytes and RPCs per second.
//!
//! Stages build on each other: `read` the bytes; `order` decodes them, too, and puts the events in order; `analyze` makes rows of
//! the events, too, and sums up; `sums` is that last step alone. What the join costs is what is left.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use lioprof_analysis::{Config, analyze, analyze_with_stores};
use lioprof_bench::crowd::{self, CrowdOptions, Release};
use lioprof_bench::log_writer::{LogWriter, in_memory};
use lioprof_bench::replica::Replica;
use lioprof_model::{
    LockEvent, Mark, OpenStores, RowSink, RowSource, RowStores, RpcRow, SentRpc, Symbols, TraceSummary,
};
use lioprof_trace::input::{discover, open};
use lioprof_trace::{Progress, decode_text, stages};

/// Size of the logs.
const BYTES: u64 = 16 << 20;
const SAMPLE: &[u8] = include_bytes!("../../lustre-debuglog/tests/data/rpctrace-2.17.txt");
const LOCKS: &[u8] = include_bytes!("../../lustre-debuglog/tests/data/dlmtrace-2.17.txt");
const CROWD: CrowdOptions = CrowdOptions {
    clients: 2_000,
    osts: 200,
    jobs: 100,
    rpcs: 7_000,
    rate: 10_000,
    in_turn: false,
    release: Release::V2_17,
};

/// A log in its forms on disk.
struct Logs {
    dir: tempfile::TempDir,
    bytes: [(&'static str, u64); 2],
    rpcs: u64,
}

/// The text once more, compressed.
const COMPRESSED: &str = "rpc.txt.zst";

impl Logs {
    fn of(sample: &[u8]) -> Self {
        let replica = Replica::of_text(sample);
        Self::write(|out| replica.write(BYTES, out).map(drop))
    }

    fn write(fill: impl FnOnce(&mut LogWriter<&mut Vec<u8>>) -> std::io::Result<()>) -> Self {
        let (text, binary) = in_memory(fill).expect("memory is enough");
        let dir = tempfile::tempdir().expect("a temporary directory");
        let zst = zstd::encode_all(&text[..], 3).expect("memory is enough");
        fs::write(dir.path().join(COMPRESSED), zst).expect("room on disk");
        let bytes = [("rpc.txt", text), ("rpc.bin", binary)].map(|(name, log)| {
            fs::write(dir.path().join(name), &log).expect("room on disk");
            (name, log.len() as u64)
        });
        let rpcs = analyzed(&dir.path().join("rpc.bin"), 1);
        Self { dir, bytes, rpcs }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

/// Analyzes a log; all RPCs must be whole.
fn analyzed(path: &Path, threads: usize) -> u64 {
    let config = Config { threads, ..Config::default() };
    let outcome = analyze(&[path.to_owned()], &config, None).expect("a log");
    assert_eq!(outcome.analysis.loss.missing_handled + outcome.analysis.loss.missing_handling, 0);
    outcome.analysis.totals.rpcs
}

fn short<'a>(c: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = c.benchmark_group(name);
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    group
}

/// Input alone: files to bytes, decompressed.
fn reading(c: &mut Criterion, logs: &Logs) {
    let [(text, bytes), _] = logs.bytes;
    let mut group = short(c, "read");
    group.throughput(Throughput::Bytes(bytes));
    for name in [text, COMPRESSED] {
        let found = discover(&[logs.path(name)], &[], &|_| false).files.remove(0);
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut stream = open(&found).expect("a log").stream;
                let read = std::io::copy(&mut stream, &mut std::io::sink()).expect("a whole log");
                assert_eq!(read, bytes);
            });
        });
    }
    group.finish();
}

/// Everything up to events in order.
fn ordering(c: &mut Criterion, logs: &Logs) {
    let mut group = short(c, "order");
    for (name, bytes) in logs.bytes {
        let path = logs.path(name);
        let events = stages::order(&path, 1).expect("a log");
        group.throughput(Throughput::ElementsAndBytes { elements: events, bytes });
        group.bench_function(name, |b| b.iter(|| assert_eq!(stages::order(&path, 1), Some(events))));
    }
    group.finish();
}

fn analyzing(c: &mut Criterion, name: &str, logs: &Logs) {
    let mut group = short(c, name);
    for (form, bytes) in logs.bytes {
        group.throughput(Throughput::ElementsAndBytes { elements: logs.rpcs, bytes });
        for threads in [1, 2] {
            group.bench_function(format!("{form}, threads {threads}"), |b| {
                b.iter(|| assert_eq!(analyzed(&logs.path(form), threads), logs.rpcs));
            });
        }
    }
    let [(_, bytes), _] = logs.bytes;
    group.throughput(Throughput::ElementsAndBytes { elements: logs.rpcs, bytes });
    group.bench_function(format!("{COMPRESSED}, threads 1"), |b| {
        b.iter(|| assert_eq!(analyzed(&logs.path(COMPRESSED), 1), logs.rpcs));
    });
    group.finish();
}

/// What the join has made of a log.
#[derive(Clone, Default)]
struct Rows {
    symbols: Symbols,
    items: Vec<Item>,
}

#[derive(Clone)]
enum Item {
    Rpc(RpcRow),
    LockEvent(LockEvent),
    SentRpc(SentRpc),
    Mark(Mark),
}

impl Rows {
    fn add(&mut self, item: Item, symbols: &Symbols) {
        for text in symbols.since(self.symbols.len()) {
            self.symbols.intern(text);
        }
        self.items.push(item);
    }
}

impl RowSink for Rows {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.add(Item::Rpc(row.clone()), symbols);
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        self.add(Item::LockEvent(event.clone()), symbols);
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        self.add(Item::SentRpc(sent.clone()), symbols);
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        self.add(Item::Mark(*mark), symbols);
    }
}

impl RowSource for Rows {
    fn node(&self) -> &'static str {
        "rpc"
    }

    fn read(&mut self, symbols: &mut Symbols, sink: &mut dyn RowSink) -> Result<(), String> {
        for (number, text) in self.symbols.iter() {
            assert_eq!(symbols.intern(text), number, "the same node was interned first");
        }
        for item in &self.items {
            match item {
                Item::Rpc(row) => sink.rpc(row, symbols),
                Item::LockEvent(event) => sink.lock_event(event, symbols),
                Item::SentRpc(sent) => sink.sent_rpc(sent, symbols),
                Item::Mark(mark) => sink.mark(mark, symbols),
            }
        }
        Ok(())
    }

    fn summary(&self) -> TraceSummary {
        TraceSummary::default()
    }

    fn path(&self) -> &Path {
        Path::new("rpc")
    }
}

impl RowStores for Rows {
    fn is_store(&self, _: &Path) -> bool {
        true
    }

    fn open(&self, _: &[PathBuf]) -> OpenStores {
        OpenStores { sources: vec![Box::new(self.clone())], ..OpenStores::default() }
    }
}

/// Rows to an analysis: aggregates and locks.
fn sums(c: &mut Criterion, all: &[(&str, &Logs)]) {
    let mut group = short(c, "sums");
    for (name, logs) in all {
        let config = Config { node_rules: vec!["rpc".parse().expect("a name")], ..Config::default() };
        let mut rows = Rows::default();
        analyze(&[logs.path("rpc.bin")], &config, Some(&mut rows)).expect("a log");
        group.throughput(Throughput::Elements(rows.items.len() as u64));
        let dir = [logs.dir.path().to_owned()];
        group.bench_function(*name, |b| {
            b.iter(|| {
                let outcome = analyze_with_stores(&dir, &rows, &config, None).expect("rows");
                assert_eq!(outcome.analysis.totals.rpcs, logs.rpcs);
            });
        });
    }
    group.finish();
}

fn decoding(c: &mut Criterion, logs: &Logs) {
    let mut group = short(c, "decode");
    for (name, bytes) in logs.bytes {
        group.throughput(Throughput::Bytes(bytes));
        for threads in [1, 2] {
            group.bench_function(format!("{name}, threads {threads}"), |b| {
                b.iter(|| {
                    let (inputs, progress) = ([logs.path(name)], Progress::default());
                    let outcome = decode_text(&inputs, &[], threads, &progress, &mut std::io::sink());
                    let outcome = outcome.expect("nothing is written");
                    assert_eq!((outcome.inputs, outcome.bad_places), (1, 0));
                });
            });
        }
    }
    group.finish();
}

fn all(c: &mut Criterion) {
    let (rpcs, locks) = (Logs::of(SAMPLE), Logs::of(LOCKS));
    let crowd = Logs::write(|out| crowd::write(&CROWD, out).map(drop));
    reading(c, &rpcs);
    ordering(c, &rpcs);
    sums(c, &[("rpctrace", &rpcs), ("dlmtrace", &locks), ("crowd", &crowd)]);
    analyzing(c, "analyze", &rpcs);
    analyzing(c, "analyze locks", &locks);
    analyzing(c, "analyze crowd", &crowd);
    decoding(c, &rpcs);
}

criterion_group!(benches, all);
criterion_main!(benches);
