//! Figures over time: bins are joined until there are few enough. Sums stay exact, means are means of the joined bins, and of bytes the
//! largest single bin is kept.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::locks::{LockSeries, Locks, LocksOverTime};
use crate::series::{FlowSeries, Heatmap, NodeSeries, Series, TargetPeaks, TargetSeries};

/// Numbers in the series of targets, nodes and locks together, ten bytes of JSON each at most on average.
const NUMBERS: usize = 2_000_000;
/// Numbers in the series of flows; flows beyond are added to the others of their target.
const FLOW_NUMBERS: usize = 500_000;
/// Cells of the latency heat maps.
const CELLS: usize = 300_000;
/// Numbers of each bin: fields of [`TargetSeries`], [`NodeSeries`], [`LockSeries`].
const OF_TARGET: usize = 12;
const OF_NODE: usize = 6;
const OF_LOCKS: usize = 5;

/// The series, and the locks with theirs, whose bins are the same.
pub(super) fn bounded(series: &Series, locks: Option<&Locks>) -> (Series, Option<Locks>) {
    let of_locks = locks.map_or(0, |locks| locks.series.targets.len());
    let per_bin = series.targets.len() * OF_TARGET + series.nodes.len() * OF_NODE + of_locks * OF_LOCKS;
    let mut factor = (per_bin * series.bins).div_ceil(NUMBERS).max(1);
    while factor < series.bins && cells(series, factor) > CELLS {
        factor *= 2;
    }
    let join = Join(factor);
    let bins = series.bins.div_ceil(factor);
    let flows = few_flows(&series.flows, bins, join);
    // What is joined already has its peaks.
    let (joined, peaks) = match factor {
        1 => (series.joined, series.peaks.clone()),
        _ => (factor as u64 * series.joined.max(1), series.targets.iter().map(|it| join.peaks(it)).collect()),
    };
    let joined = Series {
        bin_s: series.bin_s * factor as f64,
        start: series.start,
        bins,
        joined,
        targets: series.targets.iter().map(|it| join.target(it)).collect(),
        nodes: series.nodes.iter().map(|it| join.node(it)).collect(),
        flows,
        latency: series.latency.iter().map(|it| join.heatmap(it)).collect(),
        peaks,
    };
    let locks = locks.map(|locks| Locks {
        series: LocksOverTime { targets: locks.series.targets.iter().map(|it| join.locks(it)).collect() },
        ..locks.clone()
    });
    (joined, locks)
}

/// Cells of the heat maps with so many bins joined.
fn cells(series: &Series, factor: usize) -> usize {
    let of = |map: &Heatmap| {
        map.cells.iter().map(|(bin, row, _)| (*bin as usize / factor, *row)).collect::<BTreeSet<_>>().len()
    };
    series.latency.iter().map(of).sum()
}

/// The largest flows with joined bins; the others are added to the row without a NID of their target.
fn few_flows(flows: &[FlowSeries], bins: usize, join: Join) -> Vec<FlowSeries> {
    let most = FLOW_NUMBERS / (2 * bins.max(1));
    let rpcs =
        |it: &FlowSeries| it.read_rpcs.iter().chain(&it.write_rpcs).fold(0_u64, |sum, rpcs| sum.saturating_add(*rpcs));
    let mut order: Vec<usize> = (0..flows.len()).filter(|&index| flows[index].nid.is_some()).collect();
    order.sort_by_key(|&index| (Reverse(rpcs(&flows[index])), index));
    let beyond: BTreeSet<usize> = order.into_iter().skip(most).collect();
    let mut kept = Vec::new();
    let mut others: BTreeMap<(Option<String>, String), FlowSeries> = BTreeMap::new();
    for (index, flow) in flows.iter().enumerate() {
        let flow = join.flow(flow);
        if flow.nid.is_some() && !beyond.contains(&index) {
            kept.push(flow);
            continue;
        }
        match others.get_mut(&(flow.target.clone(), flow.node.clone())) {
            Some(sum) => {
                add(&mut sum.read_rpcs, &flow.read_rpcs);
                add(&mut sum.write_rpcs, &flow.write_rpcs);
            }
            None => {
                others.insert((flow.target.clone(), flow.node.clone()), FlowSeries { nid: None, ..flow });
            }
        }
    }
    kept.extend(others.into_values());
    kept.sort_by(|a, b| (&a.target, &a.node, &a.nid).cmp(&(&b.target, &b.node, &b.nid)));
    kept
}

