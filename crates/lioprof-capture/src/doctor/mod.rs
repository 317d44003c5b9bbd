//! Can this node be traced? What is missing? The same checks for `lioprof doctor` and before the daemon starts.
//!
//! Nothing is changed: files are opened and closed, directories are looked at.

mod check;
mod lustre;
mod places;
mod preflight;
mod render;
mod spool;
mod system;

pub use check::{Check, OTHER_DAEMON, Status};
pub use preflight::{may_start, preflight, settled};
pub use render::text;
