//! Registering a figure.

use prometheus_client::registry::{Metric, Registry, Unit};

/// Registers a figure and returns it, to be updated.
pub(super) fn add<M: Metric + Clone>(
    registry: &mut Registry,
    name: &str,
    unit: Option<Unit>,
    help: &str,
    figure: M,
) -> M {
    match unit {
        Some(unit) => registry.register_with_unit(name, help, unit, figure.clone()),
        None => registry.register(name, help, figure.clone()),
    }
    figure
}
