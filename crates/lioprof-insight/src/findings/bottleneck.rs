//! Where reads and writes spend their time: the figures behind `queue-bound`, `disk-bound` and `client-bound`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::RangeInclusive;

use lioprof_model::{Analysis, Interval, NodeSeries, SampledRpc, Service, TargetSeries};
use lioprof_stats::{Ratio, covered};

use super::alike::{Alike, alike};
use super::load::{Ost, Work, interval, osts, seconds, span};
use super::stats::{median, real, share};
use super::waits::IO_SERVICE;

/// OSTs that are idle so often, as the inverse of the share of time in which they are not, could deliver more in any case.
const OFTEN_IDLE: f64 = 1.5;
/// More than this is said to be this.
const MOST_HEADROOM: f64 = 100.0;
/// Requests of each kind, at least: fewer have no middle that single ones do not move.
const FEWEST: usize = 5;
/// Requests at a time up to which none holds another up.
const ALONE: f64 = 1.2;
/// Requests that leave so much room hardly hold each other up.
pub(super) const HARDLY_HELD_UP: f64 = 1.5;
/// Pieces of time by which it is told how sure a ratio is.
const PIECES: usize = 16;

/// Sums over all OSTs.
pub(super) struct Bottleneck<'a> {
    pub(super) osts: Vec<Ost<'a>>,
    /// From the first to the last read or write.
    pub(super) interval: Interval,
    /// Mean time in the queue, milliseconds.
    pub(super) queue_ms: f64,
    /// Mean time in the handler, milliseconds.
    pub(super) service_ms: f64,
    /// Request-seconds in queues.
    pub(super) queue_s: f64,
    /// Share of the interval in which an OST handles at least one request, mean of the OSTs.
    pub(super) busy_share: f64,
    /// The same of the OST with most, and of the one with least.
    pub(super) busiest_share: f64,
    pub(super) least_busy_share: f64,
    /// Requests in the handler of an OST while it is busy.
    pub(super) handled_at_a_time: f64,
    /// Requests in queue and handler of an OST while it is busy.
    pub(super) in_flight: f64,
    /// How many times as much the OSTs could deliver, by how much requests that are handled at the same time hold each
    /// other up, and by how long OSTs have nothing to do. `None`: the number at a time was always the same.
    pub(super) headroom: Option<f64>,
    /// Requests in queue and handler at a time, of one client on one OST while it has any: where they are most. `None`: not all requests
    /// are in the sample.
    pub(super) most_per_connection: Option<f64>,
    /// Share of the I/O threads at work while requests wait, of the node with the longest queue.
    pub(super) threads_busy: Option<f64>,
    /// I/O threads of that node that were seen.
    pub(super) threads: Option<u64>,
    /// That node.
    pub(super) node: Option<&'a str>,
}

impl<'a> Bottleneck<'a> {
    /// `None`: no reads or writes.
    pub(super) fn of(analysis: &'a Analysis) -> Option<Self> {
        let osts = osts(analysis);
        let bins = span(&osts)?;
        let interval = interval(analysis, bins);
        let bin_s = analysis.series.bin_s;
        let works: Vec<_> = osts.iter().map(|ost| ost.work(bin_s, bins.0..=bins.1)).collect();
        let sum = |get: fn(&Work) -> f64| works.iter().map(get).sum::<f64>();
        let (handling_s, queue_s, busy_s) = (sum(|w| w.handling_s), sum(|w| w.queue_s), sum(|w| w.busy_s));
        let mut times = [(0.0, 0.0), (0.0, 0.0)];
        for operation in analysis.operations.iter().filter(|operation| operation.service == IO_SERVICE) {
            for (sum, times) in times.iter_mut().zip([operation.latency.queue_us, operation.latency.service_us]) {
                sum.0 += times.mean.unwrap_or(0.0) * real(times.count) / 1000.0;
                sum.1 += real(times.count);
            }
        }
        let whole_s = seconds(interval).max(bin_s) * osts.len() as f64;
        let busy_share = share(busy_s, whole_s).min(1.0);
        let shares = || works.iter().map(|work| share(work.busy_s, seconds(interval).max(bin_s)).min(1.0));
        let headroom = headroom(analysis, &osts, bins);
        let node = longest_queue(&osts, bin_s);
        let (threads, threads_busy) = node.map_or((None, None), |node| threads(analysis, &osts, node));
        Some(Self {
            interval,
            queue_ms: share(times[0].0, times[0].1),
            service_ms: share(times[1].0, times[1].1),
            queue_s,
            busy_share,
            busiest_share: shares().max_by(f64::total_cmp).unwrap_or(0.0),
            least_busy_share: shares().min_by(f64::total_cmp).unwrap_or(0.0),
            handled_at_a_time: share(handling_s, busy_s),
            in_flight: share(handling_s + queue_s, sum(|w| w.in_flight_s)),
            headroom,
            most_per_connection: most_per_connection(analysis),
            threads_busy,
            threads,
            node,
            osts,
        })
    }
}

