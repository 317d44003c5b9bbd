//! Numbers as people read them, always with their unit. Shorter than those of [`lioprof_model::units`]: a plot has little room and
//! no columns, so no zeros at the end, and what is next to nothing or to all says so.

use lioprof_model::time::utc_short;
pub(crate) use lioprof_model::units::{plural as counted, thousands as count};

use crate::draw::num::whole;

/// A binary unit of bytes, chosen for the largest value of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ByteUnit {
    /// Bytes of one unit.
    pub(crate) bytes: f64,
    /// `MiB`.
    pub(crate) name: &'static str,
}

const BYTE_UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

impl ByteUnit {
    /// The largest unit of which `max` has at least one.
    pub(crate) fn for_max(max: f64) -> Self {
        let mut unit = Self { bytes: 1.0, name: BYTE_UNITS[0] };
        for name in &BYTE_UNITS[1..] {
            if max < unit.bytes * 1024.0 {
                break;
            }
            unit = Self { bytes: unit.bytes * 1024.0, name };
        }
        unit
    }
}

/// Three significant digits: `0.123`, `1.5`, `12.3`, `123`.
pub(crate) fn short(value: f64) -> String {
    if !value.is_finite() {
        return "?".to_owned();
    }
    let digits = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        _ => 3,
    };
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// `1.5 GiB`.
pub(crate) fn bytes(value: f64) -> String {
    let unit = ByteUnit::for_max(value);
    format!("{} {}", short(value / unit.bytes), unit.name)
}

/// `12.3k`, `4.5M`: for places with little room.
pub(crate) fn short_count(value: f64) -> String {
    let suffix = ["", "k", "M", "G", "T", "P", "E"];
    let mut value = value;
    let mut step = 0;
    while value >= 999.5 && step + 1 < suffix.len() {
        value /= 1000.0;
        step += 1;
    }
    format!("{}{}", short(value), suffix[step])
}

/// `1 more OST has`, `5 more OSTs have`.
pub(crate) fn more_have(value: usize, singular: &str) -> String {
    let verb = if value == 1 { "has" } else { "have" };
    format!("{} {verb}", counted(value as u64, &format!("more {singular}")))
}

/// `12 µs`, `1.5 ms`, `2.3 s`, `5 min`.
pub(crate) fn duration_us(us: f64) -> String {
    let (value, unit) = match us {
        us if us < 999.5 => (us, "µs"),
        us if us < 999_500.0 => (us / 1e3, "ms"),
        us if us < 120e6 => (us / 1e6, "s"),
        us if us < 7200e6 => (us / 60e6, "min"),
        _ => (us / 3600e6, "h"),
    };
    format!("{} {unit}", short(value))
}

/// `12.3 %`, `< 0.1 %`; a share that is not all never reads 100 %.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value > 0.0 && value < 0.1 {
        "< 0.1 %".to_owned()
    } else if (99.95..100.0).contains(&value) {
        "> 99.9 %".to_owned()
    } else {
        let digits = usize::from(value < 9.95 && (value - value.round()).abs() > 0.05);
        format!("{value:.digits$} %")
    }
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
    fn numbers_are_short() {
        assert_eq!([short(0.0), short(0.5), short(12.34), short(99.96)], ["0", "0.5", "12.3", "100"]);
        assert_eq!(bytes(1536.0), "1.5 KiB");
        assert_eq!(bytes(1023.0 * 1024.0), "1023 KiB");
        assert_eq!(short_count(12_345.0), "12.3k");
        assert_eq!(duration_us(1500.0), "1.5 ms");
        assert_eq!([percent(0.0004), percent(0.034), percent(0.9999)], ["< 0.1 %", "3.4 %", "> 99.9 %"]);
    }
}
