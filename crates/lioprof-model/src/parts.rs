//! Parts of an analysis: tables whose rows add up.
//!
//! An [`crate::Analysis`] of a thousand servers cannot be made by one process that reads all their rows. Its figures can be
//! taken apart into tables, each row a key and values that are sums, smallest or largest ones. Rows of the same key add
//! up, in whatever order and by whatever engine; from all of them together the analysis is made.
//!
//! * [`of_rows`]: what a `GROUP BY` over the rows of a dataset gives.
//! * [`rollup`]: what needs the order of events, and was summed up per node by whoever could read its rows in order.
//!
//! Texts are names as the analysis prints them. Times are microseconds since the epoch.

pub mod of_rows;
pub mod rollup;

use serde::{Deserialize, Serialize};

use crate::io::Io;

/// Reads or writes, as [`Io`] counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoSums {
    /// RPCs handled.
    pub rpcs: u64,
    /// RPCs that failed.
    pub errors: u64,
    /// Best estimate of the bytes.
    pub bytes: u64,
    /// Lower bound.
    pub bytes_min: u64,
    /// Upper bound.
    pub bytes_max: u64,
    /// RPCs of exact size.
    pub exact_rpcs: u64,
    /// RPCs of bounded size.
    pub bounded_rpcs: u64,
    /// RPCs of unknown size.
    pub unsized_rpcs: u64,
}

impl From<IoSums> for Io {
    fn from(sums: IoSums) -> Self {
        let IoSums { rpcs, errors, bytes, bytes_min, bytes_max, exact_rpcs, bounded_rpcs, unsized_rpcs } = sums;
        Self { rpcs, errors, bytes, bytes_min, bytes_max, exact_rpcs, bounded_rpcs, unsized_rpcs }
    }
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
