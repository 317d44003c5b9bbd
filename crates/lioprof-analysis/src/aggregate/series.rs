//! Figures per time bin.

use lioprof_model::parts::sums::{FlowCell, LockCell, SeriesCell};
use lioprof_model::{Direction, RpcRow, RpcSize, Symbol, Symbols};
use lustre_debuglog::TargetName;
use rustc_hash::FxHashMap;

use super::entries::TargetKey;
use crate::cells::{BinClock, Bins, quarter_octave};
use crate::few::beyond_first;
use crate::locks::{Contention, Overlap};
use crate::renumber::renumber_fields;
use lioprof_model::Merge;
use serde::{Deserialize, Serialize};

/// Flows with a series of their own; beyond twice as many, those with fewest RPCs join their target's others.
const MAX_FLOWS: usize = 512;
/// Bins of all these flows: of a day in bins of a few seconds fewer flows have a series of their own.
const MAX_FLOW_BINS: usize = 2 * MAX_FLOWS * 600;

/// A flow over time and its sum.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FlowBins {
    pub(crate) rpcs: u64,
    pub(crate) bins: Bins<FlowCell>,
}

lioprof_model::merge_fields!(FlowBins { rpcs, bins });

/// All series, with a common clock.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SeriesBins {
    pub(crate) clock: BinClock,
    pub(crate) targets: FxHashMap<TargetKey, Bins<SeriesCell>>,
    pub(crate) nodes: FxHashMap<Symbol, Bins<SeriesCell>>,
    /// By client (`None`: the others) and target.
    pub(crate) flows: FxHashMap<(Option<Symbol>, TargetKey), FlowBins>,
    /// How many of them are a target's others: there is no limit to these but the number of targets.
    others: usize,
    /// RPCs by direction and quarter of an octave of their total time.
    pub(crate) latency: FxHashMap<(Direction, u32), Bins<u64>>,
    pub(crate) locks: FxHashMap<(Symbol, TargetName), Bins<LockCell>>,
}

renumber_fields!(SeriesBins {} keys { targets, nodes, flows, locks } without { clock, others, latency });

impl SeriesBins {
    pub(crate) fn new(bin_us: Option<i64>) -> Self {
        Self { clock: BinClock::new(bin_us), ..Self::default() }
    }

    pub(crate) fn add(&mut self, row: &RpcRow, key: TargetKey, direction: Option<Direction>, symbols: &Symbols) {
        let arrival_us = clipped(row.arrival_us().unwrap_or(row.end_us), row.end_us);
        for time_us in [arrival_us, row.end_us] {
            if let Some(factor) = self.clock.cover(time_us) {
                self.join(factor);
            }
        }
        let placed = Placed::new(&self.clock, row);
        add_row(&self.clock, self.nodes.entry(row.node).or_default(), row, &placed, direction);
        let Some(direction) = direction else { return };
        add_row(&self.clock, self.targets.entry(key).or_default(), row, &placed, Some(direction));
        let bin = placed.bin;
        if let Some(us) = row.total_us {
            *self.latency.entry((direction, quarter_octave(us))).or_default().at(bin) += 1;
        }
        let flow = self.flows.entry((Some(row.nid), key)).or_default();
        flow.rpcs += 1;
        let cell = flow.bins.at(bin);
        match direction {
            Direction::Read => cell.read_rpcs += 1,
            Direction::Write => cell.write_rpcs += 1,
        }
        self.keep_few_flows(symbols);
    }

    /// Adds what happened to a target's locks.
    pub(crate) fn lock(&mut self, node: Symbol, time_us: i64, target: TargetName, contention: Contention) {
        for us in [contention.start_us(time_us), time_us] {
            if let Some(factor) = self.clock.cover(us) {
                self.join(factor);
            }
        }
        add_contention(&self.clock, self.locks.entry((node, target)).or_default(), time_us, contention);
    }

    /// Whether all bins are those of the clock: others could ask for any amount of memory when they are merged.
    ///
    /// # Errors
    /// What was expected.
    pub(super) fn check(&self) -> Result<(), String> {
        let span = self.clock.span();
        let are_few = self.clock.is_sound()
            && self.targets.values().chain(self.nodes.values()).all(|bins| bins.are_within(span))
            && self.flows.values().all(|flow| flow.bins.are_within(span))
            && self.locks.values().all(|bins| bins.are_within(span))
            && self.latency.values().all(|bins| bins.are_within(span));
        are_few.then_some(()).ok_or_else(|| "expected bins of the time that the sums are of".to_owned())
    }

