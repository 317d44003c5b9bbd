//! Parses times as people write them.

use lioprof_model::time;

/// A time in microseconds since the epoch, from `2026-11-21T08:51:22Z`, `2026-11-21 08:51`, Unix seconds, or a time of day,
/// `08:51`, if the dataset covers only one day.
pub(crate) fn parse(text: &str, days: &[String]) -> Result<i64, String> {
    let moment = match (time::time_of_day(text), days) {
        (Some(_), [day]) => time::parse(&format!("{day} {text}")),
        (Some(_), _) => return Err(format!("a time with its day, since the dataset has {}", days_text(days))),
        (None, _) => time::parse(text),
    };
    moment.ok_or_else(|| "a time such as 2026-11-21T08:51:22Z, 2026-11-21 08:51, 08:51, or Unix seconds".to_owned())
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
        for text in ["2026-11-21T08:51:22Z", "08:51:22", "8:51:22", "1795251082"] {
            assert_eq!(one_day(text), Ok(SECOND), "{text}");
        }
        assert_eq!(one_day("08:51"), Ok(SECOND - 22_000_000));
        assert_eq!(one_day("08:51:22.25"), Ok(SECOND + 250_000));
    }

    #[test]
    fn a_time_of_day_needs_one_day() {
        let days = ["2026-11-20".to_owned(), "2026-11-21".to_owned()];
        assert!(parse("08:51", &days).unwrap_err().contains("2 days from 2026-11-20 to 2026-11-21"));
        assert_eq!(parse("2026-11-21 08:51:22", &days), Ok(SECOND));
    }

    #[test]
    fn garbage_is_told() {
        for text in ["", "now", "25:00", "08:61", "2026", ":", "é:00"] {
            assert!(one_day(text).unwrap_err().starts_with("a time such as"), "{text}");
        }
    }
}
