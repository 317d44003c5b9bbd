//! Findings as cards: names as numbers, times since the start.

use std::collections::BTreeSet;

use lioprof_model::names::job as job_name;
use lioprof_model::units::{Measure, figure_label};
use lioprof_model::{Analysis, Finding};
use serde::Serialize;

use super::limits::MAX_FINDINGS;
use super::names::NameNumbers;
use crate::object::object;

pub(crate) fn cards<'a>(analysis: &'a Analysis, names: &mut NameNumbers<'a>) -> Vec<impl Serialize + use<'a>> {
    analysis.findings.iter().take(MAX_FINDINGS).map(|it| card(analysis, it, names)).collect()
}

/// The figures of a finding, or of one that is there in several runs: name, unit, values; a run without it has none.
pub(crate) fn evidence(runs: &[&Finding]) -> Vec<(String, Measure, Vec<Option<f64>>)> {
    let keys: BTreeSet<&String> = runs.iter().flat_map(|it| it.evidence.keys()).collect();
    let values = |key: &String| runs.iter().map(|it| it.evidence.get(key).copied()).collect();
    keys.into_iter().map(|key| (figure_label(key), Measure::of(key), values(key))).collect()
}

fn card<'a>(analysis: &Analysis, it: &'a Finding, names: &mut NameNumbers<'a>) -> impl Serialize + use<'a> {
    let start = analysis.window.start;
    let targets = it.targets.iter().map(|name| names.target(name)).collect::<Vec<_>>();
    let clients = it.clients.iter().map(|nid| names.client(nid)).collect::<Vec<_>>();
    let objects = it.objects.iter().map(|object| {
        let target = names.target(&object.target);
        names.object(Some(target), &object.fid)
    });
    object!(Card {
        id: &it.id,
        severity: it.severity,
        confidence: it.confidence,
        title: &it.title,
        explanation: &it.explanation,
        evidence: evidence(&[it]),
        thresholds: &it.thresholds,
        remedies: &it.remedies,
        targets,
        clients,
        objects: objects.collect::<Vec<_>>(),
        jobs: it.jobs.iter().map(|it| job_name(Some(it), true)).collect::<Vec<_>>(),
        nodes: &it.nodes,
        // Since the start of the window.
        interval_s: it.interval.map(|it| (it.start - start, it.end - start)),
        cost_s: it.cost_s,
        cost_of: it.cost_of.as_deref(),
        // Seconds that the run would have been shorter without it, in words.
        saves: it.saves_in_words(),
        // Kind of the finding that is the likely cause.
        explained_by: it.explained_by.as_deref(),
        plot: it.plot.as_deref(),
        docs: &it.docs,
    })
}
