//! Registering figures.

use prometheus_client::registry::{Metric, Registry, Unit};

/// Declares figures, each with its type, its name, unit and help in Prometheus, and how it is made if not by default; and a
/// function that registers all.
macro_rules! figures {
    (@new $metric:ty) => { <$metric>::default() };
    (@new $metric:ty, $new:expr) => { $new };
    ($(#[$meta:meta])* $type:ident;
        $($field:ident: $metric:ty = $name:literal $(in $unit:expr)?, $help:literal $(, $new:expr)?;)+) => {
        $(#[$meta])*
        #[derive(Debug)]
        pub(super) struct $type {
            $($field: $metric,)+
        }

        impl $type {
            pub(super) fn register(registry: &mut Registry) -> Self {
                Self {
                    $($field: add(registry, $name, None$(.or(Some($unit)))?, $help, figures!(@new $metric $(, $new)?)),)+
                }
            }
        }
    };
}

pub(super) use figures;

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
