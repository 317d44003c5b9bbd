//! Sums to [`Locks`].

use std::collections::BTreeMap;

use lioprof_model::parts::sums::LockPairSums;
use lioprof_model::units::{seconds, summed_seconds};
use lioprof_model::{
    ConflictKinds, Episode, Glimpses, Hold, Interval, LockEvidence, LockJob, LockObject, LockPair, LockRules,
    LockSeries, LockTarget, LockTargetSums, LockTotals, Locks, LocksOverTime, Series, Symbol, Symbols, Timeline, Wait,
    Window,
};
use lustre_debuglog::{Fid, ResourceId, TargetKind, TargetName};

use super::heaviest::{ObjectKey, PairKey, Weight};
use super::object::{ObjectLocks, Track};
use super::rules::Rules;
use super::sums::{LockSums, TargetSum};
use crate::cells::limits::TOP_OBJECTS;

/// Pairs listed.
const TOP_PAIRS: usize = 1_000;
/// Objects whose timeline is kept.
const TOP_TIMELINES: usize = 6;

/// Fills [`Locks`]; `series` are the analysis' own, for bandwidths, `bins` the locks' ones.
pub(crate) fn finish(
    sums: &LockSums,
    symbols: &Symbols,
    window: Window,
    series: &Series,
    bins: Vec<LockSeries>,
) -> Locks {
    let tiers: Vec<LockEvidence> = sums.evidence.values().copied().collect();
    let evidence = match tiers.first() {
        None => LockEvidence::Rpctrace,
        Some(first) if tiers.iter().all(|tier| tier == first) => *first,
        Some(_) => LockEvidence::Mixed,
    };
    let dlm = evidence == LockEvidence::Dlmtrace;
    let sum_of = |kind: fn(TargetKind) -> bool| {
        let mut sum = LockTargetSums::default();
        sums.targets.iter().filter(|((_, name), _)| kind(name.kind())).for_each(|(_, target)| sum.merge(&target.sums));
        sum
    };
    Locks {
        evidence,
        rules: rules(sums, symbols),
        totals: LockTotals { cancels: Some(sums.cancels), ..sum_of(is_ost).totals(dlm) },
        mdt_totals: sum_of(|kind| !is_ost(kind)).totals(dlm),
        targets: targets(sums, symbols, window, series, &bins),
        objects: objects(sums, symbols, window, is_ost),
        pairs: pairs(sums, symbols, is_ost),
        cut: sums.objects.is_cut() || sums.pairs.is_cut(),
        glimpses: glimpses(sums, symbols),
        mdt_objects: objects(sums, symbols, window, |kind| !is_ost(kind)),
        mdt_pairs: pairs(sums, symbols, |kind| !is_ost(kind)),
        jobs: jobs(sums, symbols, dlm),
        series: LocksOverTime { targets: bins },
    }
}

/// Those of the last node, by name.
fn rules(sums: &LockSums, symbols: &Symbols) -> LockRules {
    let last = sums.rules.iter().max_by_key(|(node, _)| symbols.bytes(**node));
    last.map_or_else(|| Rules::TO_2_17.model(), |(_, rules)| rules.clone())
}

fn is_ost(kind: TargetKind) -> bool {
    kind == TargetKind::Ost
}

fn tier(sums: &LockSums, node: Symbol) -> LockEvidence {
    sums.evidence.get(&node).copied().unwrap_or_default()
}

fn targets(
    sums: &LockSums,
    symbols: &Symbols,
    window: Window,
    series: &Series,
    bins: &[LockSeries],
) -> Vec<LockTarget> {
    let mut targets: Vec<LockTarget> = sums
        .targets
        .iter()
        .filter(|(_, TargetSum { sums, .. })| {
            sums.kinds() != ConflictKinds::default()
                || sums.enqueues > 0
                || sums.blocking_asts + sums.completion_asts + sums.glimpse_asts > 0
        })
        .map(|(&(node_symbol, name), sum)| {
            let (target, node) = (name.to_string(), symbols.text(node_symbol));
            let evidence = tier(sums, node_symbol);
            let dlm = evidence == LockEvidence::Dlmtrace;
            let contended_s = seconds(sum.contended.total_us());
            let (bandwidth_contended, bandwidth_uncontended) = bandwidths(&target, &node, series, bins);
            LockTarget {
                evidence,
                totals: sum.sums.totals(dlm),
                contended_s,
                contended_share: if window.duration_s > 0.0 { (contended_s / window.duration_s).min(1.0) } else { 0.0 },
                bandwidth_contended,
                bandwidth_uncontended,
                wait_us: sum.wait.distribution(),
                release_us: sum.release.distribution(),
                blocking_ast_us: sum.blocking_ast.distribution(),
                flushed_bytes: dlm.then_some(sum.sums.flushed_bytes),
                target,
                node,
            }
        })
        .collect();
    targets.sort_by(|a, b| {
        b.totals.conflicts.cmp(&a.totals.conflicts).then_with(|| (&a.target, &a.node).cmp(&(&b.target, &b.node)))
    });
    targets
}

