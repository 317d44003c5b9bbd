//! All plots of an analysis, by name.

use super::bandwidth_per_ost;
use super::client_ost_matrix;
use super::io_time_distribution;
use super::io_timeline;
use super::latency;
use super::latency_heatmap;
use super::lock_contention_per_ost;
use super::lock_cost;
use super::lock_pairs;
use super::lock_timeline;
use super::lock_wait_distribution;
use super::object_offsets;
use super::plot::Plot;
use super::queue_depth;
use super::requests_per_client;
use super::rpc_size;
use super::service_parts;
use super::time_account;

pub(super) static PLOTS: [Plot; 17] = [
    time_account::PLOT,
    bandwidth_per_ost::PLOT,
    requests_per_client::PLOT,
    client_ost_matrix::PLOT,
    latency::PLOT,
    service_parts::PLOT,
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
