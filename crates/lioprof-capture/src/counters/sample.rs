//! One sample: a long table of figures with few columns.

use std::time::Duration;

use serde::Serialize;

use super::rows::Value;
use super::totals::Totals;

/// The cost of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Files opened.
    pub files: u64,
    /// Paths tried that do not exist.
    pub misses: u64,
    /// Directories listed.
    pub dirs: u64,
    /// `read` calls.
    pub reads: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Duration of the sample.
    pub elapsed: Duration,
}

/// The node's counters at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// When it was begun, microseconds since the epoch.
    pub time_us: i64,
    /// All figures.
    pub values: Vec<Value>,
    /// Reads and writes by target, client and job, complete: for the comparison with the trace.
    pub totals: Totals,
    /// Cost of the sample.
    pub cost: Cost,
}
