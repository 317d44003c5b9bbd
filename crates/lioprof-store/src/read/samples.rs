//! The samples of the servers' counters that are kept beside rows.

use lioprof_model::Symbols;

use super::cursor;
use super::parquet_file::ParquetFile;
use super::part::Part;
use crate::error::StoreError;
use crate::table::counters::{CounterSample, CounterView};
use crate::table::view::Rows;

/// Hands on the counter samples of a part, in the order in which they were written.
pub(super) fn counters(part: &Part, to: &mut impl FnMut(&CounterSample<'_>)) -> Result<(), StoreError> {
    let Some(file) = ParquetFile::open(part, CounterView::TABLE)? else { return Ok(()) };
    for row_group in 0..file.row_groups() {
        let batch = file.row_group(row_group, CounterView::COLUMNS)?;
        let view = CounterView::open(&batch, &mut Symbols::default()).map_err(|bad| file.bad_column(row_group, bad))?;
        for at in cursor::by_seq(view.seqs()) {
            to(&view.row(at as usize));
        }
    }
    Ok(())
}
