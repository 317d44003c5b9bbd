//! Findings as cards: names as numbers, times since the start.

use std::collections::BTreeMap;

use lioprof_model::{Analysis, Confidence, Finding, Severity};
use serde::Serialize;

use super::limits::MAX_FINDINGS;
use super::names::Names;

/// A finding.
#[derive(Debug, Serialize)]
pub(crate) struct Card<'a> {
    id: &'a str,
    severity: Severity,
    confidence: Confidence,
    title: &'a str,
    explanation: &'a str,
    evidence: &'a BTreeMap<String, f64>,
    thresholds: &'a BTreeMap<String, f64>,
    remedies: &'a [String],
    targets: Vec<u32>,
    clients: Vec<u32>,
    objects: Vec<u32>,
    jobs: &'a [String],
    nodes: &'a [String],
    /// Seconds since the start of the window.
    interval_s: Option<(f64, f64)>,
    cost_s: Option<f64>,
    cost_of: Option<&'a str>,
    /// Kind of the finding that is the likely cause.
    explained_by: Option<&'a str>,
    plot: Option<&'a str>,
    docs: &'a str,
}

pub(crate) fn cards<'a>(analysis: &'a Analysis, names: &mut Names<'a>) -> Vec<Card<'a>> {
    analysis.findings.iter().take(MAX_FINDINGS).map(|it| card(analysis, it, names)).collect()
}

fn card<'a>(analysis: &Analysis, it: &'a Finding, names: &mut Names<'a>) -> Card<'a> {
    let start = analysis.window.start;
    let targets = it.targets.iter().map(|name| names.target(name)).collect();
    let clients = it.clients.iter().map(|nid| names.client(nid)).collect();
    let objects = it.objects.iter().map(|object| {
        let target = names.target(&object.target);
        names.object(Some(target), &object.fid)
    });
    Card {
        id: &it.id,
        severity: it.severity,
        confidence: it.confidence,
        title: &it.title,
        explanation: &it.explanation,
        evidence: &it.evidence,
        thresholds: &it.thresholds,
        remedies: &it.remedies,
        targets,
        objects: objects.collect(),
        clients,
        jobs: &it.jobs,
        nodes: &it.nodes,
        interval_s: it.interval.map(|it| (it.start - start, it.end - start)),
        cost_s: it.cost_s,
        cost_of: it.cost_of.as_deref(),
        explained_by: it.explained_by.as_deref(),
        plot: it.plot.as_deref(),
        docs: &it.docs,
    }
}
