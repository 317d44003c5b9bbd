//! Where reads and writes spend their time: the figures behind `queue-bound`, `disk-bound` and `client-bound`.

use std::collections::BTreeMap;

use lioprof_model::{Analysis, Direction, Interval, SampledRpc, Service};

use super::load::{Ost, interval, osts, seconds, span};
use super::stats::{median, real, share};

/// The service that handles reads and writes; its threads are what a queue waits for.
const IO_SERVICE: &str = "ll_ost_io";
/// Requests of like size in the sample, for a comparison of slow and fast ones.
const FEWEST_ALIKE: usize = 20;

/// Sums over all OSTs.
pub(super) struct Bottleneck<'a> {
    pub(super) osts: Vec<Ost<'a>>,
    /// From the first to the last read or write.
    pub(super) interval: Interval,
    /// Reads and writes with times.
    pub(super) rpcs: f64,
    /// Mean time in the queue, milliseconds.
    pub(super) queue_ms: f64,
    /// Mean time in the handler, milliseconds.
    pub(super) service_ms: f64,
    /// Request-seconds in queues.
    pub(super) queue_s: f64,
    /// Share of the interval in which an OST handles at least one request, mean of the OSTs.
    pub(super) busy_share: f64,
    /// Requests in the handler of an OST while it is busy.
    pub(super) handled_at_a_time: f64,
    /// Requests in queue and handler of an OST while it is busy.
    pub(super) in_flight: f64,
    /// Median service time over that of the fastest tenth, among requests of like size on the same OST: 1 where
    /// requests do not disturb each other. `None`: too few alike.
    pub(super) stretch: Option<f64>,
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
        let sum = |get: fn(&super::load::Work) -> f64| works.iter().map(get).sum::<f64>();
        let (handling_s, queue_s, busy_s) = (sum(|w| w.handling_s), sum(|w| w.queue_s), sum(|w| w.busy_s));
        let mut times = [(0.0, 0.0), (0.0, 0.0)];
        for operation in analysis.operations.iter().filter(|operation| operation.service == IO_SERVICE) {
            for (sum, times) in times.iter_mut().zip([operation.latency.queue_us, operation.latency.service_us]) {
                sum.0 += times.mean.unwrap_or(0.0) * real(times.count) / 1000.0;
                sum.1 += real(times.count);
            }
        }
        let whole_s = seconds(interval).max(bin_s) * osts.len() as f64;
        let node = longest_queue(&osts, bin_s);
        let (threads, threads_busy) = node.map_or((None, None), |node| threads(analysis, &osts, node));
        Some(Self {
            interval,
            rpcs: times[1].1,
            queue_ms: share(times[0].0, times[0].1),
            service_ms: share(times[1].0, times[1].1),
            queue_s,
            busy_share: share(busy_s, whole_s).min(1.0),
            handled_at_a_time: share(handling_s, busy_s),
            in_flight: share(handling_s + queue_s, busy_s),
            stretch: stretch(&analysis.sample.rpcs),
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
    let sum = |bin: usize, of: fn(&Ost<'_>) -> &[f64]| -> f64 {
        own.iter().filter_map(|ost| of(ost).get(bin)).sum()
    };
    let waiting = (0..analysis.series.bins).filter(|&bin| sum(bin, |ost| &ost.series.queued) >= 1.0);
    let at_work = median(waiting.map(|bin| sum(bin, |ost| &ost.series.in_process)));
    (Some(threads), at_work.map(|at_work| share(at_work, real(threads))))
}

/// See [`Bottleneck::stretch`].
fn stretch(rpcs: &[SampledRpc]) -> Option<f64> {
    let mut alike: BTreeMap<(Option<u32>, Direction, u32), Vec<f64>> = BTreeMap::new();
    for rpc in rpcs {
        let Some(octave) = rpc.bytes.and_then(u64::checked_ilog2) else { continue };
        alike.entry((rpc.target, rpc.direction, octave)).or_default().push(rpc.end - rpc.start);
    }
    let (mut sum, mut count) = (0.0, 0.0);
    for times in alike.values_mut().filter(|times| times.len() >= FEWEST_ALIKE) {
        times.sort_by(f64::total_cmp);
        let ratio = share(times[times.len() / 2], times[times.len() / 10]);
        if ratio > 0.0 {
            sum += ratio * times.len() as f64;
            count += times.len() as f64;
        }
    }
    (count > 0.0).then_some(sum / count)
}
