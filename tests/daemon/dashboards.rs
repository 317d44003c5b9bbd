//! Dashboards and rules against a real Prometheus that scrapes two daemons under load. Needs `prometheus`: run with `scripts/check-metrics`.

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;

use lioprof_testkit::files::repository;
use lioprof_testkit::prometheus::Prometheus;
use lioprof_testkit::until;
use serde_json::Value;

use super::node::Node;
use super::process::{Daemon, free_port};
use crate::figures::number;

/// Metrics of what need not be: a server that is well has no findings.
const MAY_BE_ABSENT: &str = "lioprof_finding";

struct Server {
    node: Node,
    daemon: Daemon,
    address: SocketAddr,
}

impl Server {
    fn start(osts: &str, rate: &str) -> Self {
        let node = Node::in_scenario("busy", &["--osts", osts, "--rate", rate, "--duration", "8"]);
        let address = free_port();
        let daemon = node.daemon(&[("talk.metrics", &format!("\"{address}\""))]);
        Self { node, daemon, address }
    }

    /// Its status once all that was logged is decoded.
    fn settled(&self) -> Value {
        self.node.wait_played();
        self.node.wait_written();
        let written = self.node.account()["total"]["written"]["records"].as_u64();
        self.daemon.wait("all records to be decoded", |status| number(&status["totals"], "records") == written)
    }
}

/// The series that a query gives: labels and value.
fn series(prometheus: &Prometheus, query: &str) -> Vec<(Value, f64)> {
    let answer = prometheus.query(query).unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|err| panic!("{query}: {err}: {answer}"));
    assert_eq!(answer["status"], "success", "{query}: {answer}");
    let of = |one: &Value| (one["metric"].clone(), one["value"][1].as_str().unwrap().parse().unwrap());
    answer["data"]["result"].as_array().unwrap().iter().map(of).collect()
}

/// Values of a label over series.
fn labels(series: &[(Value, f64)], name: &str) -> BTreeSet<String> {
    series.iter().filter_map(|(labels, _)| labels[name].as_str()).map(str::to_owned).collect()
}

/// The names in `{{name}}` of a legend.
fn names_in(legend: &str) -> Vec<&str> {
    legend.split("{{").skip(1).filter_map(|rest| rest.split_once("}}")).map(|(name, _)| name.trim()).collect()
}

