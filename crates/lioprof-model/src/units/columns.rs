//! Numbers in columns, which stay in line, and in sentences.

use super::convert::{real, whole};
use super::rules::{BYTES, RULES, UNKNOWN, decimals, unit_of};

/// Three significant digits and a binary unit, for columns: `1.00 MiB`.
#[must_use]
pub fn human_bytes(bytes: u64) -> String {
    let value = real(bytes);
    let unit = unit_of(value, &BYTES);
    let value = value / unit.size;
    let number = if unit.size == 1.0 { value.to_string() } else { three_digits(value) };
    format!("{number} {}", unit.name)
}

/// The same of bytes per second: `1.00 MiB/s`.
#[must_use]
pub fn byte_rate(bytes_per_s: f64) -> String {
    format!("{}/s", human_bytes(whole(bytes_per_s.round())))
}

/// `123`, `12.3`, `1.23`, `0.12`: three significant digits, but never more than two decimals, for columns.
#[must_use]
pub fn three_digits(value: f64) -> String {
    format!("{value:.0$}", decimals(value, &RULES.decimals).min(RULES.column_decimals))
}

/// A share in percent, with that many decimals: `12.3 %`.
#[must_use]
pub fn percent(share: f64, decimals: usize) -> String {
    format!("{:.decimals$} %", 100.0 * share)
}

/// How much something has changed: `+12 %`, `-3.4 %`; from ten times on `x 12`.
#[must_use]
pub fn change(share: f64) -> String {
    if share >= RULES.times_from { format!("x {:.0}", share + 1.0) } else { format!("{} %", signed_percent(share)) }
}

/// `+12`, `-3.4`, `0`.
fn signed_percent(share: f64) -> String {
    let value = share * 100.0;
    if value.abs() < RULES.no_change_below_percent {
        "0".to_owned()
    } else {
        format!("{value:+.0$}", usize::from(value.abs() < RULES.tenths_below_percent))
    }
}

/// From where to where a change lies: `-12..+20 %`, `x 2.0..9.5`; `> +85 %` or `< -30 %` if the other end is open, `?` if both are.
/// `min` of -1, or `None`, is no lower limit; `max` of `None` is no upper one.
#[must_use]
pub fn interval(min: Option<f64>, max: Option<f64>) -> String {
    match (min.filter(|min| *min > -1.0), max) {
        (None, None) => UNKNOWN.to_owned(),
        (None, Some(max)) => format!("< {}", change(max)),
        (Some(min), None) => format!("> {}", change(min)),
        (Some(min), Some(max)) if max >= RULES.times_from => {
            let times = |share: f64| format!("{:.1$}", share + 1.0, decimals(share + 1.0, &RULES.ratio_decimals));
            format!("x {}..{}", times(min), times(max))
        }
        (Some(min), Some(max)) => format!("{}..{} %", signed_percent(min), signed_percent(max)),
    }
}

/// Bytes, or bytes per second, as a number of MiB: `12.3`.
#[must_use]
pub fn mib(bytes: f64) -> String {
    format!("{:.1}", bytes / f64::from(1 << 20))
}

/// Microseconds as a number of milliseconds with that many decimals; `?` if it is unknown.
#[must_use]
pub fn milliseconds(us: Option<f64>, decimals: usize) -> String {
    us.map_or_else(|| UNKNOWN.to_owned(), |us| format!("{:.decimals$}", us / 1e3))
}

/// Bounds of a byte count: `20.1 MiB to 20.8 MiB`, or how far apart they are where that looks the same.
#[must_use]
pub fn human_bounds(min: u64, max: u64) -> String {
    let (low, high) = (human_bytes(min), human_bytes(max));
    if low == high && min < max {
        return format!("{low}, give or take {}", human_bytes(max - min));
    }
    format!("{low} to {high}")
}

/// A number with a comma after every three digits.
#[must_use]
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 place`, `2 places`.
#[must_use]
pub fn plural(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(n), if n == 1 { "" } else { "s" })
}

/// Some names, and how many more there are.
#[must_use]
pub fn few(names: &[&str]) -> String {
    const SHOWN: usize = 4;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {} more", thousands(more as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_changes() {
        let text = |min, max| interval(Some(min), Some(max));
        assert_eq!((text(-0.12, 0.2), text(-0.016, 1.52)), ("-12..+20 %".to_owned(), "-1.6..+152 %".to_owned()));
        assert_eq!((text(0.0, 0.5), text(0.52, 11.2)), ("0..+50 %".to_owned(), "x 1.5..12".to_owned()));
        assert_eq!((text(-0.999, 99.0), text(-1.0, -0.3)), ("x 0.00..100".to_owned(), "< -30 %".to_owned()));
        assert_eq!(
            (interval(Some(0.85), None), interval(Some(-1.0), None)),
            ("> +85 %".to_owned(), UNKNOWN.to_owned())
        );
        assert_eq!(interval(None, None), "?");
    }

    #[test]
    fn bytes_have_three_digits() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "0.98 KiB"),
            (1 << 20, "1.00 MiB"),
            (11_362_304, "10.8 MiB"),
            (250 << 30, "250 GiB"),
        ] {
            assert_eq!(human_bytes(bytes), text);
        }
    }

    #[test]
    fn bounds_never_look_exact() {
        assert_eq!(human_bounds(1 << 20, 2 << 20), "1.00 MiB to 2.00 MiB");
        assert_eq!(human_bounds(21_838_976, 21_848_976), "20.8 MiB, give or take 9.77 KiB");
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(plural(1, "place"), "1 place");
    }

    #[test]
    fn figures_have_three_digits() {
        assert_eq!([0.01234, 3.0, 9.996, 99.96].map(three_digits), ["0.01", "3.00", "10.0", "100"]);
    }

    #[test]
    fn changes_are_short() {
        let shown = [0.1234, -0.034, 11.0, 0.0001, -1.0].map(change);
        assert_eq!(shown, ["+12 %", "-3.4 %", "x 12", "0 %", "-100 %"]);
    }
}
