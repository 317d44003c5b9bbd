//! Scenarios, analyzed.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use lioprof_analysis::{Analysis, Config, analyze};
use lioprof_insight::{Limits, find};
use lioprof_sim::scenario::{Options, Scenario};
use lioprof_sim::{SimRecord, Workload as _, text};

/// Load scenarios are shorter than on the command line.
pub(crate) fn usual() -> Options {
    Options { duration_s: 6, rate: 200, ..Options::default() }
}

/// The analysis of the logs of a scenario's servers, a log for each.
pub(crate) fn analyzed(scenario: &Scenario, options: &Options) -> Analysis {
    Logs::of(scenario, options).analyzed(&Config::default())
}

/// The logs of a scenario's servers.
pub(crate) struct Logs {
    pub(crate) scenario: &'static str,
    pub(crate) folder: tempfile::TempDir,
}

impl Logs {
    pub(crate) fn of(scenario: &Scenario, options: &Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // One more for the scenarios that have an MDS.
        for server in 0..=options.servers {
            let follow = Some(server);
            write_log(scenario, &Options { follow, ..*options }, &folder.path().join(format!("oss{server}")));
        }
        Self { scenario: scenario.name, folder }
    }

    pub(crate) fn analyzed(&self, config: &Config) -> Analysis {
        let outcome = analyze(&[self.folder.path().to_owned()], config, None).unwrap();
        assert!(outcome.problems.is_empty(), "{}: {:?}", self.scenario, outcome.problems);
        let mut analysis = outcome.analysis;
        find(&mut analysis, &Limits::default());
        analysis
    }
}

/// Writes the log of a server, if it says anything.
fn write_log(scenario: &Scenario, options: &Options, folder: &Path) {
    let mut simulation = scenario.start(options);
    let mut record = SimRecord::default();
    if !simulation.next(&mut record) {
        return;
    }
    fs::create_dir(folder).unwrap();
    let mut out = BufWriter::new(File::create(folder.join("rpc.txt")).unwrap());
    loop {
        text::write_record(&mut out, &record, false).unwrap();
        if !simulation.next(&mut record) {
            break;
        }
    }
    out.flush().unwrap();
}
