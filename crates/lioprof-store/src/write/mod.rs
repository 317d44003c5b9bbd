//! Writing.

#[cfg(test)]
mod crash_tests;
mod facts;
mod parquet_file;
mod part;
mod table_writer;
mod writer;

pub use facts::{ClosedPart, NodeInfo, Options, PartStats};
pub use writer::DatasetWriter;
