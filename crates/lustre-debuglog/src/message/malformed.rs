//! Messages that are all of a text, and lines that begin like one and go on differently.

use crate::cursor::Cursor;

/// Where and as what a text failed to parse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Malformed {
    /// The kind that its first words announced, for example `Handled RPC`.
    pub kind: &'static str,
    /// Offset in the message at which the parser gave up.
    pub offset: usize,
}

/// `rest` is a part of `text`, not always its end, so lengths do not tell where it begins.
#[cold]
pub(super) fn malformed(kind: &'static str, text: &[u8], rest: &[u8]) -> Malformed {
    let offset = rest.as_ptr().addr().wrapping_sub(text.as_ptr().addr()).min(text.len());
    Malformed { kind, offset }
}

/// A message that has a text of its own.
pub(super) trait Parse<'a>: Sized {
    /// What its first words announce.
    const KIND: &'static str;

    /// Reads it from the beginning of its text.
    fn read(cursor: &mut Cursor<'a>) -> Option<Self>;

    /// The message that is all of `text` but for white space at its end; else where the text stopped being one.
    fn parse(text: &'a [u8]) -> Result<Self, Malformed> {
        let mut cursor = Cursor::new(text);
        let value = Self::read(&mut cursor);
        at_end(Self::KIND, text, cursor, value)
    }
}

/// The same with a parser of any kind.
#[inline(always)]
pub(super) fn whole<'a, T>(
    kind: &'static str,
    text: &'a [u8],
    parser: impl FnOnce(&mut Cursor<'a>) -> Option<T>,
) -> Result<T, Malformed> {
    let mut cursor = Cursor::new(text);
    let value = parser(&mut cursor);
    at_end(kind, text, cursor, value)
}

/// What was read of `text`, if nothing but white space follows it.
#[inline(always)]
fn at_end<T>(kind: &'static str, text: &[u8], cursor: Cursor<'_>, value: Option<T>) -> Result<T, Malformed> {
    match value {
        Some(value) if cursor.rest().is_empty() || cursor.rest().trim_ascii_start().is_empty() => Ok(value),
        _ => Err(malformed(kind, text, cursor.rest())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
