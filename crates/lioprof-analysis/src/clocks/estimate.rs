//! Estimates one clock as a linear function of another, from the RPCs between two nodes.
//!
//! Nothing arrives before it was sent. A request that left at 10 on the one clock and arrived at 13 on the other says
//! that the other clock is at most 3 ahead; an answer bounds it from below. No delay has to be known or to be the same in
//! both directions for that. All lines between the bounds are possible; the estimate lies in their middle, and the
//! error is how far the outermost ones are away. (Duda et al., "Estimating global time in distributed systems", 1987.)

use lioprof_model::parts::clock_line::ClockLine;
use lioprof_model::units::seconds;

use super::sample::{Handled, Sent};

/// Clocks are not expected to drift apart faster than this, microseconds per second: NTP makes the kernel correct a
/// clock by at most 500 ppm (`MAXFREQ` in the kernel's `timex.h`).
pub(super) const MAX_DRIFT_PPM: f64 = 500.0;

/// The time that the RPCs span is divided into this many slices; only the tightest bounds of each are used.
const SLICES: i64 = 256;

/// Bounds that contradict the others (a wrong pair, a clock that was briefly off) are left out if they are at most one in
/// this many.
const OUTLIERS_ONE_IN: usize = 50;

/// Clocks may deviate from a straight line by this much, because NTP adjusts their rates.
const MAX_MISFIT_US: f64 = 1000.0;

/// Steps of a search. Each leaves two thirds or half of the interval.
const STEPS: usize = 80;

/// Bounds on the difference of two clocks: (time on the first clock, upper or lower bound), µs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bounds {
    at_most: Vec<(i64, i64)>,
    at_least: Vec<(i64, i64)>,
    /// Room that the tightest single RPC leaves: its round trip without the time in the receiver's queue.
    tightest_us: Option<i64>,
}

impl Bounds {
    /// The first node sent an RPC to the second one.
    pub(crate) fn forth(&mut self, sent: &Sent, handled: &Handled) {
        self.room(sent, handled);
        self.at_most.push((sent.sent_us, handled.arrival_us - sent.sent_us));
        // The reply leaves before its line is logged: the earliest certain time is the start of handling.
        self.at_least.push((sent.answered_us, handled.start_us - sent.answered_us));
    }

    /// The second node sent an RPC to the first one.
    pub(crate) fn back(&mut self, sent: &Sent, handled: &Handled) {
        self.room(sent, handled);
        self.at_least.push((handled.arrival_us, sent.sent_us - handled.arrival_us));
        self.at_most.push((handled.start_us, sent.answered_us - handled.start_us));
    }

    /// At this time of the first clock, the second one was about so far ahead.
    pub(super) fn within(&mut self, at_us: i64, ahead_us: i64, error_us: i64) {
        self.at_most.push((at_us, ahead_us + error_us));
        self.at_least.push((at_us, ahead_us - error_us));
    }

    fn room(&mut self, sent: &Sent, handled: &Handled) {
        let room_us = (sent.answered_us - sent.sent_us) - (handled.start_us - handled.arrival_us);
        self.tightest_us = self.tightest_us.into_iter().chain([room_us]).min();
    }

    /// A rough value of the difference.
    pub(crate) fn rough_us(&self) -> i64 {
        self.at_most.iter().map(|(_, us)| *us).min().unwrap_or(0)
    }
}

/// The second clock as a function of the first one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    pub(crate) line: ClockLine,
    /// Largest error at any time of the requested span.
    pub(crate) error_us: f64,
    /// Largest error of the drift.
    pub(crate) drift_error: f64,
}

