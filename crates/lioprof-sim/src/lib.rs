//! A simulated Lustre server, good enough to trust: the records that a kernel would log, and the files
//! through which one controls that log.
//!
//! Written from the kernel's printf formats and semantics, never from lioprof's parsers, so that both cannot
//! share one mistake.
#![forbid(unsafe_code)]

pub mod bits;
pub mod cluster;
pub mod counters;
pub mod kernel;
pub mod live;
pub mod record;
pub mod replay;
pub mod scenario;
pub mod scenario_log;
pub mod text;
pub mod tree;
pub mod wording;

pub use counters::Counters;
pub use record::{SimRecord, Stamp, Workload};
