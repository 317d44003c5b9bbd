//! Digits to numbers, straight from bytes: no UTF-8 check, overflow checked.
//!
//! Hot: every message holds five to twenty numbers. Each function returns the number and the bytes
//! behind it, or `None` when there is no digit or the number does not fit 64 bits.

/// 1 in each byte.
pub(super) const ONES: u64 = 0x0101_0101_0101_0101;

/// Value of each hexadecimal digit, 255 for every other byte.
const HEX: [u8; 256] = {
    let mut table = [255; 256];
    let mut digit = 0;
    while digit < 10 {
        table[b'0' as usize + digit as usize] = digit;
        digit += 1;
    }
    while digit < 16 {
        table[b'a' as usize + digit as usize - 10] = digit;
        table[b'A' as usize + digit as usize - 10] = digit;
        digit += 1;
    }
    table
};

/// Decimal digits; fastest for short numbers.
#[inline(always)]
pub(crate) fn dec(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    let value = u64::from(first.wrapping_sub(b'0'));
    if value > 9 {
        return None;
    }
    more_digits(value, rest)
}

/// The digits behind those of `value`, one by one.
#[inline(always)]
fn more_digits(mut value: u64, mut rest: &[u8]) -> Option<(u64, &[u8])> {
    while let Some((byte, tail)) = rest.split_first() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
        rest = tail;
    }
    Some((value, rest))
}

/// Decimal digits; fastest for numbers of eight digits and more (xids, offsets, transaction numbers).
#[inline(always)]
pub(crate) fn dec_long(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let Some((head, tail)) = bytes.split_first_chunk::<8>() else { return dec(bytes) };
    let Some(mut value) = eight_digits(*head) else { return dec(bytes) };
    let mut rest = tail;
    if let Some((head, tail)) = rest.split_first_chunk::<8>()
        && let Some(low) = eight_digits(*head)
    {
        // At most 9,999,999,999,999,999: no overflow yet.
        value = value * 100_000_000 + low;
        rest = tail;
    }
    more_digits(value, rest)
}

/// Decimal digits; fastest where their number is small and hard to foresee: no branch depends on it.
#[inline(always)]
pub(crate) fn dec_short(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let Some(head) = bytes.first_chunk::<8>() else { return dec(bytes) };
    match up_to_seven(*head) {
        Some((value, len)) => Some((value, bytes.get(len..)?)),
        None => dec_long(bytes),
    }
}

/// The one to seven decimal digits at the start, and how many they are; `None` for none or eight.
#[inline(always)]
pub(crate) fn up_to_seven(bytes: [u8; 8]) -> Option<(u64, usize)> {
    // The value of each byte that is a digit; any other byte becomes more than 9.
    let values = u64::from_le_bytes(bytes) ^ (0x30 * ONES);
    let others = ((values & (0x7f * ONES)).wrapping_add(0x76 * ONES) | values) & (0x80 * ONES);
    let len = others.trailing_zeros() / 8;
    match len {
        1..=7 => Some((join_eight(values << (64 - 8 * len)), len as usize)),
        _ => None,
    }
}

/// Eight ASCII digits at once: three multiplications instead of eight dependent steps.
#[inline]
pub(crate) fn eight_digits(bytes: [u8; 8]) -> Option<u64> {
    let word = u64::from_le_bytes(bytes);
    // Each byte must have the high half 3, and must keep it when 6 is added (':' to '?' do not).
    let high = word & 0xf0f0_f0f0_f0f0_f0f0;
    let carried = word.wrapping_add(0x0606_0606_0606_0606) & 0xf0f0_f0f0_f0f0_f0f0;
    if high != 0x3030_3030_3030_3030 || carried != 0x3030_3030_3030_3030 {
        return None;
    }
    Some(join_eight(word & 0x0f0f_0f0f_0f0f_0f0f))
}

/// The number of eight digits, the first of which is the lowest byte.
#[inline(always)]
fn join_eight(digits: u64) -> u64 {
    // Neighbours join to two, four, eight digits.
    let pairs = digits.wrapping_mul(10 << 8 | 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000 << 32 | 1) >> 32
}

