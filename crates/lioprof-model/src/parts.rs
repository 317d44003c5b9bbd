//! Parts of an analysis: what rows of a node are summed up in, and its clock.
//!
//! Times are microseconds since the epoch.

pub mod clock_line;
pub mod sums;
