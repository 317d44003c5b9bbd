//! One sample: a long table of figures with few columns.

use lioprof_model::CounterSnapshot;
use lioprof_params::Cost;

use super::rows::Value;

/// The node's counters at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sample {
    /// When it was begun, microseconds since the epoch.
    pub(crate) time_us: i64,
    /// All figures, in the order in which they were read.
    pub(crate) values: Vec<Value>,
    /// Reads and writes by target, client and job, complete: for the comparison with the trace.
    pub(crate) totals: CounterSnapshot,
    /// Cost of the sample.
    pub(crate) cost: Cost,
}
