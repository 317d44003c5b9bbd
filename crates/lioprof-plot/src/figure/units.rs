//! Numbers as plots show them, always with their unit: the short forms of [`lioprof_model::units`].

use lioprof_model::time::utc_short;
use lioprof_model::units::{BYTES, Unit};
pub(crate) use lioprof_model::units::{
    duration_us, plural as counted, short, short_bytes as bytes, short_count, short_percent as percent,
    thousands as count,
};

use crate::draw::num::whole;

/// The unit of an axis of bytes: the largest of which `max` has at least one.
pub(crate) fn axis_unit(max: f64) -> Unit {
    BYTES.into_iter().rev().find(|unit| max >= unit.size).unwrap_or(BYTES[0])
}

/// `1 more OST has`, `5 more OSTs have`.
pub(crate) fn more_have(value: usize, singular: &str) -> String {
    let verb = if value == 1 { "has" } else { "have" };
    format!("{} {verb}", counted(value as u64, &format!("more {singular}")))
}

/// `2026-11-21T09:30:05Z`, with milliseconds where there are any; `None` outside of the years 1 to 9999.
pub(crate) fn iso_utc(unix_s: f64) -> Option<String> {
    if !unix_s.is_finite() || !(-62_135_596_800.0..253_402_300_799.0).contains(&unix_s) {
        return None;
    }
    Some(utc_short(whole((unix_s * 1e3).round()) * 1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_iso_8601() {
        assert_eq!(iso_utc(0.0).unwrap(), "1970-01-01T00:00:00Z");
        assert_eq!(iso_utc(1_795_261_863.25).unwrap(), "2026-11-21T11:51:03.250Z");
        assert_eq!(iso_utc(f64::NAN), None);
        assert_eq!(iso_utc(1e300), None);
    }

    #[test]
    fn an_axis_has_at_least_one_of_its_unit() {
        let names = [0.0, 1023.0, 1024.0, 1e30].map(|max| axis_unit(max).name);
        assert_eq!(names, ["B", "B", "KiB", "EiB"]);
    }
}