fn targets(status: &Value) -> BTreeSet<String> {
    status["targets"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

fn dashboard(name: &str) -> Value {
    let path = repository("packaging/grafana").join(name);
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Every query of a dashboard, as Grafana would ask it, gives series whose labels are those that its legend shows.
fn assert_answers(
    prometheus: &Prometheus,
    dashboard: &Value,
    variables: &[(&str, &str)],
    osts: &BTreeSet<String>,
) -> usize {
    let filled = |query: &str| {
        let all = variables.iter().chain(&[("__rate_interval", "1m"), ("target", ".*")]);
        all.fold(query.to_owned(), |query, (name, value)| query.replace(&format!("${name}"), value))
    };
    let mut asked = 0;
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().into_iter().flatten() {
            let query = filled(target["expr"].as_str().unwrap());
            let found = series(prometheus, &query);
            asked += 1;
            if query.contains(MAY_BE_ABSENT) {
                continue;
            }
            let title = &panel["title"];
            assert!(!found.is_empty(), "{title}: nothing for {query}");
            for (labels, value) in &found {
                assert!(value.is_finite() && *value >= 0.0, "{title}: {value} for {query}");
                for name in names_in(target["legendFormat"].as_str().unwrap()) {
                    assert!(labels[name].is_string(), "{title}: no label {name} in {labels} for {query}");
                }
            }
            let shown = labels(&found, "target");
            assert!(shown.is_empty() || shown.is_superset(osts), "{title}: {shown:?}, expected {osts:?}, for {query}");
        }
    }
    for annotation in dashboard["annotations"]["list"].as_array().unwrap() {
        series(prometheus, &filled(annotation["expr"].as_str().unwrap()));
    }
    asked
}

/// Values of a variable, as Grafana asks for them.
fn values(prometheus: &Prometheus, dashboard: &Value, name: &str) -> BTreeSet<String> {
    let all = dashboard["templating"]["list"].as_array().unwrap();
    let variable = all.iter().find(|variable| variable["name"] == name).unwrap();
    let query = variable["definition"].as_str().unwrap();
    let inner = query.strip_prefix("label_values(").and_then(|rest| rest.strip_suffix(')')).unwrap();
    let (selector, label) = inner.rsplit_once(", ").unwrap();
    labels(&series(prometheus, &format!("group by ({label}) ({selector})")), label)
}

/// Selectors in a query: names of metrics, with their label matchers.
fn selectors(query: &str) -> Vec<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_:".contains(c);
    let mut found = Vec::new();
    let mut rest = query;
    while let Some(start) = rest.find(is_name) {
        let name_end = rest[start..].find(|c| !is_name(c)).map_or(rest.len(), |length| start + length);
        let name = &rest[start..name_end];
        let mut end = name_end;
        if name.contains("lioprof_") || name == "up" {
            if rest[name_end..].starts_with('{') {
                end += rest[name_end..].find('}').unwrap() + 1;
            }
            found.push(rest[start..end].to_owned());
        }
        rest = &rest[end..];
    }
    found
}

#[test]
#[ignore = "needs prometheus: scripts/check-metrics"]
fn a_real_prometheus_answers_every_query() {
    let servers = [Server::start("4", "300"), Server::start("2", "200")];
    let dir = tempfile::tempdir().unwrap();
    let rules = repository("packaging/prometheus/lioprof.rules.yml");
    let prometheus = Prometheus::start(dir.path(), &servers.each_ref().map(|server| server.address), Some(&rules));
    let statuses = servers.each_ref().map(Server::settled);

    // The sums are those of the daemons' own status.
    let sum = |query: &str| series(&prometheus, query).first().map(|(_, sum)| *sum);
    for (server, status) in servers.iter().zip(&statuses) {
        let instance = server.address;
        for (figure, query) in [
            ("records", format!("lioprof_records_total{{instance=\"{instance}\"}}")),
            ("rpcs", format!("sum(lioprof_rpcs_total{{instance=\"{instance}\"}})")),
            ("read_bytes", format!("sum(lioprof_io_bytes_total{{instance=\"{instance}\", direction=\"read\"}})")),
            ("write_bytes", format!("sum(lioprof_io_bytes_total{{instance=\"{instance}\", direction=\"write\"}})")),
        ] {
            let expected = status["totals"][figure].as_f64().unwrap();
            assert!(expected > 0.0, "{figure}: {status}");
            until(&format!("{query} to be {expected}"), || sum(&query).filter(|sum| (sum - expected).abs() < 0.5));
        }
    }

    // The file system: both servers' targets, and one that both have, as while it moves from one to the other.
    let board = dashboard("lioprof-file-system.json");
    assert!(values(&prometheus, &board, "fs").is_superset(&targets(&statuses[0])));
    let asked = assert_answers(&prometheus, &board, &[("fs", "lustre")], &targets(&statuses[0]));
    assert!(asked > 15, "{asked} queries");
    let board = dashboard("lioprof-server.json");
    assert_eq!(
        values(&prometheus, &board, "instance"),
        servers.iter().map(|server| server.address.to_string()).collect()
    );
    for (server, status) in servers.iter().zip(&statuses) {
        let instance = server.address.to_string();
        let asked = assert_answers(&prometheus, &board, &[("instance", &instance)], &targets(status));
        assert!(asked > 25, "{asked} queries");
    }

    // The rules: Prometheus takes and evaluates them, what they ask for is there, and nothing cries wolf.
    let evaluated = |rules: &Value| {
        let groups = rules["data"]["groups"].as_array()?;
        let all: Vec<Value> = groups.iter().filter_map(|group| group["rules"].as_array()).flatten().cloned().collect();
        let done = !all.is_empty() && all.iter().all(|rule| rule["health"] != "unknown");
        done.then_some(all)
    };
    let all = until("all rules to be evaluated", || evaluated(&serde_json::from_str(&prometheus.api("rules")?).ok()?));
    for rule in &all {
        assert_eq!(rule["health"], "ok", "{rule}");
        if rule["type"] == "recording" {
            until(&format!("{} to be recorded", rule["name"]), || {
                (!series(&prometheus, rule["name"].as_str()?).is_empty()).then_some(())
            });
        }
        let query = rule["query"].as_str().unwrap();
        let asked = selectors(query);
        assert!(!asked.is_empty(), "no metric in {query}");
        for selector in asked.iter().filter(|selector| !selector.contains(MAY_BE_ABSENT)) {
            assert!(!series(&prometheus, selector).is_empty(), "{}: no {selector}", rule["name"]);
        }
    }
    let firing = series(&prometheus, "ALERTS{alertstate=\"firing\"}");
    assert!(firing.is_empty(), "{firing:?}");
    let written: f64 =
        series(&prometheus, "fs_direction:lioprof_io_bytes:rate5m{fs=\"lustre\", direction=\"write\"}")[0].1;
    assert!(written > 0.0, "{written}");

    for server in servers {
        server.daemon.stop().exits(0);
    }
}
