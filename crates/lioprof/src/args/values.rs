//! Values of options, parsed.

use std::ops::RangeBounds;
use std::str::FromStr;
use std::time::Duration;

use lioprof_analysis::{Bound, ContendedRule};
use lioprof_model::time;
use lioprof_model::units::micros;
use lustre_debuglog::Opcode;
use lustre_debuglog::kernel_log::parse_zone;

pub(crate) fn bin_us(text: &str) -> Result<i64, String> {
    let expected = || format!("expected a number of seconds from 0.001 to 86400, such as 0.1; found `{text}`");
    let seconds: f64 = text.parse().map_err(|_| expected())?;
    if !(0.001..=86_400.0).contains(&seconds) {
        return Err(expected());
    }
    Ok(micros(seconds))
}

/// A span of time in which something can happen.
pub(crate) fn some_time(text: &str) -> Result<Duration, String> {
    time_within(text, Duration::from_nanos(1).., "more than 0s")
}

/// A span of time within these limits, which are said so.
pub(crate) fn time_within(text: &str, limits: impl RangeBounds<Duration>, said: &str) -> Result<Duration, String> {
    let span = humantime::parse_duration(text).map_err(|err| err.to_string())?;
    if limits.contains(&span) { Ok(span) } else { Err(format!("expected {said}")) }
}

pub(crate) fn contended(text: &str) -> Result<ContendedRule, String> {
    let parse = || -> Option<ContendedRule> {
        let mut parts = text.split('/');
        let conflicts = parts.next()?.parse().ok().filter(|&n| (1..=1_000_000).contains(&n))?;
        let window_us = bin_us(parts.next()?).ok()?;
        let hold_us = parts.next().map_or(Some(window_us), |hold| bin_us(hold).ok())?;
        parts.next().is_none().then_some(ContendedRule { conflicts, window_us, hold_us })
    };
    parse()
        .ok_or_else(|| format!("expected CONFLICTS/SECONDS or CONFLICTS/SECONDS/HOLD, such as 16/4/30; found `{text}`"))
}

pub(crate) fn threshold(text: &str) -> Result<(String, f64), String> {
    text.split_once('=')
        .and_then(|(name, value)| Some((name.trim().to_owned(), value.trim().parse().ok()?)))
        .ok_or_else(|| format!("expected RULE.NAME=VALUE, such as trace-quality.lost_share=0.05; found `{text}`"))
}

pub(crate) fn share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| format!("expected a share from 0 to 1, such as 0.05; found `{text}`"))
}

pub(crate) fn opcode(text: &str) -> Result<Opcode, String> {
    Opcode::from_str(&text.to_ascii_uppercase())
        .map_err(|_| format!("expected a name such as OST_WRITE or ldlm_enqueue, or a number; found `{text}`"))
}

/// Parses a time; any other text is that of a marker.
pub(crate) fn bound(text: &str) -> Result<Bound, String> {
    // Every mark begins with nothing; a variable of a script may be empty.
    if text.trim().is_empty() {
        return Err("expected a time, or how a mark begins; found nothing".to_owned());
    }
    let time = time::parse(text).map(Bound::Time).or_else(|| time::time_of_day(text).map(Bound::TimeOfDay));
    Ok(time.unwrap_or_else(|| Bound::Marker(text.to_owned())))
}

/// A moment, microseconds since the epoch.
pub(crate) fn moment_us(text: &str) -> Result<i64, String> {
    time::parse(text).ok_or_else(|| format!("expected a time such as 2026-11-21T08:51:22Z; found `{text}`"))
}

/// Offset of a time zone from UTC, microseconds.
pub(crate) fn zone_us(text: &str) -> Result<i64, String> {
    parse_zone(text.as_bytes())
        .ok_or_else(|| format!("expected an offset from UTC such as +01:00, or UTC (`date +%z`); found `{text}`"))
}

/// What is given a second time, the first such.
pub(crate) fn given_twice<T: PartialEq>(given: &[T]) -> Option<&T> {
    (1..given.len()).find(|&at| given[..at].contains(&given[at])).map(|at| &given[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_markers() {
        assert_eq!(bound("1700000000.5"), Ok(Bound::Time(1_700_000_000_500_000)));
        assert_eq!(bound("2023-11-14T22:13:20Z"), Ok(Bound::Time(1_700_000_000_000_000)));
        assert_eq!(bound("2023-11-14 22:13:20.25"), Ok(Bound::Time(1_700_000_000_250_000)));
        assert_eq!(bound("22:13:20"), Ok(Bound::TimeOfDay(80_000_000_000)));
        assert!(bound(" ").is_err());
        assert_eq!(bound("CAPTURE-START x"), Ok(Bound::Marker("CAPTURE-START x".to_owned())));
    }

    #[test]
    fn contention_rules() {
        let rule = ContendedRule { conflicts: 16, window_us: 4_000_000, hold_us: 30_000_000 };
        assert_eq!(contended("16/4/30"), Ok(rule));
        assert_eq!(contended("16/4"), Ok(ContendedRule { hold_us: 4_000_000, ..rule }));
        for bad in ["", "16", "0/4", "16/x", "16/4/30/1"] {
            assert!(contended(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn zones_and_moments() {
        assert_eq!(zone_us("+01:00"), Ok(3_600_000_000));
        assert_eq!(zone_us("-0530"), Ok(-19_800_000_000));
        assert_eq!(zone_us("UTC"), Ok(0));
        assert_eq!(moment_us("2023-11-14 22:13:20"), Ok(1_700_000_000_000_000));
        for bad in ["", "CET", "+1", "+25:00"] {
            assert!(zone_us(bad).is_err(), "{bad}");
        }
        assert!(moment_us("yesterday").is_err());
    }

    #[test]
    fn bins_are_checked() {
        assert_eq!(bin_us("0.25"), Ok(250_000));
        for bad in ["0", "-1", "x", "nan", "1e9"] {
            assert!(bin_us(bad).is_err(), "{bad}");
        }
    }
}
