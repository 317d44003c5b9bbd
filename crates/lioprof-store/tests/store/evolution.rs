//! Files of later and earlier versions with the same schema number: with more columns, or fewer.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use lioprof_model::{RpcRow, Symbols};
use lioprof_store::{ClosedPart, Dataset, DatasetWriter, ManifestFacts, NodeInfo, Options, Session};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::KeyValue;

use crate::support::random::Random;
use crate::support::recorder::{Call, Recorder};

fn write(dir: &Path) -> (ClosedPart, Recorder) {
    let node = NodeInfo { fs: "lustre".into(), node: "oss1".into(), session: Session::default() };
    let mut writer = DatasetWriter::new(dir, node, Options::default());
    let mut symbols = Symbols::default();
    let node = symbols.intern(b"oss1");
    let (mut random, mut recorder) = (Random(11), Recorder::default());
    for _ in 0..50 {
        let call = Call::Rpc(random.rpc(node, &mut symbols));
        call.make(&mut writer, &symbols);
        call.make(&mut recorder, &symbols);
    }
    (writer.close_part(ManifestFacts::default()).unwrap(), recorder)
}

/// Writes the part's RPCs again with other columns.
fn rewrite(
    part: &ClosedPart,
    change: impl Fn(Vec<(Field, arrow_array::ArrayRef)>) -> Vec<(Field, arrow_array::ArrayRef)>,
) {
    let path = &part.files[0];
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let keys: Vec<KeyValue> = builder.metadata().file_metadata().key_value_metadata().unwrap().clone();
    let batch = builder.build().unwrap().next().unwrap().unwrap();
    let fields = batch.schema().fields().iter().map(|field| field.as_ref().clone()).collect::<Vec<_>>();
    let (fields, columns): (Vec<_>, Vec<_>) =
        change(fields.into_iter().zip(batch.columns().iter().cloned()).collect()).into_iter().unzip();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    keys.into_iter().for_each(|pair| writer.append_key_value_metadata(pair));
    writer.close().unwrap();

    let mut manifest = part.manifest.clone();
    let file = manifest.tables.get_mut("rpcs").unwrap();
    (file.bytes, file.crc32) = (fs::metadata(path).unwrap().len(), None);
    fs::write(&part.manifest_path, serde_json::to_vec(&manifest).unwrap()).unwrap();
}

fn read(dir: &Path) -> Result<Vec<Call>, String> {
    let mut recorder = Recorder::default();
    for source in &mut Dataset::open(dir).unwrap().node_sources() {
        source.read(&mut Symbols::default(), &mut recorder)?;
    }
    Ok(recorder.calls)
}

#[test]
fn columns_that_this_version_does_not_know_are_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let (part, expected) = write(dir.path());
    rewrite(&part, |mut columns| {
        let texts = StringArray::from(vec!["new"; columns[0].1.len()]);
        let field = Field::new("new_column", arrow_schema::DataType::Utf8, false);
        columns.insert(3, (field, Arc::new(texts)));
        columns
    });
    assert_eq!(read(dir.path()).unwrap(), expected.calls);
}

#[test]
fn nullable_columns_that_are_missing_are_null() {
    let dir = tempfile::tempdir().unwrap();
    let (part, expected) = write(dir.path());
    rewrite(&part, |columns| {
        columns
            .into_iter()
            .filter(|(field, _)| !["uid", "job", "total_bucket"].contains(&field.name().as_str()))
            .collect()
    });
    let without = |call: &Call| match call {
        Call::Rpc(row) => Call::Rpc(RpcRow { uid: None, job: None, ..row.clone() }),
        other => other.clone(),
    };
    // The recorder numbers texts as they come: compare what has no job from the start.
    let calls = read(dir.path()).unwrap();
    assert_eq!(calls.len(), expected.calls.len());
    for (found, expected) in calls.iter().zip(&expected.calls) {
        let (Call::Rpc(found), Call::Rpc(expected)) = (found, &without(expected)) else { panic!("RPCs only") };
        assert_eq!((found.uid, found.job, found.gid), (None, None, expected.gid));
        assert_eq!((found.xid, found.size, found.object), (expected.xid, expected.size, expected.object));
    }
}

#[test]
fn other_columns_that_are_missing_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let (part, _) = write(dir.path());
    rewrite(&part, |columns| columns.into_iter().filter(|(field, _)| field.name() != "xid").collect());
    let problem = read(dir.path()).unwrap_err();
    assert!(problem.contains("row group 0, column `xid`: expected UInt64, found no such column"), "{problem}");
    assert!(problem.contains(part.files[0].to_str().unwrap()), "{problem}");
}

#[test]
fn columns_of_another_type_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let (part, _) = write(dir.path());
    rewrite(&part, |mut columns| {
        let texts = StringArray::from(vec!["x"; columns[0].1.len()]);
        let at = columns.iter().position(|(field, _)| field.name() == "rc").unwrap();
        columns[at] = (Field::new("rc", arrow_schema::DataType::Utf8, false), Arc::new(texts));
        columns
    });
    let problem = read(dir.path()).unwrap_err();
    assert!(problem.contains("column `rc`: expected Int32, found"), "{problem}");
}
