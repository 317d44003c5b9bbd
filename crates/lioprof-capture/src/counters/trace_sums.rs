//! What lioprof found in the trace, by the keys that the counters have.

use std::collections::BTreeMap;

use lioprof_model::ReadWrite;
use serde::{Deserialize, Serialize};

/// Reads and writes that were on their way when a sample was taken. The counters are bumped in the middle of an RPC, so
/// they may or may not hold these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Edges {
    /// RPCs in service at the first or at the last sample.
    pub(crate) rpcs: u64,
    /// The most bytes that those of known size can have moved.
    pub(crate) bytes: u64,
    /// Those of unknown size.
    #[serde(default)]
    pub(crate) unsized_rpcs: u64,
}

/// Reads and writes in the trace of one node. Data-on-MDT traffic is not in it: it has other counters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TraceSums {
    /// All OST reads and writes.
    pub(crate) total: ReadWrite,
    /// The part of them whose OST is unknown.
    pub(crate) unattributed: ReadWrite,
    /// Sums of each OST, by its name.
    pub(crate) targets: BTreeMap<String, ReadWrite>,
    /// Sums of each client, by its NID.
    pub(crate) clients: BTreeMap<String, ReadWrite>,
    /// By job; RPCs without a job are left out, as `job_stats` does. `None`: the version does not print jobs
    /// (to 2.12).
    pub(crate) jobs: Option<BTreeMap<String, ReadWrite>>,
    /// What may be counted on one side only.
    pub(crate) edges: Edges,
}
