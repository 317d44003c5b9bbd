//! What a few requests prove.
//!
//! A share that was seen is held against a threshold with what chance may do to so few requests: one-sided bounds, each of which the true
//! share exceeds or stays below with 95 % probability (Clopper and Pearson, exact for any number of requests).

use statrs::distribution::{Beta, ContinuousCDF};

/// Probability that a bound is wrong.
const ERROR: f64 = 0.05;

/// A share of requests, and what it may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Share {
    pub(super) low: f64,
    pub(super) high: f64,
}

/// How a figure stands to a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stands {
    /// It is certain to reach it.
    Above,
    /// It is certain to stay below.
    Below,
    /// The requests do not decide.
    Undecided,
}

impl Share {
    /// Of `count` requests, `hits` were so.
    pub(super) fn of(hits: f64, count: f64) -> Self {
        let hits = hits.clamp(0.0, count);
        let quantile = |a: f64, b: f64, p: f64| Beta::new(a, b).map(|beta| beta.inverse_cdf(p));
        let low = if hits > 0.0 { quantile(hits, count - hits + 1.0, ERROR).unwrap_or(0.0) } else { 0.0 };
        let high = if hits < count { quantile(hits + 1.0, count - hits, 1.0 - ERROR).unwrap_or(1.0) } else { 1.0 };
        Self { low, high }
    }

    /// Whether it is certain to reach a threshold.
    pub(super) fn proves(self, threshold: f64) -> bool {
        self.against(threshold) == Stands::Above
    }

    /// Against a threshold.
    pub(super) fn against(self, threshold: f64) -> Stands {
        if self.low >= threshold {
            Stands::Above
        } else if self.high < threshold {
            Stands::Below
        } else {
            Stands::Undecided
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_those_of_tables() {
        // All of n: the n-th root of 0.05.
        for count in [1.0, 5.0, 29.0, 1000.0] {
            let share = Share::of(count, count);
            assert!((share.low - 0.05_f64.powf(1.0 / count)).abs() < 1e-9, "{share:?}");
            assert_eq!(share.high, 1.0);
        }
        // 8 of 20: 0.2171 and 0.6064 (scipy.stats.binomtest, confidence 0.90).
        let share = Share::of(8.0, 20.0);
        assert!((share.low - 0.2171).abs() < 1e-4 && (share.high - 0.6064).abs() < 1e-4, "{share:?}");
        assert_eq!(Share::of(0.0, 0.0), Share { low: 0.0, high: 1.0 });
    }

    #[test]
    fn few_requests_prove_only_what_is_far_off() {
        assert_eq!(Share::of(5.0, 5.0).against(0.5), Stands::Above);
        assert_eq!(Share::of(4.0, 4.0).against(0.5), Stands::Undecided);
        assert_eq!(Share::of(12.0, 20.0).against(0.5), Stands::Undecided);
        assert_eq!(Share::of(600.0, 1000.0).against(0.5), Stands::Above);
        assert_eq!(Share::of(400.0, 1000.0).against(0.5), Stands::Below);
    }
}
