//! What is known of a part besides its rows.

use std::path::PathBuf;

use crate::manifest::{Manifest, Session};

/// Which node a writer writes for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeInfo {
    /// File systems of its targets, see [`fs_of`](crate::fs_of).
    pub fs: String,
    /// Name of the node; that of every row.
    pub node: String,
    /// This run of the writer. Its start puts it into order with others of the node.
    pub session: Session,
}

/// How a writer writes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Rows of a row group. More pack better and hold more memory.
    pub row_group_rows: usize,
    /// Memory of all rows gathered; above it the largest table writes a row group early.
    pub buffer_bytes: usize,
    /// Level of zstd.
    pub zstd_level: i32,
    /// Only encodings that older engines know, too (DuckDB 1, Spark 3). Files are some percent larger.
    pub old_readers: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { row_group_rows: 128 * 1024, buffer_bytes: 32 << 20, zstd_level: 1, old_readers: false }
    }
}

/// What the open part holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartStats {
    /// RPCs.
    pub rpcs: u64,
    /// Lock events.
    pub lock_events: u64,
    /// Sent RPCs and answers.
    pub sent_rpcs: u64,
    /// Counter samples.
    pub counters: u64,
    /// Marks.
    pub marks: u64,
    /// Bytes on disk once it is closed, estimated.
    pub estimated_bytes: u64,
    /// Memory of rows that are not in a row group yet.
    pub buffered_bytes: usize,
    /// Time of the first item, microseconds since the epoch.
    pub first_us: Option<i64>,
    /// Time of the last one.
    pub last_us: Option<i64>,
}

impl PartStats {
    /// Items of all tables.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rpcs + self.lock_events + self.sent_rpcs + self.counters + self.marks
    }
}

/// A part that is complete and safe on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedPart {
    /// Its manifest.
    pub manifest: Manifest,
    /// The manifest's file.
    pub manifest_path: PathBuf,
    /// The Parquet files.
    pub files: Vec<PathBuf>,
    /// Bytes of all files.
    pub bytes: u64,
}
