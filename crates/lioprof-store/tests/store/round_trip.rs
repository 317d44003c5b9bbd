//! What a reader hands on is what the writer got.

use std::path::Path;

use crate::support::random::Random;
use crate::support::recorder::{Call, Recorder};
use crate::support::traffic::{BULK, Traffic};
use lioprof_model::{RowSource, Symbols};
use lioprof_store::{Dataset, DatasetWriter, ManifestFacts, NodeInfo, Options, Session};
use proptest::prelude::*;

fn node(session: i64) -> NodeInfo {
    NodeInfo {
        fs: "lustre".to_owned(),
        node: "oss1".to_owned(),
        session: Session { start_us: session, id: format!("s{session}") },
    }
}

/// The calls of a source, symbols by text.
fn read(source: &mut dyn RowSource) -> Result<Recorder, String> {
    let mut recorder = Recorder::default();
    source.read(&mut Symbols::default(), &mut recorder)?;
    Ok(recorder)
}

/// Writes the calls in parts of so many; the facts of part `n` say that `n` records were seen.
fn write(dir: &Path, session: i64, options: Options, parts: &[Vec<Call>], symbols: &Symbols) {
    let mut writer = DatasetWriter::new(dir, node(session), options);
    for (number, calls) in parts.iter().enumerate() {
        for call in calls {
            call.make(&mut writer, symbols);
        }
        let stats = writer.part_stats();
        assert_eq!(stats.rows(), calls.len() as u64);
        let mut facts = ManifestFacts::default();
        facts.summary.records = number as u64 + 1;
        let closed = writer.close_part(facts).unwrap();
        let rows: u64 = closed.manifest.tables.values().map(|table| table.rows).sum();
        assert_eq!(rows + closed.manifest.marks.len() as u64, calls.len() as u64);
        assert_eq!(closed.manifest.first_us, stats.first_us);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_calls_come_back(
        seed: u64,
        lens in prop::collection::vec(prop::collection::vec(0usize..60, 0..4), 1..3),
        row_group_rows in 1usize..40,
        buffer_bytes in prop_oneof![Just(32usize << 20), 0usize..20_000],
        old_readers: bool,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut random = Random(seed);
        let mut symbols = Symbols::default();
        let node = symbols.intern(b"oss1");
        let mut all = Vec::new();
        for (session, lens) in (0i64..).zip(&lens) {
            let parts: Vec<Vec<Call>> = lens
                .iter()
                .map(|len| (0..*len).map(|_| random.call(node, &mut symbols)).collect())
                .collect();
            let mut options = Options::default();
            options.row_group_rows = row_group_rows;
            options.buffer_bytes = buffer_bytes;
            options.old_readers = old_readers;
            write(dir.path(), session, options, &parts, &symbols);
            all.extend(parts.concat());
        }
        let dataset = Dataset::open(dir.path()).unwrap();
        prop_assert!(dataset.problems().is_empty());
        let mut sources = dataset.node_sources();
        prop_assert_eq!(sources.len(), usize::from(lens.iter().any(|lens| !lens.is_empty())));
        let mut expected = Recorder::default();
        for call in &all {
            call.make(&mut expected, &symbols);
        }
        for source in &mut sources {
            let found = read(&mut **source).unwrap();
            prop_assert_eq!(found.calls.len(), expected.calls.len());
            for (found, expected) in found.calls.iter().zip(&expected.calls) {
                prop_assert_eq!(found, expected);
            }
            let records: u64 = lens.iter().map(|lens| (1..=lens.len() as u64).sum::<u64>()).sum();
            prop_assert_eq!(source.summary().records, records);
            prop_assert_eq!(source.node(), "oss1");
        }
    }
}

#[test]
fn rows_of_real_captures_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut symbols = Symbols::default();
    let captures = [BULK, &["metadata", "ops_mix", "masks", "v215_masks", "eviction_clean"]].concat();
    let mut traffic = Traffic::new(&captures, 40, &mut symbols);
    let parts: Vec<Vec<Call>> =
        (0..3).map(|_| (0..5000).map(|_| Call::Rpc(traffic.next(&symbols))).collect()).collect();
    let mut options = Options::default();
    options.row_group_rows = 2000;
    write(dir.path(), 1, options, &parts, &symbols);
    let mut expected = Recorder::default();
    for call in parts.iter().flatten() {
        call.make(&mut expected, &symbols);
    }
    let found = read(&mut *Dataset::open(dir.path()).unwrap().node_sources()[0]).unwrap();
    assert!(found.calls == expected.calls, "the rows differ");
}
