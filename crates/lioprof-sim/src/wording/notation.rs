//! Things that the kernel prints in the same way in all messages.

use std::fmt;

/// Sequence and object number of a FID, or the first two words of a resource name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fid(pub u64, pub u64);

impl fmt::Display for Fid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{:#x}:{:#x}:0x0]", self.0, self.1)
    }
}

/// First and last byte of a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// First byte.
    pub first: u64,
    /// Last byte.
    pub last: u64,
}

impl Extent {
    /// All that an object can have.
    pub const ALL: Self = Self { first: 0, last: u64::MAX };

    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    pub(crate) fn covers(self, other: Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}->{}", self.first, self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wording::messages::text;

    #[test]
    fn notations() {
        let mut line = Vec::new();
        text::prolong(&mut line, 0xab, 7, Extent { first: 0, last: 9 });
        text::lvb_init(&mut line, Fid(0x2_8000_0400, 4), 12, 0x1f0, 0);
        let expected = "Prolong locks for req 00000000000000ab with x7 ext(0->9)\n\
                        res: [0x280000400:0x4:0x0] initial LVB size: 12, mtime: 0x1f0, atime: 0x0, ctime: 0x1f0, blocks: 0x0\n";
        assert_eq!(String::from_utf8_lossy(&line), expected);
    }
}
