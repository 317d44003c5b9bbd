//! Requests of the sample that should take equally long: same OST, same direction, sizes within a factor of two.

use std::collections::BTreeMap;

use lioprof_model::{Analysis, Direction, SampledRpc};

/// Fewer have no median.
const FEWEST: usize = 20;

/// A request among its like.
pub(super) struct Alike<'a> {
    pub(super) rpc: &'a SampledRpc,
    /// Its service time over the median of its like.
    pub(super) ratio: f64,
    /// That median, seconds.
    pub(super) median_s: f64,
}

/// All that have enough of their like, the fastest first.
pub(super) fn alike(analysis: &Analysis) -> Vec<Alike<'_>> {
    let mut groups: BTreeMap<(Option<u32>, Direction, u32), Vec<&SampledRpc>> = BTreeMap::new();
    for rpc in &analysis.sample.rpcs {
        let Some(octave) = rpc.bytes.and_then(u64::checked_ilog2) else { continue };
        groups.entry((rpc.target, rpc.direction, octave)).or_default().push(rpc);
    }
    let mut all = Vec::new();
    for rpcs in groups.into_values().filter(|rpcs| rpcs.len() >= FEWEST) {
        let Some(median_s) = super::stats::median(rpcs.iter().map(|rpc| rpc.end - rpc.start)) else { continue };
        if median_s > 0.0 {
            let alike = |rpc: &'_ SampledRpc| (rpc.end - rpc.start) / median_s;
            all.extend(rpcs.into_iter().map(|rpc| Alike { rpc, ratio: alike(rpc), median_s }));
        }
    }
    all.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    all
}
