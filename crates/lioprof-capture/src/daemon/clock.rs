//! The time, and how often the main loop looks around.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often the main loop looks around under load: a segment must not grow far beyond its size.
pub(super) const TICK: Duration = Duration::from_millis(100);

/// How often it does when little is logged.
pub(super) const CALM_TICK: Duration = Duration::from_millis(500);

/// Wall clock, microseconds since the epoch.
pub(super) fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
