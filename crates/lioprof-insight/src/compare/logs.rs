//! Where something lies on a logarithmic scale.

/// A value above 0 on a logarithmic scale, or the logarithm of a ratio: from where to where it may be, with infinity for no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Logs {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Logs {
    pub(super) const fn point(at: f64) -> Self {
        Self { low: at, high: at }
    }

    /// Whether it leaves out "no change".
    pub(super) fn excludes_none(self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }

    pub(super) fn around(at: f64, half: f64) -> Self {
        Self { low: at - half, high: at + half }
    }
}
