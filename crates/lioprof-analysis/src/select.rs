//! Patterns with which users select clients (one NID, or a range) and targets.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use lustre_debuglog::{Nid, TargetName, vocab::NidAddr};
use serde::{Deserialize, Serialize};

/// A NID, a range of addresses of one network, or all of a network.
///
/// `10.0.0.1@tcp`, `10.0.0.1` in any network, `10.0.0.1-10.0.0.99@o2ib1`, `10.0.0.0/24@tcp`, `*@tcp1`, `12-40@gni`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NidPattern {
    /// As the user wrote it.
    text: String,
    /// `None`: the address in any network.
    net: Option<String>,
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
    "`{given}` is no client: expected a NID such as 10.0.0.1@tcp or 10.0.0.1, a range such as 10.0.0.1-10.0.0.99@tcp \
     or 10.0.0.0/24@o2ib, or *@NET"
)]
pub struct NidPatternError {
    given: String,
}

impl FromStr for NidPattern {
    type Err = NidPatternError;

    fn from_str(text: &str) -> Result<Self, NidPatternError> {
        let error = || NidPatternError { given: text.to_owned() };
        let Some((addr, net)) = text.rsplit_once('@') else {
            let range = range(text).ok_or_else(error)?;
            return Ok(Self { text: text.to_owned(), net: None, range });
        };
        // The vocabulary knows how networks are written: let it normalise this one.
        let net = Nid::from_str(&format!("0@{net}")).or_else(|_| Nid::from_str(&format!("0.0.0.0@{net}")));
        let net = net.map_err(|_| error())?.net.to_string();
        let range = range(addr).ok_or_else(error)?;
        Ok(Self { text: text.to_owned(), net: Some(net), range })
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

/// Patterns are read from texts of other programs as from arguments.
macro_rules! as_text {
    ($pattern:ty) => {
        impl TryFrom<String> for $pattern {
            type Error = <Self as FromStr>::Err;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$pattern> for String {
            fn from(pattern: $pattern) -> Self {
                pattern.to_string()
            }
        }
    };
}

as_text!(NidPattern);
as_text!(TargetPattern);

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
        inside && self.net.as_ref().is_none_or(|net| nid.net.to_string() == *net)
    }
}

/// A target, or the target with this kind and number in any file system: `lustre-OST0003`, `OST0003`, `MGS`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TargetPattern {
    target: TargetName,
    any_fsname: bool,
}

/// Why a text is not a target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is no target: expected its name, such as lustre-OST0003, or OST0003")]
pub struct TargetPatternError {
    given: String,
}

impl FromStr for TargetPattern {
    type Err = TargetPatternError;

    fn from_str(text: &str) -> Result<Self, TargetPatternError> {
        if let Some(target) = TargetName::parse_bytes(text.as_bytes()) {
            return Ok(Self { target, any_fsname: false });
        }
        // The name of a file system is all that is missing.
        let target = TargetName::parse_bytes(format!("any-{}", text.to_ascii_uppercase()).as_bytes());
        target
            .map(|target| Self { target, any_fsname: true })
            .ok_or_else(|| TargetPatternError { given: text.to_owned() })
    }
}

impl From<TargetName> for TargetPattern {
    fn from(target: TargetName) -> Self {
        Self { target, any_fsname: false }
    }
}

impl fmt::Display for TargetPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.target.to_string();
        f.write_str(if self.any_fsname { name.trim_start_matches("any-") } else { &name })
    }
}

impl TargetPattern {
    /// Whether it is this target.
    #[must_use]
    pub fn matches(&self, target: TargetName) -> bool {
        let same = (self.target.kind(), self.target.index()) == (target.kind(), target.index());
        same && (self.any_fsname || self.target == target)
    }

    /// Whether `target` is one of `patterns`, or there are none.
    pub(crate) fn takes(patterns: &[Self], target: Option<TargetName>) -> bool {
        patterns.is_empty() || target.is_some_and(|target| patterns.iter().any(|pattern| pattern.matches(target)))
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
    fn targets_with_and_without_their_file_system() {
        let is = |pattern: &str, target: &str| {
            pattern.parse::<TargetPattern>().unwrap().matches(TargetName::parse_bytes(target.as_bytes()).unwrap())
        };
        assert!(
            is("OST0003", "lustre-OST0003") && is("ost0003", "work1-OST0003") && is("lustre-OST0003", "lustre-OST0003")
        );
        assert!(!is("OST0003", "lustre-MDT0003") && !is("OST0003", "lustre-OST0004") && !is("a-OST0003", "b-OST0003"));
        assert!(is("MGS", "MGS"));
        for (text, shown) in [("OST0003", "OST0003"), ("lustre-OST0003", "lustre-OST0003")] {
            assert_eq!(text.parse::<TargetPattern>().unwrap().to_string(), shown);
        }
        for text in ["", "OST", "lustre", "OSTxyz", "a-b"] {
            assert!(text.parse::<TargetPattern>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_client_in_any_network() {
        assert!(matches("10.0.0.1", "10.0.0.1@tcp") && matches("10.0.0.1", "10.0.0.1@o2ib4"));
        assert!(matches("10.0.0.0/24", "10.0.0.7@tcp1") && !matches("10.0.0.1", "10.0.0.11@tcp"));
        assert!("python3.0".parse::<NidPattern>().is_err());
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
        for garbage in ["", "10.0.0.x", "a-b@tcp", "10.0.0.0/33@tcp", "@tcp"] {
            let error = garbage.parse::<NidPattern>().unwrap_err().to_string();
            assert!(error.contains("10.0.0.1@tcp"), "{error}");
        }
    }
}
