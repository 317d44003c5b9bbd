//! Who fights whom.

use lioprof_model::bins::Bins;
use lioprof_model::names::job as job_name;
use lioprof_model::{Analysis, LockJob, LockObject, LockPair, LockSeries, LockTarget, Locks, Timeline};
use serde::Serialize;

use super::bins::{bins_of, edges, sums};
use super::limits::{
    MAX_BINS, MAX_HOLDS, MAX_JOBS, MAX_LANES, MAX_LOCK_OBJECTS, MAX_LOCK_TARGETS, MAX_PAIRS, MAX_TIMELINES,
};
use super::names::NameNumbers;
use super::number::{Dense, Exact, Times};
use super::rows::job_is_printed;
use crate::object::object;

/// A target over time. An array that is not there is all zeros.
#[derive(Debug, Serialize)]
pub(crate) struct Lane {
    target: u32,
    #[serde(skip_serializing_if = "Dense::is_zero")]
    conflicts: Dense,
    #[serde(skip_serializing_if = "Dense::is_zero")]
    true_conflicts: Dense,
    #[serde(skip_serializing_if = "Dense::is_zero")]
    expansion_conflicts: Dense,
    #[serde(skip_serializing_if = "Dense::is_zero")]
    waiting: Dense,
}

/// Lock contention.
pub(crate) fn locks<'a>(
    analysis: &Analysis,
    locks: &'a Locks,
    names: &mut NameNumbers<'a>,
) -> impl Serialize + use<'a> {
    let start = analysis.window.start;
    let objects = locks.objects.iter().chain(&locks.mdt_objects);
    let of_objects = objects.clone().count();
    let pairs = locks.pairs.iter().chain(&locks.mdt_pairs);
    let bins = bins_of(analysis, MAX_BINS);
    let fought = locks.targets.iter().filter(|it| it.totals.conflicts > 0);
    let mut timelines = 0;
    // The objects' names come first: targets and clients are numbered by them.
    let objects = objects.take(MAX_LOCK_OBJECTS).map(|it| {
        timelines += usize::from(it.timeline.is_some());
        object_row(it, start, timelines <= MAX_TIMELINES, names)
    });
    let objects = objects.collect::<Vec<_>>();
    object!(Locks {
        evidence: locks.evidence,
        // What they rest on, in words.
        doubts: locks.doubts().join(" "),
        rules: &locks.rules,
        totals: &locks.totals,
        mdt_totals: &locks.mdt_totals,
        // Those with conflicts between clients.
        targets: fought.clone().take(MAX_LOCK_TARGETS).map(|it| target_row(it, names)).collect::<Vec<_>>(),
        of_targets: fought.count(),
        objects,
        of_objects,
        pairs: pairs.clone().take(MAX_PAIRS).map(|it| pair_row(it, names)).collect::<Vec<_>>(),
        of_pairs: pairs.count(),
        jobs: jobs(locks, job_is_printed(analysis)),
        edges_s: edges(&bins),
        lanes: lanes(locks, &bins, names),
    })
}

/// Jobs that waited.
fn jobs<'a>(locks: &'a Locks, printed: bool) -> Vec<impl Serialize + use<'a>> {
    let row = |it: &'a LockJob| {
        let LockJob { job, blocked, wait_s, .. } = it;
        object!(JobRow { job: job_name(job.as_deref(), printed), blocked, wait_s })
    };
    locks.jobs.iter().take(MAX_JOBS).map(row).collect()
}

fn target_row<'a>(it: &'a LockTarget, names: &mut NameNumbers<'a>) -> impl Serialize + use<'a> {
    object!(TargetRow {
        target: names.target(&it.target),
        node: &it.node,
        is_inferred: it.is_inferred(),
        conflicts: it.totals.conflicts,
        true_conflicts: it.totals.true_conflicts,
        expansion_conflicts: it.totals.expansion_conflicts,
        handovers: it.totals.handovers,
        wait_s: it.totals.wait_s,
        contended_s: it.contended_s,
        bandwidth_contended: it.bandwidth_contended,
        bandwidth_uncontended: it.bandwidth_uncontended,
        wait_us: Times::from(&it.wait_us),
        release_us: Times::from(&it.release_us),
        blocking_ast_us: Times::from(&it.blocking_ast_us),
        flushed_bytes: it.flushed_bytes.map(Exact),
    })
}

/// Clients listed per object.
const MAX_CLIENTS: usize = 20;

