//! Limits of percentiles from the order of the samples.

use lioprof_model::Distribution;
use statrs::distribution::{Binomial, DiscreteCDF};

use super::logs::Logs;
use super::noise::{real, share_error};

/// Samples of which a percentile is taken.
#[derive(Clone, Debug)]
pub(super) struct Ranks {
    /// Share of the samples below the percentile.
    share: f64,
    /// So many independent samples would say as much.
    independent: u64,
    times: Times,
}

/// Times by rank.
#[derive(Clone, Debug)]
enum Times {
    /// All of them, shortest first.
    All(Vec<f64>),
    /// Some percentiles of them; between these they are taken to lie on a line, on a logarithmic scale.
    Some(Distribution),
}

impl Ranks {
    /// Of all samples, in the order of time; `limit` is the percentile.
    pub(super) fn of_all(times: &[f64], share: f64, limit: f64) -> Self {
        let alone: Vec<(f64, f64)> = times.iter().map(|&time| (1.0, f64::from(time > limit))).collect();
        let independent = independent(times.len() as u64, share, share_error(&alone));
        let mut times = times.to_vec();
        times.sort_by(f64::total_cmp);
        Self { share, independent, times: Times::All(times) }
    }

    /// Of a distribution of which only some percentiles are known. `deviation` is the standard deviation of the share below the
    /// percentile, where that is known over time.
    pub(super) fn of_some(times: &Distribution, share: f64, deviation: Option<f64>) -> Self {
        Self { share, independent: independent(times.count, share, deviation), times: Times::Some(*times) }
    }

    /// Limits of the percentile's logarithm, each of them wrong with a probability of `error / 2` at most.
    ///
    /// As many of n samples lie below the percentile as a binomial distribution says.
    pub(super) fn limits(&self, value: f64, error: f64) -> Logs {
        let Some((low, high)) = self.ranks(error / 2.0) else { return Logs::ANY };
        let log = |share: Option<f64>| Some(self.at(share?)?.ln());
        Logs {
            low: log(low).map_or(f64::NEG_INFINITY, |it| it.min(value.ln())),
            high: log(high).map_or(f64::INFINITY, |it| it.max(value.ln())),
        }
    }

    /// Samples that are needed for both limits of this percentile.
    pub(super) fn needed(&self, error: f64) -> f64 {
        ((error / 2.0).ln() / self.share.max(1.0 - self.share).ln()).ceil()
    }

    /// Independent samples.
    pub(super) fn independent(&self) -> u64 {
        self.independent
    }

    /// Shares of the samples at whose ranks the limits lie; none where no sample is far enough out.
    fn ranks(&self, tail: f64) -> Option<(Option<f64>, Option<f64>)> {
        let count = self.independent;
        // So many that the normal distribution gives the same rank.
        const MANY: u64 = 100_000;
        if count > MANY {
            let normal = statrs::distribution::Normal::standard();
            let off = -statrs::distribution::ContinuousCDF::inverse_cdf(&normal, tail)
                * (self.share * (1.0 - self.share) / real(count)).sqrt();
            return Some((Some(self.share - off), Some(self.share + off)));
        }
        let binomial = Binomial::new(self.share, count).ok()?;
        // The smallest number that is exceeded by chance with the probability `tail` at most.
        let most = binomial.inverse_cdf(1.0 - tail);
        let least = binomial.inverse_cdf(tail);
        // `least` or more lie below with a probability of 1 - tail, at least.
        let low = (least > 0).then(|| real(least) / real(count));
        let high = (most < count).then(|| real(most + 1) / real(count));
        Some((low, high))
    }

    /// The time at this share of the ranks.
    fn at(&self, share: f64) -> Option<f64> {
        match &self.times {
            Times::All(times) => {
                let rank = (share * real(times.len() as u64) - 1e-9).ceil();
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the samples")]
                let rank = rank.clamp(1.0, real(times.len() as u64)) as usize;
                times.get(rank - 1).copied()
            }
            Times::Some(times) => between(times, share),
        }
    }
}

