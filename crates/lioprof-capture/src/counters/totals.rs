//! Reads and writes by target, client and job.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lioprof_model::ReadWrite;
use lioprof_params::Stats;
use serde::{Deserialize, Serialize};

/// RPCs and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Count {
    /// RPCs: the `samples` of `read_bytes` or `write_bytes`, which count RPCs and not niobufs.
    pub(crate) rpcs: u64,
    /// Bytes: their `sum`.
    pub(crate) bytes: u64,
}

lioprof_model::merge_fields!(Count { rpcs, bytes });

impl Count {
    /// What was added since `earlier`; `None` if a figure went back.
    pub(super) fn since(self, earlier: Self) -> Option<Self> {
        Some(Self { rpcs: self.rpcs.checked_sub(earlier.rpcs)?, bytes: self.bytes.checked_sub(earlier.bytes)? })
    }
}

/// What was added since `earlier`; `None` if a figure went back.
pub(super) fn since(now: ReadWrite<Count>, earlier: ReadWrite<Count>) -> Option<ReadWrite<Count>> {
    Some(ReadWrite { read: now.read.since(earlier.read)?, write: now.write.since(earlier.write)? })
}

fn read_write(stats: &Stats) -> ReadWrite<Count> {
    let count = |name| {
        stats.get(name).map_or_else(Count::default, |line| Count { rpcs: line.samples, bytes: line.sum.unwrap_or(0) })
    };
    ReadWrite { read: count("read_bytes"), write: count("write_bytes") }
}

/// Counters as found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Since they were last cleared.
    pub(crate) rw: ReadWrite<Count>,
    /// Operations of any kind, reads and writes included: how busy those are that move no data.
    pub(crate) operations: u64,
    /// When that was, if the version says so (2.15 and later): `start_time`.
    pub(crate) start_us: Option<i64>,
}

impl Reading {
    pub(super) fn of(stats: &Stats) -> Self {
        let operations = stats.lines.values().fold(0, |sum: u64, line| sum.saturating_add(line.samples));
        Self { rw: read_write(stats), operations, start_us: stats.start_us }
    }

    /// How busy since `earlier`, for ranking: bytes, then operations.
    pub(super) fn growth(&self, earlier: &Self) -> (u64, u64) {
        let grown = since(self.rw, earlier.rw).zip(self.operations.checked_sub(earlier.operations));
        let (rw, operations) = grown.unwrap_or((self.rw, self.operations));
        (rw.read.bytes.saturating_add(rw.write.bytes), operations)
    }
}

/// Target and NID, or target and job.
pub(crate) type Key = (Arc<str>, Arc<str>);

/// Counters of one time, before any limit on rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// When, microseconds since the epoch.
    pub(crate) time_us: i64,
    /// Counters of each OST, by its name.
    pub(crate) targets: BTreeMap<Arc<str>, Reading>,
    /// By OST and NID; `None` if clients were not read this time.
    pub(crate) clients: Option<BTreeMap<Key, Reading>>,
    /// By OST and job; `None` if jobs were not read this time.
    pub(crate) jobs: Option<BTreeMap<Key, Reading>>,
    /// OSTs with more exports than are read.
    pub(crate) clients_cut: BTreeSet<Arc<str>>,
    /// OSTs with more jobs than are read.
    pub(crate) jobs_cut: BTreeSet<Arc<str>>,
}
