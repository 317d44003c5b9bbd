//! Numbers as the kernel reads them.

use rustix::io::Errno;

/// Base and digits of a number as C writes them: `0x1f`, `017`, `15`.
pub(super) fn radix(text: &str) -> (u32, &str) {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (16, digits),
        None if text.len() > 1 && text.starts_with('0') => (8, &text[1..]),
        None => (10, text),
    }
}

/// `kstrtouint(text, 0)`.
pub(super) fn strict_u32(text: &str) -> Result<u32, Errno> {
    let (radix, digits) = radix(text.strip_prefix('+').unwrap_or(text));
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(Errno::INVAL);
    }
    u32::from_str_radix(digits, radix).map_err(|_| Errno::RANGE)
}

/// `simple_strtoul(text, NULL, 0)`: the number in front, 0 if there is none.
pub(super) fn number_prefix(text: &str) -> u64 {
    let (radix, digits) = radix(text);
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    u64::from_str_radix(&digits[..end], radix).unwrap_or(0)
}
