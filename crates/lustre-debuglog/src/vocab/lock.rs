//! LDLM lock vocabulary.

use std::fmt;

use super::digits;
use super::words::words;

/// A lock handle ("cookie"), unique on its node; printed as `0x...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LockCookie(pub u64);

impl LockCookie {
    /// Reads `0x1f`, or the lone `0` of some old messages.
    #[must_use]
    pub fn parse_bytes(text: &[u8]) -> Option<Self> {
        match text {
            b"0" => Some(Self(0)),
            _ => match digits::hex(text.strip_prefix(b"0x")?)? {
                (value, b"") => Some(Self(value)),
                _ => None,
            },
        }
    }
}

impl fmt::Display for LockCookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

words! {
    /// Lock modes, `LCK_*`.
    LockMode;
    /// `--`: none (not, or no longer, granted).
    None = "--",
    /// `EX`.
    Ex = "EX",
    /// `PW`: protected write.
    Pw = "PW",
    /// `PR`: protected read.
    Pr = "PR",
    /// `CW`: concurrent write.
    Cw = "CW",
    /// `CR`: concurrent read.
    Cr = "CR",
    /// `NL`.
    Nl = "NL",
    /// `GROUP`.
    Group = "GROUP",
    /// `COS`: commit on sharing.
    Cos = "COS",
    /// `TXN` (since 2.15.57).
    Txn = "TXN",
}

words! {
    /// Lock types, as printed after `type: `.
    LockType;
    /// `EXT`: extent locks, on OST objects.
    Extent = "EXT",
    /// `IBT`: inode bits, on MDTs.
    InodeBits = "IBT",
    /// `FLK`: flock.
    Flock = "FLK",
    /// `PLN`: plain.
    Plain = "PLN",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookie_is_hexadecimal() {
        assert_eq!("0xb335d27b2acb529d".parse(), Ok(LockCookie(0xb335_d27b_2acb_529d)));
        assert_eq!("0".parse(), Ok(LockCookie(0)));
        assert_eq!(LockCookie(0).to_string(), "0x0");
        for text in ["", "0x", "12", "0xg", "0x1 "] {
            assert!(text.parse::<LockCookie>().is_err(), "{text}");
        }
    }

    #[test]
    fn every_mode_reads_what_it_prints() {
        for word in ["--", "EX", "PW", "PR", "CW", "CR", "NL", "GROUP", "COS", "TXN"] {
            assert_eq!(word.parse::<LockMode>().unwrap().to_string(), word);
        }
        for text in ["", "-", "pw", "PWX", "??"] {
            assert!(text.parse::<LockMode>().is_err(), "{text}");
        }
    }

    #[test]
    fn every_type_reads_what_it_prints() {
        for word in ["EXT", "IBT", "FLK", "PLN"] {
            assert_eq!(word.parse::<LockType>().unwrap().to_string(), word);
        }
        let error = "???".parse::<LockType>().unwrap_err();
        assert_eq!(error.to_string(), r#"expected a lock type: EXT, IBT, FLK or PLN, found "???""#);
    }
}
