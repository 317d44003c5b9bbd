//! What is said of the beginning of a pathology, down to a few requests.

use lioprof_analysis::{Analysis, Bound, Config};
use lioprof_model::VerdictState;
use lioprof_model::units::whole;
use lioprof_sim::scenario::Scenario;

use crate::analyzed::{Logs, usual};
use crate::expected;

/// The first of so many parts of the requests.
const PARTS: [usize; 3] = [4, 16, 64];

/// What happens late or seldom: the first requests of these show nothing, because nothing is wrong yet, or nobody waits.
const BEGINS_WELL: [&str; 4] = ["imbalance", "heavy-tail", "single-writer", "evictions"];

/// When so many of the clients' requests were over.
fn end_of(analysis: &Analysis, part: usize) -> f64 {
    let mut ends: Vec<f64> = analysis.sample.rpcs.iter().map(|rpc| rpc.end).collect();
    ends.sort_by(f64::total_cmp);
    match ends.get(ends.len() / part) {
        Some(end) => *end,
        None => analysis.window.start + analysis.window.duration_s / part as f64,
    }
}

/// Seconds as microseconds.
fn whole_us(seconds: f64) -> i64 {
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
            let to = Some(Bound::Time(whole_us(end_of(&entire, part))));
            let analysis = logs.analyzed(&Config { to, ..Config::default() });
            if analysis.verdict.state == VerdictState::NoProblem {
                let rpcs = analysis.totals.read.rpcs + analysis.totals.write.rpcs;
                wrong.push(format!("{}, the first 1/{part}: {rpcs} reads and writes", scenario.name));
            }
        }
    }
    wrong
}
