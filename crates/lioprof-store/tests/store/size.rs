//! What a row takes on disk. Bytes, not time: the same on every machine.

use crate::support::traffic::{BULK, Traffic, WorstCase};
use lioprof_model::{RowSink, RpcRow, Symbols};
use lioprof_store::{DatasetWriter, ManifestFacts, NodeInfo, Options, Session};

/// Two full row groups.
const ROWS: usize = 2 * 128 * 1024;

/// Bytes per row, footer and manifest included.
fn bytes_per_row(symbols: &Symbols, mut next: impl FnMut() -> RpcRow) -> f64 {
    let dir = tempfile::tempdir().unwrap();
    let node = NodeInfo { fs: "lustre".into(), node: "oss1".into(), session: Session::default() };
    let mut writer = DatasetWriter::new(dir.path(), node, Options::default());
    for _ in 0..ROWS {
        writer.rpc(&next(), symbols);
        assert!(writer.error().is_none());
    }
    let estimated = writer.part_stats().estimated_bytes;
    let closed = writer.close_part(ManifestFacts::default()).unwrap();
    let written: u64 =
        closed.files.iter().chain([&closed.manifest_path]).map(|path| path.metadata().unwrap().len()).sum();
    assert_eq!(closed.bytes, written);
    assert!(estimated.abs_diff(written) * 10 < written, "estimated {estimated}, written {written}");
    written as f64 / ROWS as f64
}

#[test]
fn rows_of_real_captures_fit_the_budget() {
    let mut symbols = Symbols::default();
    let mut traffic = Traffic::new(BULK, 64, &mut symbols);
    let bytes = bytes_per_row(&symbols.clone(), || traffic.next(&symbols));
    assert!(bytes <= 24.0, "{bytes:.2} bytes per row");
    // The rows are as different as they should be: a row group of copies would be far below this.
    assert!(bytes >= 12.0, "{bytes:.2} bytes per row");
}

#[test]
fn rows_of_the_worst_case_fit_the_budget() {
    let mut symbols = Symbols::default();
    let mut worst = WorstCase::new(&mut symbols);
    let bytes = bytes_per_row(&symbols, || worst.next());
    assert!(bytes <= 40.0, "{bytes:.2} bytes per row");
}
