//! Moments, as people write them and as they are shown to them: UTC, unless a zone is given.

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, SecondsFormat, Utc};

/// The computer's clock, microseconds since the epoch.
#[must_use]
pub fn now_us() -> i64 {
    since_epoch_us(SystemTime::now())
}

/// Microseconds since the epoch.
#[must_use]
pub fn since_epoch_us(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// The first and last microseconds of the years that have four digits.
const YEARS_US: [i64; 2] = [-62_135_596_800_000_000, 253_402_300_799_999_999];

/// `2026-11-21T08:51:22Z`. What is outside of the years 1 to 9999 is put to the edge, here and in the others.
#[must_use]
pub fn utc(time_us: i64) -> String {
    moment(time_us).to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// The same of Unix seconds.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "a cast saturates, and all moments can be shown")]
pub fn utc_of(unix_s: f64) -> String {
    utc((unix_s * 1e6) as i64)
}

/// `2026-11-21T08:51:22.123Z`.
#[must_use]
pub fn utc_millis(time_us: i64) -> String {
    moment(time_us).to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// `2026-11-21T08:51:22.123456Z`.
#[must_use]
pub fn utc_micros(time_us: i64) -> String {
    moment(time_us).to_rfc3339_opts(SecondsFormat::Micros, true)
}

/// `2026-11-21T08:51:22Z`, with milliseconds where there are any.
#[must_use]
pub fn utc_short(time_us: i64) -> String {
    if time_us.rem_euclid(1_000_000) < 1000 { utc(time_us) } else { utc_millis(time_us) }
}

fn moment(time_us: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(time_us.clamp(YEARS_US[0], YEARS_US[1])).unwrap_or_default()
}

/// The year of a moment, UTC.
#[must_use]
pub fn year(time_us: i64) -> i32 {
    moment(time_us).year()
}

/// A moment, in microseconds since the epoch: `2026-11-21T08:51:22.25Z`, `2026-11-21 08:51`, `2026-11-21T09:51+01:00`,
/// `2026-11-21`, or Unix seconds. `None` if the text is no moment.
#[must_use]
pub fn parse(text: &str) -> Option<i64> {
    // A year alone is no moment.
    let seconds = unix_seconds(text).filter(|_| text.find('.').unwrap_or(text.len()) > 4);
    if seconds.is_some() {
        return seconds;
    }
    let text = text.strip_suffix(" UTC").unwrap_or(text).replacen(' ', "T", 1);
    let zoned = ["%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M%#z"].iter();
    let plain = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M"].iter();
    let day = || NaiveDate::parse_from_str(&text, "%Y-%m-%d").ok().map(Into::into);
    let moment = zoned.flat_map(|form| DateTime::parse_from_str(&text, form)).map(|it| it.to_utc()).next();
    let moment = moment.or_else(|| {
        let read = plain.flat_map(|form| NaiveDateTime::parse_from_str(&text, form)).next();
        read.or_else(day).map(|it| it.and_utc())
    });
    moment.map(|it| it.timestamp_micros())
}

/// A day, in microseconds.
pub const DAY_US: i64 = 86_400_000_000;

/// A time of day, `8:51`, `08:51:22.25`: microseconds since midnight. `None` if the text is none.
#[must_use]
pub fn time_of_day(text: &str) -> Option<i64> {
    let is_one = text.contains(':') && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b':' | b'.'));
    is_one.then(|| parse(&format!("1970-01-01 {text}"))).flatten()
}

/// Unix seconds, `1795251082.25`, in microseconds; what is beyond six decimals is cut off.
#[must_use]
pub fn unix_seconds(text: &str) -> Option<i64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(part) {
        return None;
    }
    let micros: i64 = format!("{part:0<6.6}").parse().ok()?;
    whole.parse::<i64>().ok()?.checked_mul(1_000_000)?.checked_add(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_795_251_082_000_000;

    #[test]
    fn moments_in_all_forms() {
        for text in [
            "2026-11-21T08:51:22Z",
            "2026-11-21 08:51:22",
            "2026-11-21 08:51:22 UTC",
            "2026-11-21 8:51:22",
            "2026-11-21T09:51:22+01:00",
            "1795251082",
            "1795251082.000000",
        ] {
            assert_eq!(parse(text), Some(SECOND), "{text}");
        }
        for text in ["2026-11-21 08:51", "2026-11-21 8:51", "2026-11-21T08:51Z", "2026-11-21T09:51+01:00"] {
            assert_eq!(parse(text), Some(SECOND - 22_000_000), "{text}");
        }
        assert_eq!(parse("2026-11-21 08:51:22.25"), Some(SECOND + 250_000));
        assert_eq!(parse("1795251082.1234567"), Some(SECOND + 123_456));
        assert_eq!((year(SECOND), year(-1)), (2026, 1969));
        assert_eq!(parse("2026-11-21"), Some(SECOND - (8 * 3600 + 51 * 60 + 22) * 1_000_000));
    }

    #[test]
    fn times_of_day() {
        assert_eq!(time_of_day("8:51"), Some((8 * 60 + 51) * 60_000_000));
        assert_eq!(time_of_day("08:51:22.25"), Some((8 * 60 + 51) * 60_000_000 + 22_250_000));
        for text in ["", "8", "25:00", "08:61", "é:00", "-8:51", "08:51+01:00", "2026-11-21 08:51", ":"] {
            assert_eq!(time_of_day(text), None, "{text}");
        }
    }

    #[test]
    fn seconds_in_all_forms() {
        assert_eq!(unix_seconds("1795251092"), Some(1_795_251_092_000_000));
        assert_eq!(unix_seconds("1795251092.3"), Some(1_795_251_092_300_000));
        assert_eq!(unix_seconds("1795251092.000001999"), Some(1_795_251_092_000_001));
        assert_eq!([unix_seconds("x.1"), unix_seconds("1.x"), unix_seconds(".5")], [None; 3]);
    }

    #[test]
    fn other_texts_are_no_moments() {
        for text in [
            "",
            "now",
            "8:51",
            "2026",
            "2026-13-01",
            "1.1234567",
            ":",
            "é:00",
            "99999999999999999999",
            "2026-11-21 run",
            "-12345",
            "1e10",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn moments_are_shown_in_utc() {
        let us = SECOND + 123_456;
        assert_eq!(utc(us), "2026-11-21T08:51:22Z");
        assert_eq!(utc_millis(us), "2026-11-21T08:51:22.123Z");
        assert_eq!(utc_micros(us), "2026-11-21T08:51:22.123456Z");
        assert_eq!([utc_short(us), utc_short(SECOND)], [utc_millis(us), utc(us)]);
        assert_eq!(utc(951_782_400_000_000), "2000-02-29T00:00:00Z");
        assert_eq!([utc(i64::MIN), utc(i64::MAX)], ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]);
    }
}
