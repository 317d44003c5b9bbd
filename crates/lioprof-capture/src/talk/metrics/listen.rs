//! Where to show the metrics.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// `off`, a port on loopback, or an address with a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listen {
    /// No HTTP server.
    Off,
    /// An address.
    On(SocketAddr),
}

impl Default for Listen {
    fn default() -> Self {
        Self::On(SocketAddr::from((Ipv4Addr::LOCALHOST, 9471)))
    }
}

/// Not an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected `off`, a port, or an address such as 127.0.0.1:9471 or [::1]:9471, found {found:?}")]
pub struct ListenError {
    found: String,
}

impl FromStr for Listen {
    type Err = ListenError;

    fn from_str(text: &str) -> Result<Self, ListenError> {
        let port = text.parse::<u16>().map(|port| Self::On(SocketAddr::from((Ipv4Addr::LOCALHOST, port))));
        match text {
            "off" => Ok(Self::Off),
            _ => port.or_else(|_| text.parse().map(Self::On)).map_err(|_| ListenError { found: text.to_owned() }),
        }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::On(address) => address.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms() {
        for (text, shown) in
            [("off", "off"), ("9471", "127.0.0.1:9471"), ("0.0.0.0:1", "0.0.0.0:1"), ("[::1]:2", "[::1]:2")]
        {
            assert_eq!(text.parse::<Listen>().unwrap().to_string(), shown);
        }
        for text in ["", "on", "localhost", "70000", "1.2.3.4"] {
            assert!(text.parse::<Listen>().unwrap_err().to_string().contains("127.0.0.1:9471"));
        }
    }
}
