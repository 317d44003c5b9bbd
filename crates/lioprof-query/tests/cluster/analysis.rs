//! The whole analysis, made by a cluster that loses an executor meanwhile.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::captures::export;
use crate::processes::{Cluster, answer, lioprof_query, text};

#[test]
fn an_analysis_survives_the_loss_of_an_executor() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("rows");
    export("masks", &dataset);
    let expected = answer(&mut command(&dataset));

    let mut cluster = Cluster::start(2);
    let mut analysis = command(&dataset);
    analysis.args(["--engine", &cluster.scheduler.address, "--partitions", "4"]);
    let running = analysis.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The scheduler takes it for alive, and gives it what it would have to do, until it notices.
    cluster.executors[0].kill();
    let found = text(&running.wait_with_output().unwrap());
    assert_eq!(found.len(), expected.len(), "{}", cluster.logs());
    assert!(found == expected, "{}", cluster.logs());
}

fn command(dataset: &Path) -> Command {
    let mut command = lioprof_query();
    command.arg("analyze").arg(dataset).args(["--format", "json"]);
    command
}
