//! Rollups beside the rows: `DIR/rollups/seconds/NODE.parquet` for dashboards, and `DIR/rollups/sums/NODE.sums`, of which an analysis is
//! made without the rows.
//!
//! A node's rollup exists if, and only if, its sums do: they are written last and deleted first.

mod rollups;
mod sums_file;

pub use rollups::{ROLLUP_SCHEMA, ROLLUPS, Rollups, SECONDS, SUMS, has_part, is_same_part, seconds_schema};
pub use sums_file::{MOST_SUMS_BYTES, SumsFile, SumsHeader};
