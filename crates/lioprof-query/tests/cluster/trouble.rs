//! What is said of a cluster that cannot answer.

use std::net::TcpListener;
use std::process::Command;

use crate::processes::{Cluster, sql_command};
use crate::rows;

fn message(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_cluster_that_cannot_answer_is_told_and_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    rows::export("dk_plain", dir.path());
    let sql = "SELECT count(*) FROM rpcs";

    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let said = message(sql_command(dir.path(), sql).args(["--engine", &format!("ballista://{nobody}")]));
    assert!(said.contains(&format!("no scheduler answers at ballista://{nobody}")), "{said}");

    let cluster = Cluster::start(0);
    let said = message(&mut cluster.query(dir.path(), sql));
    assert!(said.contains(&format!("the scheduler at {} has no executors", cluster.scheduler.address)), "{said}");
}
