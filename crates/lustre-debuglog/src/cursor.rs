//! Reads a line of the log from left to right, in place.
//!
//! Hot: the place is one variable of one function, and a value is written once. Everything here is a straight pass to the right; what
//! follows a value stays in the text. See [`crate::vocab::digits`] for the digits themselves.

use crate::vocab::{byte_search, digits, strip_process_id};
use crate::{Extent, Fid, Opcode, ResourceId, Xid};

/// Reads labels and the values behind them: `b" x" xid = xid` is the text ` x`, and what [`Cursor::xid`] reads behind it.
///
/// Not a function that takes the parts as arguments: they would not be inlined into it.
macro_rules! fields {
    ($cursor:ident: $($label:literal $($name:ident = $part:ident $(::<$($stop:literal),+>)?)?),+ $(,)?) => {
        $(
            $cursor.tag($label)?;
            $(let $name = $cursor.$part$(::<$($stop),+>)?()?;)?
        )+
    };
}
pub(crate) use fields;

/// A place in a text. What fails leaves it where it failed.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    #[inline(always)]
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { rest: text }
    }

    /// What has not been read.
    #[inline(always)]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Exactly these bytes.
    #[inline(always)]
    pub(crate) fn tag<const N: usize>(&mut self, expected: &'static [u8; N]) -> Option<()> {
        let (head, rest) = self.rest.split_first_chunk::<N>()?;
        if head != expected {
            return None;
        }
        self.rest = rest;
        Some(())
    }

    /// Whether these bytes come next; if so, they are read.
    #[inline(always)]
    pub(crate) fn eat<const N: usize>(&mut self, wanted: &'static [u8; N]) -> bool {
        self.tag(wanted).is_some()
    }

    /// The value of the first of these words that comes next; the word is read.
    pub(crate) fn one_of<T: Copy>(&mut self, words: &[(&[u8], T)]) -> Option<T> {
        let (rest, value) = words.iter().find_map(|(word, value)| Some((self.rest.strip_prefix(*word)?, *value)))?;
        self.rest = rest;
        Some(value)
    }

    /// What stands behind `start`, if that comes next; `None` if `start` comes without it.
    pub(crate) fn optional<const N: usize, T>(
        &mut self,
        start: &'static [u8; N],
        value: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<Option<T>> {
        if self.eat(start) { value(self).map(Some) } else { Some(None) }
    }

    /// What a part has read, and what follows it.
    #[inline(always)]
    fn got<T>(&mut self, part: Option<(T, &'a [u8])>) -> Option<T> {
        let (value, rest) = part?;
        self.rest = rest;
        Some(value)
    }

    /// `%llu`; fastest with one digit, and good up to seven.
    #[inline(always)]
    pub(crate) fn dec(&mut self) -> Option<u64> {
        match self.rest {
            [digit @ b'0'..=b'9', next, ..] if !next.is_ascii_digit() => {
                self.rest = self.rest.get(1..)?;
                Some(u64::from(digit - b'0'))
            }
            _ => self.got(digits::dec_short(self.rest)),
        }
    }

    /// `%llu`, mostly long.
    #[inline(always)]
    pub(crate) fn dec_long(&mut self) -> Option<u64> {
        self.got(digits::dec_long(self.rest))
    }

    /// `%u`.
    #[inline(always)]
    pub(crate) fn dec_u32(&mut self) -> Option<u32> {
        let start = self.rest;
        let value = u32::try_from(self.dec()?).ok();
        self.back_if_none(start, value)
    }

    /// `%lld`, and `%+lld`.
    #[inline(always)]
    pub(crate) fn int(&mut self) -> Option<i64> {
        let start = self.rest;
        if !start.first().is_some_and(u8::is_ascii_digit) {
            return self.got(signed(start.strip_prefix(b"+").unwrap_or(start)));
        }
        let value = i64::try_from(self.dec()?).ok();
        self.back_if_none(start, value)
    }

    /// `%lld`, mostly long.
    #[inline(always)]
    pub(crate) fn int_long(&mut self) -> Option<i64> {
        self.got(signed(self.rest))
    }

    /// `%d`.
    #[inline(always)]
    pub(crate) fn int_i32(&mut self) -> Option<i32> {
        let start = self.rest;
        let value = i32::try_from(self.int()?).ok();
        self.back_if_none(start, value)
    }

    /// `%llx` and `%#llx`.
    #[inline(always)]
    pub(crate) fn hex(&mut self) -> Option<u64> {
        self.got(digits::hex_0x(self.rest))
    }

    /// `%#llx`, mostly with all sixteen digits.
    #[inline(always)]
    pub(crate) fn hex_long(&mut self) -> Option<u64> {
        self.got(digits::hex_long(self.rest.strip_prefix(b"0x").unwrap_or(self.rest)))
    }

    /// `%x`.
    #[inline(always)]
    pub(crate) fn hex_u32(&mut self) -> Option<u32> {
        let start = self.rest;
        let value = u32::try_from(self.hex()?).ok();
        self.back_if_none(start, value)
    }

    /// `%p`: digits, or `(null)`, `(____ptrval____)` and the like, which count as 0.
    #[inline(always)]
    pub(crate) fn pointer(&mut self) -> Option<u64> {
        if self.rest.first() != Some(&b'(') {
            return self.hex_long();
        }
        let end = self.rest.iter().take(20).position(|byte| *byte == b')')?;
        self.take(end + 1).map(|_| 0)
    }

    /// An opcode, printed as `%d`.
    #[inline(always)]
    pub(crate) fn opcode(&mut self) -> Option<Opcode> {
        let start = self.rest;
        let value = self.int()?;
        let number = u32::try_from(value).or_else(|_| i32::try_from(value).map(i32::cast_unsigned));
        self.back_if_none(start, number.ok().map(Opcode))
    }

    /// An xid, without `x`.
    #[inline(always)]
    pub(crate) fn xid(&mut self) -> Option<Xid> {
        self.dec_long().map(Xid)
    }

    /// `START->END`.
    #[inline(always)]
    pub(crate) fn extent(&mut self) -> Option<Extent> {
        self.got(Extent::take(self.rest))
    }

    /// `[0xSEQ:0xOID:0xVER]`.
    #[inline(always)]
    pub(crate) fn fid(&mut self) -> Option<Fid> {
        self.got(Fid::take(self.rest))
    }

    /// `[0xN0:0xN1:0xN2].0xN3`.
    #[inline(always)]
    pub(crate) fn resource(&mut self) -> Option<ResourceId> {
        self.got(ResourceId::take(self.rest))
    }

    /// A NID, with or without a process id in front; the plain NID is returned.
    #[inline(always)]
    pub(crate) fn nid(&mut self) -> Option<&'a [u8]> {
        self.got(split_nid(self.rest))
    }

    /// One word: everything before the next white space or the end, at least one byte.
    pub(crate) fn word(&mut self) -> Option<&'a [u8]> {
        let len = self.rest.iter().position(u8::is_ascii_whitespace).unwrap_or(self.rest.len());
        if len > 0 { self.take(len) } else { None }
    }

    /// Everything before the first of two stop bytes (give one twice to have one), which must exist.
    #[inline(always)]
    pub(crate) fn until<const END: u8, const OR: u8>(&mut self) -> Option<&'a [u8]> {
        self.take(byte_search::find(self.rest, [END, OR])?)
    }

    /// A value that is out of range fails where it begins.
    #[inline(always)]
    fn back_if_none<T>(&mut self, start: &'a [u8], value: Option<T>) -> Option<T> {
        if value.is_none() {
            self.rest = start;
        }
        value
    }

    /// White space, as much as there is.
    #[inline(always)]
    pub(crate) fn skip_space(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    /// Everything that is left.
    pub(crate) fn skip_rest(&mut self) {
        self.rest = &self.rest[self.rest.len()..];
    }

    /// The first `len` bytes.
    #[inline(always)]
    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(head)
    }
}

