//! How sure the figures are, in sentences for the subtitle.

use lioprof_model::{Analysis, Severity};

use super::locks;
use crate::figure::units::{bytes, count, percent};

/// What a plot shows, so that only doubts about that are named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Covers {
    /// Bytes of reads and writes.
    pub(crate) bytes: bool,
    /// Reads and writes by OST.
    pub(crate) targets: bool,
    /// Lock conflicts.
    pub(crate) locks: bool,
}

fn share(part: u64, of: u64) -> Option<f64> {
    (part > 0 && of > 0).then(|| (part as f64 / of as f64).min(1.0))
}

/// What is estimated or unknown; empty if nothing is.
pub(crate) fn doubts(analysis: &Analysis, covers: Covers) -> Vec<String> {
    let totals = &analysis.totals;
    let (read, write) = (&totals.read, &totals.write);
    let rpcs = read.rpcs.saturating_add(write.rpcs);
    let mut doubts = Vec::new();
    if covers.bytes {
        let bounded = read.bounded_rpcs.saturating_add(write.bounded_rpcs);
        if let Some(share) = share(bounded, rpcs) {
            let low = read.bytes_min.saturating_add(write.bytes_min);
            let high = read.bytes_max.saturating_add(write.bytes_max);
            doubts.push(format!(
                "The size of {} of the reads and writes is estimated; the true total is between {} and {}.",
                percent(share),
                bytes(low as f64),
                bytes(high as f64),
            ));
        }
        let unsized_rpcs = read.unsized_rpcs.saturating_add(write.unsized_rpcs);
        if let Some(share) = share(unsized_rpcs, rpcs) {
            doubts.push(format!("{} are of unknown size and not in the bytes.", percent(share)));
        }
    }
    if covers.targets {
        let unattributed = &totals.unattributed;
        let unknown = unattributed.read.rpcs.saturating_add(unattributed.write.rpcs);
        if let Some(share) = share(unknown, rpcs) {
            doubts.push(format!("The OST of {} of the reads and writes is unknown (unattributed).", percent(share)));
        }
    }
    if let Some(locks) = analysis.locks.as_ref().filter(|_| covers.locks) {
        doubts.extend(locks::evidence(locks));
    }
    doubts
}

/// What is missing; empty if hardly anything is.
pub(crate) fn warnings(analysis: &Analysis) -> Vec<String> {
    // Findings say what was lost, if it is more than their threshold.
    let found = analysis.findings.iter().filter(|it| it.id == "trace-quality" && it.severity > Severity::Info);
    let mut warnings: Vec<String> = found.map(|it| format!("Warning: {}.", it.title)).collect();
    let loss = &analysis.loss;
    let unread = loss.bad_records;
    if unread > 0 && loss.estimated_lost_fraction.is_none() && !loss.head_overwritten {
        warnings.push(format!("Warning: {} log records could not be read.", count(unread)));
    }
    warnings
}
