//! What is wrong, by rules over an [`Analysis`]: one module per kind, nothing but the analysis goes in.
//!
//! A rule that needs to know more than the analysis says makes the analysis say more: then a saved
//! `analysis.json`, the rows of many servers and a live log all give the same findings.

mod limits;
mod trace_quality;

use lioprof_model::{Analysis, Check, CheckResult, Finding};

pub use limits::{Limit, Limits, UnknownLimit};

/// A kind of finding.
pub(crate) struct Rule {
    /// Its id.
    pub(crate) id: &'static str,
    /// What it holds figures against.
    pub(crate) limits: &'static [Limit],
    /// Looks for it.
    pub(crate) look: fn(&Analysis, &Limits) -> Look,
}

/// What a rule saw.
pub(crate) enum Look {
    /// Nothing wrong.
    Healthy,
    /// It cannot be said, because of this.
    NotEnoughEvidence(String),
    /// Findings, worst first.
    Found(Vec<Finding>),
}

/// Every kind; a new one is a module and a line here.
const RULES: &[Rule] = &[trace_quality::RULE];

/// Looks for everything and writes findings, worst first, and checks into the analysis.
pub fn find(analysis: &mut Analysis, limits: &Limits) {
    let mut findings: Vec<Finding> = Vec::new();
    let mut checks = Vec::new();
    for rule in RULES {
        let (result, reason) = match (rule.look)(analysis, limits) {
            Look::Healthy => (CheckResult::Healthy, None),
            Look::NotEnoughEvidence(reason) => (CheckResult::NotEnoughEvidence, Some(reason)),
            Look::Found(found) => {
                findings.extend(found);
                (CheckResult::Found, None)
            }
        };
        checks.push(Check { id: rule.id.to_owned(), result, reason });
    }
    // Stable: within a severity the order of the rules counts, then each rule's own.
    findings.sort_by_key(|finding| std::cmp::Reverse((finding.severity, finding.confidence)));
    analysis.findings = findings;
    analysis.checks = checks;
}

/// All limits with their defaults and meanings, by rule.
pub fn all_limits() -> impl Iterator<Item = (&'static str, &'static Limit)> {
    RULES.iter().flat_map(|rule| rule.limits.iter().map(|limit| (rule.id, limit)))
}
