//! Percentiles of a few samples.

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal};

/// So many samples that the normal distribution gives the same rank.
const MANY: u64 = 100_000;

/// Which shares of all samples lie below the limits of a percentile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentile {
    /// Of the lower limit; `None`: no sample is far enough below.
    pub low: Option<f64>,
    /// Of the upper limit; `None`: no sample is far enough above.
    pub high: Option<f64>,
}

impl Percentile {
    /// Limits of the percentile with `share` of all times below it, from `count` independent samples: as many of these lie below it as a
    /// binomial distribution says. Each limit is wrong with the probability `tail`, at most.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more than 52 bits")]
    pub fn within(share: f64, count: u64, tail: f64) -> Self {
        let all = count as f64;
        if count > MANY {
            let off = -Normal::standard().inverse_cdf(tail) * (share * (1.0 - share) / all).sqrt();
            return Self { low: Some(share - off), high: Some(share + off) };
        }
        let Ok(binomial) = Binomial::new(share, count) else { return Self { low: None, high: None } };
        // The smallest number that is exceeded by chance with the probability `tail` at most.
        let most = binomial.inverse_cdf(1.0 - tail);
        let least = binomial.inverse_cdf(tail);
        // `least` or more lie below with a probability of 1 - tail, at least.
        let low = (least > 0).then(|| least as f64 / all);
        Self { low, high: (most < count).then(|| (most + 1) as f64 / all) }
    }

    /// Samples that are needed for both limits.
    #[must_use]
    pub fn needed(share: f64, tail: f64) -> f64 {
        (tail.ln() / share.max(1.0 - share).ln()).ceil()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_the_ranks_of_tables() {
        // Of the median: Conover, Practical Nonparametric Statistics, table A3 (95 %).
        for (count, low, high) in [(6_u32, 1.0, 6.0), (10, 2.0, 9.0), (20, 6.0, 15.0), (50, 18.0, 33.0)] {
            let all = f64::from(count);
            let ranks = Percentile::within(0.5, count.into(), 0.025);
            let (from, to) = (ranks.low.unwrap() * all, ranks.high.unwrap() * all);
            assert!((from - low).abs() < 1e-6 && (to - high).abs() < 1e-6, "{count}: {from} to {to}");
        }
    }

    #[test]
    fn few_samples_have_no_limits() {
        assert_eq!(Percentile::within(0.5, 5, 0.025), Percentile { low: None, high: None });
        assert_eq!(Percentile::within(0.99, 367, 0.025).high, None);
        assert!(Percentile::within(0.99, 368, 0.025).high.is_some());
        let needed = |share| Percentile::needed(share, 0.025);
        assert_eq!((needed(0.5), needed(0.9), needed(0.99)), (6.0, 36.0, 368.0));
    }

    #[test]
    fn many_are_normal_where_fewer_nearly_are() {
        let at = |count| Percentile::within(0.9, count, 0.025).low.unwrap();
        assert!((at(MANY) - at(MANY + 1)).abs() < 1e-5);
    }
}
