//! What the kernel's counters show, and how much of that is in a trace.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

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

/// What a node counted itself while it was traced, and how much of that is in the trace. Parts add up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counted {
    /// Requests by service, as the counters name it (`ost_io`).
    pub services: BTreeMap<String, CountedRpcs>,
    /// Reads and writes by OST.
    pub targets: BTreeMap<String, CountedIo>,
    /// Reads and writes whose OST no log line names: each may belong to any OST of the node.
    pub unattributed: CountedIo,
}

crate::merge_fields!(Counted { services, targets, unattributed });

/// Requests of a service: `req_waittime` of its `stats`, which counts each request when a thread takes it up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CountedRpcs {
    /// Number of requests by the server's counter.
    pub counted: u64,
    /// Number of requests in the trace of the same time.
    pub seen: u64,
    /// Number of traced requests taken up while the first or last sample was read: the counter may include them or not.
    pub edge: u64,
}

crate::merge_fields!(CountedRpcs { counted, seen, edge });

/// Reads and writes of an OST: `read_bytes` and `write_bytes` of `obdfilter.*.stats`, which count RPCs that move data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CountedIo {
    /// Number of RPCs by the server's counters.
    pub counted_rpcs: u64,
    /// Bytes of the RPCs in `counted_rpcs`.
    pub counted_bytes: u64,
    /// Number of RPCs in the trace of the same time.
    pub seen_rpcs: u64,
    /// Bytes of the RPCs in `seen_rpcs`, as far as their sizes are known.
    pub seen_bytes: u64,
    /// Number of traced RPCs under way while the first or last sample was read: the counters may include them or not.
    pub edge_rpcs: u64,
}

crate::merge_fields!(CountedIo { counted_rpcs, counted_bytes, seen_rpcs, seen_bytes, edge_rpcs });

impl Counted {
    /// Whether there are no counters of services or targets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.services.is_empty() && self.targets.is_empty()
    }
}
