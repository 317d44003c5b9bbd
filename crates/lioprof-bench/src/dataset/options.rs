//! The options of a dataset of a whole site, and its errors.

use std::io;
use std::path::PathBuf;

use lioprof_store::StoreError;

/// Start time of all datasets: 2026-11-21 08:51:22 UTC.
pub(super) const START_US: i64 = 1_795_251_082_000_000;

/// Size of the dataset and of its site.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct DatasetOptions {
    /// Minimum number of RPCs; captures are replayed to their end
    #[arg(long, value_name = "N", default_value = "1000000", value_parser = clap::value_parser!(u64).range(1..))]
    pub rows: u64,

    /// Number of nodes: all are OSSs, every other one is also an MDS
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..=8192))]
    pub nodes: u32,

    /// Duration of the dataset in seconds
    #[arg(long, value_name = "S", default_value = "600", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    pub seconds: u64,

    /// Number of clients, eight per job
    #[arg(long, value_name = "N", default_value = "1000", value_parser = clap::value_parser!(u32).range(8..=10_000_000))]
    pub clients: u32,

    /// Number of OSTs per node
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u32).range(1..=8))]
    pub osts_per_node: u32,

    /// Seconds after which a node closes a part and starts another
    #[arg(long, value_name = "S", default_value = "150", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub part_seconds: u64,

    /// Seed; the same seed gives the same bytes
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: u64,

    /// Number of nodes to write at a time [default: number of CPUs]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,

    /// Directory of the captures
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/captures"))]
    pub captures: PathBuf,
}

/// Why the dataset was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// The folder is not empty, and rows must not be mixed with other files.
    #[error("`{}` is not empty; name a new directory, or empty this one", .0.display())]
    NotEmpty(PathBuf),
    /// The folder cannot be created or listed.
    #[error("failed to create directory `{}`", .0.display())]
    Folder(PathBuf, #[source] io::Error),
    /// The capture of this folder is missing.
    #[error("`{}` holds no server1/rpc.bin.zst or server2/rpc.bin.zst; name the folder of the captures with --captures", .0.display())]
    NoCapture(PathBuf),
    /// A capture cannot be read: which one, and why.
    #[error("failed to read a capture: {0}")]
    Capture(String),
    /// A part cannot be written.
    #[error("failed to write the rows of a node")]
    Store(#[from] StoreError),
}
