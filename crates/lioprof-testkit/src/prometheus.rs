//! A real Prometheus that scrapes what a test exposes.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A running Prometheus, which ends with the test.
#[derive(Debug)]
pub struct Prometheus {
    child: Child,
    address: SocketAddr,
}

impl Prometheus {
    /// Starts one with its data in `dir`. It scrapes the targets twice a second as job `lioprof`, and evaluates `rules` as often.
    #[must_use]
    pub fn start(dir: &Path, targets: &[SocketAddr], rules: Option<&Path>) -> Self {
        let targets: Vec<String> = targets.iter().map(|target| format!("'{target}'")).collect();
        let rules = rules.map_or_else(String::new, |path| format!("rule_files: ['{}']\n", path.display()));
        let config = format!(
            "global: {{scrape_interval: 500ms, evaluation_interval: 500ms}}\n{rules}scrape_configs:\n- job_name: lioprof\n  \
             static_configs:\n  - targets: [{}]\n",
            targets.join(", ")
        );
        let file = dir.join("prometheus.yml");
        fs::write(&file, config).unwrap_or_else(|err| panic!("{}: {err}", file.display()));
        let address = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
        let address = address.unwrap_or_else(|err| panic!("no free port: {err}"));
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", dir.join("data").display()))
            .arg(format!("--web.listen-address={address}"))
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|err| panic!("prometheus: {err}"));
        Self { child, address }
    }

    /// The answer of its API to a path such as `rules`, as JSON text; `None` while it does not listen.
    #[must_use]
    pub fn api(&self, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect(self.address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
        // HTTP/1.0: the answer comes in one piece.
        write!(stream, "GET /api/v1/{path} HTTP/1.0\r\nHost: {}\r\n\r\n", self.address).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (_, body) = answer.split_once("\r\n\r\n")?;
        Some(body.to_owned())
    }

    /// What a query gives now, as JSON text; `None` while it does not listen.
    #[must_use]
    pub fn query(&self, query: &str) -> Option<String> {
        self.api(&format!("query?query={}", encoded(query)))
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// As a part of an URL.
fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").unwrap_or_default();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn queries_are_encoded() {
        assert_eq!(super::encoded("up{a=~\"x+\"} == 1"), "up%7Ba%3D%7E%22x%2B%22%7D%20%3D%3D%201");
    }
}
