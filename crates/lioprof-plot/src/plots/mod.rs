//! Every plot. A new one is a new file and a line in `PLOTS` (`registry.rs`).

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
mod plot;
mod queue_depth;
mod registry;
mod requests_per_client;
mod rpc_size;
mod service_parts;
mod time_account;

pub use plot::Plot;
pub use registry::{plot, plots};
