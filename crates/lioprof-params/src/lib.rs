//! Lustre's parameters of one server as files below a root directory, normally `/`.
//!
//! * [`Tree`]: the three trees in which a version may keep a parameter, and what reading has cost.
//! * [`Stats`], [`brw`]: formats of counters that both the daemon and the checks read.
//! * [`LustreVersion`], [`Target`]: what is loaded and served.
//! * [`host`]: the node's name and kernel; [`Kmsg`]: its kernel log.
//!
//! Nothing is written and nothing is started.
#![forbid(unsafe_code)]

pub mod brw;
pub mod host;
mod kmsg;
mod stats;
mod target;
mod text;
mod tree;
mod version;

pub use kmsg::Kmsg;
pub use stats::{Counter, Stats};
pub use target::{OSDS, SERVICES, Target, entries, target_directories, targets_of};
pub use text::{below, read_text, size_bytes};
pub use tree::{Cost, Tree, base_name};
pub use version::LustreVersion;
