//! A server's own counters beside what the trace has of the same time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a node counted itself while it was traced, and what of it is there. Parts add up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counted {
    /// By service, as the counters name it: `ost_io`.
    pub services: BTreeMap<String, CountedRpcs>,
    /// By OST.
    pub targets: BTreeMap<String, CountedIo>,
    /// Reads and writes of OSTs that no line names: each may belong to any target of the node.
    pub unattributed: CountedIo,
}

crate::merge_fields!(Counted { services, targets, unattributed });

/// Requests of a service: `req_waittime` of its `stats`, which counts each request when a thread takes it up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CountedRpcs {
    /// By the server's counter.
    pub counted: u64,
    /// In the trace of the same time.
    pub seen: u64,
    /// In the trace, taken up while a sample at an end of that time was read: the counter may hold them or not.
    pub edge: u64,
}

crate::merge_fields!(CountedRpcs { counted, seen, edge });

/// Reads and writes of an OST: `read_bytes` and `write_bytes` of `obdfilter.*.stats`, which count RPCs that move data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CountedIo {
    /// RPCs by the server's counters.
    pub counted_rpcs: u64,
    /// Bytes of the RPCs in `counted_rpcs`.
    pub counted_bytes: u64,
    /// RPCs in the trace of the same time.
    pub seen_rpcs: u64,
    /// Their bytes, as far as they are known.
    pub seen_bytes: u64,
    /// RPCs in the trace, under way while a sample at an end of that time was read.
    pub edge_rpcs: u64,
}

crate::merge_fields!(CountedIo { counted_rpcs, counted_bytes, seen_rpcs, seen_bytes, edge_rpcs });

/// The counters that tell what is lost, as they were at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterSnapshot {
    /// Snapshots of one stretch of tracing follow on each other; between stretches nobody traced, or counted.
    pub stretch: u64,
    /// Before the first counter was read, microseconds since the epoch.
    pub begun_us: i64,
    /// After the last one was read.
    pub ended_us: i64,
    /// Requests taken up, by service. The kernel shows no counter that is 0.
    pub services: BTreeMap<String, u64>,
    /// Reads and writes: RPCs and bytes, by OST.
    pub targets: BTreeMap<String, (u64, u64)>,
}

impl Counted {
    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.services.is_empty() && self.targets.is_empty()
    }
}
