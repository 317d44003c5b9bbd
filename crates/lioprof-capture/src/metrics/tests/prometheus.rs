//! The metrics as Prometheus itself sees them. Needs `prometheus` and `promtool`: run with `scripts/check-metrics`.

use std::fs;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use lioprof_testkit::until;

use super::scrape::{Exporter, get};

#[test]
#[ignore = "needs promtool: scripts/check-metrics"]
fn promtool_finds_nothing_to_complain_about() {
    let exporter = Exporter::start();
    let text = get(exporter.address, "/metrics", "text/plain").body;
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    promtool.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = promtool.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.trim().is_empty(), "{said}");
}

/// Ends Prometheus with the test.
struct Prometheus(Child);

impl Drop for Prometheus {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
#[ignore = "needs prometheus: scripts/check-metrics"]
fn prometheus_scrapes_and_answers_queries() {
    let exporter = Exporter::start();
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("prometheus.yml");
    let target = exporter.address;
    fs::write(
        &config,
        format!(
            "global: {{scrape_interval: 1s}}\nscrape_configs:\n- job_name: lioprof\n  static_configs:\n  - targets: ['{target}']\n"
        ),
    )
    .unwrap();
    let own: SocketAddr = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let prometheus = Command::new("prometheus")
        .arg(format!("--config.file={}", config.display()))
        .arg(format!("--storage.tsdb.path={}", dir.path().join("data").display()))
        .arg(format!("--web.listen-address={own}"))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _running = Prometheus(prometheus);
    let query = |query: &str| {
        TcpStream::connect(own).ok()?;
        let answer = get(own, &format!("/api/v1/query?query={query}"), "application/json");
        answer.body.contains("\"value\"").then_some(answer.body)
    };
    let found = until("Prometheus to scrape", || {
        query("lioprof_io_bytes_total%7Btarget=%22fs-OST0000%22,direction=%22read%22%7D")
    });
    assert!(found.contains("\"5120\"") && found.contains("fs-OST0000"), "{found}");
    let up = query("up").unwrap();
    assert!(up.contains(",\"1\"]"), "{up}");
    let median = query("histogram_quantile(0.5,lioprof_rpc_service_seconds_bucket%7Btarget=%22fs-OST0000%22%7D)");
    assert!(median.is_some_and(|it| it.contains("0.1") || it.contains("0.2")));
}
