//! Stages of reading alone, to measure them. They change with the program: nothing else should use them.

use std::path::Path;

use arrow_array::RecordBatch;

use crate::error::StoreError;
use crate::read::{Dataset, ParquetFile, Part};
use crate::table::lock_events::LockEventView;
use crate::table::rpcs::RpcView;
use crate::table::sent_rpcs::SentRpcView;
use crate::table::view::Rows;

/// Shows the columns that an analysis needs, as the Parquet library makes them, to `visit`, one row group after the other.
///
/// # Errors
/// If the dataset or one of its files cannot be read.
pub fn columns(dir: &Path, mut visit: impl FnMut(&RecordBatch)) -> Result<(), StoreError> {
    let dataset = Dataset::open(dir)?;
    for part in dataset.nodes().flat_map(|node| dataset.parts(node)) {
        of_table::<RpcView>(part, &mut visit)?;
        of_table::<LockEventView>(part, &mut visit)?;
        of_table::<SentRpcView>(part, &mut visit)?;
    }
    Ok(())
}

fn of_table<R: Rows>(part: &Part, visit: &mut impl FnMut(&RecordBatch)) -> Result<(), StoreError> {
    let Some(file) = ParquetFile::open(part, R::TABLE)? else { return Ok(()) };
    (0..file.row_groups()).try_for_each(|number| {
        visit(&file.row_group(number, R::COLUMNS)?);
        Ok(())
    })
}