    /// Joins `factor` bins into one, everywhere.
    fn join(&mut self, factor: i64) {
        if factor == 1 {
            return;
        }
        self.targets.values_mut().chain(self.nodes.values_mut()).for_each(|bins| bins.join(factor));
        self.flows.values_mut().for_each(|flow| flow.bins.join(factor));
        self.locks.values_mut().for_each(|bins| bins.join(factor));
        self.latency.values_mut().for_each(|bins| bins.join(factor));
    }

    fn keep_flows(&mut self, symbols: &Symbols) {
        let mut order: Vec<(u64, (Option<Symbol>, TargetKey))> =
            self.flows.iter().filter(|((nid, _), _)| nid.is_some()).map(|(key, flow)| (flow.rpcs, *key)).collect();
        // By name, not by symbol: the numbers of symbols are an accident of the input's order.
        let name = |key: &(Option<Symbol>, TargetKey)| {
            (key.0.map(|nid| symbols.bytes(nid)), symbols.bytes(key.1.node), key.1.kind, key.1.name)
        };
        let most = self.most_flows();
        for (_, key) in beyond_first(&mut order, most, |a, b| b.0.cmp(&a.0).then_with(|| name(&a.1).cmp(&name(&b.1)))) {
            if let Some(flow) = self.flows.remove(key) {
                self.flows.entry((None, key.1)).or_default().merge(&flow);
            }
        }
        self.count_others();
    }

    fn most_flows(&self) -> usize {
        (MAX_FLOW_BINS / self.clock.span().1.max(1)).clamp(1, MAX_FLOWS)
    }

    fn count_others(&mut self) {
        self.others = self.flows.keys().filter(|(nid, _)| nid.is_none()).count();
    }

    /// Gives what was collected for one target to another.
    pub(crate) fn rename(&mut self, from: TargetKey, to: TargetKey) {
        if let Some(bins) = self.targets.remove(&from) {
            self.targets.entry(to).or_default().merge(&bins);
        }
        let flows: Vec<_> = self.flows.keys().copied().filter(|(_, key)| *key == from).collect();
        for key in flows {
            if let Some(flow) = self.flows.remove(&key) {
                self.flows.entry((key.0, to)).or_default().merge(&flow);
            }
        }
    }

    pub(crate) fn merge(&mut self, mut other: Self, symbols: &Symbols) {
        let (mine, theirs) = self.clock.unite(&other.clock);
        self.join(mine);
        other.join(theirs);
        self.targets.merge(&other.targets);
        self.nodes.merge(&other.nodes);
        self.flows.merge(&other.flows);
        self.locks.merge(&other.locks);
        self.latency.merge(&other.latency);
        self.limit_flows(symbols);
    }

    /// Sees to it that there are not too many flows.
    pub(super) fn limit_flows(&mut self, symbols: &Symbols) {
        self.count_others();
        self.keep_few_flows(symbols);
    }

    fn keep_few_flows(&mut self, symbols: &Symbols) {
        if self.flows.len() >= self.others + 2 * self.most_flows() {
            self.keep_flows(symbols);
        }
    }
}

/// An RPC on the common clock.
pub(super) struct Placed {
    arrival_us: i64,
    start_us: i64,
    end_us: i64,
    /// Whether arrival and start are known; what is not is the end.
    timed: bool,
    /// The bin of its end.
    bin: i64,
    /// All of it lies in that bin.
    one_bin: bool,
}

impl Placed {
    pub(super) fn new(clock: &BinClock, row: &RpcRow) -> Self {
        let end_us = row.end_us;
        let (arrival_us, start_us) = (row.arrival_us(), row.start_us());
        let timed = arrival_us.is_some() && start_us.is_some();
        let [arrival_us, start_us] = [arrival_us, start_us].map(|us| clipped(us.unwrap_or(end_us), end_us));
        let bin = clock.bin(end_us);
        let one_bin = arrival_us.min(start_us) >= bin * clock.width_us();
        Self { arrival_us, start_us, end_us, timed, bin, one_bin }
    }
}

impl Contention {
    /// When it began.
    pub(super) fn start_us(self, time_us: i64) -> i64 {
        match self {
            Self::Wait { wait_us, .. } => clipped(time_us - wait_us, time_us),
            _ => time_us,
        }
    }
}

