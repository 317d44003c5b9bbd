//! What is said of the beginning of a pathology, down to a few requests.

use std::fs;

use lioprof_analysis::{Analysis, Config};
use lioprof_model::VerdictState;
use lioprof_model::units::whole;
use lioprof_sim::scenario::Scenario;

use crate::analyzed::{Logs, usual};
use crate::expected;

/// The first of so many parts of the requests.
pub(crate) const PARTS: [usize; 3] = [4, 16, 64];

/// What happens late or seldom: the first requests of these show nothing, because nothing is wrong yet, or nobody waits.
const BEGINS_WELL: [&str; 4] = ["imbalance", "heavy-tail", "single-writer", "evictions"];

/// When so many of the clients' requests were over.
pub(crate) fn end_of(analysis: &Analysis, part: usize) -> f64 {
    let mut ends: Vec<f64> = analysis.sample.rpcs.iter().map(|rpc| rpc.end).collect();
    ends.sort_by(f64::total_cmp);
    match ends.get(ends.len() / part) {
        Some(end) => *end,
        None => analysis.window.start + analysis.window.duration_s / part as f64,
    }
}

impl Logs {
    /// The same logs as they were at a time, microseconds since the epoch.
    pub(crate) fn cut(&self, time_us: i64) -> Self {
        let cut = Self { scenario: self.scenario, folder: tempfile::tempdir().unwrap() };
        for server in fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap()) {
            let text = fs::read_to_string(server.path().join("rpc.txt")).unwrap();
            let is_before = |line: &&str| {
                let (sec, usec) = line.split(':').nth(3).and_then(|time| time.split_once('.')).unwrap();
                sec.parse::<i64>().unwrap() * 1_000_000 + usec.parse::<i64>().unwrap() <= time_us
            };
            let kept: String = text.split_inclusive('\n').take_while(is_before).collect();
            if !kept.is_empty() {
                let folder = cut.folder.path().join(server.file_name());
                fs::create_dir(&folder).unwrap();
                fs::write(folder.join("rpc.txt"), kept).unwrap();
            }
        }
        cut
    }
}

/// Seconds as microseconds.
pub(crate) fn whole_us(seconds: f64) -> i64 {
    i64::try_from(whole(seconds * 1e6)).expect("a time of this century")
}

/// Pathologies of which the beginning is called healthy.
pub(crate) fn called_healthy() -> Vec<String> {
    let mut wrong = Vec::new();
    let begins_ill = |name| expected::is_pathology(name) && !BEGINS_WELL.contains(&name);
    for scenario in Scenario::all().iter().filter(|scenario| begins_ill(scenario.name)) {
        let logs = Logs::of(scenario, &usual());
        let entire = logs.analyzed(&Config::default());
        for part in PARTS {
            let analysis = logs.cut(whole_us(end_of(&entire, part))).analyzed(&Config::default());
            if analysis.verdict.state == VerdictState::NoProblem {
                let rpcs = analysis.totals.read.rpcs + analysis.totals.write.rpcs;
                wrong.push(format!("{}, the first 1/{part}: {rpcs} reads and writes", scenario.name));
            }
        }
    }
    wrong
}
