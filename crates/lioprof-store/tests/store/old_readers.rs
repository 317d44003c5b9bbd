//! Engines that do not know `BYTE_STREAM_SPLIT` of integers get files without it.

use std::collections::BTreeSet;
use std::fs::File;

use crate::support::traffic::{BULK, Traffic};
use lioprof_model::{RowSink, Symbols};
use lioprof_store::{DatasetWriter, ManifestFacts, NodeInfo, Options, Session};
use parquet::basic::Encoding;
use parquet::file::reader::{FileReader, SerializedFileReader};

/// Rows enough for what repeats to repeat.
const ROWS: usize = 20_000;

/// Encodings of a part's columns, and bytes.
fn written(old_readers: bool) -> (BTreeSet<String>, u64) {
    let dir = tempfile::tempdir().unwrap();
    let node = NodeInfo { fs: "lustre".into(), node: "oss1".into(), session: Session::default() };
    let mut options = Options::default();
    options.old_readers = old_readers;
    let mut writer = DatasetWriter::new(dir.path(), node, options);
    let mut symbols = Symbols::default();
    let mut traffic = Traffic::new(BULK, 64, &mut symbols);
    for _ in 0..ROWS {
        writer.rpc(&traffic.next(&symbols), &symbols);
    }
    let closed = writer.close_part(ManifestFacts::default()).unwrap();
    let file = SerializedFileReader::new(File::open(&closed.files[0]).unwrap()).unwrap();
    let columns = file.metadata().row_groups().iter().flat_map(|group| group.columns());
    let encodings = columns.flat_map(|column| column.encodings().collect::<Vec<Encoding>>());
    (encodings.map(|encoding| encoding.to_string()).collect(), closed.bytes)
}

#[test]
fn only_encodings_that_old_engines_know() {
    let (encodings, bytes) = written(true);
    let known = ["DELTA_BINARY_PACKED", "PLAIN", "RLE", "RLE_DICTIONARY"];
    assert!(encodings.iter().all(|it| known.contains(&it.as_str())), "{encodings:?}");
    let (usual, usual_bytes) = written(false);
    assert!(usual.contains("BYTE_STREAM_SPLIT"), "{usual:?}");
    assert!(bytes > usual_bytes, "{bytes} bytes, {usual_bytes} as usual: the usual files have no reason to be new");
    assert!(bytes * 4 < usual_bytes * 5, "{bytes} bytes, {usual_bytes} as usual");
}