fn object_row<'a>(
    it: &'a LockObject,
    start: f64,
    with_timeline: bool,
    names: &mut NameNumbers<'a>,
) -> impl Serialize + use<'a> {
    let target = names.target(&it.target);
    object!(ObjectRow {
        target,
        object: it.fid.as_deref().map(|fid| names.object(Some(target), fid)),
        id: it.id(),
        inferred: it.inferred,
        conflicts: it.conflicts,
        true_conflicts: it.true_conflicts,
        expansion_conflicts: it.expansion_conflicts,
        alternations: it.alternations,
        clients: it.clients.iter().take(MAX_CLIENTS).map(|nid| names.client(nid)).collect::<Vec<_>>(),
        of_clients: it.clients.len(),
        wait_s: it.wait_s,
        wait_us: Times::from(&it.wait_us),
        ping_pong: it.ping_pong,
        // Fights, seconds since the start of the window.
        episodes_s: it.episodes.iter().map(|it| (it.start - start, it.end - start)).collect::<Vec<_>>(),
        timeline: it.timeline.as_ref().filter(|_| with_timeline).map(|it| timeline(it, start, names)),
    })
}

/// A time to the microsecond, as logs have it; fewer digits to write.
fn since(start: f64, time: f64) -> f64 {
    ((time - start) * 1e6).round() / 1e6
}

/// The last byte; none: to the end of the file.
fn last(byte: u64) -> Option<Exact> {
    (byte != u64::MAX).then_some(Exact(byte))
}

/// Who held and waited when; clients by number, times in seconds since the start of the window.
fn timeline<'a>(it: &'a Timeline, start: f64, names: &mut NameNumbers<'a>) -> impl Serialize + use<'a> {
    let holds = it.holds.iter().take(MAX_HOLDS).map(|it| {
        (
            names.client(&it.nid),
            &it.mode,
            it.start.map(|at| since(start, at)),
            it.end.map(|at| since(start, at)),
            Exact(it.first_byte),
            last(it.last_byte),
            Exact(it.requested_first_byte),
            last(it.requested_last_byte),
        )
    });
    let holds = holds.collect::<Vec<_>>();
    let waits = it.waits.iter().take(MAX_HOLDS).map(|it| {
        let end = it.end.map(|at| since(start, at));
        (names.client(&it.nid), since(start, it.start), end, Exact(it.first_byte), last(it.last_byte))
    });
    let waits = waits.collect::<Vec<_>>();
    let asts = it.blocking_asts.iter().take(MAX_HOLDS).map(|(at, nid)| (since(start, *at), names.client(nid)));
    object!(Timeline {
        // Client, mode, from, to, bytes granted, bytes requested; `null`: before the log, after it, to the end of the file.
        holds,
        // Client, from, to, bytes requested.
        waits,
        // Callback: time, holder.
        blocking_asts: asts.collect::<Vec<_>>(),
        truncated: it.truncated
            || [it.holds.len(), it.waits.len(), it.blocking_asts.len()].iter().any(|&len| len > MAX_HOLDS),
    })
}

/// Two clients on one target.
fn pair_row<'a>(it: &'a LockPair, names: &mut NameNumbers<'a>) -> impl Serialize + use<> {
    object!(PairRow {
        target: names.target(&it.target),
        holder: names.client(&it.holder_nid),
        waiter: names.client(&it.waiter_nid),
        conflicts: it.conflicts,
        true_conflicts: it.true_conflicts,
        handovers: it.handovers,
        wait_s: it.wait_s,
    })
}

fn lanes<'a>(locks: &'a Locks, bins: &Bins, names: &mut NameNumbers<'a>) -> Vec<Lane> {
    let conflicts = |it: &LockSeries| it.conflicts.iter().fold(0_u64, |sum, value| sum.saturating_add(*value));
    let mut rows: Vec<(u64, &LockSeries)> =
        locks.series.targets.iter().map(|it| (conflicts(it), it)).filter(|it| it.0 > 0).collect();
    rows.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| (&a.1.target, &a.1.node).cmp(&(&b.1.target, &b.1.node))));
    let lane = |(_, it): (u64, &'a LockSeries)| Lane {
        target: names.target(&it.target),
        conflicts: Dense(sums(bins, &it.conflicts)),
        true_conflicts: Dense(sums(bins, &it.true_conflicts)),
        expansion_conflicts: Dense(sums(bins, &it.expansion_conflicts)),
        waiting: Dense(bins.means(&it.waiting)),
    };
    rows.into_iter().take(MAX_LANES).map(lane).collect()
}
