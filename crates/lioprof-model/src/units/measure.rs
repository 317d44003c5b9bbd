//! What a figure is called and measured in, as its key says: `read_total_p99_us`, `bandwidth_bytes_per_s`, `lost_share`.

use serde::Serialize;

use super::columns::{human_bytes, mib, percent, thousands, three_digits};
use super::convert::whole;

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Bytes.
    Bytes,
    /// Bytes per second.
    ByteRate,
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds, also per GiB.
    Seconds,
    /// A part of 1.
    Share,
    /// A part of 100.
    Percent,
    /// A count, a ratio, anything else.
    Number,
}

/// The ends of keys that say a unit, what of it a value does not show, and the unit.
const ENDS: [(&str, &str, Measure); 9] = [
    ("bytes_per_s", "", Measure::ByteRate),
    ("bytes_s", "", Measure::ByteRate),
    ("us", "", Measure::Microseconds),
    ("ms", "", Measure::Milliseconds),
    ("s_per_gib", " per GiB", Measure::Seconds),
    ("per_gib", " per GiB", Measure::Number),
    ("per_s", " per s", Measure::Number),
    ("s", "", Measure::Seconds),
    ("percent", "", Measure::Percent),
];

/// Name, what its values do not show of the unit, and unit.
fn parts(key: &str) -> (&str, &'static str, Measure) {
    let is_end = |bare: &&str| bare.ends_with(['_', '.']);
    let ended = ENDS.iter().find_map(|(end, per, measure)| {
        let bare = key.strip_suffix(end).filter(is_end)?;
        Some((&bare[..bare.len() - 1], *per, *measure))
    });
    ended.unwrap_or_else(|| {
        let has = |word: &str| key.split(['_', '.']).any(|it| it == word);
        let measure = match () {
            () if key.ends_with("bytes") => Measure::Bytes,
            () if has("share") || key.ends_with("fraction") => Measure::Share,
            () => Measure::Number,
        };
        (key, "", measure)
    })
}

/// A figure's name for people, without its unit: `read bandwidth` for `read_bandwidth_bytes_per_s`.
#[must_use]
pub fn figure_name(key: &str) -> String {
    let word = |word| match word {
        "rpc" => "RPC",
        "rpcs" => "RPCs",
        "ost" => "OST",
        "osts" => "OSTs",
        other => other,
    };
    parts(key).0.split(['_', '.']).map(word).collect::<Vec<_>>().join(" ")
}

/// The same with what its values do not show of the unit: `conflicts per GiB`.
#[must_use]
pub fn figure_label(key: &str) -> String {
    format!("{}{}", figure_name(key), parts(key).1)
}

impl Measure {
    /// That of a figure.
    #[must_use]
    pub fn of(key: &str) -> Self {
        parts(key).2
    }

    /// A value in a column, where all have the same unit.
    #[must_use]
    pub fn in_column(self, value: f64) -> String {
        match self {
            Self::Bytes => human_bytes(whole(value)),
            Self::ByteRate => format!("{} MiB/s", mib(value)),
            Self::Microseconds => format!("{} ms", three_digits(value / 1000.0)),
            Self::Milliseconds => format!("{} ms", three_digits(value)),
            Self::Seconds => format!("{} s", three_digits(value)),
            Self::Share => percent(value, 1),
            Self::Percent => percent(value / 100.0, 1),
            Self::Number if value == value.trunc() => thousands(whole(value)),
            Self::Number => three_digits(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_says_the_unit() {
        for (key, label, measure) in [
            ("read_bandwidth_bytes_per_s", "read bandwidth", Measure::ByteRate),
            ("read_bytes", "read bytes", Measure::Bytes),
            ("write_total_p99_us", "write total p99", Measure::Microseconds),
            ("peers_service_ms", "peers service", Measure::Milliseconds),
            ("activity_s", "activity", Measure::Seconds),
            ("lock_wait_s_per_gib", "lock wait per GiB", Measure::Seconds),
            ("conflicts_per_gib", "conflicts per GiB", Measure::Number),
            ("rpcs_per_s", "RPCs per s", Measure::Number),
            ("share_of_available", "share of available", Measure::Share),
            ("rpcs", "RPCs", Measure::Number),
            ("clients", "clients", Measure::Number),
        ] {
            assert_eq!((figure_label(key).as_str(), Measure::of(key)), (label, measure), "{key}");
        }
    }
}
