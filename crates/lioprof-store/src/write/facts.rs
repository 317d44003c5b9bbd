//! Settings of a writer, and facts about its parts.

use std::path::PathBuf;

use crate::manifest::{Manifest, Session};

/// The node that a writer writes for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeInfo {
    /// File systems of its targets, see [`fs_of`](crate::fs_of).
    pub fs: String,
    /// Name of the node; every row must have the same.
    pub node: String,
    /// This run of the writer; sessions of a node are ordered by their start.
    pub session: Session,
}

lioprof_model::with_defaults! {
    /// Settings of a writer.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Options {
        /// Number of rows in a row group. More rows compress better and need more memory.
        pub row_group_rows: usize = 128 * 1024,
        /// Limit on the memory of all buffered rows, bytes; above it the largest table writes a row group early.
        pub buffer_bytes: usize = 32 << 20,
        /// Compression level of zstd.
        pub zstd_level: i32 = 1,
        /// Use only encodings that older engines know (DuckDB 1, Spark 3). Files become a few percent larger.
        pub old_readers: bool = false,
    }
}

/// Contents of the open part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartStats {
    /// Number of RPCs.
    pub rpcs: u64,
    /// Number of lock events.
    pub lock_events: u64,
    /// Number of RPCs sent and replies received.
    pub sent_rpcs: u64,
    /// Number of counter samples.
    pub counters: u64,
    /// Number of marks.
    pub marks: u64,
    /// Estimated bytes on disk once the part is closed.
    pub estimated_bytes: u64,
    /// Memory of the rows that are not yet in a row group, bytes.
    pub buffered_bytes: usize,
    /// Time of the first item, microseconds since the epoch.
    pub first_us: Option<i64>,
    /// Time of the last item, microseconds since the epoch.
    pub last_us: Option<i64>,
}

impl PartStats {
    /// Number of items in all tables.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rpcs + self.lock_events + self.sent_rpcs + self.counters + self.marks
    }
}

/// A part that is complete and safe on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedPart {
    /// Manifest of the part.
    pub manifest: Manifest,
    /// Path of the manifest.
    pub manifest_path: PathBuf,
    /// Paths of the Parquet files.
    pub files: Vec<PathBuf>,
    /// Size of all files, bytes.
    pub bytes: u64,
}
