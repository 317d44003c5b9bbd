//! Runs of scenarios, and what the analysis finds in them.

use lioprof_analysis::Analysis;
use lioprof_model::{Finding, Severity, SpentState, VerdictState};
use lioprof_sim::scenario::{Options, Scenario};

use crate::analyzed::{analyzed, usual};

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
    /// What the first finding says and names.
    pub(crate) names: String,
    /// Kinds above `info`.
    pub(crate) above: Vec<String>,
    pub(crate) osts: usize,
}

/// What the findings say of a scenario.
pub(crate) fn seen(scenario: &'static Scenario, run: &'static Run) -> Seen {
    let options = (run.options)(usual());
    let analysis = analyzed(scenario, &options);
    analysis.findings.iter().for_each(check);
    agrees(scenario.name, &analysis);
    let above = analysis.findings.iter().filter(|finding| finding.severity > Severity::Info);
    let mut above: Vec<String> = above.map(|finding| finding.id.clone()).collect();
    above.dedup();
    let names = analysis.findings.first().map(names).unwrap_or_default();
    let first = analysis.findings.into_iter().next().map(|finding| finding.id);
    Seen { scenario: scenario.name, run, first, names, above, osts: options.osts }
}

/// A verdict that nothing is wrong agrees with the figures beside it.
fn agrees(scenario: &str, analysis: &Analysis) {
    let healthy = analysis.verdict.state == VerdictState::NoProblem;
    for failure in analysis.failures.iter().filter(|failure| failure.everyday.is_none()) {
        let of_kind = analysis.operations.iter().filter(|operation| operation.opcode == failure.opcode);
        let is_seldom = 100 * failure.rpcs <= of_kind.map(|operation| operation.rpcs).sum();
        assert!(!healthy || is_seldom, "{scenario}: nothing is wrong, and {failure:?}");
    }
    for spent in analysis.time_account.all.iter().flat_map(|all| all.spent.iter().filter(|it| 5 * it.us > all.span_us))
    {
        let as_it_should_be = spent.state == Some(SpentState::AsItShouldBe);
        assert!(
            as_it_should_be || spent.state.is_some() && !healthy,
            "{scenario}: {:?}, and {spent:?}",
            analysis.verdict
        );
    }
}

/// What a finding says and names.
pub(crate) fn names(finding: &Finding) -> String {
    let Finding { title, clients, targets, jobs, nodes, .. } = finding;
    let lists = [clients, targets, jobs, nodes].into_iter().flatten();
    lists.fold(title.clone(), |all, name| format!("{all}\n{name}"))
}

/// Every finding says what a reader needs.
fn check(finding: &Finding) {
    let id = &finding.id;
    assert!(!finding.title.is_empty() && !finding.title.ends_with('.'), "{id}: {}", finding.title);
    assert!(!finding.explanation.is_empty() && !finding.remedies.is_empty(), "{id} does not explain itself");
    assert!(!finding.evidence.is_empty(), "{id} has no evidence");
    assert_eq!(finding.cost_s.is_some(), finding.cost_of.is_some(), "{id}");
}
