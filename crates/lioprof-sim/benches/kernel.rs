//! How many records a second the simulated kernel takes: into the ring, and with the debug daemon writing them.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lioprof_sim::kernel::{Flush, Kernel, KernelConfig, Mask};
use lioprof_sim::replay::RecordedLog;
use lioprof_sim::{SimRecord, Workload};

/// A capture with the masks rpctrace, dlmtrace and net.
const CAPTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/captures/masks/server1/rpc.bin.zst");

fn records() -> Vec<SimRecord> {
    let mut log = RecordedLog::read(&[CAPTURE.into()]).expect("the capture is part of the repository");
    let mut record = SimRecord::default();
    std::iter::from_fn(|| log.next(&mut record).then(|| record.clone())).collect()
}

fn log_all(criterion: &mut Criterion) {
    let records = records();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("rpc.bin");
    let mut group = criterion.benchmark_group("kernel");
    group.throughput(Throughput::Elements(records.len() as u64)).measurement_time(Duration::from_secs(5));
    for daemon in [false, true] {
        // One thread does everything, so that the figure is that of one core.
        let flush = Flush::Simulated { period_us: 1_000_000, latency_us: 0 };
        let kernel = Kernel::new(KernelConfig { flush, ..KernelConfig::default() });
        kernel.set_mask(Mask::Debug, u32::MAX);
        if daemon {
            kernel.daemon_command(b"size=10").expect("a size");
            kernel.daemon_command(file.as_os_str().as_encoded_bytes()).expect("an absolute path");
        }
        group.bench_function(if daemon { "daemon" } else { "ring" }, |bencher| {
            bencher.iter(|| {
                for record in &records {
                    black_box(kernel.log(record));
                }
            });
        });
        let account = kernel.account();
        assert_eq!(account.total.lost.overflow.records + account.masked_records, 0);
    }
    group.finish();
}

criterion_group!(benches, log_all);
criterion_main!(benches);