/// Bytes per second in bins in which a client waited, and in other bins with traffic.
fn bandwidths(target: &str, node: &str, series: &Series, bins: &[LockSeries]) -> (Option<f64>, Option<f64>) {
    let Some(io) = series.targets.iter().find(|s| s.name.as_deref() == Some(target) && s.node == node) else {
        return (None, None);
    };
    let waiting = bins.iter().find(|s| s.target == target && s.node == node);
    let (mut contended, mut free) = ((0u64, 0u32), (0u64, 0u32));
    for bin in 0..series.bins {
        let bytes = io.read_bytes[bin] + io.write_bytes[bin];
        if waiting.is_some_and(|s| s.waiting[bin] > 0.0) {
            contended = (contended.0 + bytes, contended.1 + 1);
        } else if bytes > 0 {
            free = (free.0 + bytes, free.1 + 1);
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a rate needs no more than 52 bits")]
    let rate = |(bytes, bins): (u64, u32)| (bins > 0).then(|| bytes as f64 / (f64::from(bins) * series.bin_s));
    (rate(contended), rate(free))
}

fn objects(sums: &LockSums, symbols: &Symbols, window: Window, kind: impl Fn(TargetKind) -> bool) -> Vec<LockObject> {
    let mut order: Vec<(&ObjectKey, &ObjectLocks)> =
        sums.objects.iter().filter(|(key, _)| kind(key.target.kind())).collect();
    order.sort_by(|(a_key, a), (b_key, b)| {
        b.weight().cmp(&a.weight()).then_with(|| {
            (a_key.target, a_key.resource, symbols.bytes(a_key.node)).cmp(&(
                b_key.target,
                b_key.resource,
                symbols.bytes(b_key.node),
            ))
        })
    });
    order.truncate(TOP_OBJECTS);
    order
        .into_iter()
        .enumerate()
        .map(|(rank, (key, object))| self::object(rank, key, object, symbols, window))
        .collect()
}

/// The object or file that a resource of a target stands for.
pub(crate) fn fid_of(target: TargetName, resource: ResourceId) -> Option<Fid> {
    match target.kind() {
        TargetKind::Ost => Some(resource.to_ost_fid(target.index())),
        _ => resource.to_fid(),
    }
}

fn object(rank: usize, key: &ObjectKey, object: &ObjectLocks, symbols: &Symbols, window: Window) -> LockObject {
    let known = |count: u64| (!key.inferred).then_some(count);
    let names = |clients: &mut dyn Iterator<Item = Symbol>| {
        let mut names: Vec<String> = clients.map(|client| symbols.text(client)).collect();
        names.sort();
        names
    };
    let fid = fid_of(key.target, key.resource);
    // Held beyond the end of the log: nobody knows what came then.
    let span = |&(start, end): &(i64, i64)| Interval { start: seconds(start), end: seconds(end).min(window.end) };
    LockObject {
        target: key.target.to_string(),
        node: symbols.text(key.node),
        resource: (!key.inferred).then(|| key.resource.to_string()),
        fid: fid.map(|fid| fid.to_string()),
        inferred: key.inferred,
        conflicts: object.conflicts,
        true_conflicts: known(object.true_conflicts),
        expansion_conflicts: known(object.expansion_conflicts),
        unclassified_conflicts: known(object.unclassified_conflicts),
        alternations: object.owners.alternations,
        mean_run: mean_run(object.owners.grants, object.owners.alternations),
        clients: names(&mut object.clients.iter().copied()),
        wait_s: summed_seconds(object.wait_us),
        wait_us: object.wait.distribution(),
        ping_pong: !object.owners.fights().is_empty(),
        episodes: object
            .owners
            .fights()
            .iter()
            .map(|fight| Episode {
                start: seconds(fight.start_us),
                end: seconds(fight.end_us),
                alternations: fight.alternations,
                clients: fight.clients.len() as u64,
            })
            .collect(),
        contended: object.contended.intervals.iter().map(span).collect(),
        kernel: object.kernel,
        timeline: (rank < TOP_TIMELINES && !key.inferred).then(|| timeline(&object.timeline, symbols)),
    }
}

/// Grants in a row to the same client.
#[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 52 bits")]
fn mean_run(grants: u64, alternations: u64) -> f64 {
    if grants == 0 { 0.0 } else { grants as f64 / alternations.max(1) as f64 }
}

fn timeline(track: &Track, symbols: &Symbols) -> Timeline {
    let mut holds: Vec<_> = track.holds.iter().collect();
    holds.sort_by_key(|hold| (hold.start_us, hold.end_us, hold.granted, hold.requested));
    let mut waits: Vec<_> = track.waits.iter().collect();
    waits.sort_by_key(|wait| (wait.start_us, wait.end_us, wait.requested));
    Timeline {
        holds: holds
            .into_iter()
            .map(|hold| Hold {
                nid: symbols.text(hold.client),
                mode: hold.mode.to_string(),
                start: hold.start_us.map(seconds),
                end: hold.end_us.map(seconds),
                first_byte: hold.granted.start,
                last_byte: hold.granted.end,
                requested_first_byte: hold.requested.start,
                requested_last_byte: hold.requested.end,
            })
            .collect(),
        waits: waits
            .into_iter()
            .map(|wait| Wait {
                nid: symbols.text(wait.client),
                start: seconds(wait.start_us),
                end: wait.end_us.map(seconds),
                first_byte: wait.requested.start,
                last_byte: wait.requested.end,
            })
            .collect(),
        blocking_asts: track.blocking_asts.iter().map(|&(us, nid)| (seconds(us), symbols.text(nid))).collect(),
        truncated: track.truncated,
    }
}

fn pairs(sums: &LockSums, symbols: &Symbols, kind: impl Fn(TargetKind) -> bool) -> Vec<LockPair> {
    let dlm = sums.evidence.values().all(|tier| *tier == LockEvidence::Dlmtrace);
    let mut pairs: BTreeMap<(String, String, String), LockPairSums> = BTreeMap::new();
    let fight = |sum: &LockPairSums| sum.conflicts + sum.handovers > 0;
    let of_kind = sums.pairs.iter().filter(|(pair, sum)| kind(pair.target.kind()) && fight(sum));
    for (&PairKey { target, holder, waiter }, sum) in of_kind {
        pairs.insert((target.to_string(), symbols.text(holder), symbols.text(waiter)), *sum);
    }
    let mut rows: Vec<LockPair> = pairs
        .into_iter()
        .map(|((target, holder_nid, waiter_nid), sum)| LockPair {
            target,
            holder_nid,
            waiter_nid,
            conflicts: sum.conflicts,
            true_conflicts: dlm.then_some(sum.true_conflicts),
            expansion_conflicts: dlm.then_some(sum.expansion_conflicts),
            handovers: sum.handovers,
            wait_s: summed_seconds(sum.wait_us),
        })
        .collect();
    // Stable: equal ones stay in the order of their names.
    rows.sort_by_key(|pair| std::cmp::Reverse((pair.conflicts.max(pair.handovers), pair.handovers)));
    rows.truncate(TOP_PAIRS);
    rows
}

fn glimpses(sums: &LockSums, symbols: &Symbols) -> Vec<Glimpses> {
    let asked = sums.pairs.iter().filter(|(pair, sum)| is_ost(pair.target.kind()) && sum.glimpses > 0);
    let mut rows: Vec<Glimpses> = asked
        .map(|(&PairKey { target, holder, waiter }, sum)| Glimpses {
            target: target.to_string(),
            holder_nid: symbols.text(holder),
            waiter_nid: symbols.text(waiter),
            callbacks: sum.glimpses,
            wait_s: summed_seconds(sum.glimpse_wait_us),
        })
        .collect();
    let name = |it: &Glimpses| (it.target.clone(), it.holder_nid.clone(), it.waiter_nid.clone());
    rows.sort_by(|a, b| b.wait_s.total_cmp(&a.wait_s).then_with(|| name(a).cmp(&name(b))));
    rows.truncate(TOP_PAIRS);
    rows
}

fn jobs(sums: &LockSums, symbols: &Symbols, dlm: bool) -> Vec<LockJob> {
    let mut jobs: Vec<(u64, LockJob)> = sums
        .jobs
        .iter()
        .filter(|(_, sum)| sum.blocked > 0)
        .map(|(job, sum)| {
            let row = LockJob {
                job: job.map(|job| symbols.text(job)),
                enqueues: dlm.then_some(sum.enqueues),
                blocked: sum.blocked,
                wait_s: summed_seconds(sum.wait_us),
            };
            (sum.wait_us, row)
        })
        .collect();
    jobs.sort_by(|(a_us, a), (b_us, b)| b_us.cmp(a_us).then_with(|| a.job.cmp(&b.job)));
    jobs.into_iter().map(|(_, job)| job).collect()
}
