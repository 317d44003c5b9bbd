//! Runs of scenarios, and what the analysis finds in them.

use std::fs::File;
use std::io::{BufWriter, Write as _};

use lioprof_analysis::{Analysis, Config, analyze};
use lioprof_sim::scenario::{Options, Scenario};
use lioprof_sim::{SimRecord, Workload as _, text};

/// Size and seed of a run.
pub(crate) struct Run {
    /// How the table calls it.
    pub(crate) name: &'static str,
    /// Not looked at while thresholds were chosen.
    pub(crate) held_out: bool,
    pub(crate) options: fn(Options) -> Options,
}

/// All sizes and seeds.
pub(crate) static RUNS: &[Run] = &[
    Run { name: "usual", held_out: false, options: |usual| usual },
    Run { name: "seed 2", held_out: false, options: |usual| Options { seed: 2, ..usual } },
    Run {
        name: "8 clients, 2 servers",
        held_out: false,
        options: |usual| Options { seed: 3, clients: 8, servers: 2, osts: 6, ..usual },
    },
    Run { name: "twice as long", held_out: false, options: |usual| Options { seed: 4, size: 2, ..usual } },
    Run { name: "seed 1001", held_out: true, options: |usual| Options { seed: 1001, ..usual } },
    Run {
        name: "6 clients, 3 OSTs",
        held_out: true,
        options: |usual| Options { seed: 1002, clients: 6, osts: 3, ..usual },
    },
    Run {
        name: "12 clients, 8 OSTs, 2 servers, three times as long",
        held_out: true,
        options: |usual| Options { seed: 1003, clients: 12, osts: 8, servers: 2, size: 3, ..usual },
    },
];

/// What the usual run of every scenario is: load scenarios shorter than on the command line.
fn usual() -> Options {
    Options { duration_s: 6, rate: 200, ..Options::default() }
}

/// The analysis of a scenario's log.
pub(crate) fn analyzed(scenario: &Scenario, run: &Run) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rpc.txt");
    let mut out = BufWriter::new(File::create(&path).unwrap());
    let mut simulation = scenario.start(&(run.options)(usual()));
    let mut record = SimRecord::default();
    while simulation.next(&mut record) {
        text::write_record(&mut out, &record, false).unwrap();
    }
    out.flush().unwrap();
    let outcome = analyze(&[path], &Config::default(), None).unwrap();
    assert!(outcome.problems.is_empty(), "{}: {:?}", scenario.name, outcome.problems);
    outcome.analysis
}
