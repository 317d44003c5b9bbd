//! Figures for Prometheus.
//!
//! The daemon updates [`Metrics`]; [`MetricsServer`] shows them under `/metrics` and tells under `/healthz` whether the
//! daemon works. The label sets are bounded: targets of this node, directions, and kinds that this crate names, never
//! clients or jobs.

mod expose;
mod health;
mod http;
mod register;
mod registry;
mod target;

pub(crate) use http::{MetricsError, MetricsServer};
pub(crate) use registry::{Loss, Metrics};
pub(crate) use target::{Callback, TargetMetrics};

#[cfg(test)]
mod tests;
