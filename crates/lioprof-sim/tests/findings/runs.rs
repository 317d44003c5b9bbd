//! Runs of scenarios, and what the analysis finds in them.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use lioprof_analysis::{Analysis, Config, analyze};
use lioprof_model::{Finding, Severity};
use lioprof_sim::scenario::{Options, Scenario};
use lioprof_sim::{SimRecord, Workload as _, text};

/// Size and seed of a run.
pub(crate) struct Run {
    /// How a message calls it.
    pub(crate) name: &'static str,
    /// Never looked at while thresholds were chosen.
    pub(crate) held_out: bool,
    options: fn(Options) -> Options,
}

/// All sizes and seeds.
pub(crate) static RUNS: &[Run] = &[
    Run { name: "4 clients, 4 OSTs", held_out: false, options: |usual| usual },
    Run {
        name: "3 clients, 5 OSTs",
        held_out: false,
        options: |usual| Options { seed: 2, clients: 3, osts: 5, ..usual },
    },
    Run {
        name: "8 clients, 6 OSTs on 2 servers",
        held_out: false,
        options: |usual| Options { seed: 3, clients: 8, osts: 6, servers: 2, ..usual },
    },
    Run { name: "twice as long", held_out: false, options: |usual| Options { seed: 4, size: 2, ..usual } },
    Run { name: "another seed", held_out: true, options: |usual| Options { seed: 1001, ..usual } },
    Run {
        name: "6 clients, 3 OSTs",
        held_out: true,
        options: |usual| Options { seed: 2002, clients: 6, osts: 3, ..usual },
    },
    Run {
        name: "10 clients, 8 OSTs on 2 servers, twice as long",
        held_out: true,
        options: |usual| Options { seed: 1003, clients: 10, osts: 8, servers: 2, size: 2, ..usual },
    },
];

/// What was found in a run.
pub(crate) struct Seen {
    pub(crate) scenario: &'static str,
    pub(crate) run: &'static Run,
    /// Kind of the first finding.
    pub(crate) first: Option<String>,
    /// Kinds above `info`.
    pub(crate) above: Vec<String>,
}

/// What the findings say of a scenario.
pub(crate) fn seen(scenario: &'static Scenario, run: &'static Run) -> Seen {
    let analysis = analyzed(scenario, run);
    analysis.findings.iter().for_each(check);
    let above = analysis.findings.iter().filter(|finding| finding.severity > Severity::Info);
    let mut above: Vec<String> = above.map(|finding| finding.id.clone()).collect();
    above.dedup();
    let first = analysis.findings.into_iter().next().map(|finding| finding.id);
    Seen { scenario: scenario.name, run, first, above }
}

/// Every finding says what a reader needs.
fn check(finding: &Finding) {
    let id = &finding.id;
    assert!(!finding.title.is_empty() && !finding.title.ends_with('.'), "{id}: {}", finding.title);
    assert!(!finding.explanation.is_empty() && !finding.remedies.is_empty(), "{id} does not explain itself");
    assert!(!finding.evidence.is_empty(), "{id} has no evidence");
    assert_eq!(finding.cost_s.is_some(), finding.cost_of.is_some(), "{id}");
}

/// The analysis of the logs of a scenario's servers, a log for each.
fn analyzed(scenario: &Scenario, run: &Run) -> Analysis {
    // Load scenarios are shorter than on the command line.
    let usual = Options { duration_s: 6, rate: 200, ..Options::default() };
    let options = (run.options)(usual);
    let folder = tempfile::tempdir().unwrap();
    // One more for the scenarios that have an MDS.
    for server in 0..=options.servers {
        let follow = Some(server);
        write_log(scenario, &Options { follow, ..options }, &folder.path().join(format!("oss{server}")));
    }
    let outcome = analyze(&[folder.path().to_owned()], &Config::default(), None).unwrap();
    assert!(outcome.problems.is_empty(), "{}: {:?}", scenario.name, outcome.problems);
    outcome.analysis
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
