//! What a plot is.

use lioprof_model::Analysis;

use crate::draw::Scene;
pub(crate) use crate::options::PlotOptions;

/// A kind of plot.
#[derive(Clone, Copy, Debug)]
pub struct Plot {
    /// Stem of its file name.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// How to read it, in a few sentences for people who see it for the first time.
    pub how_to_read: &'static str,
    pub(crate) draw: Draw,
}

/// The picture, or why there is none.
pub(crate) type Draw = fn(&Analysis, &PlotOptions) -> Result<Scene, &'static str>;
