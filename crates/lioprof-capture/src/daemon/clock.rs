//! The time, and the interval of the main loop.

use std::time::Duration;

pub(super) use lioprof_model::time::now_us;

/// Interval of the main loop under load: a segment must not grow far beyond its size.
pub(super) const TICK: Duration = Duration::from_millis(100);

/// Interval of the main loop when little is logged.
pub(super) const CALM_TICK: Duration = Duration::from_millis(500);
