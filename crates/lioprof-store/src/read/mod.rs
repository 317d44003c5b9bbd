//! Reading.

mod cursor;
mod dataset;
mod parquet_file;
mod part;
mod samples;
mod snapshots;
mod source;
mod traced;

pub use dataset::{CopiedPart, Dataset, Datasets};
pub(crate) use dataset::{node_parts, part_bytes};
pub(crate) use parquet_file::ParquetFile;
pub use part::Part;
