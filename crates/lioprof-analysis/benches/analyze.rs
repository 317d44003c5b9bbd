//! The whole analysis and decoding alone: bytes and RPCs per second.
//!
//! The join is not public; its cost is about that of `analyze` less that of `decode`, which both read,
//! frame and order all records.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use lioprof_analysis::input::{discover, open};
use lioprof_analysis::{Config, Progress, analyze, decode_text};
use lioprof_model::Format;

mod support;

/// Size of the logs.
const BYTES: usize = 16 << 20;
const SAMPLE: &[u8] = include_bytes!("../../lustre-debuglog/tests/data/rpctrace-2.17.txt");

/// The text once more, compressed.
const COMPRESSED: &str = "rpc.txt.zst";

/// A log in two forms on disk.
struct Logs {
    dir: tempfile::TempDir,
    bytes: [(&'static str, u64); 2],
    rpcs: u64,
}

impl Logs {
    fn new() -> Self {
        let copies = (BYTES / SAMPLE.len()) as u64;
        let mut text = Vec::new();
        support::replicate(SAMPLE, copies, &mut text).expect("memory is enough");
        let binary = support::to_binary(&text);
        let handled = |record: &&lustre_debuglog::Record<'_>| record.text.starts_with(b"Handled RPC ");
        let rpcs = copies * support::records(SAMPLE).iter().filter(handled).count() as u64;
        let dir = tempfile::tempdir().expect("a temporary directory");
        let zst = zstd::encode_all(&text[..], 3).expect("memory is enough");
        fs::write(dir.path().join(COMPRESSED), zst).expect("room on disk");
        let logs = [("rpc.txt", text), ("rpc.bin", binary)];
        let bytes = logs.map(|(name, log)| {
            fs::write(dir.path().join(name), &log).expect("room on disk");
            (name, log.len() as u64)
        });
        Self { dir, bytes, rpcs }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

fn run(path: &Path, threads: usize, rpcs: u64) {
    let config = Config { threads, ..Config::default() };
    let outcome = analyze(&[path.to_owned()], &config, None).expect("a log");
    assert_eq!(outcome.analysis.totals.rpcs, rpcs);
    assert_eq!(outcome.analysis.loss.missing_handled + outcome.analysis.loss.missing_handling, 0);
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
        let found = discover(&[logs.path(name)], &[], |_| Some(Format::Text), &|_| false).files.remove(0);
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut stream = open(&found, |_| Some(Format::Text)).expect("a log").stream;
                let read = std::io::copy(&mut stream, &mut std::io::sink()).expect("a whole log");
                assert_eq!(read, bytes);
            });
        });
    }
    group.finish();
}

fn all(c: &mut Criterion) {
    let logs = Logs::new();
    let mut group = short(c, "analyze");
    for (name, bytes) in logs.bytes {
        group.throughput(Throughput::ElementsAndBytes { elements: logs.rpcs, bytes });
        for threads in [1, 2] {
            group.bench_function(format!("{name}, threads {threads}"), |b| {
                b.iter(|| run(&logs.path(name), threads, logs.rpcs));
            });
        }
    }
    let [(_, text_bytes), _] = logs.bytes;
    group.throughput(Throughput::ElementsAndBytes { elements: logs.rpcs, bytes: text_bytes });
    group.bench_function(format!("{COMPRESSED}, threads 1"), |b| b.iter(|| run(&logs.path(COMPRESSED), 1, logs.rpcs)));
    group.finish();
    reading(c, &logs);
    let mut group = short(c, "decode");
    for (name, bytes) in logs.bytes {
        group.throughput(Throughput::Bytes(bytes));
        group.bench_function(name, |b| {
            b.iter(|| {
                let outcome =
                    decode_text(&[logs.path(name)], &[], &Progress::default(), &mut std::io::sink()).expect("a log");
                assert_eq!((outcome.inputs, outcome.bad_places), (1, 0));
            });
        });
    }
    group.finish();
}

criterion_group!(benches, all);
criterion_main!(benches);
