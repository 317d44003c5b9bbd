//! Byte ranges.

use std::fmt;

use super::digits;

/// A byte range of an object. Like the kernel's, its end is *inclusive*.
///
/// Printed as `0->1048575`, with `EOF` for an open end; read also with the number that Lustre prints
/// for it, 18446744073709551615.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Extent {
    /// First byte.
    pub start: u64,
    /// Last byte, inclusive; [`Extent::EOF`] means to the end of the object, whatever it grows to.
    pub end: u64,
}

impl Extent {
    /// The kernel's `OBD_OBJECT_EOF`.
    pub const EOF: u64 = u64::MAX;

    /// Length in bytes, saturating: the one place where 1 is added to `end - start`.
    #[must_use]
    pub fn len_bytes(self) -> u64 {
        self.end.saturating_sub(self.start).saturating_add(1)
    }

    /// Whether the two ranges share a byte.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.start <= other.end && other.start <= self.end
    }

    /// Reads `START->END`, where `END` may be `EOF`.
    #[must_use]
    pub fn parse_bytes(text: &[u8]) -> Option<Self> {
        let (start, rest) = digits::dec_long(text)?;
        let end = match rest.strip_prefix(b"->")? {
            b"EOF" => Self::EOF,
            digits => digits::dec_all(digits)?,
        };
        Some(Self { start, end })
    }

    /// Reads `START->END`, both numbers, and returns what follows.
    #[inline]
    pub(crate) fn take(text: &[u8]) -> Option<(Self, &[u8])> {
        let (start, rest) = digits::dec_long(text)?;
        let (end, rest) = digits::dec_long(rest.strip_prefix(b"->")?)?;
        Some((Self { start, end }, rest))
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.end {
            Self::EOF => write!(f, "{}->EOF", self.start),
            end => write!(f, "{}->{end}", self.start),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_is_inclusive() {
        assert_eq!(Extent { start: 0, end: 1_048_575 }.len_bytes(), 1 << 20);
        assert_eq!(Extent { start: 7, end: 7 }.len_bytes(), 1);
        assert_eq!(Extent { start: 0, end: Extent::EOF }.len_bytes(), u64::MAX);
        assert!(Extent { start: 0, end: 7 }.overlaps(Extent { start: 7, end: 8 }));
        assert!(!Extent { start: 0, end: 7 }.overlaps(Extent { start: 8, end: 9 }));
    }

    #[test]
    fn open_end_is_eof() {
        let open = Extent { start: 4096, end: u64::MAX };
        assert_eq!("4096->EOF".parse(), Ok(open));
        assert_eq!("4096->18446744073709551615".parse(), Ok(open));
        assert_eq!(open.to_string(), "4096->EOF");
        assert_eq!(Extent { start: 1, end: 2 }.to_string(), "1->2");
    }

    #[test]
    fn rejects_other_text() {
        for text in ["", "1", "1->", "1-2", "1->2 ", "->2", "EOF->EOF", "1->eof"] {
            assert!(text.parse::<Extent>().is_err(), "{text}");
        }
    }
}
