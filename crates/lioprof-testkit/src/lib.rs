//! What the tests of several crates share; it knows no other crate of lioprof, and only tests use it.
//!
//! * [`until`], [`eventually`]: waiting for something, instead of sleeping and hoping.
//! * [`files`]: where fixtures and documents are, what is in a folder, unpacking.
//! * [`blessed()`], [`blessed_table`]: files of the repository that tests hold to what the code does.
//! * [`same_every_way`]: sums that may be merged in any order and grouping.
//! * [`sshd`]: OpenSSH servers with keys of their own.
//! * [`prometheus`]: a real Prometheus.
//! * [`fuzz`]: random numbers by seed, and damage to logs made with them.
//!
//! All of it panics where something is wrong, and names what.

pub mod files;
pub mod fuzz;
pub mod prometheus;
pub mod sshd;

mod blessed;
mod merge;
mod wait;

pub use blessed::{blessed, blessed_table};
pub use merge::same_every_way;
pub use wait::{Patience, eventually, until};
