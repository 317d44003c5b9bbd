//! Writes a million RPCs like those of a loaded server, as usual and for old readers, and a million of the worst case, and
//! prints what each column takes: `measure DIR [ROWS]`. The tables of `docs/parquet.md` come from here.

use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::time::Instant;

use lioprof_model::{RowSink, RpcRow, Symbols};
use lioprof_store::{DatasetWriter, ManifestFacts, NodeInfo, Options, Session};
use parquet::file::reader::{FileReader, SerializedFileReader};

#[path = "../tests/store/support/mod.rs"]
#[expect(dead_code, reason = "tests use more of it")]
mod support;

use support::traffic::{BULK, Traffic, WorstCase};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let dir = args.next().ok_or("usage: measure DIR [ROWS]")?;
    let rows: usize = args.next().map_or(Ok(1_000_000), |rows| rows.parse())?;
    let mut symbols = Symbols::default();
    let mut traffic = Traffic::new(BULK, 64, &mut symbols);
    let real: Vec<RpcRow> = (0..rows).map(|_| traffic.next(&symbols)).collect();
    let mut worst = WorstCase::new(&mut symbols);
    let worst: Vec<RpcRow> = (0..rows).map(|_| worst.next()).collect();
    for (name, rows, old_readers) in
        [("real", &real, false), ("worst", &worst, false), ("real-old-readers", &real, true)]
    {
        let mut options = Options::default();
        options.old_readers = old_readers;
        measure(name, rows, options, &symbols, &Path::new(&dir).join(name))?;
    }
    Ok(())
}

fn measure(name: &str, rows: &[RpcRow], options: Options, symbols: &Symbols, dir: &Path) -> Result<(), Box<dyn Error>> {
    let node = NodeInfo { fs: "lustre".to_owned(), node: "oss1".to_owned(), session: Session::default() };
    let start = Instant::now();
    let mut writer = DatasetWriter::new(dir, node, options);
    for row in rows {
        writer.rpc(row, symbols);
    }
    let closed = writer.close_part(ManifestFacts::default())?;
    let ns = start.elapsed().as_nanos() as f64 / rows.len() as f64;
    let per_row = closed.bytes as f64 / rows.len() as f64;
    println!("{name}: {per_row:.2} bytes and {ns:.0} ns per row");
    let reader = SerializedFileReader::new(File::open(&closed.files[0])?)?;
    let mut columns: Vec<(String, i64)> = Vec::new();
    for group in reader.metadata().row_groups() {
        for (at, column) in group.columns().iter().enumerate() {
            if columns.len() <= at {
                columns.push((column.column_path().string(), 0));
            }
            columns[at].1 += column.compressed_size();
        }
    }
    for (column, bytes) in &columns {
        println!("  {column:20} {:6.3}", *bytes as f64 / rows.len() as f64);
    }
    let data: f64 = columns.iter().map(|it| it.1 as f64).sum();
    println!("  {:20} {:6.3}", "footer, manifest", (closed.bytes as f64 - data) / rows.len() as f64);
    Ok(())
}