fn longest_queue<'a>(osts: &[Ost<'a>], bin_s: f64) -> Option<&'a str> {
    let mut queues: BTreeMap<&str, f64> = BTreeMap::new();
    for ost in osts {
        *queues.entry(ost.node).or_default() += ost.work(bin_s, 0..ost.series.queued.len()).queue_s;
    }
    queues.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(node, _)| node)
}

/// I/O threads of a node, and the share of them at work while requests wait.
fn threads(analysis: &Analysis, osts: &[Ost<'_>], node: &str) -> (Option<u64>, Option<f64>) {
    let io = |service: &&Service| service.node == node && service.service == IO_SERVICE;
    let Some(threads) = analysis.services.iter().find(io).map(|service| service.threads) else { return (None, None) };
    let own: Vec<&Ost<'_>> = osts.iter().filter(|ost| ost.node == node).collect();
    let sum = |bin: usize, of: fn(&TargetSeries) -> &[f64]| -> f64 {
        own.iter().filter_map(|ost| of(ost.series).get(bin)).sum()
    };
    let waiting = (0..analysis.series.bins).filter(|&bin| sum(bin, |series| &series.queued) >= 1.0);
    let at_work = median(waiting.map(|bin| sum(bin, |series| &series.in_process)));
    (Some(threads), at_work.map(|at_work| share(at_work, real(threads))))
}

/// See [`Bottleneck::headroom`].
fn headroom(analysis: &Analysis, osts: &[Ost<'_>], bins: (usize, usize)) -> Option<f64> {
    // An OST that has nothing to do while requests for it wait could deliver more in any case.
    let mut waiting = Work::default();
    let mut waiting_bins = 0.0;
    for ost in osts {
        let waits = |bin: &usize| ost.series.queued.get(*bin).is_some_and(|queued| *queued >= 1.0);
        waiting.add(&ost.work(analysis.series.bin_s, (bins.0..=bins.1).filter(waits)));
        waiting_bins += (bins.0..=bins.1).filter(waits).count() as f64;
    }
    let idle = share(waiting_bins * analysis.series.bin_s, waiting.busy_s);
    by_overlap(analysis, osts, bins).map(|headroom| headroom.max(idle)).or_else(|| (idle >= OFTEN_IDLE).then_some(idle))
}

/// Requests at a time, and how long each takes then.
#[derive(Clone, Copy)]
struct Point {
    number: f64,
    time: f64,
}

/// How long requests take among few, among the usual number, and among many.
struct Overlap {
    few: Option<Point>,
    usual: Point,
    many: Option<Point>,
}

impl Overlap {
    /// A request takes a time of its own and, for each that is handled with it, the time that the disk is busy with
    /// that one. If only the latter were left, the disk would be at its limit. `None`: the number hardly ever changed.
    fn headroom(&self) -> Option<f64> {
        let slope = |a: Point, b: Point| {
            let more = b.number - a.number;
            (more >= 0.3 * a.number.max(1.0)).then(|| (b.time - a.time) / more)
        };
        // Where a disk works on several at a time, the first ones hold each other up less.
        let slopes =
            [self.few.and_then(|few| slope(few, self.usual)), self.many.and_then(|many| slope(self.usual, many))];
        let per_request = slopes.into_iter().flatten().max_by(f64::total_cmp)?;
        let busy = per_request * self.usual.number;
        Some(if busy > 0.0 { (self.usual.time / busy).clamp(1.0, MOST_HEADROOM) } else { MOST_HEADROOM })
    }
}

/// Of the middle OST. With a sample, others that were handled at the same time are missing from it: then the time
/// bins have to do.
fn by_overlap(analysis: &Analysis, osts: &[Ost<'_>], bins: (usize, usize)) -> Option<f64> {
    let overlaps: Vec<Option<Overlap>> = if analysis.sample.one_in == 1 {
        by_request(analysis)
    } else {
        osts.iter().map(|ost| by_bin(ost, analysis.series.bin_s, bins)).collect()
    };
    median(overlaps.into_iter().flatten().filter_map(|overlap| overlap.headroom()))
}

/// Requests that began among few others are held against their like, per OST.
fn by_request(analysis: &Analysis) -> Vec<Option<Overlap>> {
    let mut by_target: BTreeMap<Option<u32>, Vec<Alike<'_>>> = BTreeMap::new();
    for alike in alike(analysis) {
        by_target.entry(alike.rpc.target).or_default().push(alike);
    }
    by_target.into_values().map(among).collect()
}

fn among(mut rpcs: Vec<Alike<'_>>) -> Option<Overlap> {
    rpcs.sort_by(|a, b| a.rpc.start.total_cmp(&b.rpc.start).then(a.rpc.end.total_cmp(&b.rpc.end)));
    let mut ends = BinaryHeap::new();
    let mut points = Vec::with_capacity(rpcs.len());
    for alike in &rpcs {
        while ends.peek().is_some_and(|Reverse(bits)| f64::from_bits(*bits) <= alike.rpc.start) {
            ends.pop();
        }
        // Times are positive: their bits are in the order of their values.
        ends.push(Reverse(alike.rpc.end.to_bits()));
        points.push(Point { number: ends.len() as f64, time: alike.ratio });
    }
    let usual = median(points.iter().map(|point| point.number))?;
    let middle = |range: RangeInclusive<f64>| {
        let within: Vec<&Point> = points.iter().filter(|point| range.contains(&point.number)).collect();
        let median = |of: fn(&Point) -> f64| median(within.iter().map(|point| of(point)));
        (within.len() >= FEWEST)
            .then_some(Point { number: median(|point| point.number)?, time: median(|point| point.time)? })
    };
    let [few, usual, many] = ranges(usual).map(middle);
    Some(Overlap { few, usual: usual?, many })
}

/// What few, the usual number and many are.
fn ranges(usual: f64) -> [RangeInclusive<f64>; 3] {
    [0.5..=(0.4 * usual).max(1.0), 0.8 * usual..=1.25 * usual, 1.5 * usual..=f64::INFINITY]
}

/// Bytes are spread over the time in which their request is handled, so request-seconds per byte of a bin are how long a
/// single request takes in it.
fn by_bin(ost: &Ost<'_>, bin_s: f64, bins: (usize, usize)) -> Option<Overlap> {
    let series = ost.series;
    let number = |bin: usize| series.in_process.get(bin).copied().unwrap_or(0.0);
    let bytes = |bin: usize| ost.work(bin_s, std::iter::once(bin)).bytes;
    overlap_of_bins(bins.0..=bins.1, number, bytes)
}

/// From how many requests are handled in each bin, and how much is done in it, requests or bytes.
fn overlap_of_bins(
    bins: RangeInclusive<usize>,
    number: impl Fn(usize) -> f64,
    done: impl Fn(usize) -> f64,
) -> Option<Overlap> {
    let usual = usual_number(bins.clone().map(&number))?;
    let all_done: f64 = bins.clone().map(&done).sum();
    let sum = |range: RangeInclusive<f64>| {
        let within = || bins.clone().filter(|&bin| range.contains(&number(bin)));
        let [done, handled, weighted] = within()
            .fold([0.0; 3], |sum, bin| [sum[0] + done(bin), sum[1] + number(bin), sum[2] + number(bin).powi(2)]);
        // A trace of evidence is none.
        (done > 0.001 * all_done).then(|| Point { number: share(weighted, handled), time: share(handled, done) })
    };
    let [few, usual, many] = ranges(usual).map(sum);
    Some(Overlap { few, usual: usual?, many })
}

/// Whether requests of a node take about as long among many as among few: then their time is the work that was asked for. `None`: there
/// were always as many.
pub(super) fn as_long_as_alone(node: &NodeSeries) -> Option<bool> {
    let number = |bin: usize| node.in_process.get(bin).copied().unwrap_or(0.0);
    let rpcs = |bin: usize| real(node.rpcs.get(bin).copied().unwrap_or(0));
    let bins = 0..=node.rpcs.len().checked_sub(1)?;
    // With one at a time there is nobody to hold up.
    if usual_number(bins.clone().map(number))? <= ALONE {
        return Some(true);
    }
    Some(overlap_of_bins(bins, number, rpcs)?.headroom()? >= HARDLY_HELD_UP)
}

/// The number at a time that the middle one of the request-seconds saw.
fn usual_number(in_process: impl Iterator<Item = f64>) -> Option<f64> {
    let mut numbers: Vec<f64> = in_process.filter(|number| *number > 0.0).collect();
    numbers.sort_by(f64::total_cmp);
    let half = numbers.iter().sum::<f64>() / 2.0;
    let mut sum = 0.0;
    numbers.into_iter().find(|number| {
        sum += number;
        sum >= half
    })
}

/// See [`Bottleneck::most_per_connection`].
fn most_per_connection(analysis: &Analysis) -> Option<f64> {
    // With a sample, nobody knows when there was none.
    if analysis.sample.one_in > 1 {
        return None;
    }
    let mut connections: BTreeMap<(u32, u32), Vec<(f64, f64)>> = BTreeMap::new();
    for rpc in &analysis.sample.rpcs {
        let Some(target) = rpc.target else { continue };
        connections.entry((rpc.client, target)).or_default().push((rpc.arrival, rpc.end));
    }
    let number = |spans: Vec<(f64, f64)>| {
        let request_s: f64 = spans.iter().map(|(arrival, end)| end - arrival).sum();
        let any_s = covered(spans);
        (any_s > 0.0).then(|| request_s / any_s)
    };
    connections.into_values().filter_map(number).max_by(f64::total_cmp)
}

/// What the mean time in the queue over the mean service time may be; `None`: there are too few requests to say it.
pub(super) fn queue_over_service(analysis: &Analysis) -> Option<lioprof_stats::Interval> {
    let mut rpcs: Vec<&SampledRpc> = analysis.sample.rpcs.iter().filter(|rpc| rpc.target.is_some()).collect();
    rpcs.sort_by(|a, b| a.arrival.total_cmp(&b.arrival).then(a.end.total_cmp(&b.end)));
    let sum = |piece: &[&SampledRpc], of: fn(&SampledRpc) -> f64| piece.iter().map(|rpc| of(rpc)).sum::<f64>();
    let pieces: Vec<(f64, f64)> = rpcs
        .chunks(rpcs.len().div_ceil(PIECES).max(1))
        .map(|piece| (sum(piece, |rpc| rpc.start - rpc.arrival), sum(piece, |rpc| rpc.end - rpc.start)))
        .collect();
    Ratio::of(&pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlap(few: Option<(f64, f64)>, usual: (f64, f64), many: Option<(f64, f64)>) -> Option<f64> {
        let point = |(number, time)| Point { number, time };
        Overlap { few: few.map(point), usual: point(usual), many: many.map(point) }.headroom()
    }

    #[test]
    fn headroom_is_what_requests_leave_each_other() {
        // One after the other: eight take eight times as long as one. The disk is at its limit.
        assert_eq!(overlap(Some((1.0, 1.0)), (8.0, 8.0), None), Some(1.0));
        // 3 ms of latency, half a millisecond of transfer: 2 at a time could be 7 times as many.
        assert_eq!(overlap(None, (1.0, 3.5), Some((2.0, 4.0))), Some(7.0));
        // They do not disturb each other at all.
        assert_eq!(overlap(Some((1.0, 3.0)), (8.0, 3.0), None), Some(MOST_HEADROOM));
        // The first three are served at once, the others one after the other.
        assert_eq!(overlap(Some((1.0, 1.5)), (4.0, 2.0), Some((8.0, 4.0))), Some(1.0));
        // Always the same number.
        assert_eq!(overlap(None, (8.0, 8.0), Some((8.5, 8.0))), None);
    }
}
