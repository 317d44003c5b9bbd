//! One sample: a long table of figures with few columns.

use std::time::Duration;

use serde::Serialize;

use super::rows::Value;
use super::totals::Totals;

/// The cost of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Cost {
    /// Number of files opened.
    pub(crate) files: u64,
    /// Paths tried that do not exist.
    pub(crate) misses: u64,
    /// Number of directories listed.
    pub(crate) dirs: u64,
    /// Number of `read` calls.
    pub(crate) reads: u64,
    /// Bytes read from the files.
    pub(crate) bytes: u64,
    /// Duration of the sample.
    pub(crate) elapsed: Duration,
}

/// The node's counters at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sample {
    /// When it was begun, microseconds since the epoch.
    pub(crate) time_us: i64,
    /// All figures, in the order in which they were read.
    pub(crate) values: Vec<Value>,
    /// Reads and writes by target, client and job, complete: for the comparison with the trace.
    pub(crate) totals: Totals,
    /// Cost of the sample.
    pub(crate) cost: Cost,
}
