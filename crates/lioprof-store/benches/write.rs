//! What a row costs the writer, on rows like those of a loaded server.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lioprof_model::{RowSink, RpcRow, Symbols};
use lioprof_store::{DatasetWriter, ManifestFacts, NodeInfo, Options, Session};

#[path = "../tests/store/support/mod.rs"]
#[expect(dead_code, reason = "tests use more of it")]
mod support;

use support::traffic::{BULK, Traffic, WorstCase};

/// Two full row groups: what is written at the end is no different from what is written on the way.
const ROWS: usize = 2 * 128 * 1024;

fn write(bench: &mut Criterion) {
    let mut symbols = Symbols::default();
    let mut traffic = Traffic::new(BULK, 64, &mut symbols);
    let real: Vec<RpcRow> = (0..ROWS).map(|_| traffic.next(&symbols)).collect();
    let mut worst = WorstCase::new(&mut symbols);
    let worst: Vec<RpcRow> = (0..ROWS).map(|_| worst.next()).collect();

    let mut group = bench.benchmark_group("write");
    group.sample_size(10).throughput(Throughput::Elements(ROWS as u64));
    for (name, rows) in [("rpcs", &real), ("rpcs, worst case", &worst)] {
        let dir = tempfile::tempdir().unwrap_or_else(|err| panic!("a folder for the files: {err}"));
        let node = NodeInfo { fs: "lustre".to_owned(), node: "oss1".to_owned(), session: Session::default() };
        group.bench_function(name, |bench| {
            bench.iter(|| {
                let mut writer = DatasetWriter::new(dir.path(), node.clone(), Options::default());
                for row in rows {
                    writer.rpc(black_box(row), &symbols);
                }
                let closed = writer.close_part(ManifestFacts::default()).unwrap_or_else(|err| panic!("{err}"));
                assert_eq!(closed.manifest.tables["rpcs"].rows, ROWS as u64);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, write);
criterion_main!(benches);
