//! From the kernel's file to rows on disk.
//!
//! ```text
//! kernel ── writes ──> spool ── rename ──> queue ── worker ──> LiveTrace ──> rows ──> parts on disk
//!                                            └─ too much waits: the oldest segments are given up, and counted
//! ```

mod errands;
mod keep;
mod queue;
mod raw;
mod spool;
mod sums;
mod worker;

use std::io;
use std::path::PathBuf;

pub(crate) use keep::{GivenUp, Keep, PartFacts, PartSize, Traced, WhyGivenUp, WrittenPart};
pub(crate) use queue::{Job, Queue};
pub(crate) use raw::RawKeep;
pub(crate) use raw::raw_retention;
pub use spool::LeftLog;
pub(crate) use spool::SegmentFile;
pub(crate) use spool::{Spool, leftovers, remove_left_out, session_name, session_of};
pub(crate) use sums::{SharedSums, Summed};
pub(crate) use worker::{PartLimits, Progress, Worker};

/// What can go wrong between the kernel's file and rows on disk.
#[derive(Debug, thiserror::Error)]
pub enum DrainError {
    /// A thread could not be started.
    #[error("failed to start the decoding thread: {0}")]
    Thread(#[source] io::Error),
    /// A segment could not be read.
    #[error("failed to read segment `{path}`: {source}; its records are lost")]
    Segment { path: PathBuf, source: io::Error },
    /// A segment could not be deleted.
    #[error("failed to delete segment `{path}`: {source}; delete it by hand, or the folder fills up")]
    Delete { path: PathBuf, source: io::Error },
    /// A copy of a segment could not be written.
    #[error("failed to keep a copy of a segment as `{path}`: {source}; it stays in the spool and is tried again")]
    Raw { path: PathBuf, source: io::Error },
    /// A part could not be written.
    #[error("{0}; the segments that it was made of are kept until it can")]
    Part(String),
}

#[cfg(test)]
mod tests;
