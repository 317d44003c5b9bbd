//! `unaligned-rpcs`: requests begin inside pages, or straddle boundaries that they need not touch.

use lioprof_model::units::{human_bytes, percent, thousands};
use lioprof_model::{AccessPattern, Confidence, Direction, Finding, Severity, SpentOn};

use super::flagged::{Of, flagged, look_at};
use super::rule::{Case, Look, Nothing, Question, Rule, limit, real, share};

pub(super) const RULE: Rule = Rule {
    id: "unaligned-rpcs",
    question: Question::Time,
    explains: &[SpentOn::Bulk],
    meaning: "requests begin inside pages of 4 KiB, or straddle a MiB of the object that they need not touch",
    limits: &[
        limit("rpc_share", 0.5, "share of an object's requests that are so, at least"),
        limit("time_share", 0.1, "their share of the time of all reads and writes, at least"),
    ],
    plots: &["object-offsets"],
    note: false,
    look,
};

const MISPLACED: Of =
    Of { hits: |pattern| pattern.unaligned_rpcs.max(pattern.split_rpcs), all: |pattern| pattern.rpcs };

fn look(case: &Case<'_>) -> Look {
    look_at(case, &[Direction::Write, Direction::Read], MISPLACED.all, one)
}

fn one(case: &Case<'_>, direction: Direction) -> Result<Finding, Nothing> {
    let limit = case.limit("rpc_share");
    // Small requests inside a stripe straddle nothing; half a MiB and more hits the next MiB if it is not aligned.
    let large = 524_288.0;
    let has = |pattern: &AccessPattern| {
        let count = real(pattern.rpcs);
        let straddles = share(real(pattern.bytes), count) >= large && share(real(pattern.split_rpcs), count) >= limit;
        straddles || share(real(pattern.unaligned_rpcs), count) >= limit
    };
    let objects = flagged(case, direction, has, (MISPLACED, limit))?;
    let inside = share(objects.sum(|pattern| pattern.unaligned_rpcs), real(objects.rpcs));
    let split = share(objects.sum(|pattern| pattern.split_rpcs), real(objects.rpcs));
    let what = direction.requests();
    let title = if inside >= limit {
        format!("{} of {} {what} begin inside a page", percent(inside, 0), thousands(objects.rpcs))
    } else {
        format!("{} of {} {what} straddle a MiB that they need not touch", percent(split, 0), thousands(objects.rpcs))
    };
    let mean = objects.bytes / objects.rpcs.max(1);
    let draft = case
        .finding(Severity::Warning, Confidence::High, title)
        .explain(
            "A server works in pages, and its disks in stripes of the RAID: what begins inside one has to be read before \
             it can be written, and two clients that share one take locks from each other.",
        )
        .evidence("mean_bytes", real(mean))
        .evidence("inside_page_share", inside)
        .evidence("straddling_share", split)
        .remedy(format!(
            "Use records that fill pages and stripes: pad those of about {} to a multiple of 4 KiB, better of 1 MiB, and \
             align the first one (HDF5: H5Pset_alignment).",
            human_bytes(mean)
        ))
        .remedy("Buffer: write whole multiples of the stripe size (`lfs getstripe -S`), 1 MiB at least.")
        .remedy("Collective buffering does both: MPI-IO hints romio_cb_write=enable, striping_unit.");
    Ok(objects.fill(draft).done())
}
