//! Parsing a text as one message, and the error for a text that only begins like one.

use crate::cursor::Cursor;

/// A text that failed to parse: the kind of message and the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Malformed {
    /// Kind of message that the first words announce, for example `Handled RPC`.
    pub kind: &'static str,
    /// Byte offset in the message at which the parser gave up.
    pub offset: usize,
}

/// `rest` is a part of `text`, but not always its end, so its length does not show where it begins.
#[cold]
pub(super) fn malformed(kind: &'static str, text: &[u8], rest: &[u8]) -> Malformed {
    let offset = rest.as_ptr().addr().wrapping_sub(text.as_ptr().addr()).min(text.len());
    Malformed { kind, offset }
}

/// A message that has a text of its own.
pub(super) trait Parse<'a>: Sized {
    /// Kind of message, as in [`Malformed::kind`].
    const KIND: &'static str;

    /// Reads it from the beginning of its text.
    fn read(cursor: &mut Cursor<'a>) -> Option<Self>;

    /// Parses all of `text`, except for white space at its end, as a message; the error says where the text stopped being one.
    #[inline(always)]
    fn parse(text: &'a [u8]) -> Result<Self, Malformed> {
        whole(Self::KIND, text, |cursor| Self::read(cursor))
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
