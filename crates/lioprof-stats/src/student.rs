//! Student's t distribution.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// From here on it is the normal distribution, to three digits.
const MANY: f64 = 1e4;

/// How many standard errors above a mean there is only a probability of `tail` left, with so many degrees of freedom.
#[must_use]
pub fn student(freedom: f64, tail: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom.clamp(1.0, MANY)).map_or(f64::INFINITY, |t| t.inverse_cdf(1.0 - tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        for (freedom, tail, wanted) in [(10.0, 0.025, 2.2281), (20.0, 0.05, 1.7247), (f64::INFINITY, 0.025, 1.9602)] {
            assert!((student(freedom, tail) - wanted).abs() < 1e-4, "{freedom}: {}", student(freedom, tail));
        }
    }
}
