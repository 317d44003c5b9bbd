//! What lioprof found in the trace, by the keys that the counters have.

use std::collections::BTreeMap;

use lioprof_model::{Analysis, ReadWrite, TargetKindName};
use serde::{Deserialize, Serialize};

/// Reads and writes that were on their way when a sample was taken. The counters are bumped in the middle of an RPC, so
/// they may or may not hold these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edges {
    /// RPCs in service at the first or at the last sample.
    pub rpcs: u64,
    /// The most bytes that those of known size can have moved.
    pub bytes: u64,
    /// Those of unknown size.
    #[serde(default)]
    pub unsized_rpcs: u64,
}

/// Reads and writes in the trace of one node. Data-on-MDT traffic is not in it: it has other counters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceSums {
    /// All OST reads and writes.
    pub total: ReadWrite,
    /// The part of them whose OST is unknown.
    pub unattributed: ReadWrite,
    /// By OST.
    pub targets: BTreeMap<String, ReadWrite>,
    /// By NID.
    pub clients: BTreeMap<String, ReadWrite>,
    /// By job; RPCs without a job are left out, as `job_stats` does. `None`: the version does not print jobs
    /// (to 2.12).
    pub jobs: Option<BTreeMap<String, ReadWrite>>,
    /// What may be counted on one side only.
    pub edges: Edges,
}

impl TraceSums {
    /// The sums of an analysis of one node.
    #[must_use]
    pub fn of(analysis: &Analysis, edges: Edges) -> Self {
        let totals = &analysis.totals;
        let osts = analysis.targets.iter().filter(|target| target.kind == TargetKindName::Ost);
        let targets = osts.map(|it| (it.name.clone(), both(&it.read.io, &it.write.io)));
        let clients = analysis.clients.iter().map(|it| (it.nid.clone(), both(&it.read, &it.write)));
        let named = analysis.jobs.iter().filter_map(|it| Some((it.job.clone()?, both(&it.read, &it.write))));
        let known = analysis.jobs.is_empty() || analysis.jobs.iter().any(|it| it.job.is_some());
        Self {
            total: both(&totals.read, &totals.write),
            unattributed: totals.unattributed.clone(),
            targets: targets.collect(),
            clients: clients.collect(),
            jobs: known.then(|| named.filter(|(job, _)| !job.is_empty()).collect()),
            edges,
        }
    }
}

fn both(read: &lioprof_model::Io, write: &lioprof_model::Io) -> ReadWrite {
    ReadWrite { read: read.clone(), write: write.clone() }
}
