//! Figures of the whole captures.

use lioprof_model::units::{human_bytes, percent, whole};
use lioprof_model::{Analysis, Better, Direction, Distribution, Io};

use super::activity::{Activity, OST_READ, OST_WRITE, beyond};
use super::figure::{Draft, Drafts, Measured};
use super::noise::{MeanError, PerBin, real, share_error};
use super::pair::{Pair, Sided};
use super::ranks::Ranks;

/// Bytes of reads and writes of a side; `None` if there were some and none could be sized.
fn bytes(sided: &Sided<'_>) -> Option<f64> {
    let totals = &sided.analysis.totals;
    Some(real(totals.read.known_bytes()? + totals.write.known_bytes()?))
}

/// Why the durations of the two must not be compared: they did different work.
pub(super) fn different_work(pair: &Pair<'_>) -> Option<String> {
    let [before, after] = pair.both(bytes);
    let (before, after) = (before?, after?);
    let larger = before.max(after);
    let differs = larger > 0.0 && (before - after).abs() > pair.rules.same_work_share * larger;
    differs.then(|| {
        let [before, after] = [before, after].map(|bytes| human_bytes(whole(bytes)));
        format!("the runs moved different amounts ({before} and {after})")
    })
}

/// By so much the share of reads in the bytes may differ.
const LIKE_SHARES: f64 = 0.5;

/// Why bandwidths must not be compared: one side reads and the other writes.
fn different_directions(pair: &Pair<'_>) -> Option<String> {
    let [before, after] =
        pair.both(|it| Some(io_bytes(&it.analysis.totals.read)? / bytes(it)?).filter(|share| share.is_finite()));
    let (before, after) = (before?, after?);
    let differ = (before - after).abs() > LIKE_SHARES;
    differ.then(|| {
        let [before, after] = [before, after].map(|share| percent(share, 0));
        format!("reads are {before} of the bytes before and {after} after")
    })
}

/// Why bandwidths while bytes moved must not be compared: in wider bins pauses count as time in which bytes moved.
pub(super) fn different_bins(pair: &Pair<'_>) -> Option<String> {
    let [before, after] = [&pair.before, &pair.after].map(|it| it.analysis.series.bin_s);
    let differ = before.max(after) > LIKE_BINS * before.min(after);
    differ.then(|| {
        format!("bins of {before} s before and of {after} s after: bandwidth while bytes moved depends on their width; analyze both with the same --bin")
    })
}

/// Widths are multiples of a microsecond.
const LIKE_BINS: f64 = 1.000_1;

