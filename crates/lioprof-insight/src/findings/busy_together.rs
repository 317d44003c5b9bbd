//! What OSTs did while others were busy, too.

use super::load::{Ost, Work, span};
use super::stats::{Ordered, share};

/// Bins that are looked at together: in fewer requests, the beginning and the end of each would matter.
const INTERVALS: usize = 24;

/// What each OST did in each interval: `None` where it had nothing to do.
pub(super) fn by_interval(osts: &[Ost<'_>], bin_s: f64) -> Vec<Vec<Option<Work>>> {
    let Some((first, last)) = span(osts) else { return Vec::new() };
    let wide = (last - first + 1).div_ceil(INTERVALS);
    let starts = || (first..=last).step_by(wide);
    let work = |ost: &Ost<'_>, start: usize| {
        let bins = start..(start + wide).min(last + 1);
        let busy = bins.clone().any(|bin| ost.is_busy(bin));
        busy.then(|| ost.work(bin_s, bins))
    };
    osts.iter().map(|ost| starts().map(|start| work(ost, start)).collect()).collect()
}

/// What each OST did, and the figures to compare by, in order, of those that did anything.
pub(super) struct AllWorks {
    pub(super) works: Vec<Work>,
    pub(super) per_rpc: Ordered,
    pub(super) per_byte: Ordered,
    pub(super) rate: Ordered,
}

/// Service time per request.
pub(super) fn per_rpc(work: &Work) -> f64 {
    share(work.handling_s, work.rpcs)
}

/// Service time per byte.
pub(super) fn per_byte(work: &Work) -> f64 {
    share(work.handling_s, work.bytes)
}

/// Bytes per busy second.
pub(super) fn rate(work: &Work) -> f64 {
    share(work.bytes, work.busy_s)
}

impl AllWorks {
    pub(super) fn of(works: Vec<Work>) -> Self {
        let ordered = |figure: fn(&Work) -> f64| Ordered::of(works.iter().filter(|work| work.rpcs > 0.0).map(figure));
        let (per_rpc, per_byte, rate) = (ordered(per_rpc), ordered(per_byte), ordered(rate));
        Self { works, per_rpc, per_byte, rate }
    }

    /// How many OSTs other than these did anything, and the median of a figure of those.
    pub(super) fn others(&self, than: &[usize], ordered: &Ordered, figure: fn(&Work) -> f64) -> Option<(usize, f64)> {
        let own = than.iter().map(|&ost| &self.works[ost]).filter(|work| work.rpcs > 0.0).map(figure);
        let own: Vec<f64> = own.collect();
        let count = ordered.len() - own.len();
        Some((count, ordered.median_without(own)?))
    }
}

/// What each OST did in each interval, and the sums over the intervals last asked for: most OSTs are compared over the same
/// ones.
pub(super) struct Works {
    by_interval: Vec<Vec<Option<Work>>>,
    /// How many OSTs were busy in each interval.
    busy: Vec<usize>,
    intervals: Vec<usize>,
    sums: AllWorks,
}

impl Works {
    pub(super) fn new(by_interval: Vec<Vec<Option<Work>>>) -> Self {
        let intervals = by_interval.first().map_or(0, Vec::len);
        let busy = |interval: usize| by_interval.iter().filter(|works| works[interval].is_some()).count();
        let busy = (0..intervals).map(busy).collect();
        Self { by_interval, busy, intervals: Vec::new(), sums: AllWorks::of(Vec::new()) }
    }

    /// What each OST did in the intervals in which this one and at least half of the others, those not on its side, were busy: with fewer,
    /// they are no measure.
    pub(super) fn in_common(&mut self, ost: usize, side: &[usize]) -> &AllWorks {
        let works = &self.by_interval;
        let others = works.len() - side.len();
        let common = |&interval: &usize| {
            let busy = self.busy[interval] - side.iter().filter(|&&own| works[own][interval].is_some()).count();
            works[ost][interval].is_some() && 2 * busy >= others
        };
        let intervals: Vec<usize> = (0..works[ost].len()).filter(common).collect();
        if self.sums.works.is_empty() || self.intervals != intervals {
            self.sums = AllWorks::of(works.iter().map(|work| sum(work, &intervals)).collect());
            self.intervals = intervals;
        }
        &self.sums
    }
}

fn sum(works: &[Option<Work>], intervals: &[usize]) -> Work {
    let mut sum = Work::default();
    intervals.iter().filter_map(|&interval| works[interval].as_ref()).for_each(|work| sum.add(work));
    sum
}
