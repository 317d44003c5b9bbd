//! Framing and message parsing: bytes and records per second.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use lioprof_bench::log_writer::in_memory;
use lioprof_bench::replica::{Replica, records};
use lustre_debuglog::frame::binary::{BinaryRecords, FramedRecords, Framer};
use lustre_debuglog::frame::text::{TextItem, TextRecords};
use lustre_debuglog::frame::{Form, detect};
use lustre_debuglog::{Message, Record};

/// Size of the logs that are framed.
const BYTES: usize = 16 << 20;
const SAMPLES: [&[u8]; 2] = [
    include_bytes!("../../lustre-debuglog/tests/data/rpctrace-2.17.txt"),
    include_bytes!("../../lustre-debuglog/tests/data/dlmtrace-2.17.txt"),
];

fn short<'a>(c: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = c.benchmark_group(name);
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    group
}

/// About 16 MiB of both samples, as text and binary, and the number of records.
fn logs() -> (Vec<u8>, Vec<u8>, usize) {
    let (mut text, mut binary) = (Vec::new(), Vec::new());
    for sample in SAMPLES {
        let replica = Replica::of_text(sample);
        let size = (BYTES / SAMPLES.len()) as u64;
        let forms = in_memory(|out| replica.write(size, out).map(drop)).expect("memory is enough");
        text.extend(forms.0);
        binary.extend(forms.1);
    }
    let records = records(&text).len();
    (text, binary, records)
}

fn framing(c: &mut Criterion) {
    let (text, binary, records) = logs();
    let Some(Form::Binary(layout)) = detect(&binary, true) else { panic!("a binary log") };
    let mut group = short(c, "frame");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("text", |b| {
        b.iter(|| {
            let found = TextRecords::new(black_box(&text)).filter(|item| matches!(item, TextItem::Record(..))).count();
            assert_eq!(found, records);
        });
    });
    group.throughput(Throughput::Bytes(binary.len() as u64));
    group.bench_function("binary", |b| {
        b.iter(|| {
            let found = BinaryRecords::new(black_box(&binary), layout).flatten().count();
            assert_eq!(found, records);
        });
    });
    // What a decoder does that gets records which a framer has found. The last ones lack what a framer wants to see.
    let mut framed = Vec::new();
    Framer::new(layout).run(&binary, binary.len(), &mut framed);
    group.bench_function("binary, framed before", |b| {
        b.iter(|| assert_eq!(FramedRecords::new(black_box(&binary), layout, &framed).count(), framed.len()));
    });
    group.finish();
}

/// Name of the variant, as `{:?}` prints it.
fn kind(message: &Message<'_>) -> String {
    format!("{message:?}").split(['(', ' ']).next().unwrap_or_default().to_owned()
}

fn parse_all(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, records: &[Record<'_>]) {
    group.throughput(Throughput::Elements(records.len() as u64));
    let known = records.iter().filter(|record| Message::parse(record) != Message::Other).count();
    group.bench_function(name, |b| {
        b.iter(|| {
            let found = black_box(records).iter().filter(|record| Message::parse(record) != Message::Other).count();
            assert_eq!(found, known);
        });
    });
}

/// Every kind alone, and all as they come.
fn messages(c: &mut Criterion) {
    let records: Vec<Record<'_>> = SAMPLES.iter().flat_map(|sample| records(sample)).collect();
    let mut kinds: BTreeMap<String, Vec<Record<'_>>> = BTreeMap::new();
    for record in &records {
        kinds.entry(kind(&Message::parse(record))).or_default().push(*record);
    }
    let mut group = short(c, "message");
    for (name, records) in &kinds {
        parse_all(&mut group, name, records);
    }
    parse_all(&mut group, "mix", &records);
    group.finish();
}

criterion_group!(benches, framing, messages);
criterion_main!(benches);
