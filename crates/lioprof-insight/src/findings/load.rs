//! What OSTs did over time and clients asked for, as several rules need it.

use lioprof_model::{Analysis, Client, Direction, Interval, TargetKindName, TargetSeries};

use super::stats::{real, share};

/// Requests below this, on average over a bin, are no work: a request that only touches the bin.
const IDLE: f64 = 0.02;

/// One OST over time.
pub(super) struct Ost<'a> {
    pub(super) name: &'a str,
    pub(super) node: &'a str,
    pub(super) series: &'a TargetSeries,
}

/// Sums over some bins of an OST.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    /// Reads and writes ended.
    pub(super) rpcs: f64,
    /// Bytes moved.
    pub(super) bytes: f64,
    /// Request-seconds in the handler.
    pub(super) handling_s: f64,
    /// Request-seconds in the queue.
    pub(super) queue_s: f64,
    /// Seconds in which a request was being handled, at least.
    pub(super) busy_s: f64,
    /// Seconds in which a request was in the queue or handled, at least.
    pub(super) in_flight_s: f64,
}

impl Work {
    pub(super) fn add(&mut self, other: &Self) {
        self.rpcs += other.rpcs;
        self.bytes += other.bytes;
        self.handling_s += other.handling_s;
        self.queue_s += other.queue_s;
        self.busy_s += other.busy_s;
        self.in_flight_s += other.in_flight_s;
    }
}

impl Ost<'_> {
    /// What it did in these bins.
    pub(super) fn work(&self, bin_s: f64, bins: impl Iterator<Item = usize>) -> Work {
        let series = self.series;
        let mut work = Work::default();
        for bin in bins {
            let in_process = series.in_process.get(bin).copied().unwrap_or(0.0);
            work.rpcs += real(series.rpcs.get(bin).copied().unwrap_or(0));
            work.bytes += real(bytes(series, bin));
            work.handling_s += in_process * bin_s;
            work.queue_s += series.queued.get(bin).copied().unwrap_or(0.0) * bin_s;
            work.busy_s += in_process.min(1.0) * bin_s;
            work.in_flight_s += series.in_flight.get(bin).copied().unwrap_or(0.0).min(1.0) * bin_s;
        }
        work
    }

    /// Whether it had something to do in a bin.
    pub(super) fn is_busy(&self, bin: usize) -> bool {
        self.series.in_flight.get(bin).copied().unwrap_or(0.0) > IDLE
    }

    /// First and last bin in which it had something to do.
    pub(super) fn span(&self) -> Option<(usize, usize)> {
        let first = (0..self.series.in_flight.len()).find(|&bin| self.is_busy(bin))?;
        let last = (first..self.series.in_flight.len()).rev().find(|&bin| self.is_busy(bin))?;
        Some((first, last))
    }
}

fn bytes(series: &TargetSeries, bin: usize) -> u64 {
    let of = |values: &[u64]| values.get(bin).copied().unwrap_or(0);
    of(&series.read_bytes) + of(&series.write_bytes)
}

/// The OSTs that moved data, by name.
pub(super) fn osts(analysis: &Analysis) -> Vec<Ost<'_>> {
    let series = analysis.series.targets.iter().filter(|series| series.kind == TargetKindName::Ost);
    let named = series.filter_map(|series| Some(Ost { name: series.name.as_deref()?, node: &series.node, series }));
    named.filter(|ost| ost.span().is_some()).collect()
}

/// Number of OSTs that the log names, busy or not.
pub(super) fn known_osts(analysis: &Analysis) -> usize {
    let mut names: Vec<&str> = analysis
        .targets
        .iter()
        .filter(|target| target.kind == TargetKindName::Ost)
        .map(|target| target.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    names.len()
}

/// Whether what was read or written is known within a factor of two.
pub(super) fn sizes_are_known(analysis: &Analysis, direction: Direction) -> bool {
    let io = analysis.totals.io(direction);
    io.bytes_max <= 2 * io.bytes_min
}

/// Whether reads and writes go on when the capture ends: half of the OSTs in use have one then.
pub(super) fn goes_on(analysis: &Analysis, osts: &[Ost<'_>]) -> bool {
    let last = analysis.series.bins.saturating_sub(1);
    let at_the_end = osts.iter().filter(|ost| ost.span().is_some_and(|(_, end)| end + 1 >= last)).count();
    2 * at_the_end >= osts.len().max(1)
}

/// From the first to the last bin in which any of them had something to do.
pub(super) fn span(osts: &[Ost<'_>]) -> Option<(usize, usize)> {
    let spans = || osts.iter().filter_map(Ost::span);
    Some((spans().map(|span| span.0).min()?, spans().map(|span| span.1).max()?))
}

/// Seconds in which only one of the OSTs had something to do, per OST.
pub(super) fn alone_s(osts: &[Ost<'_>], bin_s: f64) -> Vec<f64> {
    let mut alone_s = vec![0.0; osts.len()];
    let Some((first, last)) = span(osts) else { return alone_s };
    for bin in first..=last {
        let mut busy = osts.iter().enumerate().filter(|(_, ost)| ost.is_busy(bin)).map(|(index, _)| index);
        if let (Some(only), None) = (busy.next(), busy.next()) {
            alone_s[only] += bin_s;
        }
    }
    alone_s
}

/// Seconds in which some of these OSTs had something to do, and none of the others.
pub(super) fn alone_together_s(osts: &[Ost<'_>], bin_s: f64, own: &[usize]) -> f64 {
    let Some((first, last)) = span(osts) else { return 0.0 };
    let busy = |bin: usize, wanted: bool| {
        osts.iter().enumerate().any(|(index, ost)| own.contains(&index) == wanted && ost.is_busy(bin))
    };
    real((first..=last).filter(|&bin| busy(bin, true) && !busy(bin, false)).count() as u64) * bin_s
}

/// Unix seconds of a stretch of bins.
pub(super) fn interval(analysis: &Analysis, (first, last): (usize, usize)) -> Interval {
    let series = &analysis.series;
    let at = |bin: usize| series.start + bin as f64 * series.bin_s;
    let window = &analysis.window;
    Interval { start: at(first).max(window.start), end: at(last + 1).min(window.end).max(window.start) }
}

/// Clients that sent such requests, those with most first, and how many. What servers ask of each other is their own
/// business: the MDT looks at the OSTs' free space every few seconds.
pub(super) fn busiest(analysis: &Analysis, count: impl Fn(&Client) -> u64) -> Vec<(u64, &str)> {
    let mut clients: Vec<(u64, &str)> = analysis
        .clients
        .iter()
        .filter(|client| !client.server)
        .map(|client| (count(client), client.nid.as_str()))
        .collect();
    clients.retain(|(rpcs, _)| *rpcs > 0);
    clients.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    clients
}

/// Whether a client read or wrote anything on OSTs.
pub(super) fn moves_data(client: &Client) -> bool {
    client.read.bytes + client.write.bytes > 0
}

/// Seconds of an interval.
pub(super) fn seconds(interval: Interval) -> f64 {
    (interval.end - interval.start).max(0.0)
}

/// Share of reads and writes whose OST is known; rules over OSTs say nothing without it.
pub(super) fn known_share(analysis: &Analysis) -> f64 {
    let totals = &analysis.totals;
    let all = totals.read.rpcs + totals.write.rpcs;
    let unknown = totals.unattributed.read.rpcs + totals.unattributed.write.rpcs;
    share(real(all - unknown.min(all)), real(all))
}
