//! From which amount on which unit is used, and how many digits are shown. Tables, plots and sentences are made by these rules; a page
//! gets them with its data, and its script makes the same texts by them.

use serde::Serialize;

/// A unit of bytes, counts or times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Unit {
    /// Its name; empty for counts below a thousand.
    pub name: &'static str,
    /// Its size in bytes, ones or microseconds.
    pub size: f64,
    /// From so many of it on the next larger unit is used; the largest is used for all that is larger, too.
    pub below: f64,
}

/// Of what has four digits, the next larger unit is used.
const FOUR_DIGITS: f64 = 999.5;

/// Units that are each `step` times the one before.
const fn ladder(names: [&'static str; 7], step: f64) -> [Unit; 7] {
    let mut units = [Unit { name: "", size: 1.0, below: FOUR_DIGITS }; 7];
    let mut i = 0;
    while i < names.len() {
        units[i].name = names[i];
        if i > 0 {
            units[i].size = units[i - 1].size * step;
        }
        i += 1;
    }
    units
}

/// Binary units of bytes.
pub const BYTES: [Unit; 7] = ladder(["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"], 1024.0);

/// Units of counts where there is little room.
pub const COUNTS: [Unit; 7] = ladder(["", "k", "M", "G", "T", "P", "E"], 1000.0);

/// Units of times.
pub const TIMES: [Unit; 5] = [
    Unit { name: "µs", size: 1.0, below: FOUR_DIGITS },
    Unit { name: "ms", size: 1e3, below: FOUR_DIGITS },
    Unit { name: "s", size: 1e6, below: 120.0 },
    Unit { name: "min", size: 60e6, below: 120.0 },
    Unit { name: "h", size: 3600e6, below: f64::MAX },
];

/// All rules that a page needs.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Rules {
    /// [`BYTES`].
    pub bytes: [Unit; 7],
    /// [`TIMES`].
    pub times: [Unit; 5],
    /// From which amount on how many decimals are shown, so that there are three digits.
    pub decimals: [(f64, usize); 4],
    /// No more than so many in columns.
    pub column_decimals: usize,
    /// Whole numbers below this have all their digits, with commas.
    pub whole_below: f64,
    /// Others have commas from here on, and no decimals.
    pub commas_from: f64,
    /// Smaller ones are shown as powers of ten.
    pub power_below: f64,
    /// Percentages below this have a decimal.
    pub tenths_below_percent: f64,
    /// And those from here to 100: what is not all must not look as if it were.
    pub tenths_from_percent: f64,
    /// What has less, if anything, reads as less than this.
    pub least_percent: f64,
    /// What has more, if not all, reads as more than this.
    pub most_percent: f64,
    /// A change by less, in percent, is none.
    pub no_change_below_percent: f64,
    /// A change by this share or more is told as a multiple.
    pub times_from: f64,
    /// Decimals of multiples.
    pub ratio_decimals: [(f64, usize); 3],
    /// What stands for a figure that is not known.
    pub unknown: &'static str,
    /// What stands before a figure that is estimated.
    pub estimated: &'static str,
    /// What stands before the name of whom a finding names.
    pub accused: &'static str,
    /// Names that a list of a finding has at most.
    pub max_names: usize,
}

/// The rules.
pub const RULES: Rules = Rules {
    bytes: BYTES,
    times: TIMES,
    decimals: [(99.95, 0), (9.995, 1), (0.9995, 2), (0.0, 3)],
    column_decimals: 2,
    whole_below: 1e15,
    commas_from: FOUR_DIGITS,
    power_below: 1e-3,
    tenths_below_percent: 9.95,
    tenths_from_percent: 99.5,
    least_percent: 0.1,
    most_percent: 99.9,
    no_change_below_percent: 0.05,
    times_from: 9.0,
    ratio_decimals: [(9.95, 0), (0.095, 1), (0.0, 2)],
    unknown: "?",
    estimated: "~",
    accused: "▲",
    max_names: 20,
};

/// What stands for a figure that is not known.
pub const UNKNOWN: &str = RULES.unknown;

/// The unit in which `value` is shown.
pub(super) fn unit_of(value: f64, units: &[Unit]) -> Unit {
    let (largest, smaller) = units.split_last().expect("there is no kind of figures without a unit");
    *smaller.iter().find(|unit| value.abs() / unit.size < unit.below).unwrap_or(largest)
}

/// Decimals with which `value` is shown.
pub(super) fn decimals(value: f64, by: &[(f64, usize)]) -> usize {
    by.iter().find(|(from, _)| value.abs() >= *from).map_or(0, |(_, decimals)| *decimals)
}