pub(super) fn totals(pair: &Pair<'_>) -> Drafts {
    let mut out = Drafts::new();
    let mut put = |name: &str, sides: [Measured; 2], better: Option<Better>, headline: bool| {
        out.insert(name.to_owned(), Draft { headline, ..Draft::new(sides, better) });
    };
    for (name, value) in [
        ("bytes", bytes as fn(&Sided<'_>) -> Option<f64>),
        ("read_bytes", |it| io_bytes(&it.analysis.totals.read)),
        ("written_bytes", |it| io_bytes(&it.analysis.totals.write)),
        ("read_rpcs", |it| Some(real(it.analysis.totals.read.rpcs))),
        ("write_rpcs", |it| Some(real(it.analysis.totals.write.rpcs))),
        ("rpcs", |it| Some(real(it.analysis.totals.rpcs))),
        ("window_s", |it| Some(it.analysis.window.duration_s)),
    ] {
        put(name, pair.both(|it| Measured::exact(value(it))), None, false);
    }
    put("activity_s", activity(pair), Some(Better::Lower), true);
    let unlike = different_directions(pair);
    let all = pair.both(|it| {
        let bandwidth = Measured::mean(over_activity(it, bytes(it)), overall_error(it));
        bandwidth.unless(unlike.clone())
    });
    put("bandwidth_bytes_per_s", all, Some(Better::Higher), true);
    let bins = different_bins(pair);
    let rate = pair.both(|it| Measured {
        value: over_activity(it, Some(real(it.analysis.totals.rpcs))),
        chance: Err("RPCs of all services have no figure over the time of activity".to_owned()),
    });
    put("rpcs_per_s", rate, None, false);
    for (direction, of) in
        [(Direction::Read, (|it| &it.read) as fn(&Activity) -> &PerBin), (Direction::Write, |it| &it.write)]
    {
        let sides = pair
            .both(|it| busy_rate(of(&it.activity), it.analysis.series.bin_s, it.analysis.totals.io(direction).rpcs))
            .map(|rate| rate.unless(bins.clone()));
        // Hardly any bytes: their rate is that of a few requests, and says nothing of the run.
        let headline = !is_minor(pair, direction);
        put(&format!("{}_bandwidth_bytes_per_s", direction.name()), sides, Some(Better::Higher), headline);
    }
    for (direction, opcode) in [(Direction::Read, OST_READ), (Direction::Write, OST_WRITE)] {
        let percentiles = PERCENTILES.map(|percentile| pair.both(|it| total_time(it, direction, opcode, percentile)));
        // The one furthest out that has limits on both sides.
        let error = pair.rules.error_rate / FIGURES;
        let has_limits = |sides: &[Measured; 2]| sides.iter().all(|it| it.has_both_limits(error));
        let furthest = percentiles.iter().rposition(has_limits).unwrap_or(0);
        let alike = different_sizes(pair, direction).is_none();
        for (at, (sides, (percentile, ..))) in percentiles.into_iter().zip(PERCENTILES).enumerate() {
            let headline = alike && at == furthest;
            put(&format!("{}_total_{percentile}_us", direction.name()), sides, Some(Better::Lower), headline);
        }
    }
    out
}

/// About as many figures are judged together: intervals of percentiles have to bear that.
const FIGURES: f64 = 16.0;

/// The mean size on one side may be this many times that on the other one.
const LIKE_SIZES: f64 = 2.0;

/// Why the times of reads (or writes) do not decide: large ones take longer than small ones.
pub(super) fn different_sizes(pair: &Pair<'_>, direction: Direction) -> Option<String> {
    let [before, after] = pair.both(|it| {
        let totals = &it.analysis.totals;
        let io = if direction == Direction::Read { &totals.read } else { &totals.write };
        Some(io_bytes(io)? / real(io.rpcs)).filter(|size| size.is_finite() && *size > 0.0)
    });
    let (before, after) = (before?, after?);
    let differ = before.max(after) > LIKE_SIZES * before.min(after);
    differ.then(|| {
        let [before, after] = [before, after].map(|bytes| human_bytes(whole(bytes)));
        format!(
            "{}s carry {before} on average before and {after} after: the times of single ones do not decide",
            direction.name()
        )
    })
}

/// Total times of all requests of an opcode: one service does reads and writes, ll_ost_io.
fn total_times(analysis: &Analysis, opcode: u32) -> Distribution {
    let operation = analysis.operations.iter().find(|it| it.opcode == opcode);
    operation.map_or_else(Distribution::default, |it| it.latency.total_us)
}

/// A percentile of the total times of all reads or writes of OSTs.
fn total_time(it: &Sided<'_>, direction: Direction, opcode: u32, (_, share, of): Percentile) -> Measured {
    let times = total_times(it.analysis, opcode);
    let Some(limit) = of(&times) else { return Measured::exact(None) };
    if let Some(all) = it.requests.all(direction, None, times.count) {
        return Measured::ranks(limit, Ranks::of_all(&all, share, real(limit)));
    }
    let deviation = share_error(&beyond(it.analysis, direction, real(limit)));
    Measured::ranks(limit, Ranks::of_some(&times, share, deviation))
}

/// How many times more the shares of slow reads (first) and writes vary over time than if each request were slow by itself; by
/// percentile.
pub(super) fn clustering(analysis: &Analysis) -> [[f64; 3]; 2] {
    [(Direction::Read, OST_READ), (Direction::Write, OST_WRITE)].map(|(direction, opcode)| {
        let times = total_times(analysis, opcode);
        PERCENTILES.map(|(_, share, of)| {
            let limit = of(&times).map_or(0.0, real);
            let deviation = share_error(&beyond(analysis, direction, limit)).unwrap_or(0.0);
            (deviation.powi(2) * real(times.count) / (share * (1.0 - share))).max(1.0)
        })
    })
}

/// Whether reads (or writes) are hardly any of the bytes on both sides.
pub(super) fn is_minor(pair: &Pair<'_>, direction: Direction) -> bool {
    let is_minor = |it: &Sided<'_>| {
        let io = it.analysis.totals.io(direction);
        bytes(it).zip(io_bytes(io)).is_some_and(|(all, part)| part < pair.rules.min_direction_share * all)
    };
    pair.both(is_minor) == [true, true]
}

/// A percentile: its name, its share, where it stands.
type Percentile = (&'static str, f64, fn(&Distribution) -> Option<u64>);

/// The percentiles that are compared.
pub(super) const PERCENTILES: [Percentile; 3] =
    [("p50", 0.5, |times| times.p50), ("p90", 0.9, |times| times.p90), ("p99", 0.99, |times| times.p99)];

pub(super) fn io_bytes(io: &Io) -> Option<f64> {
    io.known_bytes().map(real)
}

/// A sum per second of activity.
fn over_activity(sided: &Sided<'_>, sum: Option<f64>) -> Option<f64> {
    Some(sum? / sided.activity.seconds.filter(|seconds| *seconds > 0.0)?)
}

/// Standard deviation of the distance of two even distributions of width 1.
const EDGES: f64 = 0.408;

/// Error of the mean bandwidth from first to last byte, pauses included.
pub(super) fn overall_error(sided: &Sided<'_>) -> Option<MeanError> {
    let requests = Direction::ALL.map(|direction| sided.analysis.totals.io(direction).rpcs);
    let error = sided.activity.all.part(sided.activity.span?).error(requests.iter().sum())?;
    // The first and the last byte are somewhere in their bins.
    let edges = EDGES * sided.analysis.series.bin_s / sided.activity.seconds.filter(|seconds| *seconds > 0.0)?;
    Some(MeanError { relative: error.relative.hypot(edges), ..error })
}

/// Mean rate over the bins with bytes, which so many requests moved.
pub(super) fn busy_rate(bins: &PerBin, bin_s: f64, requests: u64) -> Measured {
    let value = bins.busy_mean().filter(|_| bin_s > 0.0).map(|mean| mean / bin_s);
    Measured::mean(value, bins.busy_error(requests))
}

/// The duration of the I/O has the same relative error as the mean bandwidth that it is derived from.
fn activity(pair: &Pair<'_>) -> [Measured; 2] {
    let different =
        different_directions(pair).or_else(|| Some(format!("{}: compare the bandwidth", different_work(pair)?)));
    pair.both(|it| Measured::mean(it.activity.seconds, overall_error(it)).unless(different.clone()))
}
