//! LNet node identifiers.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::digits;

/// A node identifier, `ADDR@NET`.
///
/// Messages carry NIDs as the bytes that were printed, without the process id in front;
/// this type is for where a NID's parts matter, such as ranges given by a user.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Nid {
    /// Address within the network.
    pub addr: NidAddr,
    /// The network.
    pub net: Net,
}

/// The address part of a [`Nid`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NidAddr {
    /// IPv4, for `tcp`, `o2ib` and others.
    V4(Ipv4Addr),
    /// IPv6 (Lustre 2.16 and later).
    V6(Ipv6Addr),
    /// A plain number, for `gni`, `kfi`, `lo` and others.
    Num(u32),
    /// `<?>` and forms of unknown network drivers, kept as printed.
    Other(Box<str>),
}

/// A network: driver and number, `o2ib12`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Net {
    /// The network driver.
    pub lnd: Lnd,
    /// Its number, not printed when 0.
    pub number: u16,
}

/// LNet network drivers. Open: an unknown name is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lnd {
    /// `lo`: the node itself.
    Lo,
    /// `tcp`.
    Tcp,
    /// `o2ib`.
    O2ib,
    /// `gni`.
    Gni,
    /// `gip`.
    Gip,
    /// `kfi`.
    Kfi,
    /// `ptlf`.
    Ptlf,
    /// `efa`.
    Efa,
    /// `bxi3f`.
    Bxi3f,
    /// Any other name, as printed.
    Other(Box<str>),
}

impl Nid {
    /// `<?>`, printed for the "any" NID. Has no network: its [`Net`] prints as nothing.
    const ANY: &'static str = "<?>";

    /// Reads `ADDR@NET`; a process id in front (`12345-`, `U123-`, `LNET_PID_ANY-`) is dropped.
    #[must_use]
    pub fn parse_bytes(text: &[u8]) -> Option<Self> {
        let text = str::from_utf8(strip_process_id(text)).ok()?;
        if text == Self::ANY {
            let net = Net { lnd: Lnd::Other("".into()), number: 0 };
            return Some(Self { addr: NidAddr::Other(text.into()), net });
        }
        let (addr, net) = text.rsplit_once('@')?;
        if addr.is_empty() || addr.contains(|c: char| c.is_whitespace() || c == '@') {
            return None;
        }
        Some(Self { addr: NidAddr::read(addr), net: Net::parse_bytes(net.as_bytes())? })
    }
}

impl NidAddr {
    fn read(text: &str) -> Self {
        if let Ok(addr) = text.parse() {
            Self::V4(addr)
        } else if let Ok(addr) = text.parse() {
            Self::V6(addr)
        } else if let Some(number) = digits::dec_all(text.as_bytes()).and_then(|n| u32::try_from(n).ok()) {
            Self::Num(number)
        } else {
            Self::Other(text.into())
        }
    }
}

impl Net {
    /// Reads `tcp`, `o2ib12`, or the `<4:7>` of a driver that the printing node did not know.
    #[must_use]
    pub fn parse_bytes(text: &[u8]) -> Option<Self> {
        let text = str::from_utf8(text).ok()?;
        if text.is_empty() || text.contains(|c: char| c.is_whitespace() || c == '@') {
            return None;
        }
        let number = |digits: &str| match digits {
            "" => Some(0),
            digits => digits::dec_all(digits.as_bytes()).and_then(|n| u16::try_from(n).ok()),
        };
        for (name, lnd) in Lnd::NAMED {
            // Names of drivers hold digits themselves (`o2ib`), so known names come first.
            if let Some(number) = text.strip_prefix(name).and_then(number) {
                return Some(Self { lnd, number });
            }
        }
        let name = text.trim_end_matches(|c: char| c.is_ascii_digit());
        let (name, number) = match text.strip_prefix(name).and_then(number) {
            Some(number) if !name.is_empty() => (name, number),
            _ => (text, 0),
        };
        Some(Self { lnd: Lnd::Other(name.into()), number })
    }
}

impl Lnd {
    const NAMED: [(&'static str, Self); 9] = [
        ("lo", Self::Lo),
        ("tcp", Self::Tcp),
        ("o2ib", Self::O2ib),
        ("gni", Self::Gni),
        ("gip", Self::Gip),
        ("kfi", Self::Kfi),
        ("ptlf", Self::Ptlf),
        ("efa", Self::Efa),
        ("bxi3f", Self::Bxi3f),
    ];
}

impl fmt::Display for Nid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.addr {
            NidAddr::Other(any) if **any == *Self::ANY => f.write_str(any),
            addr => write!(f, "{addr}@{}", self.net),
        }
    }
}

