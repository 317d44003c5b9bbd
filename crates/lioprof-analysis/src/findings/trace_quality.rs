//! `trace-quality`: what the capture lost or cannot tell, and what to change in the next one.

use lioprof_model::{Confidence, Severity};

use super::case::Case;
use super::{Limit, Look, Rule};

pub(super) const RULE: Rule = Rule {
    id: "trace-quality",
    meaning: "the capture has lost records, so its figures are too low",
    limits: &[Limit {
        name: "lost_share",
        default: 0.01,
        meaning: "share of RPCs lost from which figures are too low",
    }],
    plots: &[],
    look,
};

fn look(case: &Case<'_>) -> Look {
    let loss = &case.analysis.loss;
    let Some(lost) = loss.estimated_lost_fraction else {
        return Look::NotEnoughEvidence(loss.estimate.clone());
    };
    if lost < case.limit("lost_share") {
        return Look::Healthy;
    }
    let title = format!("{:.1} % of the RPCs are not in the capture", 100.0 * lost);
    let finding = case
        .finding(Severity::Warning, Confidence::High, title)
        .explain(format!("Counts and bytes are too low by about this share. Estimated from: {}.", loss.estimate))
        .evidence("lost_share", lost)
        .remedy("Drain faster or trace less: `lioprof daemon` with a larger buffer, or profile light.")
        .done();
    Look::Found(vec![finding])
}
