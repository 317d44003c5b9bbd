//! `strided-reads` and `backward-reads`: orders of reading in which read-ahead is of no use.

use lioprof_model::units::{human_bytes, percent, thousands};
use lioprof_model::{AccessPattern, Confidence, Direction, Finding, Severity, SpentOn};

use super::flagged::{Of, look_at, mostly, steps};
use super::rule::{Case, Limit, Nothing, Question, Rule, limit, real, share};

const RPC_SHARE: Limit =
    limit("rpc_share", 0.5, "share of the steps from one read of an object to the next that are so, at least");
const TIME_SHARE: Limit = limit("time_share", 0.1, "their share of the time of all reads and writes, at least");

pub(super) const STRIDED: Rule = Rule {
    id: "strided-reads",
    question: Question::Time,
    explains: &[SpentOn::Bulk],
    meaning: "clients read small pieces, go forward and leave out what lies between, as every n-th record or a column of a table",
    limits: &[
        RPC_SHARE,
        limit("piece_bytes", 262_144.0, "mean size of the pieces, less than: larger ones do well without read-ahead"),
        TIME_SHARE,
    ],
    plots: &["object-offsets"],
    note: false,
    look: |case| look_at(case, &[Direction::Read], STRIDED_STEPS.all, strided),
};

pub(super) const BACKWARD: Rule = Rule {
    id: "backward-reads",
    question: Question::Time,
    explains: &[SpentOn::Bulk],
    meaning: "clients read files from their end to their beginning",
    limits: &[RPC_SHARE, TIME_SHARE],
    plots: &["object-offsets"],
    note: false,
    look: |case| look_at(case, &[Direction::Read], steps, backward),
};

/// Jumps from one read to the next, and reads that jump inside: read-ahead puts pieces at equal distances into one request.
const STRIDED_STEPS: Of = Of {
    hits: |pattern| pattern.strided_rpcs + pattern.gapped_rpcs,
    all: |pattern| steps(pattern) + pattern.gapped_rpcs,
};

fn strided(case: &Case<'_>, direction: Direction) -> Result<Finding, Nothing> {
    // What lies between the pieces of one request is far more than they.
    let in_pieces = |pattern: &AccessPattern| 2 * pattern.gapped_rpcs >= pattern.rpcs;
    let piece = |pattern: &AccessPattern| share(real(pattern.bytes), real(pattern.rpcs));
    let is_small = |pattern: &AccessPattern| piece(pattern) < case.limit("piece_bytes") || in_pieces(pattern);
    let objects = mostly(case, direction, STRIDED_STEPS, is_small)?;
    let part = share(objects.sum(STRIDED_STEPS.hits), objects.sum(STRIDED_STEPS.all));
    let mean = objects.bytes / objects.rpcs.max(1);
    let gapped = objects.sum(|pattern| pattern.gapped_rpcs);
    let filled = share(real(objects.bytes), objects.sum(|pattern| pattern.extent_bytes));
    let title = if 2.0 * gapped >= real(objects.rpcs) {
        format!(
            "{gapped} of {} reads are in pieces with gaps between: all fill {} of the range that they span",
            thousands(objects.rpcs),
            percent(filled, 0)
        )
    } else {
        format!(
            "{} of {} reads of {} skip forward (strided)",
            percent(part, 0),
            thousands(objects.rpcs),
            human_bytes(mean)
        )
    };
    let draft = case
        .finding(Severity::Warning, Confidence::High, title)
        .explain(
            "Read-ahead fetches what follows, which these clients skip: so either it does not start, and every piece \
             costs a round trip, or it reads what nobody wants.",
        )
        .evidence("strided_share", part)
        .evidence("filled_share", filled)
        .evidence("rpcs_in_pieces", gapped)
        .evidence("piece_bytes", real(mean))
        .remedy("Read large contiguous pieces and pick from them in memory: data sieving (MPI-IO hint romio_ds_read=enable, ind_rd_buffer_size) or a chunked layout that fits the access (H5Pset_chunk).")
        .remedy("Collective reads, if other processes want what lies between: MPI-IO hint romio_cb_read=enable.")
        .remedy("Tell the server what comes: `lfs ladvise -a willread` for the ranges; or posix_fadvise(POSIX_FADV_RANDOM) where read-ahead fetches too much.");
    Ok(objects.fill(draft).done())
}

fn backward(case: &Case<'_>, direction: Direction) -> Result<Finding, Nothing> {
    let objects = mostly(case, direction, Of { hits: |pattern| pattern.backward_rpcs, all: steps }, |_| true)?;
    let part = share(objects.sum(|pattern| pattern.backward_rpcs), objects.sum(steps));
    let title = format!("{} of {} reads go backward in the file", percent(part, 0), thousands(objects.rpcs));
    let draft = case
        .finding(Severity::Warning, Confidence::High, title)
        .explain(
            "Lustre reads ahead in the direction of larger offsets only. A client that goes backward waits for every \
             single piece.",
        )
        .evidence("backward_share", part)
        .remedy("Read forward: store what is read last to first in the other order, or read large blocks forward and go backward in memory.")
        .remedy("Announce the ranges before: `lfs ladvise -a willread`, posix_fadvise(POSIX_FADV_WILLNEED).");
    Ok(objects.fill(draft).done())
}
