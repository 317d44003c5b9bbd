//! What a figure may be, and how that stands to a threshold.

/// Probability that a bound is wrong: each of the two is exceeded with this probability.
pub(crate) const ERROR: f64 = 0.05;

/// How a figure stands to a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// It is certain to reach it.
    Above,
    /// It is certain to stay below.
    Below,
    /// What was seen does not decide.
    Undecided,
}

/// What a figure may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Near end: it is less with a probability of 5 %.
    pub low: f64,
    /// Far end: it is more with a probability of 5 %.
    pub high: f64,
}

impl Interval {
    /// Against a threshold.
    #[must_use]
    pub fn against(self, threshold: f64) -> Stands {
        if self.low >= threshold {
            Stands::Above
        } else if self.high < threshold {
            Stands::Below
        } else {
            Stands::Undecided
        }
    }

    /// Whether it is certain to reach a threshold.
    #[must_use]
    pub fn proves(self, threshold: f64) -> bool {
        self.against(threshold) == Stands::Above
    }

    /// Both ends times a factor that is not negative.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self { low: self.low * factor, high: self.high * factor }
    }
}
