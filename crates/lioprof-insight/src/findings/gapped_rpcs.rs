//! `gapped-rpcs`: write requests consist of pieces with gaps between them.

use lioprof_model::units::{percent, thousands};
use lioprof_model::{Confidence, Direction, Finding, Severity, SpentOn};

use super::flagged::{Of, look_at, mostly};
use super::load::sizes_are_known;
use super::rule::{Case, Look, Nothing, Question, Rule, limit, real, share};

pub(super) const RULE: Rule = Rule {
    id: "gapped-rpcs",
    question: Question::Time,
    explains: &[SpentOn::Bulk],
    meaning: "write requests consist of pieces with gaps between them",
    limits: &[
        limit("rpc_share", 0.5, "share of an object's writes that have gaps, at least"),
        limit("time_share", 0.1, "their share of the time of all reads and writes, at least"),
    ],
    plots: &["object-offsets"],
    note: false,
    look,
};

/// Gaps are a matter of single requests.
const GAPPED: Of = Of { hits: |pattern| pattern.gapped_rpcs, all: |pattern| pattern.rpcs };

fn look(case: &Case<'_>) -> Look {
    look_at(case, &[Direction::Write], GAPPED.all, one)
}

fn one(case: &Case<'_>, direction: Direction) -> Result<Finding, Nothing> {
    let objects = mostly(case, direction, GAPPED, |_| true)?;
    let gapped = share(objects.sum(|pattern| pattern.gapped_rpcs), real(objects.rpcs));
    // That a request is in pieces may be certain without knowing how large they are.
    let filled = sizes_are_known(case.analysis, direction)
        .then(|| share(real(objects.bytes), objects.sum(|pattern| pattern.extent_bytes)));
    let title = format!(
        "{} of {} writes have gaps{}",
        percent(gapped, 0),
        thousands(objects.rpcs),
        filled.map_or_else(String::new, |filled| format!(
            ": they fill {} of the range that they span",
            percent(filled, 0)
        ))
    );
    let draft = case
        .finding(Severity::Warning, Confidence::High, title)
        .explain(
            "The client has put scattered dirty pages into one request. The disks then write many pieces, and the lock \
             covers the gaps, too, which other clients may want to write.",
        )
        .evidence("gapped_share", gapped)
        .evidence("filled_share", filled)
        .remedy("Write in file order and without holes: gather records in memory first, 1 MiB at least.")
        .remedy("If several processes fill the gaps: collective buffering (MPI-IO hint romio_cb_write=enable) makes whole stripes of them.")
        .remedy("Change the layout of the data: chunks (H5Pset_chunk) that are written as a whole, or one variable after the other instead of interleaved records.");
    Ok(objects.fill(draft).done())
}
