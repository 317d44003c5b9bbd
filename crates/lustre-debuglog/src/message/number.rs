//! The nom parsers that all messages are made of: literals, numbers, identifiers, on bytes.
//!
//! Hot: see [`crate::vocab::digits`] for the digits themselves. Everything here is a straight pass to
//! the right; what follows a value stays in the input.

use nom::error::{ErrorKind, ParseError};
use nom::{Err, IResult, Mode, OutputMode, PResult, Parser};

use super::malformed::{Malformed, malformed};
use crate::vocab::{byte_search, digits};
use crate::{Extent, Fid, ResourceId, Xid};

/// SkipReason a parser stopped: only where. What was expected there is in the grammar next to the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop<'a>(pub(super) &'a [u8]);

impl<'a> ParseError<&'a [u8]> for Stop<'a> {
    fn from_error_kind(input: &'a [u8], _: ErrorKind) -> Self {
        Self(input)
    }

    fn append(_: &'a [u8], _: ErrorKind, first: Self) -> Self {
        first
    }
}

/// Result of a parser: what follows, and the value.
pub(super) type Res<'a, T> = IResult<&'a [u8], T, Stop<'a>>;

/// Fails at `i`.
#[inline]
pub(super) fn stop<T>(i: &[u8]) -> Res<'_, T> {
    Err(Err::Error(Stop(i)))
}

/// `value` and what follows it, or a failure at `i`.
#[inline]
pub(super) fn or_stop<'a, T>(i: &'a [u8], value: Option<(T, &'a [u8])>) -> Res<'a, T> {
    match value {
        Some((value, rest)) => Ok((rest, value)),
        None => stop(i),
    }
}

/// Turns a parser's result for `text` into the public one: all of `text` but white space must be used.
#[inline(always)]
pub(super) fn complete<'a, T>(kind: &'static str, text: &'a [u8], result: Res<'a, T>) -> Result<T, Malformed> {
    let rest = match result {
        Ok((rest, value)) if rest.is_empty() || rest.trim_ascii_start().is_empty() => return Ok(value),
        Ok((rest, _)) => rest,
        Err(Err::Error(Stop(rest)) | Err::Failure(Stop(rest))) => rest,
        Err(Err::Incomplete(_)) => text,
    };
    Err(malformed(kind, text, rest))
}

/// Exactly these bytes. (nom's own `tag` compares byte by byte.)
#[inline(always)]
pub(super) const fn tag<const N: usize>(expected: &'static [u8; N]) -> Tag<N> {
    Tag(expected)
}

/// See [`tag`]. A type instead of a closure, because only a method can ask to be inlined always.
pub(super) struct Tag<const N: usize>(&'static [u8; N]);

impl<'a, const N: usize> Parser<&'a [u8]> for Tag<N> {
    type Output = ();
    type Error = Stop<'a>;

    #[inline(always)]
    fn process<OM: OutputMode>(&mut self, i: &'a [u8]) -> PResult<OM, &'a [u8], (), Stop<'a>> {
        match i.split_first_chunk::<N>() {
            Some((head, rest)) if head == self.0 => Ok((rest, OM::Output::bind(|| ()))),
            _ => Err(Err::Error(OM::Error::bind(|| Stop(i)))),
        }
    }
}

/// A value between two literals, either of which may be empty.
///
/// nom's `delimited` is the same, but its parts are not always inlined, and a message is twenty of these.
#[inline(always)]
pub(super) fn field<'a, const A: usize, const B: usize, T>(
    i: &'a [u8],
    start: &'static [u8; A],
    value: impl Fn(&'a [u8]) -> Res<'a, T>,
    end: &'static [u8; B],
) -> Res<'a, T> {
    let (i, ()) = tag(start).parse(i)?;
    let (i, value) = value(i)?;
    let (i, ()) = tag(end).parse(i)?;
    Ok((i, value))
}

/// Everything before the first of two stop bytes (give one twice to have one), which must exist.
#[inline(always)]
pub(super) fn until<const END: u8, const OR: u8>(i: &[u8]) -> Res<'_, &[u8]> {
    or_stop(i, byte_search::find(i, [END, OR]).and_then(|at| i.split_at_checked(at)))
}

/// A value that is there if `start` is: unlike with nom's `opt`, a `start` without its value is an error.
#[inline(always)]
pub(super) fn optional<'a, const N: usize, T>(
    i: &'a [u8],
    start: &'static [u8; N],
    value: impl Fn(&'a [u8]) -> Res<'a, T>,
) -> Res<'a, Option<T>> {
    match tag(start).parse(i) {
        Ok((rest, ())) => value(rest).map(|(rest, value)| (rest, Some(value))),
        Err(_) => Ok((i, None)),
    }
}

/// One word: everything before the next white space or the end, at least one byte.
#[inline(always)]
pub(super) fn word(i: &[u8]) -> Res<'_, &[u8]> {
    let len = i.iter().position(u8::is_ascii_whitespace).unwrap_or(i.len());
    or_stop(i, i.split_at_checked(len).filter(|_| len > 0))
}

/// White space, as much as there is.
#[inline(always)]
pub(super) fn space(i: &[u8]) -> Res<'_, ()> {
    Ok((i.trim_ascii_start(), ()))
}

/// `%llu`, mostly short.
#[inline(always)]
pub(super) fn dec(i: &[u8]) -> Res<'_, u64> {
    or_stop(i, digits::dec(i))
}

/// `%llu`, mostly long.
#[inline(always)]
pub(super) fn dec_long(i: &[u8]) -> Res<'_, u64> {
    or_stop(i, digits::dec_long(i))
}