impl fmt::Display for NidAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V4(addr) => addr.fmt(f),
            Self::V6(addr) => addr.fmt(f),
            Self::Num(number) => number.fmt(f),
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            0 => self.lnd.fmt(f),
            number => write!(f, "{}{number}", self.lnd),
        }
    }
}

impl fmt::Display for Lnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other(name) => f.write_str(name),
            known => {
                let name = Self::NAMED.iter().find(|(_, lnd)| lnd == known).map(|(name, _)| *name);
                f.write_str(name.unwrap_or_default())
            }
        }
    }
}

/// Strips the process-id prefix of a peer id: `12345-10.0.0.1@tcp` gives `10.0.0.1@tcp`
/// (also `U123-` of user-space peers and `LNET_PID_ANY-`).
#[must_use]
pub(crate) fn strip_process_id(peer: &[u8]) -> &[u8] {
    if let Some(rest) = peer.strip_prefix(b"LNET_PID_ANY-") {
        return rest;
    }
    let digits = peer.strip_prefix(b"U").unwrap_or(peer);
    let len = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    match digits.get(len) {
        Some(b'-') if len > 0 => digits.get(len + 1..).unwrap_or(peer),
        _ => peer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nid(addr: NidAddr, lnd: Lnd, number: u16) -> Nid {
        Nid { addr, net: Net { lnd, number } }
    }

    #[test]
    fn every_driver() {
        for (text, want) in [
            ("0@lo", nid(NidAddr::Num(0), Lnd::Lo, 0)),
            ("10.0.0.1@tcp", nid(NidAddr::V4([10, 0, 0, 1].into()), Lnd::Tcp, 0)),
            ("10.0.0.1@tcp1", nid(NidAddr::V4([10, 0, 0, 1].into()), Lnd::Tcp, 1)),
            ("10.1.2.3@o2ib12", nid(NidAddr::V4([10, 1, 2, 3].into()), Lnd::O2ib, 12)),
            ("27@gni", nid(NidAddr::Num(27), Lnd::Gni, 0)),
            ("27@gip3", nid(NidAddr::Num(27), Lnd::Gip, 3)),
            ("42@kfi", nid(NidAddr::Num(42), Lnd::Kfi, 0)),
            ("7@ptlf", nid(NidAddr::Num(7), Lnd::Ptlf, 0)),
            ("fe80::1@efa", nid(NidAddr::V6("fe80::1".parse().unwrap()), Lnd::Efa, 0)),
            ("3@bxi3f65535", nid(NidAddr::Num(3), Lnd::Bxi3f, 65_535)),
            ("2001:db8::1@tcp", nid(NidAddr::V6("2001:db8::1".parse().unwrap()), Lnd::Tcp, 0)),
        ] {
            assert_eq!(text.parse(), Ok(want.clone()));
            assert_eq!(want.to_string(), text);
        }
    }

    #[test]
    fn process_id_is_dropped() {
        for text in ["12345-10.0.0.1@tcp", "U123-10.0.0.1@tcp", "LNET_PID_ANY-10.0.0.1@tcp"] {
            assert_eq!(text.parse::<Nid>().unwrap().to_string(), "10.0.0.1@tcp");
        }
    }

    #[test]
    fn unknown_forms_are_kept_as_printed() {
        for text in ["<?>", "7f:3@<12:4>", "abc@xyz5", "1.2.3@tcp", "1@tcp99999"] {
            assert_eq!(text.parse::<Nid>().unwrap().to_string(), text);
        }
        assert_eq!("12345-<?>".parse::<Nid>().unwrap().to_string(), "<?>");
    }

    #[test]
    fn rejects_other_text() {
        for text in ["", "tcp", "@tcp", "10.0.0.1@", "10.0.0.1", "a b@tcp", "a@b@tcp", "1@t cp"] {
            assert!(text.parse::<Nid>().is_err(), "{text}");
        }
        assert!("".parse::<Net>().is_err());
        assert_eq!("tcp0".parse::<Net>().unwrap().to_string(), "tcp");
    }
}
