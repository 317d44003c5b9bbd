//! How much to believe.

use std::collections::BTreeMap;

use lioprof_model::{Analysis, ClientFaults, Format, Input, Loss, Node, Sampled, SizeEvidence, TargetEvidence};
use serde::Serialize;

use super::limits::MAX_INPUTS;
use super::number::Exact;

/// What the capture lost, and what its figures rest on.
#[derive(Debug, Serialize)]
pub(crate) struct Quality<'a> {
    loss: &'a Loss,
    size_evidence: &'a BTreeMap<SizeEvidence, u64>,
    target_evidence: &'a BTreeMap<TargetEvidence, u64>,
    inputs: Vec<InputRow<'a>>,
    of_inputs: usize,
    /// Clients with which something went wrong, worst first.
    client_faults: &'a [ClientFaults],
    /// Nodes that were traced part of the time.
    sampled: Vec<SampledNode<'a>>,
}

/// A file.
#[derive(Debug, Serialize)]
pub(crate) struct InputRow<'a> {
    path: &'a str,
    node: &'a str,
    format: Format,
    compression: Option<&'a str>,
    bytes: Exact,
    records: u64,
    messages: u64,
    bad_records: u64,
    skipped_bytes: Exact,
    malformed: u64,
    error: Option<&'a str>,
}

/// A node that was traced part of the time.
#[derive(Debug, Serialize)]
pub(crate) struct SampledNode<'a> {
    node: &'a str,
    sampled: &'a Sampled,
}

pub(crate) fn quality(analysis: &Analysis) -> Quality<'_> {
    Quality {
        loss: &analysis.loss,
        size_evidence: &analysis.totals.size_evidence,
        target_evidence: &analysis.totals.target_evidence,
        client_faults: &analysis.client_faults,
        inputs: analysis.inputs.iter().take(MAX_INPUTS).map(input_row).collect(),
        of_inputs: analysis.inputs.len(),
        sampled: analysis.nodes.iter().filter_map(sampled).collect(),
    }
}

fn sampled(it: &Node) -> Option<SampledNode<'_>> {
    Some(SampledNode { node: &it.name, sampled: it.sampled.as_ref()? })
}

fn input_row(it: &Input) -> InputRow<'_> {
    InputRow {
        path: &it.path,
        node: &it.node,
        format: it.format,
        compression: it.compression.as_deref(),
        bytes: Exact(it.bytes),
        records: it.records,
        messages: it.messages,
        bad_records: it.bad_records,
        skipped_bytes: Exact(it.skipped_bytes),
        malformed: it.malformed.values().sum(),
        error: it.error.as_deref(),
    }
}
