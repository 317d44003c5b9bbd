//! The capture daemon as a library.
#![forbid(unsafe_code)]

pub mod drain;