/// Hexadecimal digits without `0x`; fastest for pointers and lock cookies.
#[inline(always)]
pub(crate) fn hex_long(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let Some((head, tail)) = bytes.split_first_chunk::<16>() else { return hex(bytes) };
    let (high, low) = (head.first_chunk().copied(), head.last_chunk().copied());
    let (Some(high), Some(low)) = (high.and_then(eight_nibbles), low.and_then(eight_nibbles)) else {
        return hex(bytes);
    };
    match tail.first() {
        // More digits than 64 bits hold, unless they begin with zeros.
        Some(next) if next.is_ascii_hexdigit() => hex(bytes),
        _ => Some((high << 32 | low, tail)),
    }
}

/// Eight hexadecimal digits at once.
#[inline(always)]
fn eight_nibbles(bytes: [u8; 8]) -> Option<u64> {
    // The first digit becomes the highest byte.
    let word = u64::from_be_bytes(bytes);
    // Letters are 0x41 to 0x46 and 0x61 to 0x66, digits 0x30 to 0x39: 1 in each byte of a letter.
    let letters = word >> 6 & ONES;
    let values = (word & (0x0f * ONES)).wrapping_add(letters.wrapping_mul(9));
    let high = word & (0xf0 * ONES) | letters << 5;
    let in_rows = high == (0x30 * ONES).wrapping_add(letters.wrapping_mul(0x30));
    // Values of letters, and only those, are at least 10; none is above 15.
    let carried = values.wrapping_add(6 * ONES) & (0xf0 * ONES);
    if !in_rows || carried != letters << 4 || values & (0xf0 * ONES) != 0 {
        return None;
    }
    let pairs = (values | values >> 4) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs | pairs >> 8) & 0x0000_ffff_0000_ffff;
    Some((fours | fours >> 16) & 0xffff_ffff)
}

/// Eight hexadecimal digits, letters in lower case as `%08x` prints them.
#[inline(always)]
pub(crate) fn hex_lower_8(bytes: [u8; 8]) -> Option<u32> {
    // Of digits and letters, only those of the upper case lack this bit.
    if u64::from_le_bytes(bytes) & (0x20 * ONES) != 0x20 * ONES {
        return None;
    }
    eight_nibbles(bytes).and_then(|value| u32::try_from(value).ok())
}

/// Hexadecimal digits of either case, without `0x`.
#[inline(always)]
pub(crate) fn hex(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    let mut rest = bytes;
    while let Some((byte, tail)) = rest.split_first() {
        let digit = HEX[usize::from(*byte)];
        if digit > 15 {
            break;
        }
        if value >> 60 != 0 {
            return None;
        }
        value = value << 4 | u64::from(digit);
        rest = tail;
    }
    (rest.len() < bytes.len()).then_some((value, rest))
}

/// Hexadecimal digits, with or without `0x` in front (the kernel's `%#x`, `%p`).
#[inline(always)]
pub(crate) fn hex_0x(bytes: &[u8]) -> Option<(u64, &[u8])> {
    hex(bytes.strip_prefix(b"0x").unwrap_or(bytes))
}

