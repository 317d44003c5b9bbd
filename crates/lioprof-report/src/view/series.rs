//! Over time: the sum, the OSTs that matter most in full, all OSTs as a heat map, the servers' queues.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use lioprof_model::bins::{Bins, add};
use lioprof_model::{Accused, Analysis, Direction, TargetKindName, TargetSeries};
use serde::Serialize;

use super::bins::{bins_of, edges, sums};
use super::limits::{MAX_BINS, MAX_HEAT_CELLS, MAX_LANES, MAX_SERIES_NUMBERS, MAX_TARGETS};
use super::names::NameNumbers;
use super::number::{Dense, Rough};
use crate::object::object;

/// Servers with a row of their own.
const MAX_NODES: usize = 24;

/// A target over time. An array that is not there is all zeros.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Lane {
    /// `null`: I/O whose OST is unknown (and the sum).
    target: Option<u32>,
    #[serde(skip_serializing_if = "Dense::is_zero")]
    read_bytes: Dense,
    #[serde(skip_serializing_if = "Dense::is_zero")]
    write_bytes: Dense,
    #[serde(skip_serializing_if = "Dense::is_zero")]
    read_bounded_bytes: Dense,
    #[serde(skip_serializing_if = "Dense::is_zero")]
    write_bounded_bytes: Dense,
    #[serde(skip_serializing_if = "Dense::is_zero")]
    read_rpcs: Dense,
    #[serde(skip_serializing_if = "Dense::is_zero")]
    write_rpcs: Dense,
    #[serde(skip_serializing_if = "Dense::is_zero")]
    queued: Dense,
    #[serde(skip_serializing_if = "Dense::is_zero")]
    in_process: Dense,
    /// What it can deliver, bytes per second, by a survey of the user's.
    #[serde(skip_serializing_if = "Option::is_none")]
    read_ceiling: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    write_ceiling: Option<f64>,
}

impl Lane {
    fn add(&mut self, bins: &Bins, it: &TargetSeries) {
        add(&mut self.read_bytes.0, &sums(bins, &it.read_bytes));
        add(&mut self.write_bytes.0, &sums(bins, &it.write_bytes));
        add(&mut self.read_bounded_bytes.0, &sums(bins, &it.read_bounded_bytes));
        add(&mut self.write_bounded_bytes.0, &sums(bins, &it.write_bounded_bytes));
        add(&mut self.read_rpcs.0, &sums(bins, &it.read_rpcs));
        add(&mut self.write_rpcs.0, &sums(bins, &it.write_rpcs));
        add(&mut self.queued.0, &bins.means(&it.queued));
        add(&mut self.in_process.0, &bins.means(&it.in_process));
    }
}

/// Bytes, and a little for each RPC, so that I/O of unknown size counts, too.
fn busy(it: &TargetSeries) -> u64 {
    let sum = |values: &[u64]| values.iter().fold(0_u64, |sum, value| sum.saturating_add(*value));
    sum(&it.read_bytes).saturating_add(sum(&it.write_bytes)).saturating_add(sum(&it.rpcs))
}

