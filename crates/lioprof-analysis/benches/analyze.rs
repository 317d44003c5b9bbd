//! The whole analysis and decoding alone: bytes and RPCs per second.
//!
//! The join is not public; its cost is about that of `analyze` less that of `decode`, which both read,
//! frame and order all records.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use lioprof_analysis::{Config, analyze, decode_text};

mod support;

/// Size of the logs.
const BYTES: usize = 16 << 20;
const SAMPLE: &[u8] = include_bytes!("../../lustre-debuglog/tests/data/rpctrace-2.17.txt");

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
    group.finish();
    let mut group = short(c, "decode");
    for (name, bytes) in logs.bytes {
        group.throughput(Throughput::Bytes(bytes));
        group.bench_function(name, |b| {
            b.iter(|| {
                let outcome = decode_text(&[logs.path(name)], &[], &mut std::io::sink()).expect("a log");
                assert_eq!((outcome.inputs, outcome.bad_places), (1, 0));
            });
        });
    }
    group.finish();
}

criterion_group!(benches, all);
criterion_main!(benches);
