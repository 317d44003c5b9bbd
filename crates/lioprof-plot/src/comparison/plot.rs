//! What a plot of two analyses is.

use lioprof_model::Analysis;

use crate::draw::{AFTER, BEFORE, Ink, Scene};
use crate::figure::{Key, Swatch};
pub(crate) use crate::options::PlotOptions;

/// A kind of plot of two analyses.
#[derive(Clone, Copy, Debug)]
pub struct ComparisonPlot {
    /// Stem of its file name.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// How to read it.
    pub how_to_read: &'static str,
    pub(crate) draw: Draw,
}

/// The picture of before and after, or why there is none.
pub(crate) type Draw = fn([&Analysis; 2], &PlotOptions) -> Result<Scene, &'static str>;

/// The colours of before and after.
pub(super) const INKS: [Ink; 2] = [BEFORE, AFTER];

pub(super) fn keys(swatch: fn(Ink) -> Swatch) -> [Key; 2] {
    [Key::new(swatch(BEFORE), "before"), Key::new(swatch(AFTER), "after")]
}
