//! An OSS, or many in one log, under reads and writes of any number of clients.
//!
//! Unlike the scenarios of `lioprof-sim` nothing is simulated that does not show in the log: no locks, no network, no
//! disk. So a hundred thousand clients cost no more than ten.

mod clients;
mod lines;
mod say;

pub use clients::{CrowdOptions, write};
pub use lines::Release;
