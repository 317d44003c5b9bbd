//! Parts of an analysis: tables whose rows add up.
//!
//! An [`crate::Analysis`] of a thousand servers cannot be made by one process that reads all their rows. Its figures can be
//! taken apart into tables, each row a key and values that are sums, smallest or largest ones. Rows of the same key add
//! up, in whatever order and by whatever engine; from all of them together the analysis is made.
//!
//! * [`of_rows`]: what a `GROUP BY` over the rows of a dataset gives.
//! * [`rollup`]: what needs the order of events, and was summed up per node by whoever could read its rows in order.
//!
//! What adds up is in [`sums`]: the same types that rows are summed up in, so that a table's row is a key and such a sum.
//!
//! Texts are names as the analysis prints them. Times are microseconds since the epoch.

pub mod clock_line;
pub mod of_rows;
pub mod rollup;
pub mod sums;

use serde::{Deserialize, Serialize};

/// A row: what it is of, and what adds up. In a table the columns of both stand side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keyed<K, S> {
    /// What it is of.
    pub key: K,
    /// What adds up.
    pub sums: S,
}

/// A bucket of a distribution of times.
///
/// `sum_us` and `max_us` are of all values together: each row may have its own share, or one of them everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// Number of the bucket, see [`crate::latency`].
    pub bucket: u16,
    /// Values in it.
    pub count: u64,
    /// Sum.
    pub sum_us: u64,
    /// Largest value.
    pub max_us: u64,
}
