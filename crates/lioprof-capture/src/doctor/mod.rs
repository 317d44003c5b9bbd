//! Checks whether this node can be traced, and what is missing: for `lioprof doctor`, and before the daemon starts.
//!
//! The checks change nothing: they open and close files, and look at directories.

mod check;
mod lustre;
mod paths_and_ports;
mod preflight;
mod render;
mod spool;
mod system;

pub use check::{Check, OTHER_DAEMON, Status};
pub use preflight::{may_start, preflight, settled};
pub use render::text;
