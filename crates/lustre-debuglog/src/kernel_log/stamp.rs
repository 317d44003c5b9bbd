//! Times of lines.

/// When a line was logged, as far as its stamp says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stamp {
    /// Microseconds since the node was booted (`dmesg`).
    Boot(i64),
    /// Microseconds since the epoch.
    Unix(i64),
    /// Microseconds since the line before (`dmesg -e`).
    Since(i64),
    /// By a clock on a wall, whose zone the stamp does not say.
    Local {
        /// Year, if there is one.
        year: Option<i32>,
        /// Month, 1 to 12.
        month: u8,
        /// Day, 1 to 31.
        day: u8,
        /// Microseconds since midnight.
        us: i64,
    },
}

const MINUTE_US: i64 = 60_000_000;

const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
const DAYS: [&[u8; 3]; 7] = [b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"];

/// Number of the month with this name.
pub(super) fn month(text: &[u8]) -> Option<u8> {
    let at = MONTHS.iter().position(|name| text == name.as_slice())?;
    u8::try_from(at + 1).ok()
}

/// Names of months in the C library's locales of German, French, Spanish, Italian and Portuguese, without the dots at their ends.
const FOREIGN_MONTHS: [&[&str]; 12] = [
    &["janv", "ene", "gen", "jan"],
    &["févr", "fev", "feb"],
    &["mär", "mars", "mar"],
    &["avril", "abr", "apr"],
    &["mai", "may", "mag"],
    &["juin", "giu", "jun"],
    &["juil", "lug", "jul"],
    &["août", "ago", "aug"],
    &["sept", "set", "sep"],
    &["okt", "oct", "ott", "out"],
    &["nov"],
    &["dez", "déc", "dic", "dec"],
];

/// Number of the month with this name in the locale of whoever asked: `nov.`, `Mär`, `11月`.
pub(super) fn month_in_any_language(text: &[u8]) -> Option<u8> {
    let name = text.strip_suffix(b".").unwrap_or(text).to_ascii_lowercase();
    let at = FOREIGN_MONTHS.iter().position(|names| names.iter().any(|it| it.as_bytes() == name));
    let by_number = || {
        let digits = name.iter().position(|byte| !byte.is_ascii_digit())?;
        (name[digits..].len() == "月".len() && !name[digits].is_ascii()).then(|| number(&name[..digits])).flatten()
    };
    at.and_then(|at| u8::try_from(at + 1).ok()).or_else(by_number).filter(|month| (1..=12).contains(month))
}

/// Whether this is the name of a weekday.
pub(super) fn is_weekday(text: &[u8]) -> bool {
    DAYS.iter().any(|name| text == name.as_slice())
}

/// A number that is all of `text`.
pub(super) fn number<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    str::from_utf8(text).ok().filter(|_| digits)?.parse().ok()
}

/// `SECONDS.MICROS` in microseconds; what is beyond six decimals is cut off.
pub(super) fn seconds(text: &[u8]) -> Option<i64> {
    let dot = text.iter().position(|byte| matches!(byte, b'.' | b','));
    let (whole, part) =
        dot.map_or((text, &b""[..]), |at| (text.get(..at).unwrap_or(text), text.get(at + 1..).unwrap_or(b"")));
    number::<i64>(whole)?.checked_mul(1_000_000)?.checked_add(micros(part)?)
}

/// Decimals of a second.
fn micros(part: &[u8]) -> Option<i64> {
    if !part.iter().all(u8::is_ascii_digit) || part.len() > 9 {
        return None;
    }
    let digit = |at: usize| i64::from(part.get(at).map_or(0, |byte| byte - b'0'));
    Some((0..6).fold(0, |us, at| us * 10 + digit(at)))
}

