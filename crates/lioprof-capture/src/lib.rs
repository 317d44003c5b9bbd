//! The capture daemon as a library.
#![forbid(unsafe_code)]

pub mod budget;
pub mod counters;
pub mod talk;
