//! What a value may really be: its limits at a probability of error, and those of a ratio of two values.

use lioprof_stats::{Rate, Share, student};

use super::logs::Logs;
use super::noise::MeanError;
use super::ranks::Ranks;

/// How chance enters into a value.
#[derive(Clone, Debug)]
pub(super) enum Chance {
    /// Not at all: it was counted.
    Exact,
    /// It is a mean, or a sum, of what varies over time.
    Mean(MeanError),
    /// It is a percentile.
    Ranks(Ranks),
    /// It is so many events that happen independently of each other, times a constant.
    Events { events: f64, each: f64 },
}

/// A value and how chance enters into it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Uncertain<'a> {
    pub(super) value: f64,
    pub(super) chance: &'a Chance,
}

impl Uncertain<'_> {
    /// Limits of the value's logarithm, each of them wrong with a probability of `error / 2`.
    fn limits(self, error: f64) -> Logs {
        match self.chance {
            Chance::Exact => Logs::point(self.value.ln()),
            Chance::Mean(mean) => {
                Logs::around(self.value.ln(), of_logarithm(mean.relative) * student(mean.freedom, error / 2.0))
            }
            Chance::Ranks(ranks) => ranks.limits(self.value, error),
            Chance::Events { events, each } => events_limits(*events, *each, error),
        }
    }
}

/// Limits of the logarithm of `after / before`; together they are wrong with a probability of about `error`.
pub(super) fn ratio(before: Uncertain<'_>, after: Uncertain<'_>, error: f64) -> Logs {
    if before.value == 0.0 && after.value == 0.0 {
        // Nothing happened on either side.
        return Logs::point(0.0);
    }
    if let (Some(first), Some(second)) = (before.chance.as_mean(), after.chance.as_mean())
        && before.value > 0.0
        && after.value > 0.0
    {
        return ratio_of_means(after.value.ln() - before.value.ln(), first, second, error);
    }
    if let (Chance::Events { events: first, each: one }, Chance::Events { events: second, each: other }) =
        (before.chance, after.chance)
    {
        return ratio_of_events(*first, *second, other.ln() - one.ln(), error);
    }
    let (first, second) = (before.limits(error), after.limits(error));
    if before.value <= 0.0 || after.value <= 0.0 {
        // No value to start from: the limits themselves, which are wider than needed.
        return Logs { low: difference(second.low, first.high), high: difference(second.high, first.low) };
    }
    // The limits of a difference from those of its parts (Zou and Donner 2008, "MOVER").
    let (from, to) = (before.value.ln(), after.value.ln());
    Logs {
        low: to - from - (to - second.low).hypot(first.high - from),
        high: to - from + (second.high - to).hypot(from - first.low),
    }
}

/// Of limits, of which both may be infinite: then nothing is known.
fn difference(upper: f64, lower: f64) -> f64 {
    let difference = upper - lower;
    if difference.is_nan() { upper } else { difference }
}

impl Chance {
    /// Its error as that of a mean; what is exact has none.
    fn as_mean(&self) -> Option<MeanError> {
        match self {
            Self::Exact => Some(MeanError { relative: 0.0, freedom: f64::INFINITY }),
            Self::Mean(mean) => Some(*mean),
            Self::Ranks(_) | Self::Events { .. } => None,
        }
    }
}

/// Delta method on logarithms, with the degrees of freedom of Welch and Satterthwaite.
fn ratio_of_means(difference: f64, first: MeanError, second: MeanError, error: f64) -> Logs {
    let variances = [first, second].map(|it| of_logarithm(it.relative).powi(2));
    let variance = variances[0] + variances[1];
    if variance == 0.0 {
        return Logs::point(difference);
    }
    let parts = variances[0].powi(2) / first.freedom + variances[1].powi(2) / second.freedom;
    let freedom = if parts > 0.0 { variance.powi(2) / parts } else { f64::INFINITY };
    Logs::around(difference, variance.sqrt() * student(freedom, error / 2.0))
}

/// Standard error of a mean's logarithm. Values are skewed to the right, and a mean that is too low seems surer than it is; made wider by
/// its square, intervals of few values contain the truth as often as they should (`coverage`).
fn of_logarithm(relative: f64) -> f64 {
    relative * (1.0 + relative.powi(2))
}