/// Adds what happened to a target's locks to its bins, which cover it.
pub(super) fn add_contention(clock: &BinClock, bins: &mut Bins<LockCell>, time_us: i64, contention: Contention) {
    let cell = bins.at(clock.bin(time_us));
    match contention {
        Contention::Conflict { overlap, .. } => {
            cell.conflicts += 1;
            cell.true_conflicts += u64::from(overlap == Overlap::True);
            cell.expansion_conflicts += u64::from(overlap == Overlap::Expansion);
        }
        Contention::BlockingAst => cell.blocking_asts += 1,
        Contention::Wait { .. } => {
            spread(clock, bins, contention.start_us(time_us), time_us, |cell, us| cell.waiting_us += us);
        }
    }
}

pub(super) fn add_row(
    clock: &BinClock,
    bins: &mut Bins<SeriesCell>,
    row: &RpcRow,
    placed: &Placed,
    direction: Option<Direction>,
) {
    let Placed { arrival_us, start_us, end_us, timed, bin, one_bin } = *placed;
    if timed && !one_bin {
        bins.at(clock.bin(arrival_us)).arrived += 1;
        spread(clock, bins, arrival_us, start_us, |cell, us| cell.queued_us += us);
        spread(clock, bins, start_us, end_us, |cell, us| cell.process_us += us);
    }
    let cell = bins.at(bin);
    if timed && one_bin {
        cell.arrived += 1;
        cell.queued_us += u64::try_from(start_us - arrival_us).unwrap_or(0);
        cell.process_us += u64::try_from(end_us - start_us).unwrap_or(0);
    }
    cell.rpcs += 1;
    if let Some(us) = row.total_us {
        cell.total_us += us;
        cell.timed += 1;
    }
    let Some(direction) = direction else { return };
    match direction {
        Direction::Read => cell.read_rpcs += 1,
        Direction::Write => cell.write_rpcs += 1,
    }
    let (bytes, bounded) = match row.size {
        RpcSize::Exact(bytes) => (bytes, false),
        RpcSize::Bounded { best, .. } => (best, true),
        RpcSize::Unknown => return,
    };
    let add = |cell: &mut SeriesCell, bytes| {
        let (all, uncertain) = match direction {
            Direction::Read => (&mut cell.read_bytes, &mut cell.read_bounded_bytes),
            Direction::Write => (&mut cell.write_bytes, &mut cell.write_bounded_bytes),
        };
        *all += bytes;
        *uncertain += if bounded { bytes } else { 0 };
    };
    if one_bin {
        add(cell, bytes);
    } else {
        // Data move while the request is handled. What is not known better is spread evenly; sums stay exact.
        spread_bytes(clock, bins, start_us, end_us, bytes, add);
    }
}

/// Divides bytes among the bins of `[from, to]` in proportion to the time in each; the last one gets the rest.
fn spread_bytes(
    clock: &BinClock,
    bins: &mut Bins<SeriesCell>,
    from: i64,
    to: i64,
    bytes: u64,
    mut add: impl FnMut(&mut SeriesCell, u64),
) {
    let total = u128::try_from(to - from).unwrap_or(0);
    let (mut at, mut given) = (from, 0u64);
    while clock.bin(at) < clock.bin(to) {
        at = (clock.bin(at) + 1) * clock.width_us();
        let so_far = u128::from(bytes) * u128::try_from(at - from).unwrap_or(0) / total;
        let share = u64::try_from(so_far).unwrap_or(bytes) - given;
        add(bins.at(clock.bin(at - 1)), share);
        given += share;
    }
    add(bins.at(clock.bin(to)), bytes - given);
}

/// A time not more than an hour before the end of its RPC: what is longer comes from a clock that
/// stepped, and would stretch every series.
pub(super) fn clipped(time_us: i64, end_us: i64) -> i64 {
    const LONGEST_US: i64 = 3_600_000_000;
    time_us.max(end_us - LONGEST_US)
}

/// Adds to each bin the time that `[from, to)` spends in it.
fn spread<T: Merge + Clone + Default>(
    clock: &BinClock,
    bins: &mut Bins<T>,
    from: i64,
    to: i64,
    mut add: impl FnMut(&mut T, u64),
) {
    let width = clock.width_us();
    let mut at = from;
    while at < to {
        let bin = clock.bin(at);
        let end = ((bin + 1) * width).min(to);
        add(bins.at(bin), u64::try_from(end - at).unwrap_or(0));
        at = end;
    }
}
