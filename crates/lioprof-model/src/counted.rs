//! A server's own counters compared with the trace of the same time.
//!
//! ```text
//! samples (CounterSnapshot) ──> Ledger <── rows        of each counter an Account: counted, inside, edge
//! ```
//!
//! The daemon fills a [`Ledger`](ledger::Ledger) while it writes rows, the analysis when it reads them.

pub mod account;
pub mod figures;
pub mod ledger;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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
