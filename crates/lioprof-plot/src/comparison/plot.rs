//! What a plot of two analyses is.

use lioprof_model::Analysis;

use crate::draw::{AFTER, BEFORE, Ink, Scene};
use crate::figure::{Key, Swatch};
use crate::options::PlotOptions;
use crate::plots::Plot;

/// A plot of two analyses: the picture of before and after, or why there is none.
pub(crate) type ComparisonPlot = Plot<fn([&Analysis; 2], &PlotOptions) -> Result<Scene, &'static str>>;

/// The colours of before and after.
pub(super) const INKS: [Ink; 2] = [BEFORE, AFTER];

pub(super) fn keys(swatch: fn(Ink) -> Swatch) -> [Key; 2] {
    [Key::new(swatch(BEFORE), "before"), Key::new(swatch(AFTER), "after")]
}
