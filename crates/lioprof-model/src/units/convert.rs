//! Counts, sums and times as other types of numbers.

/// A count for arithmetic.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "shares, means and what is shown need no more than 52 bits")]
pub fn real(count: u64) -> f64 {
    count as f64
}

/// A sum of counts as a count again; what is left of the point.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates at both ends")]
pub fn whole(sum: f64) -> u64 {
    sum as u64
}

/// `part` of `whole`; 0 of nothing.
#[must_use]
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { real(part) / real(whole) }
}

/// Microseconds as seconds, of spans and of times since the epoch.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "microseconds since 1970 need 51 bits until 2041 and stay exact to 1 µs until 2255"
)]
pub fn seconds(us: i64) -> f64 {
    us as f64 / 1e6
}

/// A sum of microseconds as seconds.
#[must_use]
pub fn summed_seconds(us: u64) -> f64 {
    seconds(i64::try_from(us).unwrap_or(i64::MAX))
}

/// Seconds as microseconds, the nearest; what is too large or no number is put to the edge, or 0.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "a cast saturates")]
pub fn micros(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_come_back() {
        let us = 1_795_251_082_000_001;
        assert_eq!((micros(seconds(us)), micros(f64::NAN), micros(f64::INFINITY)), (us, 0, i64::MAX));
    }
}
