//! One table of a part, row by row in the order of `seq`, a row group in memory at a time.

use lioprof_model::{RowSink, Symbol, Symbols};

use super::parquet_file::ParquetFile;
use super::part::Part;
use crate::error::StoreError;
use crate::table::view::NodeRows;

/// Row numbers in the order of `seq`.
pub(crate) fn by_seq(seqs: &[i64]) -> Vec<u32> {
    by_place(seqs).unwrap_or_else(|| by_comparison(seqs))
}

/// Each row is put where its `seq` says: rows of a group follow on each other, with gaps where those of other tables stand. `None`: they lie
/// too far apart, or two have the same.
fn by_place(seqs: &[i64]) -> Option<Vec<u32>> {
    const FREE: u32 = u32::MAX;
    let (first, last) = (*seqs.iter().min()?, *seqs.iter().max()?);
    let places = usize::try_from(last.checked_sub(first)?.checked_add(1)?).ok()?;
    if places / 8 > seqs.len() {
        return None;
    }
    let mut rows = vec![FREE; places];
    for (row, seq) in (0..).zip(seqs) {
        let place = rows.get_mut(usize::try_from(seq - first).ok()?)?;
        if *place != FREE {
            return None;
        }
        *place = row;
    }
    rows.retain(|row| *row != FREE);
    Some(rows)
}

fn by_comparison(seqs: &[i64]) -> Vec<u32> {
    let mut order: Vec<(i64, u32)> = seqs.iter().copied().zip(0..).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, row)| row).collect()
}

/// A row group in memory.
struct LoadedRowGroup<R> {
    rows: R,
    order: Vec<u32>,
    next: usize,
    number: usize,
}

/// Where a reader is in a table.
pub(crate) struct TableCursor<R> {
    file: Option<ParquetFile>,
    next_group: usize,
    loaded: Option<LoadedRowGroup<R>>,
    given: u64,
}

/// What the merge needs of a table.
pub(crate) trait AnyCursor {
    /// `seq` of the next row, if there is one.
    fn peek(&mut self, symbols: &mut Symbols) -> Result<Option<i64>, StoreError>;

    /// Hands on rows as long as their `seq` is below `limit`.
    fn give_below(
        &mut self,
        limit: i64,
        node: Symbol,
        symbols: &Symbols,
        sink: &mut dyn RowSink,
    ) -> Result<(), StoreError>;

    /// Number of rows handed on.
    fn given(&self) -> u64;

    /// Reads no further.
    fn stop(&mut self);
}

impl<R: NodeRows> TableCursor<R> {
    pub(crate) fn open(part: &Part) -> Result<Self, StoreError> {
        let file = ParquetFile::open(part, R::TABLE)?;
        Ok(Self { file, next_group: 0, loaded: None, given: 0 })
    }

    /// A table that cannot be read: as if it had no rows.
    pub(crate) fn empty() -> Self {
        Self { file: None, next_group: 0, loaded: None, given: 0 }
    }

    /// Loads row groups until there is a row.
    fn load(&mut self, symbols: &mut Symbols) -> Result<(), StoreError> {
        while self.loaded.as_ref().is_none_or(|loaded| loaded.next == loaded.order.len()) {
            self.loaded = None;
            let Some(file) = self.file.as_ref().filter(|file| self.next_group < file.row_groups()) else { break };
            let number = self.next_group;
            self.next_group += 1;
            let batch = file.row_group(number, R::COLUMNS)?;
            let rows = R::open(&batch, symbols).map_err(|bad| file.bad_column(number, bad))?;
            let order = by_seq(rows.seqs());
            self.loaded = Some(LoadedRowGroup { rows, order, next: 0, number });
        }
        Ok(())
    }
}

impl<R: NodeRows> AnyCursor for TableCursor<R> {
    fn peek(&mut self, symbols: &mut Symbols) -> Result<Option<i64>, StoreError> {
        self.load(symbols)?;
        let seq = |loaded: &LoadedRowGroup<R>| loaded.rows.seqs()[loaded.order[loaded.next] as usize];
        Ok(self.loaded.as_ref().map(seq))
    }

    fn give_below(
        &mut self,
        limit: i64,
        node: Symbol,
        symbols: &Symbols,
        sink: &mut dyn RowSink,
    ) -> Result<(), StoreError> {
        let Some(LoadedRowGroup { rows, order, next, number }) = &mut self.loaded else { return Ok(()) };
        let seqs = rows.seqs();
        while let Some(&row) = order.get(*next) {
            let row = row as usize;
            if seqs[row] >= limit {
                break;
            }
            *next += 1;
            let bad = |bad| self.file.as_ref().map(|file| file.bad_column(*number, bad));
            if let Err(Some(err)) = rows.give(row, node, symbols, sink).map_err(bad) {
                return Err(err);
            }
            self.given += 1;
        }
        Ok(())
    }

    fn given(&self) -> u64 {
        self.given
    }

    fn stop(&mut self) {
        self.file = None;
        self.loaded = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_seq() {
        let near: Vec<i64> = (0..1_000).map(|n| 50 + n * 7_919 % 3_001).collect();
        assert_eq!(by_place(&near), Some(by_comparison(&near)));
        let far = [5, i64::MIN, 17, i64::MAX];
        let twice = [5, 4, 5, 3];
        for seqs in [&near[..], &far, &twice, &[9], &[]] {
            assert_eq!(by_seq(seqs), by_comparison(seqs), "{seqs:?}");
        }
        assert_eq!([by_place(&far), by_place(&twice)], [None, None]);
    }
}
