//! What a dataset of a whole site is to hold, and what can go wrong.

use std::io;
use std::path::PathBuf;

use lioprof_store::StoreError;

/// When all datasets begin: 2026-11-21 08:51:22 UTC.
pub(super) const START_US: i64 = 1_795_251_082_000_000;

/// How large a dataset, of how large a site.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct DatasetOptions {
    /// RPCs, at least: captures are played to their end
    #[arg(long, value_name = "N", default_value = "1000000", value_parser = clap::value_parser!(u64).range(1..))]
    pub rows: u64,

    /// Nodes: all are OSSs, every other one is an MDS, too
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..=8192))]
    pub nodes: u32,

    /// Time in which all of it happens
    #[arg(long, value_name = "S", default_value = "600", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    pub seconds: u64,

    /// Clients, eight to a job
    #[arg(long, value_name = "N", default_value = "1000", value_parser = clap::value_parser!(u32).range(8..=10_000_000))]
    pub clients: u32,

    /// OSTs of each node
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u32).range(1..=8))]
    pub osts_per_node: u32,

    /// After so long a node closes a part and begins another
    #[arg(long, value_name = "S", default_value = "150", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub part_seconds: u64,

    /// The same seed gives the same bytes
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: u64,

    /// Nodes that are written at the same time [default: the number of CPUs]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,

    /// Where the captures are
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/captures"))]
    pub captures: PathBuf,
}

/// Why there is no dataset.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// The folder holds something, and rows are not mixed with other files.
    #[error("`{}` is not empty; name a new directory, or empty this one", path.display())]
    NotEmpty {
        /// Folder.
        path: PathBuf,
    },
    /// The folder cannot be made or listed.
    #[error("failed to create directory `{}`", path.display())]
    Folder {
        /// Folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A capture is not where it should be.
    #[error("`{}` holds no server1/rpc.bin.zst or server2/rpc.bin.zst; name the folder of the captures with --captures", path.display())]
    NoCapture {
        /// Folder of the capture.
        path: PathBuf,
    },
    /// A capture cannot be read.
    #[error("failed to read a capture: {what}")]
    Capture {
        /// Which, and why.
        what: String,
    },
    /// A part cannot be written.
    #[error("failed to write the rows of a node")]
    Store(#[from] StoreError),
}