/// The line in the middle of what the bounds allow over a span of the first clock's time. `None` if they contradict each
/// other: a clock was set in between.
pub(crate) fn estimate(bounds: &Bounds, (first_us, last_us): (i64, i64)) -> Option<Estimate> {
    let times = || bounds.at_most.iter().chain(&bounds.at_least).map(|(us, _)| *us);
    let (from_us, to_us) = (times().min()?, times().max()?);
    let at_us = from_us + (to_us - from_us) / 2;
    let base_us = bounds.at_most.iter().map(|(_, us)| *us).min()?;
    let points = |list: &[(i64, i64)], tighter: fn(i64, i64) -> bool| {
        let points = tightest(list, from_us, to_us, tighter).into_iter();
        points
            .map(|(us, difference_us)| Point { s: seconds(us - at_us), us: micros(difference_us - base_us) })
            .collect()
    };
    let mut band = Band {
        at_most: points(&bounds.at_most, |new, old| new < old),
        at_least: points(&bounds.at_least, |new, old| new > old),
        slack_us: 0.0,
    };
    let drift_ppm = band.fit()?;
    let slopes = band.slopes(drift_ppm);
    let ends = [first_us.min(from_us), last_us.max(to_us)].map(|us| {
        let s = seconds(us - at_us);
        let (low_us, high_us) = band.extremes(s, slopes);
        (s, f64::midpoint(low_us, high_us), (high_us - low_us) / 2.0)
    });
    let [(from_s, from_mid_us, from_error_us), (to_s, to_mid_us, to_error_us)] = ends;
    let drift_ppm = if to_s > from_s { (to_mid_us - from_mid_us) / (to_s - from_s) } else { 0.0 };
    let offset_us = from_mid_us - drift_ppm * from_s;
    let line = ClockLine { at_us, offset_us: offset_us + micros(base_us), drift: drift_ppm * 1e-6 };
    // Many RPCs together are believed as much as the best of them, not more: real clocks are no exact lines.
    let one_us = bounds.tightest_us.map_or(0.0, micros) / 2.0;
    // A microsecond for the records' own rounding.
    let error_us = from_error_us.max(to_error_us).max(one_us) + band.slack_us + 1.0;
    let drift_error = (slopes.1 - drift_ppm).max(drift_ppm - slopes.0) * 1e-6;
    Some(Estimate { line, error_us, drift_error })
}

/// The tightest bound of each slice.
fn tightest(list: &[(i64, i64)], from_us: i64, to_us: i64, tighter: fn(i64, i64) -> bool) -> Vec<(i64, i64)> {
    let slice_us = (to_us - from_us) / SLICES + 1;
    let mut best: Vec<Option<(i64, i64)>> = Vec::new();
    for &(us, bound_us) in list {
        let slice = usize::try_from((us - from_us) / slice_us).unwrap_or(0);
        if best.len() <= slice {
            best.resize(slice + 1, None);
        }
        let replaces = |old: (i64, i64)| tighter(bound_us, old.1) || bound_us == old.1 && us < old.0;
        if best[slice].is_none_or(replaces) {
            best[slice] = Some((us, bound_us));
        }
    }
    best.into_iter().flatten().collect()
}

#[expect(clippy::cast_precision_loss, reason = "differences of times have fewer than 52 bits")]
fn micros(us: i64) -> f64 {
    us as f64
}

#[derive(Clone, Copy, Debug)]
struct Point {
    s: f64,
    us: f64,
}

/// The band between the bounds.
#[derive(Debug)]
struct Band {
    at_most: Vec<Point>,
    at_least: Vec<Point>,
    /// By how much all bounds were widened.
    slack_us: f64,
}

impl Band {
    /// Highest line of a slope, by its value at zero; and which point it touches.
    fn top(&self, ppm: f64) -> (f64, usize) {
        let values = self.at_most.iter().map(|point| point.us - ppm * point.s);
        let lowest = values.enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b));
        lowest.map_or((f64::INFINITY, 0), |(at, us)| (us + self.slack_us, at))
    }

    /// Lowest line of a slope.
    fn bottom(&self, ppm: f64) -> (f64, usize) {
        let values = self.at_least.iter().map(|point| point.us - ppm * point.s);
        let highest = values.enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
        highest.map_or((f64::NEG_INFINITY, 0), |(at, us)| (us - self.slack_us, at))
    }

    /// Room for lines of a slope; negative if none fits.
    fn width(&self, ppm: f64) -> f64 {
        self.top(ppm).0 - self.bottom(ppm).0
    }

    /// The slope with most room, after contradictions have been taken out.
    fn fit(&mut self) -> Option<f64> {
        let mut outliers = 2 + (self.at_most.len() + self.at_least.len()) / OUTLIERS_ONE_IN;
        loop {
            if self.at_most.is_empty() || self.at_least.is_empty() {
                return None;
            }
            // Where lines have room is a concave function of their slope.
            let ppm = highest(|ppm| self.width(ppm), (-MAX_DRIFT_PPM, MAX_DRIFT_PPM));
            let width_us = self.width(ppm);
            if width_us >= 0.0 {
                return Some(ppm);
            }
            if -width_us <= MAX_MISFIT_US {
                // Half of it makes room for one line; the rest allows for the unknown way in which the clocks bend.
                self.slack_us = -width_us;
                return Some(ppm);
            }
            // Two bounds contradict each other, and it is unknown which one is wrong.
            outliers = outliers.checked_sub(2)?;
            let (above, below) = (self.top(ppm).1, self.bottom(ppm).1);
            self.at_most.remove(above);
            self.at_least.remove(below);
        }
    }

    /// Smallest and largest slope of lines that fit, given one that does.
    fn slopes(&self, fits: f64) -> (f64, f64) {
        let border = |beyond: f64| {
            let (mut inside, mut outside) = (fits, beyond);
            if self.width(outside) >= 0.0 {
                return outside;
            }
            for _ in 0..STEPS {
                let middle = f64::midpoint(inside, outside);
                if self.width(middle) >= 0.0 { inside = middle } else { outside = middle }
            }
            inside
        };
        (border(-MAX_DRIFT_PPM), border(MAX_DRIFT_PPM))
    }

    /// Lowest and highest value that a line which fits has at a time.
    fn extremes(&self, s: f64, slopes: (f64, f64)) -> (f64, f64) {
        let high = |ppm: f64| self.top(ppm).0 + ppm * s;
        let low = |ppm: f64| -(self.bottom(ppm).0 + ppm * s);
        (-low(highest(low, slopes)), high(highest(high, slopes)))
    }
}

