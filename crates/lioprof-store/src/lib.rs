//! RPC rows, lock events, sent RPCs and counters of lioprof as Parquet files, and back; or as CSV.
//!
//! ```text
//! RowSink calls ── DatasetWriter ──> DIR/{rpcs,lock_events,sent_rpcs,counters}/fs=../node=../date=../STEM.parquet
//!                                    DIR/manifests/fs=../node=../date=../STEM.json
//! RowSink calls <── Dataset ──────── the same
//! ```
//!
//! What a reader hands on is the very sequence of calls that the writer got: every item carries a sequence number
//! (`seq`), and a reader merges the tables by it. The files themselves, column by column, and how to query them are
//! described in `docs/parquet.md`.
//!
//! # Design constraints
//!
//! * A part of a dataset is a set of files with the same stem. It exists if, and only if, its manifest does: the
//!   manifest is renamed into place last and deleted first.
//! * A writer holds at most [`Options::buffer_bytes`] of rows and about as much again for the row group that it is
//!   encoding; a reader holds one row group per table and node.
//! * A server traces 25,000 RPCs a second and the profiler may use a few percent of a core: about a microsecond a row,
//!   about twenty bytes on disk. Columns are filled directly and texts are looked up by symbol, never by hash.
#![forbid(unsafe_code)]

mod analysis_tables;
mod csv;
mod error;
mod export;
mod files;
mod find;
mod layout;
mod leftovers;
mod manifest;
mod operations;
mod plain_rows;
mod quote;
mod read;
mod retention;
mod rollup;
#[doc(hidden)]
pub mod stages;
mod table;
mod text;
mod write;

pub use analysis_tables::{ANALYSIS_TABLES, complete_analysis, write_analysis_tables};
pub use csv::{CsvRows, CsvWriter};
pub use error::StoreError;
pub use export::{DatasetExport, Exported};
pub use layout::{MANIFESTS, fs_of, is_dataset, node_folder, node_of_folder};
pub use leftovers::clean_leftovers;
pub use manifest::{
    Client, Clock, DroppedStretch, MANIFEST_SCHEMA, Manifest, ManifestFacts, Session, StoredMark, TableFile, Target,
};
pub use operations::{OPERATIONS_CLIENT, OperationClient, operations_schema, write_operations};
pub use read::{CopiedPart, Dataset, Datasets, Part};
pub use retention::{DeletedPart, Limits, Retention, retention};
pub use rollup::{
    MOST_SUMS_BYTES, ROLLUP_SCHEMA, ROLLUPS, Rollups, SECONDS, SUMS, SumsFile, SumsHeader, has_part, is_same_part,
    seconds_schema,
};
pub use table::counters::CounterSample;
pub use table::{ROWS_SCHEMA, table_schemas};
pub use write::{ClosedPart, DatasetWriter, NodeInfo, Options, PartStats};
