//! The cluster says what the embedded engine says.

use std::path::Path;
use std::process::Command;

use lioprof_query::{VIEWS, ready};

use crate::captures::export;
use crate::processes::{Cluster, answer, lioprof_query, sql_command};

/// Plans of every kind: scans, groups, joins, windows, subqueries, set operations, sorts with limits, tables that are not there.
const QUERIES: &[&str] = &[
    "SELECT 1 AS one, 'text' AS text",
    "SELECT node, target, nid FROM rpcs WHERE false",
    "SELECT count(*) AS rpcs, sum(bytes) AS bytes, min(end_us), max(end_us) FROM rpcs",
    "SELECT node, target, nid, opcode_name, count(*) AS n, sum(bytes) AS bytes FROM rpcs GROUP BY node, target, nid, opcode_name",
    "SELECT count(DISTINCT nid) AS clients, count(DISTINCT job) AS jobs FROM rpcs",
    "SELECT node, seq, nid, xid, service_us FROM rpcs ORDER BY service_us DESC, node, seq LIMIT 20",
    "SELECT node, event, granted_mode, count(*) AS n FROM lock_events GROUP BY node, event, granted_mode",
    "SELECT node, count(*) AS n FROM rpcs WHERE node = (SELECT min(node) FROM rpcs) GROUP BY node",
    "SELECT a.nid, a.n, b.n AS locks FROM (SELECT nid, count(*) AS n FROM rpcs GROUP BY nid) a \
     LEFT JOIN (SELECT nid, count(*) AS n FROM lock_events GROUP BY nid) b ON a.nid = b.nid",
    "SELECT * FROM (SELECT node, nid, seq, row_number() OVER (PARTITION BY nid ORDER BY node, seq) AS nth FROM rpcs) \
     WHERE nth <= 2",
    "SELECT nid FROM rpcs UNION SELECT nid FROM lock_events ORDER BY nid",
    "SELECT count(*) AS n FROM counters",
];

#[test]
fn the_cluster_answers_as_the_embedded_engine_does() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("rows");
    export("lock_pingpong_dlm", &dataset);
    let cluster = Cluster::start(2);
    let views = VIEWS.iter().map(|view| format!("SELECT * FROM {}", view.name));
    for sql in QUERIES.iter().map(|sql| (*sql).to_owned()).chain(views) {
        let expected = answer(&mut sql_command(&dataset, &sql));
        let output = cluster.query(&dataset, &sql).output().unwrap();
        let (said, rows) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
        assert_eq!(sorted(&rows), sorted(&expected), "{sql}\n{said}\n{}", cluster.logs());
    }
    for query in ready::all() {
        let expected = answer(&mut ready_command(&dataset, &query.name));
        let found = answer(ready_command(&dataset, &query.name).args(["--engine", &cluster.scheduler.address]));
        assert_eq!(found, expected, "{}\n{}", query.name, cluster.logs());
    }
}

/// Lines in an order of their own: most of these queries ask for none.
fn sorted(rows: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = rows.lines().collect();
    lines.sort_unstable();
    lines
}

fn ready_command(dataset: &Path, name: &str) -> Command {
    let mut command = lioprof_query();
    command.args(["ready", name]).arg(dataset).args(["--format", "csv"]);
    command
}
