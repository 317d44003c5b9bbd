//! What is wrong, by rules over an [`Analysis`]: one module per kind, nothing but the analysis goes in.
//!
//! A rule that needs to know more than the analysis says makes the analysis say more: then a saved
//! `analysis.json`, the rows of many servers and a live log all give the same findings.

mod alike;
mod below_available;
mod bottleneck;
mod case;
mod client_bound;
mod disk_bound;
mod faults;
mod flagged;
mod gapped_rpcs;
mod hot_ost;
mod limits;
mod load;
mod load_imbalance;
mod lock_ping_pong;
mod many_writers;
mod metadata_bound;
mod queue_bound;
mod rank;
mod read_fan_out;
mod read_order;
mod single_writer;
mod slow_tail;
mod sluggish_ost;
mod small_between_large;
mod small_rpcs;
mod stats;
mod storms;
mod trace_quality;
mod unaligned_rpcs;
mod unfair_sharing;

use lioprof_model::{Analysis, Check, CheckResult, Finding};

use case::{Case, Shared};

pub use limits::{Limit, LimitError, Limits};

/// A kind of finding.
pub struct Rule {
    /// Its id, as in `findings[].id`.
    pub id: &'static str,
    /// What it means, in one sentence without a full stop.
    pub meaning: &'static str,
    /// What it holds figures against.
    pub limits: &'static [Limit],
    /// The plots that show it, by name, best first.
    pub plots: &'static [&'static str],
    look: fn(&Case<'_>) -> Look,
}

/// What a rule saw.
enum Look {
    /// Nothing wrong.
    Healthy,
    /// It cannot be said, because of this: a sentence without a full stop.
    NotEnoughEvidence(String),
    /// Findings, worst first.
    Found(Vec<Finding>),
}

impl Look {
    /// What was found, if anything was.
    fn of(found: Vec<Finding>) -> Self {
        if found.is_empty() { Self::Healthy } else { Self::Found(found) }
    }
}

/// Every kind, causes before what they bring about; a new one is a module and a line here.
static RULES: &[Rule] = &[
    trace_quality::RULE,
    faults::EVICTIONS,
    lock_ping_pong::RULE,
    sluggish_ost::RULE,
    hot_ost::RULE,
    single_writer::RULE,
    unfair_sharing::RULE,
    load_imbalance::RULE,
    many_writers::RULE,
    read_fan_out::RULE,
    small_between_large::RULE,
    gapped_rpcs::RULE,
    unaligned_rpcs::RULE,
    read_order::STRIDED,
    read_order::BACKWARD,
    small_rpcs::RULE,
    queue_bound::RULE,
    slow_tail::RULE,
    faults::RESENDS,
    storms::PING,
    storms::STATFS,
    metadata_bound::RULE,
    below_available::RULE,
    disk_bound::RULE,
    client_bound::RULE,
];

/// Every kind of finding.
#[must_use]
pub fn rules() -> &'static [Rule] {
    RULES
}

/// Looks for everything and writes findings, worst first, and checks into the analysis.
pub fn find(analysis: &mut Analysis, limits: &Limits) {
    let (mut findings, checks) = look_for_all(analysis, limits);
    rank::rank(&mut findings, analysis);
    analysis.findings = findings;
    analysis.checks = checks;
}

fn look_for_all(analysis: &Analysis, limits: &Limits) -> (Vec<Finding>, Vec<Check>) {
    let shared = Shared::default();
    let mut findings: Vec<Finding> = Vec::new();
    let mut checks = Vec::new();
    for rule in RULES {
        let (result, reason) = match (rule.look)(&Case { analysis, rule, limits, shared: &shared }) {
            Look::Healthy => (CheckResult::Healthy, None),
            Look::NotEnoughEvidence(reason) => (CheckResult::NotEnoughEvidence, Some(reason)),
            Look::Found(found) => {
                findings.extend(found);
                (CheckResult::Found, None)
            }
        };
        checks.push(Check { id: rule.id.to_owned(), result, reason });
    }
    (findings, checks)
}
