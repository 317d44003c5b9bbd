//! The schema of the files, column by column. Whoever changes it looks at docs/parquet.md, section "Versions", first.

use std::fmt::Write;
use std::fs::File;
use std::path::Path;

use arrow_schema::{DataType, Field};
use lioprof_model::Symbols;
use lioprof_store::{
    CounterSample, DatasetWriter, ManifestFacts, NodeInfo, Options, ROLLUP_SCHEMA, ROWS_SCHEMA, SECONDS, Session,
    seconds_schema,
};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::printer::print_schema;

use crate::support::random::Random;
use crate::support::recorder::Call;

/// Names and values of the metadata, the schema, and the encoding of each column's values.
fn describe(path: &Path) -> String {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let metadata = reader.metadata();
    let mut text = Vec::new();
    print_schema(&mut text, metadata.file_metadata().schema());
    let mut text = String::from_utf8(text).unwrap();
    for column in metadata.row_group(0).columns() {
        let encodings: Vec<String> = column.encodings().map(|encoding| encoding.to_string()).collect();
        let bounds = if column.statistics().is_some() { ", bounds" } else { "" };
        let (path, compression) = (column.column_path(), column.compression());
        writeln!(text, "{path}: {}, {compression}{bounds}", encodings.join(" ")).unwrap();
    }
    for pair in metadata.file_metadata().key_value_metadata().unwrap() {
        let value = pair.value.clone().unwrap().replace(env!("CARGO_PKG_VERSION"), "VERSION");
        writeln!(text, "{} = {value}", pair.key).unwrap();
    }
    text
}

#[test]
fn the_schema_is_the_documented_one() {
    let dir = tempfile::tempdir().unwrap();
    let node = NodeInfo { fs: "lustre".into(), node: "oss1".into(), session: Session { start_us: 5, id: "s".into() } };
    let mut writer = DatasetWriter::new(dir.path(), node, Options::default());
    let mut symbols = Symbols::default();
    let node = symbols.intern(b"oss1");
    let mut random = Random(1);
    for _ in 0..100 {
        Call::Rpc(random.rpc(node, &mut symbols)).make(&mut writer, &symbols);
        Call::LockEvent(random.lock_event(node, &mut symbols)).make(&mut writer, &symbols);
        Call::SentRpc(random.sent_rpc(node, &mut symbols)).make(&mut writer, &symbols);
    }
    writer.counter(&CounterSample {
        time_us: 0,
        source: "disk",
        target: Some("lustre-OST0000"),
        entity: Some("sda"),
        counter: "busy_us",
        value: 1,
    });
    let facts = ManifestFacts {
        lustre_version: Some("2.17.57".into()),
        debug: Some("rpctrace dlmtrace net".into()),
        subsystem_debug: Some("rpc filter ldlm".into()),
        profile: Some("full".into()),
        ..ManifestFacts::default()
    };
    let closed = writer.close_part(facts).unwrap();
    let found: Vec<String> = closed.files.iter().map(|path| describe(path)).collect();
    let found = format!("{ROWS_SCHEMA}\n\n{}", found.join("\n"));
    lioprof_testkit::blessed("crates/lioprof-store/tests/store/schema.txt", |_| found);
}

/// Datasets keep their rollups for years, and dashboards ask for columns by name.
#[test]
fn the_columns_of_rollups_are_the_documented_ones() {
    let columns: Vec<String> = seconds_schema().fields().iter().map(|field| column(field)).collect();
    let found = format!("{ROLLUP_SCHEMA}\n{SECONDS}: {}\n", columns.join(", "));
    lioprof_testkit::blessed("crates/lioprof-store/tests/store/rollup_schema.txt", |_| found);
}

/// Name and type, with `?` if there may be no value.
fn column(field: &Field) -> String {
    let kind = match field.data_type() {
        DataType::Struct(fields) => {
            format!("{{{}}}", fields.iter().map(|field| column(field)).collect::<Vec<_>>().join(", "))
        }
        DataType::List(item) => format!("[{}]", column(item)),
        other => other.to_string(),
    };
    format!("{} {kind}{}", field.name(), if field.is_nullable() { "?" } else { "" })
}
