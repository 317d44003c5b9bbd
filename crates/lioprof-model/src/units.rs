//! Numbers as people read them, the same everywhere.

/// Three significant digits and a binary unit.
#[must_use]
pub fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = match value {
        _ if unit == 0 => 0,
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {}", UNITS[unit])
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

/// `part` of `whole`; 0 of nothing.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a share needs no more than 52 bits")]
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
