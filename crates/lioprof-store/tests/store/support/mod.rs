//! Rows for tests: any, and like those of real servers.

pub(crate) mod random;
pub(crate) mod recorder;
pub(crate) mod traffic;