/// Of all events, a share fell on the second side.
fn ratio_of_events(first: f64, second: f64, each: f64, error: f64) -> Logs {
    let share = Share::within(second, first + second, error / 2.0);
    let odds = |share: f64| (share / (1.0 - share)).ln() + each;
    Logs { low: odds(share.low), high: odds(share.high) }
}

fn events_limits(events: f64, each: f64, error: f64) -> Logs {
    let count = Rate::count_within(events, error / 2.0);
    Logs { low: (count.low * each).ln(), high: (count.high * each).ln() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: f64, chance: &Chance) -> Uncertain<'_> {
        Uncertain { value, chance }
    }

    fn close(it: Logs, low: f64, high: f64) {
        let off = |got: f64, wanted: f64| got != wanted && (got.exp() / wanted - 1.0).abs() > 1e-3;
        assert!(!off(it.low, low) && !off(it.high, high), "{} to {}", it.low.exp(), it.high.exp());
    }

    #[test]
    fn means_have_limits_of_student() {
        // Ten degrees of freedom: 2.2281; the other side is exact.
        let mean = Chance::Mean(MeanError { relative: 0.1, freedom: 10.0 });
        let half = |t: f64, error: f64| (t * error * 1.01).exp();
        close(ratio(of(5.0, &Chance::Exact), of(10.0, &mean), 0.05), 2.0 / half(2.2281, 0.1), 2.0 * half(2.2281, 0.1));
        // Both alike: 20 degrees of freedom, 2.0860.
        let both = half(2.0860, 0.1 * 2.0_f64.sqrt());
        close(ratio(of(1.0, &mean), of(1.0, &mean), 0.05), 1.0 / both, both);
        assert_eq!(ratio(of(3.0, &Chance::Exact), of(3.0, &Chance::Exact), 0.05), Logs::point(0.0));
    }

    #[test]
    fn events_have_limits_of_the_binomial_distribution() {
        let events = |events| Chance::Events { events, each: 1.0 };
        // 8 of 20: 0.1912 to 0.6395 (Clopper and Pearson).
        close(ratio(of(12.0, &events(12.0)), of(8.0, &events(8.0)), 0.05), 0.2364, 1.7739);
        // None before, 5 after: 1 - 0.025^(1/5).
        let from_none = ratio(of(0.0, &events(0.0)), of(5.0, &events(5.0)), 0.05);
        assert!((from_none.low.exp() - 0.9168).abs() < 1e-3 && from_none.high == f64::INFINITY, "{from_none:?}");
        assert!(ratio(of(0.0, &events(0.0)), of(6.0, &events(6.0)), 0.05).excludes_none());
        let to_none = ratio(of(40.0, &events(40.0)), of(0.0, &events(0.0)), 0.05);
        assert!(to_none.low == f64::NEG_INFINITY && to_none.high < -2.0, "{to_none:?}");
        assert_eq!(ratio(of(0.0, &events(0.0)), of(0.0, &events(0.0)), 0.05), Logs::point(0.0));
    }

    #[test]
    fn unlike_sides_are_put_together_from_their_limits() {
        let (mean, none) =
            (Chance::Mean(MeanError { relative: 0.1, freedom: 1e9 }), Chance::Events { events: 0.0, each: 0.5 });
        // 0 events: up to 3.689 of them.
        let gone = ratio(of(20.0, &mean), of(0.0, &none), 0.05);
        assert!(gone.low == f64::NEG_INFINITY && (gone.high - (3.689 * 0.5_f64 / 20.0).ln() - 0.198).abs() < 1e-3);
        let some = Chance::Events { events: 10.0, each: 1.0 };
        // 10 events: 4.795 to 18.39; hypot(0.609, 0.196), hypot(0.735, 0.196).
        close(ratio(of(10.0, &some), of(10.0, &mean), 0.05), 0.5273, 2.1396);
    }

    #[test]
    fn less_error_is_wider() {
        let mean = Chance::Mean(MeanError { relative: 0.1, freedom: 5.0 });
        let wide = |error| ratio(of(1.0, &mean), of(1.0, &mean), error).high;
        assert!(wide(0.001) > wide(0.01) && wide(0.01) > wide(0.05));
    }
}
