//! The two text formats.

/// Whether an `Accept` header asks for OpenMetrics. Prometheus does; older scrapers and people with `curl` do not.
pub(super) fn wants_open_metrics(accept: &str) -> bool {
    accept.split(',').any(|kind| kind.trim_start().starts_with("application/openmetrics-text"))
}

/// OpenMetrics text as the older Prometheus text format 0.0.4: there the name of a counter includes `_total`, that of an
/// info metric `_info` (a gauge), and units and the end mark do not exist.
pub(super) fn to_prometheus_text(open_metrics: &str) -> String {
    let mut out = String::with_capacity(open_metrics.len() + 1024);
    // `# HELP` comes before `# TYPE`, which tells how the name goes on.
    let mut help: Option<(&str, &str)> = None;
    for line in open_metrics.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            help = rest.split_once(' ');
        } else if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' ')) {
            let (suffix, kind) = match kind {
                "counter" => ("_total", kind),
                "info" => ("_info", "gauge"),
                _ => ("", kind),
            };
            if let Some((_, text)) = help.take() {
                out.push_str(&format!("# HELP {name}{suffix} {text}\n"));
            }
            out.push_str(&format!("# TYPE {name}{suffix} {kind}\n"));
        } else if !line.starts_with('#') {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_and_infos_get_their_suffix() {
        let open = "\
# HELP lioprof_io_bytes Bytes.
# TYPE lioprof_io_bytes counter
# UNIT lioprof_io_bytes bytes
lioprof_io_bytes_total{target=\"a\"} 7
# HELP lioprof_build Version.
# TYPE lioprof_build info
lioprof_build_info{version=\"1\"} 1
# HELP lioprof_lag_seconds Lag.
# TYPE lioprof_lag_seconds gauge
lioprof_lag_seconds 0.5
# EOF
";
        let text = "\
# HELP lioprof_io_bytes_total Bytes.
# TYPE lioprof_io_bytes_total counter
lioprof_io_bytes_total{target=\"a\"} 7
# HELP lioprof_build_info Version.
# TYPE lioprof_build_info gauge
lioprof_build_info{version=\"1\"} 1
# HELP lioprof_lag_seconds Lag.
# TYPE lioprof_lag_seconds gauge
lioprof_lag_seconds 0.5
";
        assert_eq!(to_prometheus_text(open), text);
    }

    #[test]
    fn accept_of_prometheus_and_curl() {
        assert!(wants_open_metrics("application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4"));
        assert!(wants_open_metrics("text/plain, application/openmetrics-text"));
        assert!(!wants_open_metrics("*/*"));
        assert!(!wants_open_metrics(""));
    }
}