/// `HH:MM:SS`, with decimals, in microseconds since midnight.
pub(super) fn clock(text: &[u8]) -> Option<i64> {
    let (hours, rest) = (text.get(..2)?, text.get(2..)?);
    let [b':', m1, m2, b':', second @ ..] = rest else { return None };
    let (hours, minutes) = (number::<i64>(hours)?, number::<i64>(&[*m1, *m2])?);
    let second = seconds(second).filter(|_| second.len() >= 2)?;
    (hours < 24 && minutes < 60 && second < 61_000_000).then_some((hours * 60 + minutes) * 60_000_000 + second)
}

/// `YYYY-MM-DD`.
pub(super) fn date(text: &[u8]) -> Option<(i32, u8, u8)> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else { return None };
    let (year, month, day) = (number(&[*y1, *y2, *y3, *y4])?, number(&[*m1, *m2])?, number(&[*d1, *d2])?);
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some((year, month, day))
}

/// Offset of a zone from UTC, microseconds: `Z`, `UTC`, `+01:00`, `-0500`, `+01`.
#[must_use]
pub fn zone(text: &[u8]) -> Option<i64> {
    if matches!(text, b"Z" | b"UTC" | b"GMT") {
        return Some(0);
    }
    let (sign, digits) = match text {
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = match digits {
        [h1, h2] => ([*h1, *h2], [b'0', b'0']),
        [h1, h2, m1, m2] | [h1, h2, b':', m1, m2] => ([*h1, *h2], [*m1, *m2]),
        _ => return None,
    };
    let (hours, minutes) = (number::<i64>(&hours)?, number::<i64>(&minutes)?);
    (hours <= 14 && minutes < 60).then_some(sign * (hours * 60 + minutes) * 60_000_000)
}

/// Days since 1970-01-01 in the Gregorian calendar.
const fn days(year: i32, month: u8, day: u8) -> i64 {
    // Years begin in March: then the day that may be missing is the last one.
    let (y, m) = (year as i64 - (month <= 2) as i64, (month as i64 + 9) % 12);
    let (era, year_of_era) = (y.div_euclid(400), y.rem_euclid(400));
    let day_of_year = (153 * m + 2) / 5 + day as i64 - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

impl Stamp {
    /// The same, not counted from the line before: that one has the stamp `before`. `None` if it has none.
    #[must_use]
    pub fn behind(self, before: Option<Self>) -> Option<Self> {
        match (self, before) {
            (Self::Since(since), Some(Self::Boot(us))) => Some(Self::Boot(us.saturating_add(since))),
            (Self::Since(since), Some(Self::Unix(us))) => Some(Self::Unix(us.saturating_add(since))),
            (Self::Since(since), Some(Self::Local { year, month, day, us })) => {
                Some(Self::Local { year, month, day, us: us.saturating_add(since) })
            }
            (Self::Since(_), _) => None,
            // A full minute is told where one begins: the line before may have been later in it.
            (
                Self::Local { year: None, month, day, us },
                Some(Self::Local { year: None, month: m, day: d, us: then }),
            ) if (month, day) == (m, d) && us % MINUTE_US == 0 && (us..us + MINUTE_US).contains(&then) => before,
            _ => Some(self),
        }
    }

    /// A local time as if it were UTC, microseconds since the epoch, in this year if it has none of its own; `None` for other stamps.
    #[must_use]
    pub fn as_if_utc_us(self, year: i32) -> Option<i64> {
        match self {
            Self::Local { year: own, month, day, us } => {
                Some(days(own.unwrap_or(year), month, day) * 86_400_000_000 + us)
            }
            Self::Boot(_) | Self::Unix(_) | Self::Since(_) => None,
        }
    }

    /// A time of day, in a zone if one is known.
    pub(super) fn of_date((year, month, day): (i32, u8, u8), us: i64, zone_us: Option<i64>) -> Self {
        let local = Self::Local { year: Some(year), month, day, us };
        match (zone_us, local.as_if_utc_us(year)) {
            (Some(zone_us), Some(utc_us)) => Self::Unix(utc_us - zone_us),
            _ => local,
        }
    }
}
