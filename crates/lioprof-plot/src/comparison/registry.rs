//! All plots of two analyses.

use super::bandwidth;
use super::bytes_per_ost;
use super::latency;
use super::plot::ComparisonPlot;

/// All plots of two analyses, in the order in which they are written.
pub(crate) static PLOTS: [ComparisonPlot; 3] = [bandwidth::PLOT, latency::PLOT, bytes_per_ost::PLOT];
