//! Figures for Prometheus.
//!
//! The daemon updates [`Metrics`]; [`MetricsServer`] shows them under `/metrics` and tells under `/healthz` whether the
//! daemon works. The label sets are bounded: targets of this node, directions, and kinds that this crate names, never
//! clients or jobs.

mod expose;
mod health;
mod http;
mod listen;
mod registry;
mod target;

pub use health::Health;
pub(crate) use http::METRICS_OPTION;
pub use http::{MetricsError, MetricsServer};
pub use listen::{Listen, ListenError};
pub use registry::{Loss, Metrics};
pub use target::{Callback, TargetMetrics};