/// How many independent samples deviate as much.
fn independent(count: u64, share: f64, deviation: Option<f64>) -> u64 {
    let Some(deviation) = deviation.filter(|it| *it > 0.0) else { return count };
    let alike = share * (1.0 - share) / deviation.powi(2);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and a count")]
    let alike = alike.clamp(1.0, real(count.max(1))) as u64;
    alike
}

/// The time below which a share of the samples lies, between the percentiles that are known.
fn between(times: &Distribution, share: f64) -> Option<f64> {
    let log = |time: Option<u64>| Some(real(time?).max(0.5).ln());
    let median = log(times.p50)?;
    // Below the median as above it: nothing nearer is known, and times have their long tail above.
    if share < 0.5 {
        return Some((2.0 * median - between(times, 1.0 - share)?.ln()).exp());
    }
    let known = [
        (0.5, median),
        (0.9, log(times.p90)?),
        (0.99, log(times.p99)?),
        (0.999, log(times.p999)?),
        (1.0, log(times.max)?),
    ];
    let at = known.windows(2).find(|pair| share <= pair[1].0).unwrap_or(&known[3..]);
    let part = ((share - at[0].0) / (at[1].0 - at[0].0)).min(1.0);
    Some((at[0].1 + part * (at[1].1 - at[0].1)).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(count: u32, share: f64) -> (f64, f64) {
        // Shuffled, so that neighbours are not alike.
        let times: Vec<f64> = (0..count).map(|i| f64::from((i * 7919) % count + 1)).collect();
        let value = f64::from(count) * share;
        let it = Ranks::of_all(&times, share, value);
        let it = Ranks { independent: u64::from(count), ..it }.limits(value, 0.05);
        (it.low.exp(), it.high.exp())
    }

    #[test]
    fn limits_are_the_ranks_of_tables() {
        // Of the median: Conover, Practical Nonparametric Statistics, table A3 (95 %).
        for (count, low, high) in [(6, 1.0, 6.0), (10, 2.0, 9.0), (20, 6.0, 15.0), (50, 18.0, 33.0)] {
            let (from, to) = limits(count, 0.5);
            assert!((from - low).abs() < 1e-6 && (to - high).abs() < 1e-6, "{count}: {from} to {to}");
        }
        // Five samples say nothing of the median's limits, 367 nothing of the upper limit of p99.
        assert_eq!(limits(5, 0.5), (0.0, f64::INFINITY));
        assert_eq!(limits(367, 0.99).1, f64::INFINITY);
        assert!(limits(368, 0.99).1.is_finite());
    }

    #[test]
    fn needed_samples_are_those_that_are_enough() {
        let it = |share| Ranks::of_all(&[1.0], share, 1.0).needed(0.05);
        assert_eq!((it(0.5), it(0.9), it(0.99)), (6.0, 36.0, 368.0));
    }

    #[test]
    fn samples_that_are_alike_in_bursts_say_less() {
        let alone: Vec<f64> = (0..640).map(|i| if i % 10 == 0 { 9.0 } else { 1.0 }).collect();
        let bursts: Vec<f64> = (0..640).map(|i| if i % 400 < 40 { 9.0 } else { 1.0 }).collect();
        let samples = |times: &[f64]| Ranks::of_all(times, 0.9, 5.0).independent();
        assert!(samples(&alone) > 600, "{}", samples(&alone));
        assert!(samples(&bursts) < 100, "{}", samples(&bursts));
    }

    #[test]
    fn rare_percentiles_are_less_sure() {
        let times = |count| Distribution {
            count,
            mean: Some(120.0),
            p50: Some(100),
            p90: Some(200),
            p99: Some(400),
            p999: Some(800),
            max: Some(1000),
        };
        let width = |count, share, value: f64| {
            let it = Ranks::of_some(&times(count), share, None).limits(value, 0.05);
            it.high - it.low
        };
        assert!(width(1000, 0.99, 400.0) > width(10_000, 0.99, 400.0));
        assert!(width(10_000, 0.99, 400.0) > width(10_000_000, 0.99, 400.0));
        assert!(width(1000, 0.5, 100.0) < width(1000, 0.99, 400.0));
        assert_eq!(Ranks::of_some(&times(10_000), 0.99, Some(0.01)).independent(), 99);
    }
}
