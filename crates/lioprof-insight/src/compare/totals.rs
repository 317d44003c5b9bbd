//! Figures of the whole captures.

use std::collections::BTreeMap;

use lioprof_model::units::{human_bytes, whole};
use lioprof_model::{Better, Direction, Distribution, Figure, Io, Operation};

use super::activity::{Activity, OST_READ, OST_WRITE, beyond, heat_times};
use super::figure::{Measured, figure};
use super::noise::{PerBin, real, share_error};
use super::pair::{Pair, Sided};

pub(super) type Figures = BTreeMap<String, Figure>;

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

pub(super) fn totals(pair: &Pair<'_>) -> Figures {
    let rules = &pair.rules;
    let mut out = Figures::new();
    let mut put = |name: &str, sides: [Measured; 2], better: Option<Better>, headline: bool| {
        out.insert(name.to_owned(), Figure { headline, ..figure(sides, better, rules) });
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
    let all = pair.both(|it| {
        let (value, error) = (over_activity(it, bytes(it)), overall_error(it, rules.min_bins));
        Measured::of_bins(value, error, rules)
    });
    put("bandwidth_bytes_per_s", all, Some(Better::Higher), true);
    let rate = pair.both(|it| Measured {
        value: over_activity(it, Some(real(it.analysis.totals.rpcs))),
        error: Err("RPCs of all services have no figure over the time of activity".to_owned()),
    });
    put("rpcs_per_s", rate, None, false);
    for (name, of) in [("read", (|it| &it.read) as fn(&Activity) -> &PerBin), ("write", |it| &it.write)] {
        let minor = is_minor(pair, name == "read");
        let sides = pair.both(|it| {
            let rate = busy_rate(of(&it.activity), it.analysis.series.bin_s, rules);
            if minor { Measured { error: Err(MINOR.to_owned()), ..rate } } else { rate }
        });
        put(&format!("{name}_bandwidth_bytes_per_s"), sides, Some(Better::Higher), !minor);
    }
    for (name, direction, opcode) in [("read", Direction::Read, OST_READ), ("write", Direction::Write, OST_WRITE)] {
        for (percentile, share, of) in PERCENTILES {
            let sides = pair.both(|it| {
                let spread = heat_times(it.analysis, direction).busy_error(rules.min_bins);
                let mut operations = it.analysis.operations.iter().filter(|it| it.opcode == opcode);
                // One service does them: ll_ost_io.
                let times = operations.next().map_or_else(Distribution::default, main_times);
                let deviation = of(&times)
                    .and_then(|limit_us| share_error(&beyond(it.analysis, direction, real(limit_us)), rules.min_bins));
                Measured::percentile(&times, (share, of(&times)), (spread, deviation), rules)
            });
            put(&format!("{name}_total_{percentile}_us"), sides, Some(Better::Lower), percentile == "p99");
        }
    }
    out
}

/// Why the bandwidth of a direction says nothing.
pub(super) const MINOR: &str = "too small a part of the bytes: its rate is that of the requests, not of the OSTs";

/// Whether reads (or writes) are hardly any of the bytes on both sides.
pub(super) fn is_minor(pair: &Pair<'_>, read: bool) -> bool {
    let is_minor = |it: &Sided<'_>| {
        let totals = &it.analysis.totals;
        let io = if read { &totals.read } else { &totals.write };
        bytes(it).zip(io_bytes(io)).is_some_and(|(all, part)| part < pair.rules.min_direction_share * all)
    };
    pair.both(is_minor) == [true, true]
}

fn main_times(operation: &Operation) -> Distribution {
    operation.latency.total_us
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
pub(super) fn over_activity(sided: &Sided<'_>, sum: Option<f64>) -> Option<f64> {
    Some(sum? / sided.activity.seconds.filter(|seconds| *seconds > 0.0)?)
}

/// Standard deviation of the distance of two even distributions of width 1.
const EDGES: f64 = 0.408;

/// Relative error of the mean bandwidth from first to last byte, pauses included.
pub(super) fn overall_error(sided: &Sided<'_>, min_bins: u64) -> Option<f64> {
    let error = sided.activity.all.part(sided.activity.span?).error(min_bins)?;
    // The first and the last byte are somewhere in their bins.
    let edges = EDGES * sided.analysis.series.bin_s / sided.activity.seconds.filter(|seconds| *seconds > 0.0)?;
    Some(error.hypot(edges))
}

/// Mean rate over the bins with bytes.
pub(super) fn busy_rate(bins: &PerBin, bin_s: f64, rules: &lioprof_model::ComparisonRules) -> Measured {
    let value = bins.busy_mean().filter(|_| bin_s > 0.0).map(|mean| mean / bin_s);
    Measured::of_bins(value, bins.busy_error(rules.min_bins), rules)
}

/// The duration of the I/O has the same relative error as the mean bandwidth that it is derived from.
fn activity(pair: &Pair<'_>) -> [Measured; 2] {
    let different = different_work(pair);
    pair.both(|it| {
        let error = overall_error(it, pair.rules.min_bins);
        let measured = Measured::of_bins(it.activity.seconds, error, &pair.rules);
        match &different {
            Some(why) => Measured { error: Err(why.clone()), ..measured },
            None => measured,
        }
    })
}
