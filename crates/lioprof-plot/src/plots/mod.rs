//! Every plot. A new one is a new file and a line in [`PLOTS`].

mod bandwidth_per_ost;
mod client_ost_matrix;
mod io_time_distribution;
mod io_timeline;
mod latency;
mod latency_heatmap;
mod lock_contention_per_ost;
mod lock_cost;
mod lock_pairs;
mod lock_timeline;
mod lock_wait_distribution;
mod object_offsets;
mod queue_depth;
mod requests_per_client;
mod rpc_size;

use lioprof_model::Analysis;

use crate::draw::scene::Scene;
use crate::options::PlotOptions;

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

static PLOTS: [Plot; 15] = [
    bandwidth_per_ost::PLOT,
    requests_per_client::PLOT,
    client_ost_matrix::PLOT,
    latency::PLOT,
    latency_heatmap::PLOT,
    io_time_distribution::PLOT,
    rpc_size::PLOT,
    queue_depth::PLOT,
    io_timeline::PLOT,
    object_offsets::PLOT,
    lock_contention_per_ost::PLOT,
    lock_pairs::PLOT,
    lock_timeline::PLOT,
    lock_wait_distribution::PLOT,
    lock_cost::PLOT,
];

/// All plots, in the order in which a report shows them.
#[must_use]
pub fn plots() -> &'static [Plot] {
    &PLOTS
}

/// The plot of this name.
#[must_use]
pub fn plot(name: &str) -> Option<&'static Plot> {
    PLOTS.iter().find(|plot| plot.name == name)
}
