//! Numbers as people read them, the same everywhere. (Plots have forms of their own, without the zeros at the end that keep the
//! columns of a table in line.)

/// Three significant digits and a binary unit.
#[must_use]
pub fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = real(bytes);
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let number = if unit == 0 { value.to_string() } else { three_digits(value) };
    format!("{number} {}", UNITS[unit])
}

/// `123`, `12.3`, `1.23`, `0.12`: three significant digits, but never more than two decimals, for columns.
#[must_use]
pub fn three_digits(value: f64) -> String {
    let digits = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.digits$}")
}

/// `1234567`, `12.3`, `0.012`: all digits of a whole number, else about three, also of small shares. For evidence, whose kind is
/// not known here; [`three_digits`] would make 0.00 of a small share and 3.00 of a count.
#[must_use]
pub fn figure(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e15 {
        return value.to_string();
    }
    let digits = match value.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}

/// A share in percent, with that many decimals: `12.3 %`.
#[must_use]
pub fn percent(share: f64, decimals: usize) -> String {
    format!("{:.decimals$} %", 100.0 * share)
}

/// How much something has changed: `+12 %`, `-3.4 %`; from ten times on `x 12`.
#[must_use]
pub fn change(share: f64) -> String {
    let value = share * 100.0;
    if share >= 9.0 {
        format!("x {:.0}", share + 1.0)
    } else if value.abs() >= 9.95 {
        format!("{value:+.0} %")
    } else if value.abs() < 0.05 {
        "0 %".to_owned()
    } else {
        format!("{value:+.1} %")
    }
}

/// From where to where a change lies: `-12..+20 %`, `x 2.0..9.5`; `> +85 %` or `< -30 %` if the other end is open, `anything` if both are.
/// `min` of -1, or `None`, is no lower limit; `max` of `None` is no upper one.
#[must_use]
pub fn interval(min: Option<f64>, max: Option<f64>) -> String {
    let digits = |percent: f64| {
        let rounded = if percent.abs() < 9.95 { format!("{percent:+.1}") } else { format!("{percent:+.0}") };
        if rounded == "+0.0" || rounded == "-0.0" { "0".to_owned() } else { rounded }
    };
    match (min.filter(|min| *min > -1.0), max) {
        (None, None) => "anything".to_owned(),
        (None, Some(max)) => format!("< {}", change(max)),
        (Some(min), None) => format!("> {}", change(min)),
        (Some(min), Some(max)) if max >= 9.0 => {
            let times = |share: f64| match share + 1.0 {
                ratio if ratio < 0.095 => format!("{ratio:.2}"),
                ratio if ratio < 9.95 => format!("{ratio:.1}"),
                ratio => format!("{ratio:.0}"),
            };
            format!("x {}..{}", times(min), times(max))
        }
        (Some(min), Some(max)) => format!("{}..{} %", digits(min * 100.0), digits(max * 100.0)),
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
    us.map_or_else(|| "?".to_owned(), |us| format!("{:.decimals$}", us / 1e3))
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

/// A count for arithmetic.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "shares, means and what is shown need no more than 52 bits")]
pub fn real(count: u64) -> f64 {
    count as f64
}

/// A sum of counts as a count again; what is left of the point.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates at both ends")]
pub fn whole(sum: f64) -> u64 {
    sum as u64
}

/// `part` of `whole`; 0 of nothing.
#[must_use]
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { real(part) / real(whole) }
}

/// Microseconds as seconds, of spans and of times since the epoch.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "microseconds since 1970 need 51 bits until 2041 and stay exact to 1 µs until 2255"
)]
pub fn seconds(us: i64) -> f64 {
    us as f64 / 1e6
}

/// Seconds as microseconds, the nearest; what is too large or no number is put to the edge, or 0.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "a cast saturates")]
pub fn micros(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_come_back() {
        let us = 1_795_251_082_000_001;
        assert_eq!((micros(seconds(us)), micros(f64::NAN), micros(f64::INFINITY)), (us, 0, i64::MAX));
    }

    #[test]
    fn intervals_of_changes() {
        let text = |min, max| interval(Some(min), Some(max));
        assert_eq!((text(-0.12, 0.2), text(-0.016, 1.52)), ("-12..+20 %".to_owned(), "-1.6..+152 %".to_owned()));
        assert_eq!((text(0.0, 0.5), text(0.52, 11.2)), ("0..+50 %".to_owned(), "x 1.5..12".to_owned()));
        assert_eq!((text(-0.999, 99.0), text(-1.0, -0.3)), ("x 0.00..100".to_owned(), "< -30 %".to_owned()));
        assert_eq!(
            (interval(Some(0.85), None), interval(Some(-1.0), None)),
            ("> +85 %".to_owned(), "anything".to_owned())
        );
        assert_eq!(interval(None, None), "anything");
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
        let shown = [0.01234, 3.0, 1234567.0, 2.345, 23.45, 234.5].map(figure);
        assert_eq!(shown, ["0.012", "3", "1234567", "2.35", "23.4", "234"]);
        assert_eq!([0.01234, 3.0, 9.996, 99.96].map(three_digits), ["0.01", "3.00", "10.0", "100"]);
    }

    #[test]
    fn changes_are_short() {
        let shown = [0.1234, -0.034, 11.0, 0.0001, -1.0].map(change);
        assert_eq!(shown, ["+12 %", "-3.4 %", "x 12", "0 %", "-100 %"]);
    }
}
