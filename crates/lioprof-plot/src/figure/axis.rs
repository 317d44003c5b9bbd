//! Axes: from a value to a place, and their tick marks.

use crate::draw::num::ratio;

/// How values are spread over an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    Linear { lo: f64, hi: f64 },
    Log { lo: f64, hi: f64 },
}

impl Scale {
    /// Where a value is: 0 at the start of the axis, 1 at its end; values outside are put on the edge.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let place = match *self {
            Self::Linear { lo, hi } => ratio(value - lo, hi - lo),
            Self::Log { lo, hi } => ratio((value.max(lo) / lo).ln(), (hi / lo).ln()),
        };
        place.clamp(0.0, 1.0)
    }
}

/// A tick mark.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) at: f64,
    /// Empty: a small mark without text.
    pub(crate) label: String,
}

impl Tick {
    pub(crate) fn new(at: f64, label: impl Into<String>) -> Self {
        Self { at, label: label.into() }
    }
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    pub(crate) scale: Scale,
    pub(crate) ticks: Vec<Tick>,
    /// What it shows, with its unit.
    pub(crate) title: String,
}

impl Axis {
    /// One without values: names stand along it.
    pub(crate) fn unmarked(title: &str) -> Self {
        Self { scale: Scale::Linear { lo: 0.0, hi: 1.0 }, ticks: Vec::new(), title: title.to_owned() }
    }
}
