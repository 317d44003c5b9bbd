//! `strided-reads` and `backward-reads`: orders of reading in which read-ahead is of no use.

use lioprof_model::units::{human_bytes, percent, thousands};
use lioprof_model::{AccessPattern, Confidence, Direction, Finding, Severity};

use super::case::{Case, NoAnswer, Rule};
use super::flagged::{described, look_at, mostly};
use super::limits::{Limit, limit};
use super::stats::{real, share};

const RPC_SHARE: Limit = limit("rpc_share", 0.5, "share of an object's reads that are so, at least");
const TIME_SHARE: Limit = limit("time_share", 0.1, "their share of the time of all reads and writes, at least");

pub(super) const STRIDED: Rule = Rule {
    id: "strided-reads",
    meaning: "clients read small pieces at equal distances and leave out what lies between",
    limits: &[
        RPC_SHARE,
        limit("piece_bytes", 262_144.0, "mean size of the pieces, less than: larger ones do well without read-ahead"),
        TIME_SHARE,
    ],
    plots: &["object-offsets"],
    note: false,
    look: |case| look_at(case, &[Direction::Read], strided),
};

pub(super) const BACKWARD: Rule = Rule {
    id: "backward-reads",
    meaning: "clients read files from their end to their beginning",
    limits: &[RPC_SHARE, TIME_SHARE],
    plots: &["object-offsets"],
    note: false,
    look: |case| look_at(case, &[Direction::Read], backward),
};

fn strided(case: &Case<'_>, direction: Direction) -> Result<Option<Finding>, NoAnswer> {
    let piece = |pattern: &AccessPattern| share(real(pattern.bytes), real(described(pattern)));
    let is_small = |pattern: &AccessPattern| piece(pattern) < case.limit("piece_bytes");
    let Some(objects) = mostly(case, direction, |pattern| pattern.strided_rpcs, is_small)? else { return Ok(None) };
    let part = share(objects.sum(|pattern| pattern.strided_rpcs), real(objects.rpcs));
    let mean = objects.bytes / objects.rpcs.max(1);
    let title = format!(
        "{} of {} reads jump forward at equal distances, {} at a time",
        percent(part, 0),
        thousands(objects.rpcs),
        human_bytes(mean)
    );
    let draft = case
        .finding(Severity::Warning, Confidence::High, title)
        .explain(
            "Read-ahead fetches what follows, which these clients skip: so either it does not start, and every piece \
             costs a round trip, or it reads what nobody wants.",
        )
        .evidence("strided_share", part)
        .evidence("piece_bytes", real(mean))
        .remedy("Read large contiguous pieces and pick from them in memory: data sieving (MPI-IO hint romio_ds_read=enable, ind_rd_buffer_size) or a chunked layout that fits the access (H5Pset_chunk).")
        .remedy("Collective reads, if other processes want what lies between: MPI-IO hint romio_cb_read=enable.")
        .remedy("Tell the server what comes: `lfs ladvise -a willread` for the ranges; or posix_fadvise(POSIX_FADV_RANDOM) where read-ahead fetches too much.");
    Ok(Some(objects.fill(draft).done()))
}

fn backward(case: &Case<'_>, direction: Direction) -> Result<Option<Finding>, NoAnswer> {
    let Some(objects) = mostly(case, direction, |pattern| pattern.backward_rpcs, |_| true)? else { return Ok(None) };
    let part = share(objects.sum(|pattern| pattern.backward_rpcs), real(objects.rpcs));
    let title = format!("{} of {} reads go backward", percent(part, 0), thousands(objects.rpcs));
    let draft = case
        .finding(Severity::Warning, Confidence::High, title)
        .explain(
            "Lustre reads ahead in the direction of larger offsets only. A client that goes backward waits for every \
             single piece.",
        )
        .evidence("backward_share", part)
        .remedy("Read forward: store what is read last to first in the other order, or read large blocks forward and go backward in memory.")
        .remedy("Announce the ranges before: `lfs ladvise -a willread`, posix_fadvise(POSIX_FADV_WILLNEED).");
    Ok(Some(objects.fill(draft).done()))
}
