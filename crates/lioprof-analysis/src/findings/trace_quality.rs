//! `trace-quality`: what the capture lost or cannot tell, and what to change in the next one.

use lioprof_model::{Analysis, Confidence, Finding, Severity};

use super::{Limit, Limits, Look, Rule};

pub(super) const RULE: Rule = Rule {
    id: "trace-quality",
    limits: &[Limit {
        name: "lost_share",
        default: 0.01,
        meaning: "share of RPCs lost from which figures are too low",
    }],
    look,
};

fn look(analysis: &Analysis, limits: &Limits) -> Look {
    let Some(lost) = analysis.loss.estimated_lost_fraction else {
        return Look::NotEnoughEvidence(analysis.loss.estimate.clone());
    };
    if lost < limits.get(&RULE, "lost_share") {
        return Look::Healthy;
    }
    Look::Found(vec![Finding {
        id: RULE.id.to_owned(),
        severity: Severity::Warning,
        confidence: Confidence::High,
        title: format!("{:.1} % of the RPCs are not in the capture", 100.0 * lost),
        explanation: format!(
            "Counts and bytes are too low by about this share. Estimated from: {}.",
            analysis.loss.estimate
        ),
        evidence: [("lost_share".to_owned(), lost)].into(),
        thresholds: limits.of(&RULE),
        remedies: vec![
            "Drain faster or trace less: `lioprof daemon` with a larger buffer, or profile light.".to_owned(),
        ],
        targets: Vec::new(),
        clients: Vec::new(),
        objects: Vec::new(),
        jobs: Vec::new(),
        nodes: Vec::new(),
        interval: None,
        cost_s: None,
        cost_of: None,
        plot: None,
        docs: "trace-quality".to_owned(),
    }])
}
