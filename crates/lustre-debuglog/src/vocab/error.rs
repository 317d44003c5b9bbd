//! The error of the vocabulary's `FromStr` implementations.

use std::error::Error;
use std::fmt;

/// Characters of the input that an error message repeats.
const SHOWN: usize = 40;

/// A text is not what it was said to be: `expected an extent such as 0->1048575, found "12-13"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    expected: &'static str,
    found: Box<str>,
}

impl ParseError {
    /// `expected` completes the sentence "expected ..."; of `found` the beginning is kept.
    pub(crate) fn new(expected: &'static str, found: &str) -> Self {
        let end = found.char_indices().nth(SHOWN).map_or(found.len(), |(at, _)| at);
        Self { expected, found: found.get(..end).unwrap_or_default().into() }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {:?}", self.expected, self.found)
    }
}

impl Error for ParseError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_says_what_was_expected_and_found() {
        let error = ParseError::new("an xid such as x123", "y\u{1}");
        assert_eq!(error.to_string(), r#"expected an xid such as x123, found "y\u{1}""#);
    }

    #[test]
    fn long_input_is_cut_between_characters() {
        let error = ParseError::new("a NID", &"ä".repeat(100));
        assert_eq!(error.to_string(), format!("expected a NID, found \"{}\"", "ä".repeat(40)));
    }
}
