//! The tables as CSV, one file each, for programs that cannot read Parquet.
//!
//! RFC 4180 with a header line. A null is an empty cell; an empty text is `""`.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use lioprof_model::{LockEvent, Mark, RowSink, RpcRow, SentRpc, Symbol, Symbols, TraceSummary};

use crate::error::StoreError;
use crate::quote::quote;
use crate::table::Table;
use crate::table::lock_events::LockEventColumns;
use crate::table::rpcs::RpcColumns;
use crate::table::sent_rpcs::SentRpcColumns;
use crate::table::texts::Texts;
use crate::text as bytes_as_text;

/// Rows of a table that are gathered before they are written.
const BATCH: usize = 1024;
/// Memory of texts above which they are forgotten.
const MAX_TEXTS_BYTES: usize = 8 << 20;

/// Number of rows written per table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CsvRows {
    /// Rows in `rpcs.csv`.
    pub rpcs: u64,
    /// Rows in `lock_events.csv`.
    pub lock_events: u64,
    /// Rows in `sent_rpcs.csv`.
    pub sent_rpcs: u64,
    /// Rows in `marks.csv`.
    pub marks: u64,
}

/// A file with a header line.
struct CsvFile {
    path: PathBuf,
    file: BufWriter<File>,
    line: Vec<u8>,
}

impl CsvFile {
    fn create(dir: &Path, name: &str, columns: impl Iterator<Item = &'static str>) -> Result<Self, StoreError> {
        let path = dir.join(format!("{name}.csv"));
        let file = File::create(&path).map_err(StoreError::io("create", &path))?;
        let mut output = Self { path, file: BufWriter::new(file), line: Vec::new() };
        output.line.extend_from_slice(b"node");
        for column in columns {
            output.line.push(b',');
            output.line.extend_from_slice(column.as_bytes());
        }
        output.end_line()?;
        Ok(output)
    }

    fn end_line(&mut self) -> Result<(), StoreError> {
        self.line.push(b'\n');
        let written = self.file.write_all(&self.line);
        self.line.clear();
        written.map_err(StoreError::io("write", &self.path))
    }

    fn finish(mut self) -> Result<(), StoreError> {
        self.file.flush().map_err(StoreError::io("write", self.path))
    }
}

/// A table: rows gathered, and the file.
struct CsvTable<T> {
    rows: T,
    output: CsvFile,
    written: u64,
}

impl<T: Table> CsvTable<T> {
    fn create(dir: &Path) -> Result<Self, StoreError> {
        let columns = T::specs().into_iter().map(|spec| spec.name);
        Ok(Self { rows: T::default(), output: CsvFile::create(dir, T::NAME, columns)?, written: 0 })
    }

    /// Writes what is gathered, in its order.
    fn flush(&mut self, node: &str, texts: &Texts) -> Result<(), StoreError> {
        let columns = self.rows.columns();
        for row in 0..self.rows.rows() {
            quote(node, &mut self.output.line);
            for column in &columns {
                self.output.line.push(b',');
                column.csv(row, texts, &mut self.output.line);
            }
            self.output.end_line()?;
        }
        self.written += self.rows.rows() as u64;
        self.rows.clear();
        Ok(())
    }
}

/// Writes rows of any nodes, one node after the other, as `rpcs.csv`, `lock_events.csv`, `sent_rpcs.csv` and `marks.csv`.
///
/// The first column is the node's name, the others are those of the Parquet files. Memory does not grow with the rows.
/// [`Self::finish`] returns an error that occurred earlier.
pub struct CsvWriter {
    rpcs: CsvTable<RpcColumns>,
    lock_events: CsvTable<LockEventColumns>,
    sent_rpcs: CsvTable<SentRpcColumns>,
    marks: CsvFile,
    marks_written: u64,
    texts: Texts,
    node: Option<Symbol>,
    node_text: String,
    next_seq: i64,
    error: Option<StoreError>,
}