/// Figures per bin. Rates are made by the page: bytes by the seconds of the bin.
pub(crate) fn series<'a>(analysis: &'a Analysis, names: &mut NameNumbers<'a>) -> impl Serialize + use<'a> {
    // One row per name: a target may have been served by several nodes, and what is unknown is so on each.
    let mut by_name: BTreeMap<Option<&str>, Vec<&TargetSeries>> = BTreeMap::new();
    let with_data = |it: &&TargetSeries| it.kind == TargetKindName::Ost || busy(it) > 0;
    for it in analysis.series.targets.iter().filter(with_data) {
        by_name.entry(it.name.as_deref()).or_default().push(it);
    }
    let bins = bins_of(analysis, most_bins(by_name.len()));
    let mut total = Lane::default();
    let mut order: BTreeSet<_> = BTreeSet::new();
    let accused = Accused::targets(analysis);
    for (name, parts) in &by_name {
        parts.iter().for_each(|part| total.add(&bins, part));
        // What findings name has to be there to be seen.
        let place = name.map_or(usize::MAX, |name| accused.place(name));
        order.insert((place, Reverse(busy_of_all(parts)), *name));
    }
    let chosen: BTreeSet<Option<&str>> = order.iter().take(MAX_LANES).map(|(.., name)| *name).collect();
    let mut chosen: Vec<_> = by_name.iter().filter(|(name, _)| chosen.contains(*name)).collect();
    chosen.sort_by_key(|(name, parts)| (Reverse(busy_of_all(parts)), **name));
    let ceiling = |name: Option<&str>, direction| {
        let first = by_name.get(&name)?.first().filter(|it| name.is_some() && it.kind == TargetKindName::Ost)?;
        analysis.baseline.as_ref()?.ost_bytes_per_s(&first.node, direction)
    };
    let lanes = chosen.into_iter().map(|(name, parts)| {
        let mut lane = Lane {
            target: name.map(|name| names.target(name)),
            read_ceiling: ceiling(*name, Direction::Read),
            write_ceiling: ceiling(*name, Direction::Write),
            ..Lane::default()
        };
        parts.iter().for_each(|part| lane.add(&bins, part));
        lane
    });
    let lanes = lanes.collect::<Vec<_>>();
    let together = |direction| analysis.available(direction).map(|it| it.ceiling_bytes_per_s);
    let before = |values: fn(&TargetSeries) -> &Vec<u64>| {
        let all = by_name.values().flatten().map(|it| bins.before(values(it)));
        all.fold(0_u64, u64::saturating_add)
    };
    let node_bins = bins_of(analysis, MAX_BINS);
    let heat = (by_name.len() > MAX_LANES).then(|| heat(analysis, &by_name, names));
    object!(Series {
        edges_s: edges(&bins),
        // All targets, known or not.
        total: Lane { read_ceiling: together(Direction::Read), write_ceiling: together(Direction::Write), ..total },
        // Single targets, busiest first; those that findings name are among them.
        lanes,
        // What requests that ended in the window moved before it, read and written: in the sums, in no bin.
        before_bytes: [before(|it| &it.read_bytes), before(|it| &it.write_bytes)],
        heat,
        node_edges_s: edges(&node_bins),
        nodes: nodes(analysis, &node_bins),
        of_nodes: analysis.series.nodes.len(),
    })
}

/// Bins that rows for so many targets may have: all that there are of a day of one server, fewer of many OSTs.
fn most_bins(targets: usize) -> usize {
    /// Arrays of a [`Lane`].
    const ARRAYS: usize = 8;
    let lanes = targets.min(MAX_LANES) + 1;
    (MAX_SERIES_NUMBERS / (lanes * ARRAYS)).max(MAX_BINS)
}

/// The same of all nodes that served a target.
fn busy_of_all(parts: &[&TargetSeries]) -> u64 {
    parts.iter().fold(0, |sum, it| sum.saturating_add(busy(it)))
}

/// Bytes of all OSTs, if there are more than lanes: `targets.len()` rows of `edges_s.len() - 1` bins.
fn heat<'a>(
    analysis: &Analysis,
    by_name: &BTreeMap<Option<&'a str>, Vec<&'a TargetSeries>>,
    names: &mut NameNumbers<'a>,
) -> impl Serialize + use<> {
    let osts: Vec<_> = by_name.iter().filter_map(|(name, parts)| Some(((*name)?, parts))).take(MAX_TARGETS).collect();
    let bins = bins_of(analysis, (MAX_HEAT_CELLS / osts.len().max(1)).clamp(1, MAX_BINS));
    let (mut read, mut write) = (Vec::new(), Vec::new());
    let mut targets = Vec::new();
    for (name, parts) in osts {
        let (mut row_read, mut row_write) = (vec![0.0; bins.len()], vec![0.0; bins.len()]);
        for part in parts {
            add(&mut row_read, &sums(&bins, &part.read_bytes));
            add(&mut row_write, &sums(&bins, &part.write_bytes));
        }
        targets.push(names.target(name));
        read.extend(row_read);
        write.extend(row_write);
    }
    object!(Heat { edges_s: edges(&bins), targets, read_bytes: Rough(read), write_bytes: Rough(write) })
}

/// Servers over time, the busiest first: all their RPCs.
fn nodes<'a>(analysis: &'a Analysis, bins: &Bins) -> Vec<impl Serialize + use<'a>> {
    let mut nodes: Vec<_> = analysis.series.nodes.iter().collect();
    let load = |it: &lioprof_model::NodeSeries| it.in_flight.iter().copied().filter(|v| v.is_finite()).sum::<f64>();
    let accused = Accused::nodes(analysis);
    nodes.sort_by(|a, b| load(b).total_cmp(&load(a)).then_with(|| a.node.cmp(&b.node)));
    // What findings name has to be there to be seen.
    nodes.sort_by_key(|it| accused.place(&it.node));
    let lanes = nodes.into_iter().take(MAX_NODES).map(|it| {
        object!(NodeLane {
            node: &it.node,
            queued: Dense(bins.means(&it.queued)),
            in_process: Dense(bins.means(&it.in_process)),
            rpcs: Dense(sums(bins, &it.rpcs)),
        })
    });
    lanes.collect()
}
