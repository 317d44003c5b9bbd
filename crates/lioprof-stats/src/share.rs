//! Shares of requests.

use statrs::distribution::{Beta, ContinuousCDF};

use super::interval::{ERROR, Interval};

/// A share of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share;

impl Share {
    /// Of `count` requests, `hits` were so: exact for any number of requests (Clopper and Pearson). Neither has to be a whole number.
    #[must_use]
    pub fn of(hits: f64, count: f64) -> Interval {
        Self::among(hits, count, 1)
    }

    /// The same of the one with most hits among so many that were looked at: its near end has to hold for each of them (Bonferroni, which
    /// for the largest is also Holm's).
    #[must_use]
    pub fn among(hits: f64, count: f64, compared: usize) -> Interval {
        let low = Self::within(hits, count, ERROR / compared.max(1) as f64).low;
        Interval { low, high: Self::within(hits, count, ERROR).high }
    }

    /// The same with bounds each of which is wrong with the probability `tail`.
    #[must_use]
    pub fn within(hits: f64, count: f64, tail: f64) -> Interval {
        let hits = hits.clamp(0.0, count);
        let quantile = |a: f64, b: f64, p: f64| Beta::new(a, b).map(|beta| beta.inverse_cdf(p));
        let low = if hits > 0.0 { quantile(hits, count - hits + 1.0, tail).unwrap_or(0.0) } else { 0.0 };
        let high = if hits < count { quantile(hits + 1.0, count - hits, 1.0 - tail).unwrap_or(1.0) } else { 1.0 };
        Interval { low, high }
    }
}

#[cfg(test)]
mod tests {
    use super::super::interval::Stands;
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
        assert_eq!(Share::of(0.0, 0.0), Interval { low: 0.0, high: 1.0 });
    }

    #[test]
    fn the_most_of_many_proves_less() {
        assert!(Share::of(9.0, 12.0).proves(0.45) && !Share::among(9.0, 12.0, 1000).proves(0.3));
        assert_eq!(Share::among(9.0, 12.0, 1000).high, Share::of(9.0, 12.0).high);
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
