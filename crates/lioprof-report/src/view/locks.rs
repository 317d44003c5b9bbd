//! Who fights whom.

use lioprof_model::{
    Analysis, Interval, LockEvidence, LockObject, LockPair, LockRules, LockSeries, LockTarget, LockTotals, Locks,
    Timeline,
};
use serde::Serialize;

use super::bins::{Bins, unless_zero};
use super::limits::{MAX_BINS, MAX_HOLDS, MAX_LANES, MAX_LOCK_OBJECTS, MAX_LOCK_TARGETS, MAX_PAIRS, MAX_TIMELINES};
use super::names::Names;
use super::number::{Dense, Exact, Precise, Times};

/// Lock contention.
#[derive(Debug, Serialize)]
pub(crate) struct LocksView<'a> {
    evidence: LockEvidence,
    rules: &'a LockRules,
    totals: &'a LockTotals,
    mdt_totals: &'a LockTotals,
    /// Those with conflicts between clients.
    targets: Vec<TargetRow<'a>>,
    of_targets: usize,
    objects: Vec<ObjectRow>,
    of_objects: usize,
    pairs: Vec<PairRow>,
    of_pairs: usize,
    jobs: &'a [lioprof_model::LockJob],
    edges_s: Precise,
    lanes: Vec<Lane>,
}

/// A target.
#[derive(Debug, Serialize)]
pub(crate) struct TargetRow<'a> {
    target: u32,
    node: &'a str,
    evidence: LockEvidence,
    conflicts: u64,
    true_conflicts: Option<u64>,
    expansion_conflicts: Option<u64>,
    handovers: u64,
    wait_s: f64,
    contended_s: f64,
    bandwidth_contended: Option<f64>,
    bandwidth_uncontended: Option<f64>,
    wait_us: Times,
    release_us: Times,
    blocking_ast_us: Times,
    flushed_bytes: Option<Exact>,
}

/// An object.
#[derive(Debug, Serialize)]
pub(crate) struct ObjectRow {
    target: u32,
    object: Option<u32>,
    inferred: bool,
    conflicts: u64,
    true_conflicts: Option<u64>,
    expansion_conflicts: Option<u64>,
    alternations: u64,
    clients: Vec<u32>,
    of_clients: usize,
    wait_s: f64,
    wait_us: Times,
    ping_pong: bool,
    /// Fights, seconds since the start of the window.
    episodes_s: Vec<(f64, f64)>,
    timeline: Option<TimelineView>,
}

/// Who held and waited when; clients by number, times in seconds since the start of the window.
#[derive(Debug, Serialize)]
pub(crate) struct TimelineView {
    /// Client, mode, from, to, bytes granted, bytes requested; `null`: before the log, after it, to the end of the file.
    holds: Vec<HoldRow>,
    /// Client, from, to, bytes requested.
    waits: Vec<WaitRow>,
    /// Callback: time, holder.
    blocking_asts: Vec<(f64, u32)>,
    truncated: bool,
}

type WaitRow = (u32, f64, Option<f64>, Exact, Option<Exact>);
type HoldRow = (u32, String, Option<f64>, Option<f64>, Exact, Option<Exact>, Exact, Option<Exact>);

/// Two clients on one target.
#[derive(Debug, Serialize)]
pub(crate) struct PairRow {
    target: u32,
    holder: u32,
    waiter: u32,
    conflicts: u64,
    true_conflicts: Option<u64>,
    handovers: u64,
    wait_s: f64,
}

/// A target over time. An array that is not there is all zeros.
#[derive(Debug, Serialize)]
pub(crate) struct Lane {
    target: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    conflicts: Option<Dense>,
    #[serde(skip_serializing_if = "Option::is_none")]
    true_conflicts: Option<Dense>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expansion_conflicts: Option<Dense>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<Dense>,
}

pub(crate) fn locks<'a>(analysis: &Analysis, locks: &'a Locks, names: &mut Names<'a>) -> LocksView<'a> {
    let start = analysis.window.start;
    let objects = locks.objects.iter().chain(&locks.mdt_objects);
    let pairs = locks.pairs.iter().chain(&locks.mdt_pairs);
    let bins = Bins::new(analysis, MAX_BINS);
    let fought = locks.targets.iter().filter(|it| it.totals.conflicts > 0);
    let mut timelines = 0;
    let mut object = |it: &'a LockObject| {
        timelines += usize::from(it.timeline.is_some());
        object_row(it, start, timelines <= MAX_TIMELINES, names)
    };
    LocksView {
        evidence: locks.evidence,
        rules: &locks.rules,
        totals: &locks.totals,
        mdt_totals: &locks.mdt_totals,
        objects: objects.clone().take(MAX_LOCK_OBJECTS).map(&mut object).collect(),
        of_objects: objects.count(),
        of_targets: fought.clone().count(),
        targets: fought.take(MAX_LOCK_TARGETS).map(|it| target_row(it, names)).collect(),
        of_pairs: pairs.clone().count(),
        pairs: pairs.take(MAX_PAIRS).map(|it| pair_row(it, names)).collect(),
        jobs: &locks.jobs[..locks.jobs.len().min(super::limits::MAX_JOBS)],
        edges_s: bins.edges(),
        lanes: lanes(locks, &bins, names),
    }
}

