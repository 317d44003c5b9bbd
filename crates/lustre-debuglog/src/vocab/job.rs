//! Job identifiers.

use std::fmt;

use super::{digits, escape};

/// A job id as the client packed it: bytes, at most 31, not necessarily UTF-8, maybe with spaces and colons.
///
/// Printed as UTF-8 with `\\` for a backslash and `\xHH` for bytes that are control characters or not
/// UTF-8, so that every job id has a printable form and gets back from it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobId(pub Box<[u8]>);

impl JobId {
    /// The job id with exactly these bytes; unlike [`FromStr`](std::str::FromStr) this interprets no escapes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }

    /// The bytes as logged.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Reads the printed form, escapes included.
    #[must_use]
    pub fn parse_bytes(text: &[u8]) -> Option<Self> {
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text;
        while let Some((&byte, tail)) = rest.split_first() {
            rest = match (byte, tail) {
                (b'\\', [b'\\', tail @ ..]) => {
                    bytes.push(b'\\');
                    tail
                }
                (b'\\', [b'x', high, low, tail @ ..]) => {
                    let (value, b"") = digits::hex(&[*high, *low])? else { return None };
                    bytes.push(u8::try_from(value).ok()?);
                    tail
                }
                (b'\\', _) => return None,
                _ => {
                    bytes.push(byte);
                    tail
                }
            };
        }
        Some(Self(bytes.into()))
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, part) in self.0.split(|&byte| byte == b'\\').enumerate() {
            f.write_str(if n == 0 { "" } else { r"\\" })?;
            escape(f, part, char::is_control)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_prints_as_it_is() {
        for text in ["", "python3.0", "a b:c'd", "größe", "x\\\\y"] {
            let job: JobId = text.parse().unwrap();
            assert_eq!(job.to_string(), text);
        }
        assert_eq!(JobId::from_bytes(b"a b:c").as_bytes(), b"a b:c");
    }

    #[test]
    fn odd_bytes_are_escaped_and_come_back() {
        for (bytes, text) in [
            (&b"a\\b"[..], r"a\\b"),
            (b"tab\there", r"tab\x09here"),
            (b"\xff\xfe", r"\xff\xfe"),
            (b"\xc2\x85", r"\xc2\x85"), // U+0085 is a control character
            (b"\\x41", r"\\x41"),
        ] {
            let job = JobId::from_bytes(bytes);
            assert_eq!(job.to_string(), text);
            assert_eq!(text.parse(), Ok(job));
        }
    }

    #[test]
    fn rejects_unknown_escapes() {
        for text in [r"\", r"\n", r"\x", r"\x4", r"\x4g", r"a\"] {
            assert!(text.parse::<JobId>().is_err(), "{text}");
        }
    }
}