fn add(sum: &mut Vec<u64>, more: &[u64]) {
    sum.resize(sum.len().max(more.len()), 0);
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum = sum.saturating_add(*more);
    }
}

/// How a row of a series is joined: what its fields become.
macro_rules! joins {
    ($($join:ident($row:ident) -> $joined:ident {
        clone: $($name:ident)*, sums: $($sum:ident)*, largest: $($largest:ident)*, means: $($mean:ident)*,
        means over RPCs: $($over:ident)*
    })+) => {
        impl Join {
            $(fn $join(self, it: &$row) -> $joined {
                $joined {
                    $($name: it.$name.clone(),)*
                    $($sum: self.sums(&it.$sum),)*
                    $($largest: self.largest(&it.$largest),)*
                    $($mean: self.means(&it.$mean),)*
                    $($over: self.means_over(&it.$over, &it.rpcs),)*
                }
            })+
        }
    };
}

joins! {
    target(TargetSeries) -> TargetSeries {
        clone: name node kind,
        sums: read_bytes write_bytes read_bounded_bytes write_bounded_bytes read_rpcs write_rpcs rpcs arrived,
        largest:, means: queued in_process in_flight, means over RPCs: mean_total_us
    }
    peaks(TargetSeries) -> TargetPeaks {
        clone: name node, sums:, largest: read_bytes write_bytes, means:, means over RPCs:
    }
    node(NodeSeries) -> NodeSeries {
        clone: node, sums: rpcs arrived, largest:, means: queued in_process in_flight, means over RPCs: mean_total_us
    }
    flow(FlowSeries) -> FlowSeries {
        clone: nid target node, sums: read_rpcs write_rpcs, largest:, means:, means over RPCs:
    }
    locks(LockSeries) -> LockSeries {
        clone: target node, sums: conflicts true_conflicts expansion_conflicts blocking_asts,
        largest:, means: waiting, means over RPCs:
    }
}

/// So many bins become one.
#[derive(Clone, Copy)]
struct Join(usize);

impl Join {
    fn sums(self, values: &[u64]) -> Vec<u64> {
        values.chunks(self.0).map(|bins| bins.iter().fold(0_u64, |sum, value| sum.saturating_add(*value))).collect()
    }

    fn largest(self, values: &[u64]) -> Vec<u64> {
        values.chunks(self.0).map(|bins| bins.iter().copied().max().unwrap_or(0)).collect()
    }

    fn means(self, values: &[f64]) -> Vec<f64> {
        values.chunks(self.0).map(|bins| bins.iter().sum::<f64>() / bins.len() as f64).collect()
    }

    /// Means over RPCs, of which each bin has `rpcs`.
    fn means_over(self, values: &[Option<f64>], rpcs: &[u64]) -> Vec<Option<f64>> {
        let bins = values.chunks(self.0).zip(rpcs.chunks(self.0));
        let mean = |(values, rpcs): (&[Option<f64>], &[u64])| {
            let known = || values.iter().zip(rpcs).filter_map(|(value, rpcs)| value.map(|value| (value, *rpcs as f64)));
            let weight: f64 = known().map(|(_, rpcs)| rpcs).sum();
            (weight > 0.0).then(|| known().map(|(value, rpcs)| value * rpcs).sum::<f64>() / weight)
        };
        bins.map(mean).collect()
    }

    fn heatmap(self, it: &Heatmap) -> Heatmap {
        let mut cells: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for &(bin, row, rpcs) in &it.cells {
            let joined = u32::try_from(bin as usize / self.0).unwrap_or(u32::MAX);
            *cells.entry((joined, row)).or_default() += rpcs;
        }
        Heatmap {
            direction: it.direction,
            edges_us: it.edges_us.clone(),
            cells: cells.into_iter().map(|((bin, row), rpcs)| (bin, row, rpcs)).collect(),
        }
    }
}
