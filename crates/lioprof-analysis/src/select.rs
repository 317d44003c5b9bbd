//! Patterns with which users select clients: one NID, or a range.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use lustre_debuglog::{Nid, vocab::NidAddr};

/// A NID, a range of addresses of one network, or all of a network.
///
/// `10.0.0.1@tcp`, `10.0.0.1-10.0.0.99@o2ib1`, `10.0.0.0/24@tcp`, `*@tcp1`, `12-40@gni`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NidPattern {
    /// As the user wrote it.
    text: String,
    net: String,
    range: AddrRange,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum AddrRange {
    Any,
    V4(Ipv4Addr, Ipv4Addr),
    V6(Ipv6Addr, Ipv6Addr),
    Num(u32, u32),
}

/// Why a text is not a valid pattern of NIDs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is no client: expected a NID such as 10.0.0.1@tcp, a range such as 10.0.0.1-10.0.0.99@tcp \
     or 10.0.0.0/24@o2ib, or *@NET"
)]
pub struct NidPatternError {
    given: String,
}

impl FromStr for NidPattern {
    type Err = NidPatternError;

    fn from_str(text: &str) -> Result<Self, NidPatternError> {
        let error = || NidPatternError { given: text.to_owned() };
        let (addr, net) = text.rsplit_once('@').ok_or_else(error)?;
        // The vocabulary knows how networks are written: let it normalise this one.
        let net = Nid::from_str(&format!("0@{net}")).or_else(|_| Nid::from_str(&format!("0.0.0.0@{net}")));
        let net = net.map_err(|_| error())?.net.to_string();
        let range = range(addr).ok_or_else(error)?;
        Ok(Self { text: text.to_owned(), net, range })
    }
}

fn range(addr: &str) -> Option<AddrRange> {
    if addr == "*" {
        return Some(AddrRange::Any);
    }
    if let Some((base, bits)) = addr.split_once('/') {
        let bits: u32 = bits.parse().ok()?;
        return match base.parse() {
            Ok(std::net::IpAddr::V4(ip)) if bits <= 32 => {
                let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
                let first = u32::from(ip) & mask;
                Some(AddrRange::V4(first.into(), (first | !mask).into()))
            }
            Ok(std::net::IpAddr::V6(ip)) if bits <= 128 => {
                let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
                let first = u128::from(ip) & mask;
                Some(AddrRange::V6(first.into(), (first | !mask).into()))
            }
            _ => None,
        };
    }
    let (first, last) = addr.split_once('-').unwrap_or((addr, addr));
    if let (Ok(a), Ok(b)) = (first.parse(), last.parse()) {
        return Some(AddrRange::V4(a, b));
    }
    if let (Ok(a), Ok(b)) = (first.parse(), last.parse()) {
        return Some(AddrRange::V6(a, b));
    }
    Some(AddrRange::Num(first.parse().ok()?, last.parse().ok()?))
}

impl fmt::Display for NidPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl NidPattern {
    /// Whether a NID, as printed in a log, matches.
    #[must_use]
    pub fn matches(&self, nid: &[u8]) -> bool {
        let Some(nid) = std::str::from_utf8(nid).ok().and_then(|nid| Nid::from_str(nid).ok()) else { return false };
        let inside = match (&self.range, &nid.addr) {
            (AddrRange::Any, _) => true,
            (AddrRange::V4(a, b), NidAddr::V4(ip)) => (a..=b).contains(&ip),
            (AddrRange::V6(a, b), NidAddr::V6(ip)) => (a..=b).contains(&ip),
            (AddrRange::Num(a, b), NidAddr::Num(n)) => (a..=b).contains(&n),
            _ => false,
        };
        inside && nid.net.to_string() == self.net
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, nid: &str) -> bool {
        pattern.parse::<NidPattern>().unwrap().matches(nid.as_bytes())
    }

    #[test]
    fn one_client() {
        assert!(matches("10.0.0.1@tcp", "10.0.0.1@tcp"));
        assert!(!matches("10.0.0.1@tcp", "10.0.0.11@tcp"));
        assert!(!matches("10.0.0.1@tcp", "10.0.0.1@tcp1"));
        assert!(matches("2001:db8::1@tcp", "2001:db8::1@tcp"));
    }

    #[test]
    fn ranges() {
        assert!(matches("10.0.0.1-10.0.0.99@o2ib1", "10.0.0.40@o2ib1"));
        assert!(!matches("10.0.0.1-10.0.0.99@o2ib1", "10.0.0.100@o2ib1"));
        assert!(matches("10.0.0.0/24@tcp", "10.0.0.255@tcp"));
        assert!(!matches("10.0.0.0/24@tcp", "10.0.1.0@tcp"));
        assert!(matches("0.0.0.0/0@tcp", "10.0.1.0@tcp"));
        assert!(matches("12-40@gni", "27@gni"));
        assert!(matches("*@tcp1", "10.9.9.9@tcp1"));
    }

    #[test]
    fn garbage_says_what_was_expected() {
        for garbage in ["", "10.0.0.1", "a-b@tcp", "10.0.0.0/33@tcp", "@tcp"] {
            let error = garbage.parse::<NidPattern>().unwrap_err().to_string();
            assert!(error.contains("10.0.0.1@tcp"), "{error}");
        }
    }
}
