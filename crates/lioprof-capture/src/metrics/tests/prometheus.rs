//! The metrics as Prometheus itself sees them. Needs `prometheus` and `promtool`: run with `scripts/check-metrics`.

use std::io::Write;
use std::process::{Command, Stdio};

use lioprof_testkit::prometheus::Prometheus;
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

#[test]
#[ignore = "needs prometheus: scripts/check-metrics"]
fn prometheus_scrapes_and_answers_queries() {
    let exporter = Exporter::start();
    let dir = tempfile::tempdir().unwrap();
    let prometheus = Prometheus::start(dir.path(), &[exporter.address], None);
    let query = |query: &str| prometheus.query(query).filter(|answer| answer.contains("\"value\""));
    let found =
        until("Prometheus to scrape", || query("lioprof_io_bytes_total{target=\"fs-OST0000\",direction=\"read\"}"));
    assert!(found.contains("\"5120\"") && found.contains("fs-OST0000"), "{found}");
    let up = query("up").unwrap();
    assert!(up.contains(",\"1\"]"), "{up}");
    let median = query("histogram_quantile(0.5,lioprof_rpc_service_seconds_bucket{target=\"fs-OST0000\"})");
    assert!(median.is_some_and(|it| it.contains("0.1") || it.contains("0.2")));
}
