//! Stamps by a clock on a wall.

use lioprof_model::time::{DAY_US, year};
use lustre_debuglog::kernel_log::Stamp;

/// A local stamp as if it were UTC, microseconds since the epoch; one without a year is of the last one in which it is no later than
/// `latest_us`, whatever its zone. `None` for other stamps.
#[must_use]
pub fn as_if_utc_until(stamp: Stamp, latest_us: i64) -> Option<i64> {
    let year = year(latest_us);
    let not_later = |us: &i64| *us <= latest_us.saturating_add(2 * DAY_US);
    stamp.as_if_utc_us(year).filter(not_later).or_else(|| stamp.as_if_utc_us(year - 1))
}
