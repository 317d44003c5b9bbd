//! How sure the figures are, in sentences for the subtitle.

use lioprof_model::{Analysis, Locks};

use crate::figure::units::count;

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

/// What is estimated or unknown; empty if nothing is.
pub(crate) fn doubts(analysis: &Analysis, covers: Covers) -> Vec<String> {
    let totals = &analysis.totals;
    let mut doubts = if covers.bytes { totals.doubts_of_sizes() } else { Vec::new() };
    doubts.extend(totals.doubt_of_targets().filter(|_| covers.targets));
    doubts.extend(analysis.locks.iter().filter(|_| covers.locks).flat_map(Locks::doubts));
    doubts
}

/// What is missing; empty if hardly anything is.
pub(crate) fn warnings(analysis: &Analysis) -> Vec<String> {
    // Findings say what was lost, if it is more than their threshold.
    let found = analysis.findings.iter().filter(|it| it.id == "trace-quality" && it.is_more_than_a_note());
    let mut warnings: Vec<String> = found.map(|it| format!("Warning: {}.", it.title)).collect();
    let loss = &analysis.loss;
    let unread = loss.bad_records;
    if unread > 0 && loss.estimated_lost_fraction.is_none() && !loss.head_overwritten {
        warnings.push(format!("Warning: {} log records could not be read.", count(unread)));
    }
    warnings
}
