//! Lustre's parameters of one server as files below a root directory, normally `/`.
//!
//! * [`Tree`]: the three trees in which a version may keep a parameter, and what reading has cost.
//! * [`Stats`], [`brw`]: formats of counters that both the daemon and the checks read.
//! * [`LustreVersion`], [`Target`]: what is loaded and served.
//! * [`host`]: the node's name and kernel.
//!
//! Nothing is written and nothing is started.
#![forbid(unsafe_code)]

pub mod brw;
pub mod host;
mod stats;
mod target;
mod text;
mod tree;
mod version;

pub use stats::{Counter, Stats};
pub use target::{Target, target_directories, targets_of};
pub use text::{below, read_text};
pub use tree::{Cost, Tree, base_name};
pub use version::LustreVersion;
