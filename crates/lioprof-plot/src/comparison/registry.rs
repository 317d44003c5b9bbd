//! All plots of two analyses, by name.

use super::bandwidth;
use super::bytes_per_ost;
use super::latency;
use super::plot::ComparisonPlot;

pub(super) static PLOTS: [ComparisonPlot; 3] = [bandwidth::PLOT, latency::PLOT, bytes_per_ost::PLOT];

/// All plots of two analyses.
#[must_use]
pub fn comparison_plots() -> &'static [ComparisonPlot] {
    &PLOTS
}
