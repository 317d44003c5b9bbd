//! Endings of file names: of rotated and dated segments, and any others.

use std::net::Ipv4Addr;

/// Dates and times, longest first; `d` is a digit.
const STAMPS: [&str; 21] = [
    "dddd-dd-ddTdd:dd:ddZ",
    "dddd-dd-ddTdd-dd-ddZ",
    "dddd-dd-ddTdd:dd:dd",
    "dddd-dd-ddTdd-dd-dd",
    "dddd-dd-dd_dd-dd-dd",
    "dddd-dd-dd_dd:dd:dd",
    "dddd-dd-dd-dd:dd:dd",
    "dddd-dd-dd-dd-dd-dd",
    "dddd_dd_dd_dd_dd_dd",
    "dddd-dd-dd-dddddd",
    "dddd-dd-dd_dddddd",
    "dddd-dd-ddTdd:dd",
    "ddddddddTddddddZ",
    "ddddddddTdddddd",
    "ddddddddTddddZ",
    "dddddddd-dddddd",
    "dddddddd_dddddd",
    "ddddddddTdddd",
    "dddd-dd-dd",
    "dddd_dd_dd",
    "dddddddd",
];

/// The name without one of these endings, in any case.
pub(super) fn strip_any<'a>(name: &'a str, endings: &[&str]) -> Option<&'a str> {
    endings.iter().find_map(|ending| {
        let at = name.len().checked_sub(ending.len())?;
        let tail = name.get(at..)?;
        tail.eq_ignore_ascii_case(ending).then(|| &name[..at])
    })
}

/// The name without the ending of one rotated segment.
pub(super) fn strip_segment(name: &str) -> Option<&str> {
    if is_ipv4_at_end(name) {
        return None;
    }
    let stamped = STAMPS.iter().find_map(|stamp| strip_stamp(name, stamp));
    stamped.or_else(|| {
        let at = name.rfind(['.', '-', '_'])?;
        let (sign, tail) = (name.as_bytes()[at], &name[at + 1..]);
        let digits = tail.strip_prefix("seg").or_else(|| tail.strip_prefix("part"));
        let number = digits.unwrap_or(tail);
        let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        let marked = sign == b'.' || digits.is_some() || number.len() >= 4;
        (is_number && marked).then(|| &name[..at])
    })
}

fn strip_stamp<'a>(name: &'a str, stamp: &str) -> Option<&'a str> {
    let at = name.len().checked_sub(stamp.len())?;
    fits(&name.as_bytes()[at..], stamp).then(|| name[..at].strip_suffix(['.', '-', '_']))?
}

/// The name without a date or time at its beginning.
pub(super) fn strip_stamp_in_front(name: &str) -> Option<&str> {
    STAMPS.iter().find_map(|stamp| {
        let (front, rest) = (name.as_bytes().get(..stamp.len())?, name.get(stamp.len()..)?);
        fits(front, stamp).then(|| rest.strip_prefix(['.', '-', '_']))?
    })
}

fn fits(text: &[u8], stamp: &str) -> bool {
    text.iter()
        .zip(stamp.bytes())
        .all(|(&byte, wanted)| if wanted == b'd' { byte.is_ascii_digit() } else { byte == wanted })
}

/// Whether the name ends with a whole dotted IPv4 address: its last number is no segment.
fn is_ipv4_at_end(name: &str) -> bool {
    let before = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    name[before.len()..].trim_start_matches('.').parse::<Ipv4Addr>().is_ok()
}