/// Where a concave function is highest.
fn highest(f: impl Fn(f64) -> f64, (mut from, mut to): (f64, f64)) -> f64 {
    for _ in 0..STEPS {
        let third = (to - from) / 3.0;
        if third <= f64::EPSILON * from.abs().max(to.abs()) {
            break;
        }
        if f(from + third) < f(to - third) { from += third } else { to -= third }
    }
    f64::midpoint(from, to)
}

#[cfg(test)]
mod tests {
    use lioprof_model::Symbol;
    use lustre_debuglog::Opcode;

    use super::super::sample::Identity;
    use super::*;

    const START_US: i64 = 1_795_250_000_000_000;

    /// Two clocks and what lies between them.
    struct Truth {
        line: ClockLine,
        span_s: i64,
        /// Shortest way and how much longer it may take, microseconds, forth and back.
        forth_us: (i64, i64),
        back_us: (i64, i64),
        random: u64,
    }

    impl Truth {
        fn new(seed: u64) -> Self {
            let mut truth = Self {
                line: ClockLine::default(),
                span_s: 0,
                forth_us: (0, 0),
                back_us: (0, 0),
                random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            };
            let offset_us = truth.below(4_000_000) as f64 - 2e6;
            let drift = (truth.below(200_000) as f64 - 1e5) * 1e-9;
            truth.line = ClockLine { at_us: START_US, offset_us, drift };
            truth.span_s = 1 + truth.below(3600);
            // Ways of very different length are part of the trial.
            truth.forth_us = (1 + truth.below(300), 1 + truth.below(2000));
            truth.back_us = (1 + truth.below(300), 1 + truth.below(2000));
            truth
        }

        fn below(&mut self, limit: i64) -> i64 {
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            (self.random >> 11).cast_signed() % limit
        }

        fn way(&mut self, (least, more): (i64, i64)) -> i64 {
            // Most are short.
            let spread = self.below(more) * self.below(1000) / 1000;
            least + spread
        }

        /// An RPC; `from_first`: the first node sends it. Time is the first node's clock.
        fn rpc(&mut self, from_first: bool, at_us: i64) -> (Sent, Handled) {
            let ways = if from_first { (self.forth_us, self.back_us) } else { (self.back_us, self.forth_us) };
            let arrival_us = at_us + self.way(ways.0);
            let start_us = arrival_us + self.below(200);
            let replied_us = start_us + 5 + self.below(100);
            let answered_us = replied_us + self.way(ways.1);
            let id = Identity { xid: 0, opcode: Opcode::OBD_PING, uuid: Symbol(0) };
            let line = self.line;
            let sender = |us: i64| if from_first { us } else { line.there_us(us) };
            let receiver = |us: i64| if from_first { line.there_us(us) } else { us };
            let sent = Sent { id, sent_us: sender(at_us), answered_us: sender(answered_us) };
            (
                sent,
                Handled {
                    id,
                    arrival_us: receiver(arrival_us),
                    start_us: receiver(start_us),
                    end_us: receiver(replied_us),
                    target: None,
                },
            )
        }

        fn bounds(&mut self, rpcs: i64, both_ways: bool) -> Bounds {
            let mut bounds = Bounds::default();
            for _ in 0..rpcs {
                let at_us = START_US + self.below(self.span_s * 1_000_000);
                let from_first = !both_ways || self.below(2) == 0;
                let (sent, handled) = self.rpc(from_first, at_us);
                if from_first { bounds.forth(&sent, &handled) } else { bounds.back(&sent, &handled) }
            }
            bounds
        }

        fn span(&self) -> (i64, i64) {
            (START_US, START_US + self.span_s * 1_000_000)
        }

