//! Rows as something to read, or for other programs.

mod csv;
mod json;
mod parquet;
mod sink;
mod table;
mod write;

pub(crate) use write::write;
pub use write::{Format, Written};
