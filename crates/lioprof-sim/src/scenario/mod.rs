//! Named workloads: healthy ones and those that somebody should find out about.
//!
//! Each says what a tool must find in it; the true figures are in the run's [`Counters`](crate::counters::Counters).

mod base;
mod case_studies;
mod control;
mod faults;
mod healthy;
mod load;
mod locks;
mod options;
mod placement;
mod shapes;
mod size;
mod table;

pub use options::Options;
pub use size::SizeArgs;
pub use table::{Scenario, UnknownScenario};
