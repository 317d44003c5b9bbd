//! One table of a part, row by row in the order of `seq`, a row group in memory at a time.

use lioprof_model::{RowSink, Symbol, Symbols};

use super::parquet_file::ParquetFile;
use super::part::Part;
use crate::error::StoreError;
use crate::table::lock_events::{LockEventColumns, LockEventView, LockEvents};
use crate::table::rpcs::{RpcColumns, RpcView, Rpcs};
use crate::table::sent_rpcs::{SentRpcColumns, SentRpcView, SentRpcs};
use crate::table::view::BadColumn;

/// A table's rows, back from columns.
pub(crate) trait Rows: Sized {
    /// Folder of the table.
    const TABLE: &'static str;
    /// Columns that are read.
    const COLUMNS: &'static [&'static str];

    /// Takes a row group.
    fn open(batch: &arrow_array::RecordBatch, node: Symbol, symbols: &mut Symbols) -> Result<Self, BadColumn>;

    /// `seq` of each row.
    fn seqs(&self) -> &[i64];

    /// Hands a row to the sink.
    fn give(&self, at: usize, symbols: &Symbols, sink: &mut dyn RowSink) -> Result<(), BadColumn>;
}

impl Rows for Rpcs {
    const TABLE: &'static str = RpcColumns::NAME;
    const COLUMNS: &'static [&'static str] = RpcView::COLUMNS;

    fn open(batch: &arrow_array::RecordBatch, node: Symbol, symbols: &mut Symbols) -> Result<Self, BadColumn> {
        Self::new(RpcView::new(batch)?, node, symbols)
    }

    fn seqs(&self) -> &[i64] {
        self.seqs()
    }

    fn give(&self, at: usize, symbols: &Symbols, sink: &mut dyn RowSink) -> Result<(), BadColumn> {
        sink.rpc(&self.row(at), symbols);
        Ok(())
    }
}

impl Rows for LockEvents {
    const TABLE: &'static str = LockEventColumns::NAME;
    const COLUMNS: &'static [&'static str] = LockEventView::COLUMNS;

    fn open(batch: &arrow_array::RecordBatch, node: Symbol, symbols: &mut Symbols) -> Result<Self, BadColumn> {
        Self::new(LockEventView::new(batch)?, node, symbols)
    }

    fn seqs(&self) -> &[i64] {
        self.seqs()
    }

    fn give(&self, at: usize, symbols: &Symbols, sink: &mut dyn RowSink) -> Result<(), BadColumn> {
        sink.lock_event(&self.row(at)?, symbols);
        Ok(())
    }
}

impl Rows for SentRpcs {
    const TABLE: &'static str = SentRpcColumns::NAME;
    const COLUMNS: &'static [&'static str] = SentRpcView::COLUMNS;

    fn open(batch: &arrow_array::RecordBatch, node: Symbol, symbols: &mut Symbols) -> Result<Self, BadColumn> {
        Ok(Self::new(SentRpcView::new(batch)?, node, symbols))
    }

    fn seqs(&self) -> &[i64] {
        self.seqs()
    }

    fn give(&self, at: usize, symbols: &Symbols, sink: &mut dyn RowSink) -> Result<(), BadColumn> {
        sink.sent_rpc(&self.row(at), symbols);
        Ok(())
    }
}

/// Row numbers in the order of `seq`.
pub(crate) fn by_seq(seqs: &[i64]) -> Vec<u32> {
    let mut order: Vec<(i64, u32)> = seqs.iter().copied().zip(0..).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, row)| row).collect()
}

/// A row group in memory.
struct Loaded<R> {
    rows: R,
    order: Vec<u32>,
    next: usize,
    number: usize,
}

/// Where a reader is in a table.
pub(crate) struct Cursor<R> {
    file: Option<ParquetFile>,
    next_group: usize,
    loaded: Option<Loaded<R>>,
}

/// What the merge needs of a table.
pub(crate) trait AnyCursor {
    /// `seq` of the next row, if there is one.
    fn peek(&mut self, node: Symbol, symbols: &mut Symbols) -> Result<Option<i64>, StoreError>;

    /// Hands on rows as long as their `seq` is below `limit`.
    fn give_below(&mut self, limit: i64, symbols: &Symbols, sink: &mut dyn RowSink) -> Result<(), StoreError>;

    /// Reads no further.
    fn stop(&mut self);
}

impl<R: Rows> Cursor<R> {
    pub(crate) fn open(part: &Part) -> Result<Self, StoreError> {
        let file = ParquetFile::open(part, R::TABLE)?;
        Ok(Self { file, next_group: 0, loaded: None })
    }

    /// A table that cannot be read: as if it had no rows.
    pub(crate) fn empty() -> Self {
        Self { file: None, next_group: 0, loaded: None }
    }

    /// Loads row groups until there is a row.
    fn load(&mut self, node: Symbol, symbols: &mut Symbols) -> Result<(), StoreError> {
        while self.loaded.as_ref().is_none_or(|loaded| loaded.next == loaded.order.len()) {
            self.loaded = None;
            let Some(file) = self.file.as_ref().filter(|file| self.next_group < file.row_groups()) else { break };
            let number = self.next_group;
            self.next_group += 1;
            let batch = file.row_group(number, R::COLUMNS)?;
            let rows = R::open(&batch, node, symbols).map_err(|bad| file.bad_column(number, bad))?;
            let order = by_seq(rows.seqs());
            self.loaded = Some(Loaded { rows, order, next: 0, number });
        }
        Ok(())
    }
}

impl<R: Rows> AnyCursor for Cursor<R> {
    fn peek(&mut self, node: Symbol, symbols: &mut Symbols) -> Result<Option<i64>, StoreError> {
        self.load(node, symbols)?;
        let seq = |loaded: &Loaded<R>| loaded.rows.seqs()[loaded.order[loaded.next] as usize];
        Ok(self.loaded.as_ref().map(seq))
    }

    fn give_below(&mut self, limit: i64, symbols: &Symbols, sink: &mut dyn RowSink) -> Result<(), StoreError> {
        let Some(Loaded { rows, order, next, number }) = &mut self.loaded else { return Ok(()) };
        let seqs = rows.seqs();
        while let Some(&row) = order.get(*next) {
            let row = row as usize;
            if seqs[row] >= limit {
                break;
            }
            *next += 1;
            let bad = |bad| self.file.as_ref().map(|file| file.bad_column(*number, bad));
            if let Err(Some(err)) = rows.give(row, symbols, sink).map_err(bad) {
                return Err(err);
            }
        }
        Ok(())
    }

    fn stop(&mut self) {
        self.file = None;
        self.loaded = None;
    }
}