fn target_row<'a>(it: &'a LockTarget, names: &mut Names<'a>) -> TargetRow<'a> {
    TargetRow {
        target: names.target(&it.target),
        node: &it.node,
        evidence: it.evidence,
        conflicts: it.totals.conflicts,
        true_conflicts: it.totals.true_conflicts,
        expansion_conflicts: it.totals.expansion_conflicts,
        handovers: it.totals.handovers,
        wait_s: it.totals.wait_s,
        contended_s: it.contended_s,
        bandwidth_contended: it.bandwidth_contended,
        bandwidth_uncontended: it.bandwidth_uncontended,
        wait_us: (&it.wait_us).into(),
        release_us: (&it.release_us).into(),
        blocking_ast_us: (&it.blocking_ast_us).into(),
        flushed_bytes: it.flushed_bytes.map(Exact),
    }
}

/// Clients listed per object.
const MAX_CLIENTS: usize = 20;

fn object_row<'a>(it: &'a LockObject, start: f64, with_timeline: bool, names: &mut Names<'a>) -> ObjectRow {
    let target = names.target(&it.target);
    let episode = |it: &lioprof_model::Episode| Interval { start: it.start, end: it.end };
    ObjectRow {
        target,
        object: it.fid.as_deref().map(|fid| names.object(Some(target), fid)),
        inferred: it.inferred,
        conflicts: it.conflicts,
        true_conflicts: it.true_conflicts,
        expansion_conflicts: it.expansion_conflicts,
        alternations: it.alternations,
        clients: it.clients.iter().take(MAX_CLIENTS).map(|nid| names.client(nid)).collect(),
        of_clients: it.clients.len(),
        wait_s: it.wait_s,
        wait_us: (&it.wait_us).into(),
        ping_pong: it.ping_pong,
        episodes_s: it.episodes.iter().map(episode).map(|it| (it.start - start, it.end - start)).collect(),
        timeline: it.timeline.as_ref().filter(|_| with_timeline).map(|it| timeline(it, start, names)),
    }
}

/// A time to the microsecond, as logs have it; fewer digits to write.
fn since(start: f64, time: f64) -> f64 {
    ((time - start) * 1e6).round() / 1e6
}

/// The last byte; none: to the end of the file.
fn last(byte: u64) -> Option<Exact> {
    (byte != u64::MAX).then_some(Exact(byte))
}

fn timeline<'a>(it: &'a Timeline, start: f64, names: &mut Names<'a>) -> TimelineView {
    let truncated =
        it.truncated || [it.holds.len(), it.waits.len(), it.blocking_asts.len()].iter().any(|&len| len > MAX_HOLDS);
    let holds = it.holds.iter().take(MAX_HOLDS).map(|it| {
        (
            names.client(&it.nid),
            it.mode.clone(),
            it.start.map(|at| since(start, at)),
            it.end.map(|at| since(start, at)),
            Exact(it.first_byte),
            last(it.last_byte),
            Exact(it.requested_first_byte),
            last(it.requested_last_byte),
        )
    });
    let holds = holds.collect();
    let waits = it.waits.iter().take(MAX_HOLDS).map(|it| {
        let end = it.end.map(|at| since(start, at));
        (names.client(&it.nid), since(start, it.start), end, Exact(it.first_byte), last(it.last_byte))
    });
    let waits = waits.collect();
    let asts = it.blocking_asts.iter().take(MAX_HOLDS).map(|(at, nid)| (since(start, *at), names.client(nid)));
    TimelineView { holds, waits, blocking_asts: asts.collect(), truncated }
}

fn pair_row<'a>(it: &'a LockPair, names: &mut Names<'a>) -> PairRow {
    PairRow {
        target: names.target(&it.target),
        holder: names.client(&it.holder_nid),
        waiter: names.client(&it.waiter_nid),
        conflicts: it.conflicts,
        true_conflicts: it.true_conflicts,
        handovers: it.handovers,
        wait_s: it.wait_s,
    }
}

fn lanes<'a>(locks: &'a Locks, bins: &Bins, names: &mut Names<'a>) -> Vec<Lane> {
    let conflicts = |it: &LockSeries| it.conflicts.iter().fold(0_u64, |sum, value| sum.saturating_add(*value));
    let mut rows: Vec<(u64, &LockSeries)> =
        locks.series.targets.iter().map(|it| (conflicts(it), it)).filter(|it| it.0 > 0).collect();
    rows.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| (&a.1.target, &a.1.node).cmp(&(&b.1.target, &b.1.node))));
    let lane = |(_, it): (u64, &'a LockSeries)| Lane {
        target: names.target(&it.target),
        conflicts: unless_zero(bins.sums(&it.conflicts)),
        true_conflicts: unless_zero(bins.sums(&it.true_conflicts)),
        expansion_conflicts: unless_zero(bins.sums(&it.expansion_conflicts)),
        waiting: unless_zero(bins.means(&it.waiting)),
    };
    rows.into_iter().take(MAX_LANES).map(lane).collect()
}
