//! An executor is lost while it works.

use std::process::Stdio;

use crate::captures::export;
use crate::processes::{Cluster, answer, sql_command, text, wait_until};
use crate::rows;

/// Reads all rows and sends most of them from executor to executor.
const SQL: &str = "SELECT node, target, count(*) AS rpcs, sum(bytes) AS bytes, sum(service_us) AS service_us, \
                   count(DISTINCT xid) AS xids, count(DISTINCT seq) AS seqs \
                   FROM rpcs GROUP BY node, target ORDER BY node, target";

#[test]
fn a_lost_executor_costs_a_retry_and_not_the_answer() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("rows");
    export("masks", &dataset);
    rows::multiply(&dataset, 400);
    let expected = answer(&mut sql_command(&dataset, SQL));

    let mut cluster = Cluster::start(2);
    let mut query = cluster.query(&dataset, SQL).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // With the first of its files an executor has finished a task whose result is needed to the end of the query.
    wait_until("the first executor to have results", || {
        let ended = query.try_wait().unwrap();
        assert!(ended.is_none(), "the query ended before an executor could be killed: {ended:?}\n{}", cluster.logs());
        cluster.files_of(0) > 0
    });
    cluster.executors[0].kill();
    assert!(query.try_wait().unwrap().is_none(), "the query ended before the executor was killed");

    let output = query.wait_with_output().unwrap();
    assert_eq!(text(&output), expected, "{}", cluster.logs());
}