        /// How far an estimate is off at its worst.
        fn miss_us(&self, line: &ClockLine) -> f64 {
            let (from_us, to_us) = self.span();
            let times = (0..=20).map(|n| from_us + (to_us - from_us) / 20 * n);
            times.map(|us| (line.offset_us(us) - self.line.offset_us(us)).abs()).fold(0.0, f64::max)
        }
    }

    #[test]
    fn the_truth_lies_within_the_error() {
        for seed in 0..150 {
            let mut truth = Truth::new(seed);
            let rpcs = 1 + truth.below(400);
            let bounds = truth.bounds(rpcs, seed % 2 == 0);
            let estimate = estimate(&bounds, truth.span()).unwrap();
            let miss_us = truth.miss_us(&estimate.line);
            assert!(miss_us <= estimate.error_us, "{seed}: off by {miss_us}, said {}", estimate.error_us);
            let drift_miss = (estimate.line.drift - truth.line.drift).abs();
            assert!(drift_miss <= estimate.drift_error + 1e-9, "{seed}: {drift_miss} {}", estimate.drift_error);
        }
    }

    #[test]
    fn many_rpcs_make_the_error_small() {
        for seed in 0..50 {
            let mut truth = Truth::new(seed);
            (truth.forth_us, truth.back_us) = ((30, 500), (30, 500));
            let bounds = truth.bounds(2000, true);
            let estimate = estimate(&bounds, truth.span()).unwrap();
            // The quickest one-way trips take some 30 us, and the tightest round trip about twice that.
            assert!(estimate.error_us < 100.0, "{seed}: {}", estimate.error_us);
        }
    }

    #[test]
    fn a_long_way_back_is_covered_by_the_error() {
        let mut truth = Truth::new(7);
        (truth.forth_us, truth.back_us) = ((20, 1), (5000, 1));
        let bounds = truth.bounds(500, true);
        let estimate = estimate(&bounds, truth.span()).unwrap();
        let miss_us = truth.miss_us(&estimate.line);
        assert!((2000.0..3000.0).contains(&miss_us), "half of the asymmetry cannot be seen: {miss_us}");
        assert!(miss_us <= estimate.error_us, "{}", estimate.error_us);
    }

    #[test]
    fn few_wrong_pairs_do_no_harm() {
        for seed in 0..50 {
            let mut truth = Truth::new(seed);
            let mut bounds = truth.bounds(400, true);
            let (sent, mut handled) = truth.rpc(true, START_US + 100_000);
            handled.arrival_us -= 700_000_000;
            handled.start_us -= 700_000_000;
            bounds.forth(&sent, &handled);
            let estimate = estimate(&bounds, truth.span()).unwrap();
            let miss_us = truth.miss_us(&estimate.line);
            assert!(miss_us <= estimate.error_us && miss_us < 3000.0, "{seed}: {miss_us} {}", estimate.error_us);
        }
    }

    #[test]
    fn a_clock_that_was_set_is_no_line() {
        let mut truth = Truth::new(3);
        let mut bounds = truth.bounds(200, true);
        truth.line.offset_us += 2_000_000.0;
        truth.span_s = 100;
        let later = truth.bounds(200, true);
        bounds.at_most.extend(later.at_most);
        bounds.at_least.extend(later.at_least);
        assert!(estimate(&bounds, truth.span()).is_none());
    }

    #[test]
    fn a_clock_that_bends_a_little_has_a_larger_error() {
        let mut truth = Truth::new(5);
        (truth.forth_us, truth.back_us, truth.span_s) = ((10, 100), (10, 100), 600);
        let steady = estimate(&truth.bounds(1000, true), truth.span()).unwrap();
        let mut bounds = Bounds::default();
        let line = truth.line;
        for n in 0..1000 {
            let at_us = START_US + n * 600_000;
            // Up to 300 us away from the line in the middle, as NTP may do it.
            let part = n as f64 / 1000.0;
            truth.line.offset_us = line.offset_us + 1200.0 * part * (1.0 - part);
            let (sent, handled) = truth.rpc(n % 2 == 0, at_us);
            if n % 2 == 0 { bounds.forth(&sent, &handled) } else { bounds.back(&sent, &handled) }
        }
        truth.line = line;
        let bent = estimate(&bounds, truth.span()).unwrap();
        assert!(bent.error_us > 2.0 * steady.error_us, "{} {}", bent.error_us, steady.error_us);
        let middle_us = START_US + 300_000_000;
        let miss_us = (bent.line.offset_us(middle_us) - line.offset_us(middle_us) - 300.0).abs();
        assert!(miss_us <= bent.error_us, "{miss_us} {}", bent.error_us);
    }
}
