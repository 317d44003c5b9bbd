//! Counts and sums of times.

use statrs::distribution::{ContinuousCDF, Gamma};

use super::interval::{ERROR, Interval};

/// How often something happens, or how much time so many requests take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate;

impl Rate {
    /// As a multiple of what was seen, what the sum over `count` events may be in the long run: exact where the events are independent and
    /// what they add varies as much as its mean (exponentially), which times of requests seldom exceed. `low` is 0 without any.
    #[must_use]
    pub fn factor(count: f64) -> Interval {
        let quantile = |p: f64| Gamma::new(count, 1.0).map(|gamma| gamma.inverse_cdf(p) / count);
        if count <= 0.0 {
            return Interval { low: 0.0, high: f64::INFINITY };
        }
        Interval { low: quantile(ERROR).unwrap_or(0.0), high: quantile(1.0 - ERROR).unwrap_or(f64::INFINITY) }
    }

    /// What a count may be in the long run if events are independent of each other (Poisson, Garwood).
    #[must_use]
    pub fn count(count: f64) -> Interval {
        Self::count_within(count, ERROR)
    }

    /// The same with bounds each of which is wrong with the probability `tail`.
    #[must_use]
    pub fn count_within(count: f64, tail: f64) -> Interval {
        let quantile = |shape: f64, p: f64| Gamma::new(shape, 1.0).map(|gamma| gamma.inverse_cdf(p));
        let low = if count > 0.0 { quantile(count, tail).unwrap_or(0.0) } else { 0.0 };
        Interval { low, high: quantile(count + 1.0, 1.0 - tail).unwrap_or(f64::INFINITY) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_those_of_tables() {
        // Garwood: of 10 events 5.425 and 16.962 (95 % each).
        let ten = Rate::count(10.0);
        assert!((ten.low - 5.425).abs() < 1e-2 && (ten.high - 16.962).abs() < 1e-2, "{ten:?}");
        assert!((Rate::count(0.0).high - 2.9957).abs() < 1e-3);
        let ten = Rate::factor(10.0);
        assert!((ten.low - 0.5425).abs() < 1e-3 && (ten.high - 1.5705).abs() < 1e-3, "{ten:?}");
        let many = Rate::factor(1e6);
        assert!(many.low > 0.998 && many.high < 1.002, "{many:?}");
        assert_eq!(Rate::factor(0.0).low, 0.0);
    }
}
