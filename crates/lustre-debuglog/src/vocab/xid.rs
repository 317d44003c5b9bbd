//! Transfer identifiers.

use std::fmt;

use super::digits;

/// An RPC's transfer id. A counter of the sending node: unique only together with the sender's NID.
///
/// Printed as `x1882455793623808`, as in most messages; read with and without the `x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Xid(pub u64);

impl Xid {
    /// Reads `x123` or `123`.
    #[must_use]
    pub fn parse_bytes(text: &[u8]) -> Option<Self> {
        digits::dec_all(text.strip_prefix(b"x").unwrap_or(text)).map(Self)
    }
}

impl fmt::Display for Xid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "x{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_forms_and_prints_the_first() {
        assert_eq!("x1882455793623808".parse(), Ok(Xid(1_882_455_793_623_808)));
        assert_eq!("123".parse(), Ok(Xid(123)));
        assert_eq!(Xid(123).to_string(), "x123");
    }

    #[test]
    fn rejects_other_text() {
        for text in ["", "x", "xx1", "1x", "-1", "18446744073709551616"] {
            assert!(text.parse::<Xid>().is_err(), "{text}");
        }
    }
}