/// A number that may be negative, mostly long.
#[inline(always)]
fn signed(text: &[u8]) -> Option<(i64, &[u8])> {
    let (value, rest) = digits::dec_long(text.strip_prefix(b"-").unwrap_or(text))?;
    let value = if text.first() == Some(&b'-') { 0_i64.checked_sub_unsigned(value) } else { i64::try_from(value).ok() };
    Some((value?, rest))
}

/// A NID, with or without a process id in front; the plain NID and what follows.
///
/// An address may hold colons (IPv6), a network only when its driver is unknown (`<lnd:net>`), so a NID
/// ends by itself and needs no stop byte.
#[inline(always)]
fn split_nid(text: &[u8]) -> Option<(&[u8], &[u8])> {
    // 12345 is the pid of all kernel peers.
    let plain = text.strip_prefix(b"12345-").unwrap_or_else(|| strip_process_id(text));
    if let Some(rest) = plain.strip_prefix(b"<?>") {
        return plain.split_at_checked(plain.len() - rest.len());
    }
    // A NID has at most 63 characters, so text without one is given up soon.
    let addr = byte_search::find(plain.get(..64).unwrap_or(plain), [b'@', b' ', b'\n'])?;
    let (addr, [b'@', net @ ..]) = plain.split_at_checked(addr)? else { return None };
    let net_len = match net {
        [b'<', ..] => net.iter().take(24).position(|byte| *byte == b'>').map_or(0, |at| at + 1),
        // The usual ones at once.
        [b't', b'c', b'p', next, ..] if !next.is_ascii_alphanumeric() => 3,
        [b'o', b'2', b'i', b'b', next, ..] if !next.is_ascii_alphanumeric() => 4,
        _ => net.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count(),
    };
    if addr.is_empty() || net_len == 0 {
        return None;
    }
    plain.split_at_checked(addr.len() + 1 + net_len)
}

