//! The HTTP server, as a scraper and as others see it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use crate::metrics::{MetricsError, MetricsServer};

use super::scrape::{Exporter, get};

/// The value of a series, exactly as it is written.
fn value<'a>(text: &'a str, series: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '))
}

#[test]
fn figures_of_targets_and_of_the_daemon() {
    let exporter = Exporter::start();
    let text = get(exporter.address, "/metrics", "*/*").body;
    for (series, expected) in [
        ("lioprof_rpcs_total{target=\"fs-OST0000\"}", "3"),
        ("lioprof_rpc_errors_total{target=\"fs-OST0000\"}", "1"),
        ("lioprof_io_rpcs_total{target=\"fs-OST0000\",direction=\"read\"}", "2"),
        ("lioprof_io_bytes_total{target=\"fs-OST0000\",direction=\"read\"}", "5120"),
        ("lioprof_io_bytes_total{target=\"fs-OST0000\",direction=\"write\"}", "0"),
        ("lioprof_io_inexact_rpcs_total{target=\"fs-OST0000\",direction=\"read\"}", "1"),
        ("lioprof_rpc_queue_seconds_count{target=\"fs-OST0000\"}", "2"),
        ("lioprof_rpc_queue_seconds_bucket{le=\"0.001\",target=\"fs-OST0000\"}", "1"),
        ("lioprof_rpc_service_seconds_sum{target=\"fs-OST0000\"}", "0.5"),
        ("lioprof_lock_callbacks_total{target=\"fs-OST0000\",kind=\"blocking\"}", "4"),
        ("lioprof_lock_conflicts_total{target=\"fs-OST0000\"}", "2"),
        ("lioprof_segments_total{outcome=\"dropped\"}", "1"),
        ("lioprof_segment_bytes_total{outcome=\"decoded\"}", "100"),
        ("lioprof_files_total", "3"),
        ("lioprof_losses_total{reason=\"nrs_gap\"}", "7"),
        ("lioprof_losses_total{reason=\"bad_record\"}", "0"),
        ("lioprof_state{state=\"duty_cycled\"}", "1"),
        ("lioprof_state{state=\"tracing\"}", "0"),
        ("lioprof_lag_seconds", "1.5"),
        ("lioprof_process_cpu_seconds_total", "12.5"),
        ("lioprof_process_resident_memory_bytes", "4096"),
    ] {
        assert_eq!(value(&text, series), Some(expected), "{series}\n{text}");
    }
    let share: f64 = value(&text, "lioprof_traced_ratio").unwrap().parse().unwrap();
    assert!((share - 1.0 / 12.0).abs() < 1e-9);
    // The names of 200 targets and of rubbish do not become 200 labels.
    assert!(text.lines().filter(|line| line.starts_with("lioprof_rpcs_total")).count() <= 130);
    assert!(value(&text, "lioprof_rpcs_total{target=\"unknown\"}").is_some(), "{text}");
    assert!(!text.contains("evil"));
}

#[test]
fn the_format_is_what_was_asked_for() {
    let exporter = Exporter::start();
    let open = get(exporter.address, "/metrics", "application/openmetrics-text; version=1.0.0");
    assert!(open.head.contains("application/openmetrics-text; version=1.0.0"), "{}", open.head);
    assert!(open.body.ends_with("# EOF\n") && open.body.contains("# TYPE lioprof_records counter"));
    let text = get(exporter.address, "/metrics", "text/plain");
    assert!(text.head.contains("text/plain; version=0.0.4"), "{}", text.head);
    assert!(!text.body.contains("# EOF") && text.body.contains("# TYPE lioprof_records_total counter"));
}

#[test]
fn health_follows_the_daemon() {
    let exporter = Exporter::start();
    assert_eq!(get(exporter.address, "/healthz", "*/*").status(), 503);
    exporter.metrics.health.good();
    let good = get(exporter.address, "/healthz", "*/*");
    assert_eq!((good.status(), good.body.as_str()), (200, "ok\n"));
    exporter.metrics.health.bad("the disk is full");
    let bad = get(exporter.address, "/healthz", "*/*");
    assert_eq!((bad.status(), bad.body.as_str()), (503, "the disk is full\n"));
}

#[test]
fn rubbish_and_silence_do_not_stop_it() {
    let exporter = Exporter::start();
    assert_eq!(get(exporter.address, "/secret", "*/*").status(), 404);
    let mut held: Vec<TcpStream> = Vec::new();
    for bytes in
        [&b"\0\0\0\0\r\n\r\n"[..], b"POST /metrics HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n", b"GE", b""]
    {
        let mut stream = TcpStream::connect(exporter.address).unwrap();
        stream.write_all(bytes).unwrap();
        if bytes.len() > 4 {
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            let mut reply = String::new();
            stream.read_to_string(&mut reply).unwrap();
            assert!(reply.starts_with("HTTP/1.1 40"), "{reply:?}");
        }
        held.push(stream);
    }
    assert_eq!(get(exporter.address, "/metrics", "*/*").status(), 200);
}

#[test]
fn a_port_that_is_taken_is_explained() {
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken: SocketAddr = holder.local_addr().unwrap();
    let err = MetricsServer::bind(taken).unwrap_err();
    assert!(matches!(err, MetricsError::Taken { .. }), "{err:?}");
    let text = err.to_string();
    assert!(text.contains(&taken.to_string()) && text.contains("`talk.metrics`") && text.contains("`off`"), "{text}");
    // An address of documentation, which no machine has (RFC 5737).
    let foreign = "192.0.2.1:9817".parse().unwrap();
    assert!(matches!(MetricsServer::bind(foreign).unwrap_err(), MetricsError::Bind { .. }));
}
