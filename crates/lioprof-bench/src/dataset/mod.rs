//! A dataset of any size, as the daemons of a site would have written it.
//!
//! Every node plays the rows of real captures, many at once: who did what to which object, in which order, with which locks
//! taken and called back, is what real servers logged. Clients, jobs, targets, objects, locks, xids and threads are others each
//! time; service and queue times are drawn within those of the capture. Nodes come in pairs, as the servers of the captures
//! did: what one of them sends, the other one handles.

mod plan;
mod play;
mod script;
mod site;
mod threads;
mod truth;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{fs, io, thread};

use lioprof_store::StoreError;

pub use truth::{Moved, TargetTruth, Truth};

/// When all datasets begin: 2026-11-21 08:51:22 UTC.
const START_US: i64 = 1_795_251_082_000_000;

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
    #[error("`{}` is not empty; name a new directory, or delete what is in it", path.display())]
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

/// Writes a dataset into a new or empty folder; the sums over it.
///
/// # Errors
/// If captures cannot be read or rows not be written.
pub fn write(dir: &Path, options: &DatasetOptions) -> Result<Truth, DatasetError> {
    let folder = |source| DatasetError::Folder { path: dir.to_owned(), source };
    fs::create_dir_all(dir).map_err(folder)?;
    if dir.read_dir().map_err(folder)?.next().is_some() {
        return Err(DatasetError::NotEmpty { path: dir.to_owned() });
    }
    let scripts = script::read_all(&options.captures)?;
    let site = site::Site::new(options);
    let next = AtomicU32::new(0);
    let result = Mutex::new(Ok(Truth::default()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= options.nodes {
                break;
            }
            let plays = plan::plays(&site, &scripts, options, number / 2);
            let written = play::write_node(dir, &site, &scripts, &plays, options, number);
            let mut result = result.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            match (&mut *result, written) {
                (Ok(sum), Ok(truth)) => sum.merge(truth),
                (Ok(_), Err(err)) => *result = Err(err),
                (Err(_), _) => {}
            }
            if result.is_err() {
                break;
            }
        }
    };
    let threads = options.threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, Into::into));
    thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(work);
        }
    });
    Ok(result.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())?)
}