/// `NAME@NID` as one word, where name and address may both hold an `@` (`MGC10.0.0.1@tcp`): splits at
/// the `@` in front of the NID's address.
#[inline(always)]
pub(crate) fn split_peer(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let last = byte_search::rfind(text, b'@')?;
    let at = match text.get(last + 1..)? {
        b"<?>" | b"<unknown>" => last,
        _ => byte_search::rfind(text.get(..last)?, b'@')?,
    };
    Some((text.get(..at)?, text.get(at + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a cursor reads, and what it leaves.
    fn left<'a, T>(text: &'a [u8], read: impl Fn(&mut Cursor<'a>) -> Option<T>) -> (Option<T>, &'a [u8]) {
        let mut cursor = Cursor::new(text);
        let value = read(&mut cursor);
        (value, cursor.rest())
    }

    #[test]
    fn numbers_are_read_up_to_what_is_no_digit() {
        for text in [
            "",
            "7",
            "7 ",
            "0:",
            "12",
            "12/",
            "1234567:",
            "12345678:",
            "2147483647 ",
            "2147483648 ",
            "4294967295 ",
            "4294967296 ",
            "9223372036854775807/",
            "9223372036854775808/",
            "18446744073709551615",
            "18446744073709551616",
            "-1/",
            "-2147483648 ",
            "-2147483649 ",
            "+5s",
            "-",
            "+",
            "- 1",
            "x",
            " 1",
            "1x",
            "00000001:",
        ] {
            assert_eq!(left(text.as_bytes(), Cursor::int), by_std::<i64>(text, "+-"), "{text}");
            assert_eq!(left(text.as_bytes(), Cursor::int_long), by_std::<i64>(text, "-"), "{text}");
            assert_eq!(left(text.as_bytes(), Cursor::int_i32), by_std::<i32>(text, "+-"), "{text}");
            assert_eq!(left(text.as_bytes(), Cursor::dec_u32), by_std::<u32>(text, ""), "{text}");
            assert_eq!(left(text.as_bytes(), Cursor::dec), by_std::<u64>(text, ""), "{text}");
        }
    }

    /// What the standard library makes of the number at the start of a text, which may have one of these signs.
    fn by_std<'a, T: std::str::FromStr>(text: &'a str, signs: &str) -> (Option<T>, &'a [u8]) {
        let digits = text.strip_prefix(|first| signs.contains(first)).unwrap_or(text);
        let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
        match text[..text.len() - rest.len()].parse() {
            Ok(number) => (Some(number), rest.as_bytes()),
            Err(_) => (None, text.as_bytes()),
        }
    }

    #[test]
    fn opcodes_may_be_negative() {
        assert_eq!(left(b"-1->", Cursor::opcode), (Some(Opcode(u32::MAX)), &b"->"[..]));
        assert_eq!(left(b"4294967295", Cursor::opcode), (Some(Opcode(u32::MAX)), &b""[..]));
        assert_eq!(left(b"4294967296 ", Cursor::opcode), (None, &b"4294967296 "[..]));
        assert_eq!(left(b"-2147483649 ", Cursor::opcode), (None, &b"-2147483649 "[..]));
    }
}
