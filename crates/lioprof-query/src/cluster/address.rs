//! Where a scheduler is: `ballista://HOST:PORT`.

use std::fmt;
use std::str::FromStr;

/// The port of a scheduler if none is given: that of Ballista's own scheduler.
pub const DEFAULT_PORT: u16 = 50050;

const SCHEME: &str = "ballista://";

/// Host and port of a scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulerAddress {
    host: String,
    port: u16,
}

/// A text that names no scheduler.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no scheduler: expected ballista://HOST:PORT, for example ballista://oss-head:{DEFAULT_PORT}")]
pub struct BadAddress(String);

impl SchedulerAddress {
    /// The host as it is used in URLs: IPv6 addresses in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address as gRPC and HTTP want it.
    #[must_use]
    pub fn http_url(&self) -> String {
        format!("http://{}:{}", self.host, self.port)
    }
}

impl FromStr for SchedulerAddress {
    type Err = BadAddress;

    /// Takes `ballista://HOST:PORT`, and `HOST:PORT` where nothing but a scheduler can be meant.
    fn from_str(text: &str) -> Result<Self, BadAddress> {
        let bad = || BadAddress(text.to_owned());
        let authority = text.strip_prefix(SCHEME).unwrap_or(text);
        // The scheme decides how a host is read; that of HTTP checks it and knows IPv6.
        let url = url::Url::parse(&format!("http://{authority}")).map_err(|_| bad())?;
        let only_host_and_port = url.path() == "/"
            && !authority.ends_with('/')
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        match url.host_str() {
            Some(host) if only_host_and_port => {
                // Port 80 is HTTP's own, so `url` takes it for none.
                let port = if authority.ends_with(":80") { 80 } else { url.port().unwrap_or(DEFAULT_PORT) };
                Ok(Self { host: host.to_owned(), port })
            }
            _ => Err(bad()),
        }
    }
}

impl fmt::Display for SchedulerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, u16) {
        let address: SchedulerAddress = text.parse().unwrap();
        (address.host().to_owned(), address.port())
    }

    #[test]
    fn host_and_port_with_and_without_scheme() {
        assert_eq!(read("ballista://oss-head:5000"), ("oss-head".to_owned(), 5000));
        assert_eq!(read("oss-head:5000"), ("oss-head".to_owned(), 5000));
        assert_eq!(read("ballista://10.0.0.1"), ("10.0.0.1".to_owned(), DEFAULT_PORT));
        assert_eq!(read("ballista://[fd00::1]:5000"), ("[fd00::1]".to_owned(), 5000));
        assert_eq!(read("head:80"), ("head".to_owned(), 80));
    }

    #[test]
    fn what_is_shown_reads_back() {
        let address: SchedulerAddress = "ballista://[fd00::1]:5000".parse().unwrap();
        assert_eq!(address.to_string().parse::<SchedulerAddress>().unwrap(), address);
        assert_eq!(address.http_url(), "http://[fd00::1]:5000");
    }

    #[test]
    fn other_texts_are_refused_and_quoted() {
        for text in
            ["", "ballista://", "ballista://h:port", "ballista://h:70000", "ballista://h:1/db", "http://h:1", "u@h:1"]
        {
            let error = text.parse::<SchedulerAddress>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
    }
}
