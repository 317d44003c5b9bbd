//! The time, and how often the main loop looks around.

use std::time::Duration;

pub(super) use lioprof_model::time::now_us;

/// How often the main loop looks around under load: a segment must not grow far beyond its size.
pub(super) const TICK: Duration = Duration::from_millis(100);

/// How often it does when little is logged.
pub(super) const CALM_TICK: Duration = Duration::from_millis(500);
