//! How much to believe.

use lioprof_model::{Analysis, Input};
use serde::Serialize;

use super::limits::MAX_INPUTS;
use super::number::Exact;
use crate::object::object;

/// What the capture lost, and what its figures rest on.
pub(crate) fn quality(analysis: &Analysis) -> impl Serialize {
    object!(Quality {
        loss: &analysis.loss,
        how_much: analysis.loss.how_much(),
        size_evidence: &analysis.totals.size_evidence,
        target_evidence: &analysis.totals.target_evidence,
        inputs: analysis.inputs.iter().take(MAX_INPUTS).map(input).collect::<Vec<_>>(),
        of_inputs: analysis.inputs.len(),
        only_kernel_logs: analysis.only_kernel_logs(),
        // Clients with which something went wrong, worst first.
        client_faults: &analysis.client_faults,
    })
}

/// A file.
fn input(it: &Input) -> impl Serialize {
    object!(Input {
        path: &it.path,
        node: &it.node,
        format: it.format,
        compression: it.compression.as_deref(),
        bytes: Exact(it.bytes),
        records: it.records,
        messages: it.messages,
        bad_records: it.bad_records,
        skipped_bytes: Exact(it.skipped_bytes),
        malformed: it.malformed.values().sum::<u64>(),
        error: it.error.as_deref(),
    })
}