impl CsvWriter {
    /// Creates the files in `dir`, which must exist.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub fn create(dir: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            rpcs: CsvTable::create(dir)?,
            lock_events: CsvTable::create(dir)?,
            sent_rpcs: CsvTable::create(dir)?,
            marks: CsvFile::create(dir, "marks", ["seq", "time_us", "text"].into_iter())?,
            marks_written: 0,
            texts: Texts::default(),
            node: None,
            node_text: String::new(),
            next_seq: 0,
            error: None,
        })
    }

    /// Completes the files.
    ///
    /// # Errors
    /// If anything could not be written.
    pub fn finish(mut self) -> Result<CsvRows, StoreError> {
        self.flush();
        if let Some(err) = self.error {
            return Err(err);
        }
        let rows = CsvRows {
            rpcs: self.rpcs.written,
            lock_events: self.lock_events.written,
            sent_rpcs: self.sent_rpcs.written,
            marks: self.marks_written,
        };
        self.rpcs.output.finish()?;
        self.lock_events.output.finish()?;
        self.sent_rpcs.output.finish()?;
        self.marks.finish()?;
        Ok(rows)
    }

    /// Deletes the files, because there was nothing to write.
    pub fn abandon(self) {
        for output in [self.rpcs.output, self.lock_events.output, self.sent_rpcs.output, self.marks] {
            // Whoever finds it finds a header.
            let _deleted_or_left = fs::remove_file(output.path);
        }
    }

    /// The place of the next item of `node`; `None` after an error.
    fn next(&mut self, node: Symbol, symbols: &Symbols) -> Option<i64> {
        if self.node != Some(node) {
            self.flush();
            self.node = Some(node);
            self.node_text = bytes_as_text::encode(symbols.bytes(node)).into_owned();
            self.next_seq = 0;
        }
        let full = self.rpcs.rows.rows() >= BATCH
            || self.lock_events.rows.rows() >= BATCH
            || self.sent_rpcs.rows.rows() >= BATCH;
        if full {
            self.flush();
        }
        if self.error.is_some() {
            return None;
        }
        let seq = self.next_seq;
        self.next_seq += 1;
        Some(seq)
    }

    fn flush(&mut self) {
        let Self { rpcs, lock_events, sent_rpcs, node_text, texts, error, .. } = self;
        if error.is_some() {
            return;
        }
        let written = rpcs
            .flush(node_text, texts)
            .and_then(|()| lock_events.flush(node_text, texts))
            .and_then(|()| sent_rpcs.flush(node_text, texts));
        *error = written.err();
        if texts.memory() > MAX_TEXTS_BYTES {
            *texts = Texts::default();
        }
    }
}

impl RowSink for CsvWriter {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        if let Some(seq) = self.next(row.node, symbols) {
            self.rpcs.rows.push(seq, row, &mut self.texts, symbols);
        }
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        if let Some(seq) = self.next(event.node, symbols) {
            self.lock_events.rows.push(seq, event, &mut self.texts, symbols);
        }
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        if let Some(seq) = self.next(sent.node, symbols) {
            self.sent_rpcs.rows.push(seq, sent, &mut self.texts, symbols);
        }
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        let Some(seq) = self.next(mark.node, symbols) else { return };
        let line = &mut self.marks.line;
        quote(&self.node_text, line);
        line.extend_from_slice(format!(",{seq},{},", mark.time_us).as_bytes());
        quote(&bytes_as_text::encode(symbols.bytes(mark.text)), line);
        self.error = self.marks.end_line().err();
        self.marks_written += 1;
    }

    fn node_end(&mut self, _: &str, _: &TraceSummary, _: &Symbols) {
        self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let cell = |it: &str| {
            let mut out = Vec::new();
            quote(it, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(cell("dd.0"), "dd.0");
        assert_eq!(cell(""), "\"\"");
        assert_eq!(cell("a,b"), "\"a,b\"");
        assert_eq!(cell("a\"b"), "\"a\"\"b\"");
        assert_eq!(cell("a\nb"), "\"a\nb\"");
        assert_eq!(cell(" a"), "\" a\"");
    }
}
