//! How many reads and writes took how long, over time.

use std::collections::BTreeMap;

use lioprof_model::bins::Bins;
use lioprof_model::{Analysis, Heatmap};
use serde::Serialize;

use super::bins::{bins_of, edges};
use super::limits::MAX_LATENCY_BINS;
use crate::object::object;

pub(crate) fn heat(analysis: &Analysis) -> Vec<impl Serialize + use<>> {
    let bins = bins_of(analysis, MAX_LATENCY_BINS);
    analysis.series.latency.iter().filter_map(|it| of(&bins, it)).collect()
}

/// One direction.
fn of(bins: &Bins, it: &Heatmap) -> Option<impl Serialize + use<>> {
    let known = |bucket: u32| (bucket as usize) < it.edges_us.len();
    let used = it.cells.iter().filter(|cell| known(cell.1)).map(|cell| cell.1 as usize);
    let (first, last) = (used.clone().min()?, used.max()?);
    let mut cells: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for &(bin, bucket, rpcs) in it.cells.iter().filter(|cell| known(cell.1)) {
        *cells.entry((bins.merged(bin as usize), bucket as usize - first)).or_default() += rpcs;
    }
    Some(object!(Heat {
        direction: it.direction,
        edges_s: edges(bins),
        // Lower edges of the buckets that are used, and the end of the last one, unless it is open.
        edges_us: it.edges_us[first..(last + 2).min(it.edges_us.len())].to_vec(),
        // Bin, bucket, RPCs.
        cells: cells.into_iter().map(|((bin, bucket), rpcs)| (bin, bucket, rpcs)).collect::<Vec<_>>(),
    }))
}