/// A decimal number that is the whole input.
pub(crate) fn dec_all(bytes: &[u8]) -> Option<u64> {
    dec(bytes).and_then(|(value, rest)| rest.is_empty().then_some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dec_stops_behind_the_last_digit() {
        assert_eq!(dec(b"123 x"), Some((123, b" x".as_slice())));
        assert_eq!(dec(b"0"), Some((0, b"".as_slice())));
        assert_eq!(dec(b""), None);
        assert_eq!(dec(b"x1"), None);
        assert_eq!(dec(b":"), None);
    }

    #[test]
    fn dec_long_agrees_with_dec_at_every_length() {
        let digits = b"18446744073709551615";
        for len in 0..=digits.len() {
            for end in [&b""[..], b"/", b":", b" 1", b"->1234567890"] {
                let text = [&digits[..len], end].concat();
                assert_eq!(dec_long(&text), dec(&text), "{}", String::from_utf8_lossy(&text));
            }
        }
        assert_eq!(dec_long(digits), Some((u64::MAX, b"".as_slice())));
    }

    #[test]
    fn dec_short_agrees_with_dec_at_every_length() {
        let digits = b"18446744073709551615";
        for len in 0..=digits.len() {
            for end in [&b""[..], b"/", b":", b":0:(service.c", b"\xff\xff\xff", b".999999:", b"    "] {
                let text = [&digits[..len], end].concat();
                assert_eq!(dec_short(&text), dec(&text), "{}", text.escape_ascii());
            }
        }
        assert_eq!(dec_short(b"000000000000000000000000000007:"), Some((7, b":".as_slice())));
        for byte in 0..=u8::MAX {
            for at in 0..8 {
                let mut text = *b"1234567:";
                text[at] = byte;
                assert_eq!(dec_short(&text), dec(&text), "{byte} at {at}");
            }
        }
    }

    #[test]
    fn hex_lower_8_takes_lower_case_only() {
        assert_eq!(hex_lower_8(*b"00000100"), Some(0x100));
        assert_eq!(hex_lower_8(*b"fedcba98"), Some(0xfedc_ba98));
        for byte in 0..=u8::MAX {
            let wanted = matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            for at in 0..8 {
                let mut text = *b"01234567";
                text[at] = byte;
                assert_eq!(hex_lower_8(text).is_some(), wanted, "{byte} at {at}");
            }
        }
    }

    #[test]
    fn eight_digits_takes_digits_only() {
        assert_eq!(eight_digits(*b"12345678"), Some(12_345_678));
        assert_eq!(eight_digits(*b"00000009"), Some(9));
        for other in [b'/', b':', b'?', b'@', b' ', b'A', 0, 0xb0, 0xff] {
            for at in 0..8 {
                let mut text = *b"12345678";
                text[at] = other;
                assert_eq!(eight_digits(text), None, "{other} at {at}");
            }
        }
    }

    #[test]
    fn up_to_seven_stops_behind_the_last_digit() {
        assert_eq!(up_to_seven(*b"1234567:"), Some((1_234_567, 7)));
        assert_eq!(up_to_seven(*b"07:12345"), Some((7, 2)));
        assert_eq!(up_to_seven(*b":1234567"), None);
        assert_eq!(up_to_seven(*b"12345678"), None);
        for byte in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit()) {
            assert_eq!(up_to_seven([b'1', b'2', byte, b'4', b'5', b'6', b'7', b'8']), Some((12, 2)), "{byte}");
        }
    }

    #[test]
    fn numbers_above_64_bits_fail() {
        assert_eq!(dec(b"18446744073709551616"), None);
        assert_eq!(dec_long(b"18446744073709551616"), None);
        assert_eq!(dec_long(b"99999999999999999999"), None);
        assert_eq!(hex(b"10000000000000000"), None);
    }

    #[test]
    fn hex_takes_both_cases_and_0x() {
        assert_eq!(hex(b"00000000d5e09f76 x"), Some((0xd5e0_9f76, b" x".as_slice())));
        assert_eq!(hex(b"ABCDEF"), Some((0xabcdef, b"".as_slice())));
        assert_eq!(hex(b"ffffffffffffffff"), Some((u64::MAX, b"".as_slice())));
        assert_eq!(hex_0x(b"0x0:"), Some((0, b":".as_slice())));
        assert_eq!(hex_0x(b"0:"), Some((0, b":".as_slice())));
        assert_eq!(hex_0x(b"0x"), None);
        assert_eq!(hex(b"g"), None);
    }

    #[test]
    fn hex_long_agrees_with_hex_at_every_length() {
        let digits = b"0fedcba987654321";
        for len in 0..=digits.len() {
            for end in [&b""[..], b"/", b":", b"g", b"0", b" 1", b"/0123456789abcdef"] {
                let text = [&digits[..len], end].concat();
                assert_eq!(hex_long(&text), hex(&text), "{}", String::from_utf8_lossy(&text));
            }
        }
        assert_eq!(hex_long(b"FFFFffffFFFFffff"), Some((u64::MAX, b"".as_slice())));
    }

    #[test]
    fn eight_nibbles_takes_hexadecimal_digits_only() {
        for byte in 0..=u8::MAX {
            for at in 0..8 {
                let mut text = *b"9aF05dE0";
                text[at] = byte;
                let want = hex(&text).filter(|(_, rest)| rest.is_empty()).map(|(value, _)| value);
                assert_eq!(eight_nibbles(text), want, "{byte} at {at}");
            }
        }
    }

    #[test]
    fn dec_all_wants_the_whole_input() {
        assert_eq!(dec_all(b"42"), Some(42));
        assert_eq!(dec_all(b"42 "), None);
    }
}
