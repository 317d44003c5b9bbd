//! Limits of percentiles from the order of the samples.

use lioprof_model::Distribution;
use lioprof_stats::Percentile;

use super::logs::Logs;
use super::noise::{real, share_error};

/// Samples of which a percentile is taken.
#[derive(Clone, Debug)]
pub(super) struct Ranks {
    /// Share of the samples below the percentile.
    share: f64,
    /// So many independent samples would say as much.
    pub(super) independent: u64,
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
    pub(super) fn limits(&self, value: f64, error: f64) -> Logs {
        let Percentile { low, high } = Percentile::within(self.share, self.independent, error / 2.0);
        let log = |share: Option<f64>| Some(self.at(share?)?.ln());
        Logs {
            low: log(low).map_or(f64::NEG_INFINITY, |it| it.min(value.ln())),
            high: log(high).map_or(f64::INFINITY, |it| it.max(value.ln())),
        }
    }

    /// Samples that are needed for both limits of this percentile.
    pub(super) fn needed(&self, error: f64) -> f64 {
        Percentile::needed(self.share, error / 2.0)
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

    #[test]
    fn limits_are_times_of_samples() {
        // Shuffled, so that neighbours are not alike; of 20 the 6th and the 15th (95 %).
        let times: Vec<f64> = (0..20).map(|i| f64::from((i * 7) % 20 + 1)).collect();
        let all = Ranks { independent: 20, ..Ranks::of_all(&times, 0.5, 10.0) };
        let limits = all.limits(10.0, 0.05);
        assert!((limits.low.exp() - 6.0).abs() < 1e-6 && (limits.high.exp() - 15.0).abs() < 1e-6, "{limits:?}");
        let few = Ranks { independent: 5, ..all }.limits(10.0, 0.05);
        assert_eq!(few, Logs { low: f64::NEG_INFINITY, high: f64::INFINITY });
    }

    #[test]
    fn samples_that_are_alike_in_bursts_say_less() {
        let alone: Vec<f64> = (0..640).map(|i| if i % 10 == 0 { 9.0 } else { 1.0 }).collect();
        let bursts: Vec<f64> = (0..640).map(|i| if i % 400 < 40 { 9.0 } else { 1.0 }).collect();
        let samples = |times: &[f64]| Ranks::of_all(times, 0.9, 5.0).independent;
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
        assert_eq!(Ranks::of_some(&times(10_000), 0.99, Some(0.01)).independent, 99);
    }
}
