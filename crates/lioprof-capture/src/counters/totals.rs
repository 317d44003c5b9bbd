//! Reads and writes by target, client and job.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::stats::Stats;

/// RPCs and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Count {
    /// RPCs: the `samples` of `read_bytes` or `write_bytes`, which count RPCs and not niobufs.
    pub rpcs: u64,
    /// Bytes: their `sum`.
    pub bytes: u64,
}

impl Count {
    pub(crate) fn add(&mut self, other: Self) {
        self.rpcs = self.rpcs.saturating_add(other.rpcs);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }

    /// What was added since `earlier`; `None` if a figure went back.
    pub(super) fn since(self, earlier: Self) -> Option<Self> {
        Some(Self { rpcs: self.rpcs.checked_sub(earlier.rpcs)?, bytes: self.bytes.checked_sub(earlier.bytes)? })
    }
}

/// Reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rw {
    /// `read_bytes`.
    pub read: Count,
    /// `write_bytes`.
    pub write: Count,
}

impl Rw {
    /// Reads and writes together.
    #[must_use]
    pub fn both(self) -> Count {
        let mut both = self.read;
        both.add(self.write);
        both
    }

    pub(super) fn add(&mut self, other: Self) {
        self.read.add(other.read);
        self.write.add(other.write);
    }

    pub(super) fn since(self, earlier: Self) -> Option<Self> {
        Some(Self { read: self.read.since(earlier.read)?, write: self.write.since(earlier.write)? })
    }

    pub(super) fn of(stats: &Stats) -> Self {
        let count = |name| {
            stats
                .get(name)
                .map_or_else(Count::default, |line| Count { rpcs: line.samples, bytes: line.sum.unwrap_or(0) })
        };
        Self { read: count("read_bytes"), write: count("write_bytes") }
    }
}

/// Counters as found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Since they were last cleared.
    pub rw: Rw,
    /// Operations of any kind, reads and writes included: how busy those are that move no data.
    pub operations: u64,
    /// When that was, if the version says so (2.15 and later): `start_time`.
    pub start_us: Option<i64>,
}

impl Reading {
    pub(super) fn of(stats: &Stats) -> Self {
        let operations = stats.lines.values().fold(0, |sum: u64, line| sum.saturating_add(line.samples));
        Self { rw: Rw::of(stats), operations, start_us: stats.start_us }
    }

    /// How busy since `earlier`, for ranking: bytes, then operations.
    pub(super) fn growth(&self, earlier: &Self) -> (u64, u64) {
        let grown = self.rw.since(earlier.rw).zip(self.operations.checked_sub(earlier.operations));
        let (rw, operations) = grown.unwrap_or((self.rw, self.operations));
        (rw.read.bytes.saturating_add(rw.write.bytes), operations)
    }
}

/// Target and NID, or target and job.
pub type Key = (Arc<str>, Arc<str>);

/// Counters of one time, before any limit on rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// When, microseconds since the epoch.
    pub time_us: i64,
    /// By OST.
    pub targets: BTreeMap<Arc<str>, Reading>,
    /// By OST and NID; `None` if clients were not read this time.
    pub clients: Option<BTreeMap<Key, Reading>>,
    /// By OST and job; `None` if jobs were not read this time.
    pub jobs: Option<BTreeMap<Key, Reading>>,
    /// OSTs with more exports than are read.
    pub clients_cut: BTreeSet<Arc<str>>,
    /// OSTs with more jobs than are read.
    pub jobs_cut: BTreeSet<Arc<str>>,
}