/// `%u`.
#[inline(always)]
pub(super) fn dec_u32(i: &[u8]) -> Res<'_, u32> {
    let (rest, value) = dec(i)?;
    u32::try_from(value).map_or_else(|_| stop(i), |value| Ok((rest, value)))
}

/// `%lld`, and `%+lld`.
#[inline(always)]
pub(super) fn int(i: &[u8]) -> Res<'_, i64> {
    let (negative, unsigned) = match i {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, i),
    };
    or_stop(i, digits::dec(unsigned).and_then(|(value, rest)| Some((signed(negative, value)?, rest))))
}

/// `%lld`, mostly long.
#[inline(always)]
pub(super) fn int_long(i: &[u8]) -> Res<'_, i64> {
    let (negative, unsigned) = match i {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, i),
    };
    or_stop(i, digits::dec_long(unsigned).and_then(|(value, rest)| Some((signed(negative, value)?, rest))))
}

#[inline(always)]
fn signed(negative: bool, value: u64) -> Option<i64> {
    if negative { 0_i64.checked_sub_unsigned(value) } else { i64::try_from(value).ok() }
}

/// `%d`.
#[inline(always)]
pub(super) fn int_i32(i: &[u8]) -> Res<'_, i32> {
    let (rest, value) = int(i)?;
    i32::try_from(value).map_or_else(|_| stop(i), |value| Ok((rest, value)))
}

/// `%#llx`, mostly with all sixteen digits.
#[inline(always)]
pub(super) fn hex_long(i: &[u8]) -> Res<'_, u64> {
    or_stop(i, digits::hex_long(i.strip_prefix(b"0x").unwrap_or(i)))
}

/// `%llx` and `%#llx`.
#[inline(always)]
pub(super) fn hex(i: &[u8]) -> Res<'_, u64> {
    or_stop(i, digits::hex_0x(i))
}

/// `%x` and `%#x`.
#[inline(always)]
pub(super) fn hex_u32(i: &[u8]) -> Res<'_, u32> {
    let (rest, value) = hex(i)?;
    u32::try_from(value).map_or_else(|_| stop(i), |value| Ok((rest, value)))
}

/// A value of all that is left: nothing more to read.
pub(super) fn all_of<T>(i: &[u8], value: T) -> Res<'_, T> {
    Ok((i.split_at(i.len()).1, value))
}

/// `%p`: digits, or `(null)`, `(____ptrval____)` and the like, which count as 0.
#[inline(always)]
pub(super) fn pointer(i: &[u8]) -> Res<'_, u64> {
    match i {
        [b'(', ..] => {
            let end = i.iter().take(20).position(|byte| *byte == b')');
            or_stop(i, end.and_then(|at| i.get(at + 1..)).map(|rest| (0, rest)))
        }
        _ => hex_long(i),
    }
}

/// An xid, without `x`.
#[inline(always)]
pub(super) fn xid(i: &[u8]) -> Res<'_, Xid> {
    dec_long(i).map(|(rest, value)| (rest, Xid(value)))
}

/// `START->END`.
#[inline(always)]
pub(super) fn extent(i: &[u8]) -> Res<'_, Extent> {
    or_stop(i, Extent::take(i))
}

/// `[0xSEQ:0xOID:0xVER]`.
#[inline(always)]
pub(super) fn fid(i: &[u8]) -> Res<'_, Fid> {
    or_stop(i, Fid::take(i))
}

/// `[0xN0:0xN1:0xN2].0xN3`.
#[inline(always)]
pub(super) fn resource(i: &[u8]) -> Res<'_, ResourceId> {
    or_stop(i, ResourceId::take(i))
}

/// A NID, with or without a process id in front; the plain NID is returned.
///
/// An address may hold colons (IPv6), a network only when its driver is unknown (`<lnd:net>`), so a NID
/// ends by itself and needs no stop byte.
#[inline(always)]
pub(super) fn nid(i: &[u8]) -> Res<'_, &[u8]> {
    // 12345 is the pid of all kernel peers.
    let plain = i.strip_prefix(b"12345-").unwrap_or_else(|| crate::vocab::strip_process_id(i));
    if let Some(rest) = plain.strip_prefix(b"<?>") {
        return or_stop(i, plain.split_at_checked(plain.len() - rest.len()));
    }
    // A NID has at most 63 characters, so text without one is given up soon.
    let addr = byte_search::find(plain.get(..64).unwrap_or(plain), [b'@', b' ', b'\n']);
    let Some((addr, [b'@', net @ ..])) = addr.and_then(|at| plain.split_at_checked(at)) else { return stop(i) };
    let net_len = match net {
        [b'<', ..] => net.iter().take(24).position(|byte| *byte == b'>').map_or(0, |at| at + 1),
        // The usual ones at once.
        [b't', b'c', b'p', next, ..] if !next.is_ascii_alphanumeric() => 3,
        [b'o', b'2', b'i', b'b', next, ..] if !next.is_ascii_alphanumeric() => 4,
        _ => net.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count(),
    };
    if addr.is_empty() || net_len == 0 {
        return stop(i);
    }
    or_stop(i, plain.split_at_checked(addr.len() + 1 + net_len))
}

/// `NAME@NID` as one word, where name and address may both hold an `@` (`MGC10.0.0.1@tcp`): splits at
/// the `@` in front of the NID's address.
#[inline(always)]
pub(super) fn split_peer(i: &[u8]) -> Option<(&[u8], &[u8])> {
    let last = byte_search::rfind(i, b'@')?;
    let at = match i.get(last + 1..)? {
        b"<?>" | b"<unknown>" => last,
        _ => byte_search::rfind(i.get(..last)?, b'@')?,
    };
    Some((i.get(..at)?, i.get(at + 1..)?))
}
