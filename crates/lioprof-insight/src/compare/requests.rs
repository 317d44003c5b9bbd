//! Total times of single reads and writes, where an analysis has all of them.

use std::collections::BTreeMap;

use lioprof_model::{Analysis, Direction, SampledRpc, TargetKindName};

/// Reads and writes of OSTs, of a capture that is small enough to keep each.
#[derive(Debug, Default)]
pub(super) struct Requests<'a> {
    /// By direction (reads first) and name of the OST (empty: unknown); in the order of their ends.
    by_target: [BTreeMap<&'a str, Vec<&'a SampledRpc>>; 2],
}

impl<'a> Requests<'a> {
    pub(super) fn of(analysis: &'a Analysis) -> Self {
        let mut it = Self::default();
        if analysis.sample.one_in != 1 {
            return it;
        }
        for rpc in &analysis.sample.rpcs {
            let target = rpc.target.and_then(|at| analysis.targets.get(at as usize));
            if target.is_some_and(|target| target.kind != TargetKindName::Ost) {
                continue;
            }
            let name = target.map_or("", |target| target.name.as_str());
            it.by_target[rpc.direction as usize].entry(name).or_default().push(rpc);
        }
        it
    }

    /// Total times in the order in which they ended, microseconds: of one OST, or of all. `None` if these are not the `count` that the
    /// analysis knows the times of.
    pub(super) fn all(&self, direction: Direction, target: Option<&str>, count: u64) -> Option<Vec<f64>> {
        let by_target = &self.by_target[direction as usize];
        let mut rpcs: Vec<&SampledRpc> = match target {
            Some(name) => by_target.get(name)?.clone(),
            None => by_target.values().flatten().copied().collect(),
        };
        if rpcs.is_empty() || rpcs.len() as u64 != count {
            return None;
        }
        rpcs.sort_by(|a, b| a.end.total_cmp(&b.end));
        Some(rpcs.iter().map(|rpc| ((rpc.end - rpc.arrival) * 1e6).round().max(0.0)).collect())
    }
}
