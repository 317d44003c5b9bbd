//! Bytes as text, and back without loss.
//!
//! Job ids and the like are bytes and need not be UTF-8; SQL wants strings. What is UTF-8 and has no `\x` in it stays
//! as it is. In anything else every byte that is not part of valid UTF-8, and every backslash, becomes `\xHH`. So a
//! text with `\x` in it is always a coded one, and decoding has one answer.

use std::borrow::Cow;

use lustre_debuglog::vocab;

/// The text of `bytes`.
pub(crate) fn encode(bytes: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(bytes) {
        Ok(text) if !text.contains("\\x") => Cow::Borrowed(text),
        _ => {
            let mut out = String::with_capacity(bytes.len() + 8);
            vocab::escape(&mut out, bytes, |c| c == '\\').expect("writing to a String cannot fail");
            Cow::Owned(out)
        }
    }
}

/// The bytes of a text made by [`encode`].
pub(crate) fn decode(text: &str) -> Cow<'_, [u8]> {
    let mut rest = text.as_bytes();
    let Some(mut at) = find_escape(rest) else { return Cow::Borrowed(rest) };
    let mut out = Vec::with_capacity(rest.len());
    loop {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        match rest.get(2..4).and_then(hex_byte) {
            Some(byte) => {
                out.push(byte);
                rest = &rest[4..];
            }
            // Not made by `encode`: kept as it is.
            None => {
                out.extend_from_slice(&rest[..2]);
                rest = &rest[2..];
            }
        }
        let Some(next) = find_escape(rest) else { break };
        at = next;
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

fn find_escape(bytes: &[u8]) -> Option<usize> {
    bytes.windows(2).position(|pair| pair == b"\\x")
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|it| u8::try_from(it).ok());
    match digits {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_text_stays() {
        for text in ["", "dd.0", "dä\n\u{0}", "a\\b", "\\", "\\\\y"] {
            assert_eq!(encode(text.as_bytes()), text);
        }
    }

    #[test]
    fn the_rest_is_readable() {
        assert_eq!(encode(b"a\xffb"), "a\\xffb");
        assert_eq!(encode(b"a\\xffb"), "a\\x5cxffb");
        assert_eq!(encode(b"\xff\\"), "\\xff\\x5c");
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\\'), Just(b'x'), Just(b'5')], 0..20)) {
            let text = encode(&bytes).into_owned();
            prop_assert_eq!(decode(&text).into_owned(), bytes);
        }

        #[test]
        fn any_text_decodes(text in "[\\\\x0-9a-f]{0,12}") {
            let _ = decode(&text);
        }
    }
}
