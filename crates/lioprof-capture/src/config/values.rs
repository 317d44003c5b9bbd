//! Types of values in the configuration: spans, times, `"auto"`, `"off"`.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A span of time, written as `"10s"`, `"1h 30m"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

impl Span {
    /// A span of whole seconds.
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", humantime::format_duration(self.0))
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        humantime::parse_duration(text)
            .map(Self)
            .map_err(|err| format!("expected a span of time such as \"10s\" or \"1h 30m\", found \"{text}\": {err}"))
    }
}

/// A point in time, written as `"2026-11-21 18:00:00"` (UTC) or `"2026-11-21T18:00:00Z"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub SystemTime);

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", humantime::format_rfc3339_seconds(self.0))
    }
}

impl FromStr for Timestamp {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        humantime::parse_rfc3339_weak(text)
            .map(Self)
            .map_err(|err| format!("expected a time in UTC such as \"2026-11-21T18:00:00Z\", found \"{text}\": {err}"))
    }
}

/// As the command line takes an address to listen on: a port alone is one of the loopback interface.
impl FromStr for OrOff<SocketAddr> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let port = || text.parse().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        match text {
            "off" => Ok(Self::Off),
            _ => text.parse().or_else(|_| port()).map(Self::Is).map_err(|_| {
                format!("expected `off`, a port, or an address such as 127.0.0.1:9817 or [::1]:9817, found \"{text}\"")
            }),
        }
    }
}

macro_rules! as_text {
    ($type:ty) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                // Numbers are refused by name: "expected a string" would not say which.
                match Plain::deserialize(deserializer)? {
                    Plain::Text(text) => text.parse().map_err(D::Error::custom),
                    Plain::Number(number) => Err(D::Error::custom(format!(
                        "expected text with a unit such as \"10s\", found the number {number}"
                    ))),
                    Plain::Truth(truth) => {
                        Err(D::Error::custom(format!("expected text with a unit such as \"10s\", found {truth}")))
                    }
                }
            }
        }
    };
}
as_text!(Span);
as_text!(Timestamp);

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected text in quotes, a whole number, true or false")]
enum Plain {
    Truth(bool),
    Number(i64),
    Text(String),
}

/// A value, or `"off"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrOff<T> {
    /// `"off"`.
    Off,
    /// An explicit value.
    Is(T),
}

/// A value, or `"auto"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auto<T> {
    /// `"auto"`: chosen at run time.
    Auto,
    /// An explicit value.
    Is(T),
}

macro_rules! word_or {
    ($type:ident, $word:ident, $text:literal) => {
        impl<T: Copy> $type<T> {
            #[doc = concat!("The value, if it is not `\"", $text, "\"`.")]
            #[must_use]
            pub fn get(self) -> Option<T> {
                if let Self::Is(value) = self { Some(value) } else { None }
            }
        }

        impl<T: Serialize> Serialize for $type<T> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    Self::$word => serializer.serialize_str($text),
                    Self::Is(value) => value.serialize(serializer),
                }
            }
        }

        impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for $type<T> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = match Plain::deserialize(deserializer)? {
                    Plain::Text(text) if text == $text => return Ok(Self::$word),
                    Plain::Text(text) => text,
                    Plain::Number(number) => number.to_string(),
                    Plain::Truth(truth) => truth.to_string(),
                };
                let other = |err| format!("expected \"{}\" or a value, found \"{text}\" ({err})", $text);
                text.parse().map(Self::Is).map_err(|err| D::Error::custom(other(err)))
            }
        }
    };
}
word_or!(OrOff, Off, "off");
word_or!(Auto, Auto, "auto");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_command_line() {
        let is = |address: &str| Ok(OrOff::Is(address.parse::<SocketAddr>().unwrap()));
        for (text, expected) in [
            ("off", Ok(OrOff::Off)),
            ("9817", is("127.0.0.1:9817")),
            ("0.0.0.0:1", is("0.0.0.0:1")),
            ("[::1]:2", is("[::1]:2")),
        ] {
            assert_eq!(text.parse::<OrOff<SocketAddr>>(), expected);
        }
        for text in ["", "on", "localhost", "70000", "1.2.3.4"] {
            assert!(text.parse::<OrOff<SocketAddr>>().unwrap_err().contains("127.0.0.1:9817"));
        }
    }
}
