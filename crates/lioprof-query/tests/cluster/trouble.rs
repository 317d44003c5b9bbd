//! What is said of a cluster that cannot answer.

use std::net::TcpListener;
use std::process::{Command, Stdio};

use crate::captures::export;
use crate::processes::{Cluster, answer, sql_command, wait_until};
use crate::rows;

fn message(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_cluster_that_cannot_answer_is_told_and_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    export("dk_plain", dir.path());
    let sql = "SELECT count(*) FROM rpcs";

    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let said = message(sql_command(dir.path(), sql).args(["--engine", &format!("ballista://{nobody}")]));
    assert!(said.contains(&format!("no scheduler answers at ballista://{nobody}")), "{said}");

    let cluster = Cluster::start(0);
    let said = message(&mut cluster.query(dir.path(), sql));
    assert!(said.contains(&format!("the scheduler at {} has no executors", cluster.scheduler.address)), "{said}");
}

#[test]
fn an_executor_that_is_told_to_stop_says_goodbye() {
    let dir = tempfile::tempdir().unwrap();
    export("dk_plain", dir.path());
    let mut cluster = Cluster::start(2);
    let code = cluster.executors[0].stop();
    assert_eq!(code, Some(0), "{}", cluster.logs());
    assert!(!cluster.executors[0].log().contains("could not be told"), "{}", cluster.logs());
    wait_until("the scheduler to know", || cluster.has_executors(1));
    let sql = "SELECT count(*) FROM rpcs";
    assert_eq!(answer(&mut cluster.query(dir.path(), sql)), answer(&mut sql_command(dir.path(), sql)));
}

#[test]
fn a_query_ends_with_its_scheduler() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("rows");
    export("masks", &dataset);
    rows::multiply(&dataset, 400);
    let mut cluster = Cluster::start(1);
    let mut query = cluster.query(&dataset, "SELECT count(DISTINCT xid) FROM rpcs");
    let mut running = query.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the query to run", || {
        assert!(running.try_wait().unwrap().is_none(), "it ended too early\n{}", cluster.logs());
        cluster.files_of(0) > 0
    });
    cluster.scheduler.kill();
    let output = running.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(&cluster.scheduler.address), "{said}");
}

#[test]
fn an_executor_that_does_not_see_the_rows_names_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("rows");
    export("dk_plain", &dataset);
    // A mount of its own hides the dataset from this process, as on a host that has not mounted it.
    let blind = || {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", "mount -t tmpfs none \"$0\" && exec \"$@\""]).arg(&dataset);
        command.arg(env!("CARGO_BIN_EXE_lioprof-query"));
        command
    };
    let cluster = Cluster::start_with(1, blind);
    let said = message(&mut cluster.query(&dataset, "SELECT sum(bytes) FROM rpcs"));
    assert!(said.contains(".parquet") && said.contains(dataset.to_str().unwrap()), "{said}\n{}", cluster.logs());
}
