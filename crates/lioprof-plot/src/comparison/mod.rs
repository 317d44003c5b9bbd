//! Plots of two analyses, one drawn over the other. A new one is a new file and a line in `PLOTS` (`registry.rs`).

mod bandwidth;
mod bytes_per_ost;
mod latency;
mod plot;
mod registry;

pub use plot::ComparisonPlot;
pub use registry::comparison_plots;
