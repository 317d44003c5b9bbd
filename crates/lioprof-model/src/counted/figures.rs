//! What the kernel's counters show.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use crate::io::ReadWrite;
use crate::merge::Merge;

/// A counter as a sample found it. It goes up until it is cleared, or vanishes with what it is about.
pub trait Counter: Copy + Debug + Default {
    /// What it counts.
    type Figure: Copy + Debug + Default + PartialEq + Merge;

    /// What it has counted since it was last cleared.
    fn figure(&self) -> Self::Figure;

    /// What it has counted since `earlier`; `None` if it was cleared meanwhile.
    fn since(&self, earlier: &Self) -> Option<Self::Figure>;

    /// When it began to count, microseconds since the epoch, if the version says so.
    fn start_us(&self) -> Option<i64> {
        None
    }
}

impl Counter for u64 {
    type Figure = Self;

    fn figure(&self) -> Self {
        *self
    }

    fn since(&self, earlier: &Self) -> Option<Self> {
        self.checked_sub(*earlier)
    }
}

/// RPCs and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count {
    /// RPCs: the `samples` of `read_bytes` or `write_bytes`, which count RPCs and not niobufs.
    pub rpcs: u64,
    /// Bytes: their `sum`.
    pub bytes: u64,
}

crate::merge_fields!(Count { rpcs, bytes });

impl Count {
    fn since(self, earlier: Self) -> Option<Self> {
        Some(Self { rpcs: self.rpcs.checked_sub(earlier.rpcs)?, bytes: self.bytes.checked_sub(earlier.bytes)? })
    }
}

/// Counters of a target's, a client's or a job's reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Since they were last cleared.
    pub rw: ReadWrite<Count>,
    /// Operations of any kind, reads and writes included: how busy those are that move no data.
    pub operations: u64,
    /// When that was, microseconds since the epoch, if the version says so (2.15 and later): `start_time`.
    pub start_us: Option<i64>,
}

impl Counter for Reading {
    type Figure = ReadWrite<Count>;

    fn figure(&self) -> ReadWrite<Count> {
        self.rw
    }

    fn since(&self, earlier: &Self) -> Option<ReadWrite<Count>> {
        let (now, then) = (self.rw, earlier.rw);
        let is_same = earlier.start_us.is_none_or(|start_us| self.start_us == Some(start_us));
        is_same.then_some(ReadWrite { read: now.read.since(then.read)?, write: now.write.since(then.write)? })
    }

    fn start_us(&self) -> Option<i64> {
        self.start_us
    }
}

/// When a sample was taken: counters are read one after the other, while they move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleTime {
    /// Before the first was read, microseconds since the epoch.
    pub begun_us: i64,
    /// After the last was read.
    pub ended_us: i64,
}

/// Target and NID, or target and job.
pub type OfTarget = (Arc<str>, Arc<str>);

/// One sample of the counters that show how much is lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterSnapshot {
    /// Number of the interval of tracing: snapshots with the same number follow each other without a break in the trace or its rows.
    pub stretch: u64,
    /// When the counters were read.
    pub at: SampleTime,
    /// Number of requests taken up, by service. The kernel shows no counter that is 0.
    pub services: BTreeMap<Arc<str>, u64>,
    /// Counters of each OST, by its name.
    pub targets: BTreeMap<Arc<str>, Reading>,
    /// By OST and NID; `None` if clients were not read this time.
    pub clients: Option<BTreeMap<OfTarget, Reading>>,
    /// By OST and job; `None` if jobs were not read this time.
    pub jobs: Option<BTreeMap<OfTarget, Reading>>,
    /// An OST has more exports than are read.
    pub clients_cut: bool,
    /// An OST has more jobs than are read.
    pub jobs_cut: bool,
}
