//! Numbers where there is little room, or no column to keep in line: without zeros at the end.

use super::columns::thousands;
use super::convert::whole;
use super::rules::{BYTES, COUNTS, RULES, TIMES, UNKNOWN, Unit, decimals, unit_of};

/// Three significant digits: `0.123`, `1.5`, `12.3`, `123`.
#[must_use]
pub fn short(value: f64) -> String {
    if !value.is_finite() {
        return UNKNOWN.to_owned();
    }
    trimmed(format!("{value:.0$}", decimals(value, &RULES.decimals)))
}

/// Without zeros behind the point.
fn trimmed(text: String) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn scaled(value: f64, units: &[Unit]) -> (String, &'static str) {
    let unit = unit_of(value, units);
    (short(value / unit.size), unit.name)
}

/// `1.5 GiB`.
#[must_use]
pub fn short_bytes(bytes: f64) -> String {
    let (number, unit) = scaled(bytes, &BYTES);
    format!("{number} {unit}")
}

/// `12.3k`, `4.5M`.
#[must_use]
pub fn short_count(count: f64) -> String {
    let (number, unit) = scaled(count, &COUNTS);
    format!("{number}{unit}")
}

/// `12 µs`, `1.5 ms`, `2.3 s`, `5 min`, of microseconds.
#[must_use]
pub fn duration_us(us: f64) -> String {
    let (number, unit) = scaled(us, &TIMES);
    format!("{number} {unit}")
}

/// `12 %`, `3.4 %`, `< 0.1 %`, of a share of 1; a share that is not all never reads 100 %.
#[must_use]
pub fn short_percent(share: f64) -> String {
    let percent = share * 100.0;
    let tenths = percent < RULES.tenths_below_percent || (RULES.tenths_from_percent..100.0).contains(&percent);
    let text = trimmed(format!("{percent:.0$}", usize::from(tenths)));
    if percent > 0.0 && percent < RULES.least_percent {
        format!("< {} %", RULES.least_percent)
    } else if percent < 100.0 && text == "100" {
        format!("> {} %", RULES.most_percent)
    } else {
        format!("{text} %")
    }
}

/// A number of any kind: `1,234,567`, `12.3`, `0.012`, `1.23e-5`. All digits of a whole number, else about three.
#[must_use]
pub fn number(value: f64) -> String {
    let size = value.abs();
    let with_commas = |size: f64| format!("{}{}", if value < 0.0 { "-" } else { "" }, thousands(whole(size)));
    if value == value.trunc() && size < RULES.whole_below {
        with_commas(size)
    } else if size < RULES.power_below {
        format!("{value:.2e}")
    } else if size >= RULES.commas_from && value.is_finite() {
        with_commas(size.round_ties_even())
    } else {
        short(value)
    }
}

/// Two significant digits, of what is predicted or follows from few requests: `29`, `1,200`, `0.36`.
#[must_use]
pub fn two_digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return number(value);
    }
    let last = 10_f64.powf(value.abs().log10().floor() - 1.0);
    number((value / last).round() * last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([short(0.0), short(0.5), short(12.34), short(99.96)], ["0", "0.5", "12.3", "100"]);
        assert_eq!([1536.0, 999.0 * 1024.0, 1023.0 * 1024.0].map(short_bytes), ["1.5 KiB", "999 KiB", "0.999 MiB"]);
        assert_eq!([12_345.0, 999.0].map(short_count), ["12.3k", "999"]);
        assert_eq!([0.0, 1500.0, 119e6, 150e6, 7200e6].map(duration_us), ["0 µs", "1.5 ms", "119 s", "2.5 min", "2 h"]);
    }

    #[test]
    fn a_part_is_not_all() {
        let shown = [0.0, 0.0004, 0.034, 0.12, 0.994, 0.996, 0.9992, 0.9999, 1.0].map(short_percent);
        assert_eq!(shown, ["0 %", "< 0.1 %", "3.4 %", "12 %", "99 %", "99.6 %", "99.9 %", "> 99.9 %", "100 %"]);
    }

    #[test]
    fn two_digits_are_enough_of_an_estimate() {
        let shown = [28.77, 1_234.0, 0.3649, 0.05, 99.6, 9.96, 0.0, -3.1234].map(two_digits);
        assert_eq!(shown, ["29", "1,200", "0.36", "0.05", "100", "10", "0", "-3.1"]);
    }

    #[test]
    fn numbers_of_any_kind() {
        let shown = [0.01234, 3.0, 1_234_567.0, -1234.0, 2.345, 23.45, 234.5, 12_345.6, 0.000_123].map(number);
        assert_eq!(shown, ["0.012", "3", "1,234,567", "-1,234", "2.35", "23.4", "234", "12,346", "1.23e-4"]);
        assert_eq!([f64::NAN, f64::INFINITY].map(number), ["?", "?"]);
    }
}
