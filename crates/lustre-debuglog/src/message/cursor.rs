//! Reads a message from left to right, in place.
//!
//! Hot: the kinds that make up most of a log are read with this instead of nom's combinators. Those hand an
//! input and a value on from part to part, in memory; here the place is one variable of one function, and
//! a value is written once. The parts themselves (`number.rs`) are the same.

use super::malformed::{Malformed, malformed};
use super::number::{self, Res, Stop};
use crate::vocab::{byte_search, digits};
use crate::{Extent, Fid, Opcode, Xid};

/// A place in a text. What fails leaves it where it failed.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    #[inline(always)]
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { rest: text }
    }

    /// What has not been read.
    #[inline(always)]
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Exactly these bytes.
    #[inline(always)]
    pub(super) fn tag<const N: usize>(&mut self, expected: &'static [u8; N]) -> Option<()> {
        let (head, rest) = self.rest.split_first_chunk::<N>()?;
        if head != expected {
            return None;
        }
        self.rest = rest;
        Some(())
    }

    /// Whether these bytes come next; if so, they are read.
    #[inline(always)]
    pub(super) fn eat<const N: usize>(&mut self, wanted: &'static [u8; N]) -> bool {
        self.tag(wanted).is_some()
    }

    /// What `part` reads. Parts are named at each call: a generic caller of functions would not be inlined.
    #[inline(always)]
    fn got<T>(&mut self, part: Option<(T, &'a [u8])>) -> Option<T> {
        let (value, rest) = part?;
        self.rest = rest;
        Some(value)
    }

    /// What a parser of other modules reads.
    pub(super) fn read<T>(&mut self, parser: impl FnOnce(&'a [u8]) -> Res<'a, T>) -> Option<T> {
        match parser(self.rest) {
            Ok((rest, value)) => {
                self.rest = rest;
                Some(value)
            }
            Err(nom::Err::Error(Stop(rest)) | nom::Err::Failure(Stop(rest))) => {
                self.rest = rest;
                None
            }
            Err(nom::Err::Incomplete(_)) => None,
        }
    }

    /// `%llu`; fastest with one digit, and good up to seven.
    #[inline(always)]
    pub(super) fn dec(&mut self) -> Option<u64> {
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
    pub(super) fn dec_long(&mut self) -> Option<u64> {
        self.got(digits::dec_long(self.rest))
    }

    /// `%u`.
    #[inline(always)]
    pub(super) fn dec_u32(&mut self) -> Option<u32> {
        let start = self.rest;
        let value = u32::try_from(self.dec()?).ok();
        self.back_if_none(start, value)
    }

    /// `%lld`, and `%+lld`.
    #[inline(always)]
    pub(super) fn int(&mut self) -> Option<i64> {
        let start = self.rest;
        if !start.first().is_some_and(u8::is_ascii_digit) {
            return self.got(number::int(start).ok().map(|(rest, value)| (value, rest)));
        }
        let value = i64::try_from(self.dec()?).ok();
        self.back_if_none(start, value)
    }

    /// `%lld`, mostly long.
    #[inline(always)]
    pub(super) fn int_long(&mut self) -> Option<i64> {
        self.got(number::int_long(self.rest).ok().map(|(rest, value)| (value, rest)))
    }

    /// `%d`.
    #[inline(always)]
    pub(super) fn int_i32(&mut self) -> Option<i32> {
        let start = self.rest;
        let value = i32::try_from(self.int()?).ok();
        self.back_if_none(start, value)
    }

    /// `%x`.
    #[inline(always)]
    pub(super) fn hex_u32(&mut self) -> Option<u32> {
        self.got(number::hex_u32(self.rest).ok().map(|(rest, value)| (value, rest)))
    }

    /// `%p`.
    #[inline(always)]
    pub(super) fn pointer(&mut self) -> Option<u64> {
        self.got(number::pointer(self.rest).ok().map(|(rest, value)| (value, rest)))
    }

    /// An opcode, printed as `%d`.
    #[inline(always)]
    pub(super) fn opcode(&mut self) -> Option<Opcode> {
        let start = self.rest;
        let value = self.int()?;
        let number = u32::try_from(value).or_else(|_| i32::try_from(value).map(i32::cast_unsigned));
        self.back_if_none(start, number.ok().map(Opcode))
    }

    /// An xid, without `x`.
    #[inline(always)]
    pub(super) fn xid(&mut self) -> Option<Xid> {
        self.dec_long().map(Xid)
    }

    /// `START->END`.
    #[inline(always)]
    pub(super) fn extent(&mut self) -> Option<Extent> {
        self.got(Extent::take(self.rest))
    }

    /// `[0xSEQ:0xOID:0xVER]`.
    #[inline(always)]
    pub(super) fn fid(&mut self) -> Option<Fid> {
        self.got(Fid::take(self.rest))
    }

    /// A NID, see `number.rs`.
    #[inline(always)]
    pub(super) fn nid(&mut self) -> Option<&'a [u8]> {
        self.got(number::nid(self.rest).ok().map(|(rest, value)| (value, rest)))
    }

    /// Everything before the first of two stop bytes (give one twice to have one), which must exist.
    #[inline(always)]
    pub(super) fn until<const END: u8, const OR: u8>(&mut self) -> Option<&'a [u8]> {
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
    pub(super) fn skip_space(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    /// The first `len` bytes.
    #[inline(always)]
    pub(super) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(head)
    }
}

/// A message that is all of `text` but for white space at its end.
#[inline(always)]
pub(super) fn whole<'a, T>(
    kind: &'static str,
    text: &'a [u8],
    parser: impl FnOnce(&mut Cursor<'a>) -> Option<T>,
) -> Result<T, Malformed> {
    let mut cursor = Cursor::new(text);
    match parser(&mut cursor) {
        Some(value) if cursor.rest.is_empty() || cursor.rest.trim_ascii_start().is_empty() => Ok(value),
        _ => Err(malformed(kind, text, cursor.rest)),
    }
}

/// The same parser as a part of others that are made with nom.
#[inline(always)]
pub(super) fn part<'a, T>(i: &'a [u8], parser: impl FnOnce(&mut Cursor<'a>) -> Option<T>) -> Res<'a, T> {
    let mut cursor = Cursor::new(i);
    match parser(&mut cursor) {
        Some(value) => Ok((cursor.rest, value)),
        None => Err(nom::Err::Error(Stop(cursor.rest))),
    }
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
    fn numbers_agree_with_those_of_other_messages() {
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
            let text = text.as_bytes();
            assert_eq!(left(text, Cursor::int), of(number::int(text)), "{}", text.escape_ascii());
            assert_eq!(left(text, Cursor::int_i32), of(number::int_i32(text)), "{}", text.escape_ascii());
            assert_eq!(left(text, Cursor::dec_u32), of(number::dec_u32(text)), "{}", text.escape_ascii());
            assert_eq!(left(text, Cursor::dec), of(number::dec(text)), "{}", text.escape_ascii());
        }
    }

    fn of<T>(result: Res<'_, T>) -> (Option<T>, &[u8]) {
        match result {
            Ok((rest, value)) => (Some(value), rest),
            Err(nom::Err::Error(Stop(rest)) | nom::Err::Failure(Stop(rest))) => (None, rest),
            Err(nom::Err::Incomplete(_)) => panic!("texts are complete"),
        }
    }

    #[test]
    fn opcodes_may_be_negative() {
        assert_eq!(left(b"-1->", Cursor::opcode), (Some(Opcode(u32::MAX)), &b"->"[..]));
        assert_eq!(left(b"4294967295", Cursor::opcode), (Some(Opcode(u32::MAX)), &b""[..]));
        assert_eq!(left(b"4294967296 ", Cursor::opcode), (None, &b"4294967296 "[..]));
        assert_eq!(left(b"-2147483649 ", Cursor::opcode), (None, &b"-2147483649 "[..]));
    }

    #[test]
    fn what_fails_stays_where_it_failed() {
        let parsed = whole("a kind", b"a:x", |cursor| {
            cursor.tag(b"a:")?;
            cursor.dec()
        });
        assert_eq!(parsed, Err(Malformed { kind: "a kind", offset: 2 }));
        let parsed = whole("a kind", b"7 8", Cursor::dec);
        assert_eq!(parsed, Err(Malformed { kind: "a kind", offset: 1 }));
        assert_eq!(whole("a kind", b"7 \n", Cursor::dec), Ok(7));
    }
}
