//! How sure the figures are, in sentences for the subtitle.

use lioprof_model::{Analysis, LossEvidence};

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
    let loss = &analysis.loss;
    let mut warnings = Vec::new();
    if let Some(lost) = loss.estimated_lost_fraction.filter(|lost| *lost > 0.01) {
        let (min, max) = (loss.lost_fraction_min.unwrap_or(lost), loss.lost_fraction_max.unwrap_or(lost));
        let (lost, min, max) = (percent(lost.min(1.0)), percent(min.clamp(0.0, 1.0)), percent(max.clamp(0.0, 1.0)));
        let about = if loss.decided_by == LossEvidence::Counters { "" } else { "about " };
        let range = if min == max { String::new() } else { format!(" ({min} to {max})") };
        warnings.push(format!(
            "Warning: {about}{lost}{range} of the RPCs are missing from this capture; counts and rates are too low by that much."
        ));
    }
    if loss.head_overwritten {
        warnings.push("Warning: the start of the capture was overwritten; how much is missing is unknown.".to_owned());
    }
    let unread = loss.bad_records;
    if unread > 0 && loss.estimated_lost_fraction.is_none() && !loss.head_overwritten {
        warnings.push(format!("Warning: {} log records could not be read.", count(unread)));
    }
    warnings
}
