//! Moments as people write them.

use datafusion::arrow::compute::kernels::cast_utils::string_to_timestamp_nanos;

/// A moment, in microseconds since the epoch: `2026-11-21T08:51:22Z`, `2026-11-21 08:51`, Unix seconds; or a time of day,
/// `08:51`, on the only day there is.
pub(crate) fn parse(text: &str, days: &[String]) -> Result<i64, String> {
    let nanos = |text: &str| string_to_timestamp_nanos(text).ok().map(|it| it.div_euclid(1000));
    if let Some(us) = seconds(text) {
        return Ok(us);
    }
    if is_time_of_day(text) {
        let [day] = days else {
            return Err(format!("a time with its day, since the dataset has {}", days_text(days)));
        };
        if let Some(us) = nanos(&format!("{day}T{}", full(text))) {
            return Ok(us);
        }
    }
    let dated =
        text.split_once([' ', 'T']).map_or_else(|| text.to_owned(), |(day, time)| format!("{day}T{}", full(time)));
    nanos(&dated)
        .ok_or_else(|| "a time such as 2026-11-21T08:51:22Z, 2026-11-21 08:51, 08:51, or Unix seconds".to_owned())
}

/// `3:00` or `03:00` for `03:00:00`; a zone may follow.
fn full(time: &str) -> String {
    let padded = if time.as_bytes().get(1) == Some(&b':') { format!("0{time}") } else { time.to_owned() };
    match padded.bytes().filter(|&b| b == b':').count() {
        1 if padded.len() == 5 => format!("{padded}:00"),
        1 if padded.len() == 6 && padded.ends_with('Z') => format!("{}:00Z", &padded[..5]),
        _ => padded,
    }
}

fn is_time_of_day(text: &str) -> bool {
    text.contains(':') && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b':' | b'.'))
}

/// Unix seconds, with up to six decimals.
fn seconds(text: &str) -> Option<i64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    // A year alone is no moment.
    if whole.len() < 5 || part.len() > 6 || !digits(whole) || !digits(part) {
        return None;
    }
    let whole: i64 = whole.parse().ok()?;
    let part: i64 = format!("{part:0<6}").parse().ok()?;
    whole.checked_mul(1_000_000)?.checked_add(part)
}

fn days_text(days: &[String]) -> String {
    match days {
        [] => "no day".to_owned(),
        [first, .., last] => format!("{} days from {first} to {last}", days.len()),
        [day] => day.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_795_251_082_000_000;

    fn one_day(text: &str) -> Result<i64, String> {
        parse(text, &["2026-11-21".to_owned()])
    }

    #[test]
    fn moments_in_all_forms() {
        for text in [
            "2026-11-21T08:51:22Z",
            "2026-11-21 08:51:22",
            "2026-11-21T09:51:22+01:00",
            "08:51:22",
            "8:51:22",
            "1795251082",
            "1795251082.000000",
        ] {
            assert_eq!(one_day(text), Ok(SECOND), "{text}");
        }
        assert_eq!(one_day("08:51"), Ok(SECOND - 22_000_000));
        assert_eq!(one_day("2026-11-21 8:51"), Ok(SECOND - 22_000_000));
        assert_eq!(one_day("2026-11-21T08:51Z"), Ok(SECOND - 22_000_000));
        assert_eq!(one_day("08:51:22.25"), Ok(SECOND + 250_000));
        assert_eq!(one_day("2026-11-21"), Ok(SECOND - (8 * 3600 + 51 * 60 + 22) * 1_000_000));
    }

    #[test]
    fn a_time_of_day_needs_one_day() {
        let days = ["2026-11-20".to_owned(), "2026-11-21".to_owned()];
        assert!(parse("08:51", &days).unwrap_err().contains("2 days from 2026-11-20 to 2026-11-21"));
        assert_eq!(parse("2026-11-21 08:51:22", &days), Ok(SECOND));
    }

    #[test]
    fn garbage_is_told() {
        for text in
            ["", "now", "25:00", "08:61", "2026", "2026-13-01", "1.1234567", ":", "é:00", "99999999999999999999"]
        {
            assert!(one_day(text).unwrap_err().starts_with("a time such as"), "{text}");
        }
    }
}
