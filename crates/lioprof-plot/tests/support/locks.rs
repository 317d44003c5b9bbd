//! Made-up lock contention.

use std::collections::BTreeMap;

use lioprof_model::{
    Analysis, ConflictKinds, Hold, LockEvidence, LockObject, LockPair, LockSeries, LockTarget, LockTotals, Locks,
    Timeline, Wait,
};

use super::{Random, distribution, index};

/// Who fights whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fight {
    /// Two clients take turns on one object.
    PingPong,
    /// Everybody against everybody, so many pairs.
    Storm(usize),
    /// The same, but only RPCs tell it.
    Inferred(usize),
    /// A single conflict.
    One,
}

/// Conflicts of one object, ready to be added up.
struct Conflict {
    ost: usize,
    object: usize,
    holder: String,
    waiter: String,
    /// Seconds since start; callback, release, end of the wait.
    start: f64,
    release: f64,
    end: f64,
    /// True, expansion-only.
    overlap: [bool; 2],
    extent: (u64, u64),
}

fn conflicts(fight: Fight, osts: usize, nids: &[String], span: f64) -> Vec<Conflict> {
    let mut random = Random(77);
    let name = |at: usize| nids.get(at).cloned().unwrap_or_else(|| format!("10.10.0.{}@tcp", 11 + at));
    let mut all = Vec::new();
    let (count, pairs) = match fight {
        Fight::PingPong => (60, 1),
        Fight::Storm(pairs) | Fight::Inferred(pairs) => (pairs * 6, pairs),
        Fight::One => (1, 1),
    };
    for i in 0..count {
        let pair = i % pairs;
        let mut some = Random(pair as u64 * 977 + 5);
        let (mut holder, mut waiter) = match fight {
            Fight::PingPong | Fight::One => (0, 1),
            _ => (some.skewed(nids.len()), some.skewed(nids.len())),
        };
        if holder == waiter {
            waiter = (holder + 1) % nids.len().max(2);
        }
        if i / pairs % 2 == 1 || (pairs == 1 && i % 2 == 1) {
            std::mem::swap(&mut holder, &mut waiter);
        }
        let ost = if pairs == 1 { 0 } else { some.skewed(osts) };
        let start = match fight {
            // Within three seconds in the middle.
            Fight::PingPong => span * (0.4 + i as f64 / 1200.0),
            Fight::One => span * 0.5,
            _ => span * (0.2 + 0.6 * (random.unit() + random.unit()) / 2.0),
        };
        let took = span / 60.0 * (0.004 + 0.012 * random.unit() * random.unit());
        let kind = if fight == Fight::PingPong { 1 } else { random.below(10) };
        // Pieces of 1 MiB that take turns.
        let piece = if fight == Fight::PingPong { i as u64 } else { random.below(40) as u64 };
        all.push(Conflict {
            ost,
            object: some.below(3),
            holder: name(holder),
            waiter: name(waiter),
            start,
            release: start + took,
            end: start + took + span / 60.0 * (0.001 + 0.004 * random.unit()),
            overlap: [kind >= 7, (1..7).contains(&kind)],
            extent: (piece << 20, ((piece + 1) << 20) - 1),
        });
    }
    all.sort_by(|a, b| a.start.total_cmp(&b.start));
    all
}

fn totals(some: &[&Conflict], known: bool) -> LockTotals {
    let n = |pick: fn(&Conflict) -> bool| some.iter().filter(|c| pick(c)).count() as u64;
    let all = some.len() as u64;
    let (certain, expansion) = (n(|c| c.overlap[0]), n(|c| c.overlap[1]));
    LockTotals {
        enqueues: known.then_some(all * 2),
        granted_at_once: known.then_some(all),
        blocked: all,
        kinds: ConflictKinds { client: all, own: 0, server: 0 },
        conflicts: all,
        true_conflicts: known.then_some(certain),
        expansion_conflicts: known.then_some(expansion),
        unclassified_conflicts: known.then_some(all - certain - expansion),
        handovers: all,
        blocking_asts: all,
        wait_s: some.iter().map(|c| c.end - c.start).sum(),
        ..LockTotals::default()
    }
}

fn us(some: &[&Conflict], pick: fn(&Conflict) -> f64) -> lioprof_model::Distribution {
    distribution(&mut some.iter().map(|c| index(pick(c) * 1e6)).collect::<Vec<_>>())
}

/// Adds locks to an analysis.
pub(crate) fn add(analysis: &mut Analysis, fight: Fight) {
    let known = !matches!(fight, Fight::Inferred(_));
    let span = analysis.window.end - analysis.window.start;
    let nids: Vec<String> = analysis.clients.iter().map(|c| c.nid.clone()).collect();
    let all = conflicts(fight, analysis.targets.len(), &nids, span);
    let origin = analysis.window.start;
    let mut locks = Locks { totals: totals(&all.iter().collect::<Vec<_>>(), known), ..Locks::default() };
    locks.evidence = if known { LockEvidence::Dlmtrace } else { LockEvidence::Rpctrace };
    // Every tenth server of a storm has no lock lines.
    let blind = |ost: usize| !known || (matches!(fight, Fight::Storm(_)) && ost % 10 == 3);
    let mut by_ost: BTreeMap<usize, Vec<&Conflict>> = BTreeMap::new();
    all.iter().for_each(|c| by_ost.entry(c.ost).or_default().push(c));
    for (ost, mine) in by_ost {
        let target = &analysis.targets[ost];
        if known && blind(ost) {
            locks.evidence = LockEvidence::Mixed;
        }
        let sums = totals(&mine, !blind(ost));
        let waited = sums.wait_s;
        let over_time = series(analysis, &target.name, &mine, blind(ost));
        let [with, without] = bandwidths(analysis, &over_time);
        locks.targets.push(LockTarget {
            target: target.name.clone(),
            node: target.node.clone(),
            evidence: if blind(ost) { LockEvidence::Rpctrace } else { LockEvidence::Dlmtrace },
            totals: sums,
            contended_s: waited.min(span),
            contended_share: (waited / span).min(1.0),
            bandwidth_contended: with,
            bandwidth_uncontended: without,
            wait_us: us(&mine, |c| c.end - c.start),
            release_us: if blind(ost) { us(&[], |_| 0.0) } else { us(&mine, |c| c.release - c.start) },
            blocking_ast_us: us(&mine, |c| (c.release - c.start) / 9.0),
            flushed_bytes: None,
        });
        locks.series.targets.push(over_time);
        for object in 0..3 {
            let some: Vec<&Conflict> = mine.iter().copied().filter(|c| c.object == object).collect();
            if !some.is_empty() {
                locks.objects.push(lock_object(&target.name, object, &some, origin, blind(ost)));
            }
        }
        pairs(&mut locks, &target.name, &mine, blind(ost));
    }
    locks.targets.sort_by_key(|t| std::cmp::Reverse(t.totals.conflicts));
    locks.objects.sort_by_key(|o| std::cmp::Reverse(o.conflicts));
    locks.objects.iter_mut().skip(20).for_each(|o| o.timeline = None);
    locks.pairs.sort_by_key(|p| std::cmp::Reverse(p.conflicts));
    analysis.locks = Some(locks);
}

fn series(analysis: &Analysis, target: &str, mine: &[&Conflict], blind: bool) -> LockSeries {
    let n = analysis.series.bins;
    let zeros = || vec![0; n];
    let mut s = LockSeries {
        target: target.to_owned(),
        node: String::new(),
        conflicts: zeros(),
        true_conflicts: zeros(),
        expansion_conflicts: zeros(),
        blocking_asts: zeros(),
        waiting: vec![0.0; n],
    };
    for conflict in mine {
        let at = (analysis.window.start + conflict.start - analysis.series.start) / analysis.series.bin_s;
        let bin = usize::try_from(index(at.floor())).expect("a small number").min(n - 1);
        s.conflicts[bin] += 1;
        s.blocking_asts[bin] += 1;
        s.true_conflicts[bin] += u64::from(conflict.overlap[0] && !blind);
        s.expansion_conflicts[bin] += u64::from(conflict.overlap[1] && !blind);
        s.waiting[bin] += (conflict.end - conflict.start) / analysis.series.bin_s;
    }
    s
}

/// Bytes per second while a client waited, and otherwise.
fn bandwidths(analysis: &Analysis, locks: &LockSeries) -> [Option<f64>; 2] {
    let mine = analysis.series.targets.iter().find(|t| t.name.as_deref() == Some(&locks.target)).expect("has a series");
    let bytes = mine.read_bytes.iter().zip(&mine.write_bytes).map(|(read, written)| (read + written) as f64);
    let bins: Vec<(f64, bool)> = bytes.zip(locks.waiting.iter().map(|w| *w > 0.0)).collect();
    [true, false].map(|contended| {
        let some: Vec<f64> =
            bins.iter().filter(|b| b.1 == contended && (contended || b.0 > 0.0)).map(|b| b.0).collect();
        (!some.is_empty()).then(|| some.iter().sum::<f64>() / some.len() as f64 / analysis.series.bin_s)
    })
}

fn lock_object(target: &str, object: usize, some: &[&Conflict], origin: f64, blind: bool) -> LockObject {
    let sums = totals(some, !blind);
    let mut clients: Vec<String> = some.iter().flat_map(|c| [c.holder.clone(), c.waiter.clone()]).collect();
    clients.sort();
    clients.dedup();
    let mut timeline = Timeline::default();
    // The first holder has the lock since before the log; the extent that it asked for is that of its last write.
    let mut since = None;
    let mut asked = (0, (1 << 20) - 1);
    for conflict in some {
        timeline.blocking_asts.push((origin + conflict.start, conflict.holder.clone()));
        timeline.holds.push(Hold {
            nid: conflict.holder.clone(),
            mode: "PW".to_owned(),
            start: since,
            end: Some(origin + conflict.release),
            first_byte: 0,
            last_byte: u64::MAX,
            requested_first_byte: asked.0,
            requested_last_byte: asked.1,
        });
        timeline.waits.push(Wait {
            nid: conflict.waiter.clone(),
            start: origin + conflict.start,
            end: Some(origin + conflict.end),
            first_byte: conflict.extent.0,
            last_byte: conflict.extent.1,
        });
        since = Some(origin + conflict.end);
        asked = conflict.extent;
    }
    if let Some(last) = some.last() {
        timeline.holds.push(Hold {
            nid: last.waiter.clone(),
            mode: "PW".to_owned(),
            start: since,
            end: None,
            first_byte: 0,
            last_byte: u64::MAX,
            requested_first_byte: asked.0,
            requested_last_byte: asked.1,
        });
    }
    LockObject {
        target: target.to_owned(),
        node: String::new(),
        resource: (!blind).then(|| format!("[0x{:x}:0x0:0x0].0x0", object + 12)),
        fid: Some(format!("[0x2000{:05x}:0x{:x}:0x0]", 0x401, object + 12)),
        inferred: blind,
        conflicts: sums.conflicts,
        true_conflicts: sums.true_conflicts,
        expansion_conflicts: sums.expansion_conflicts,
        unclassified_conflicts: sums.unclassified_conflicts,
        alternations: sums.conflicts,
        mean_run: 1.0,
        clients,
        wait_s: sums.wait_s,
        wait_us: us(some, |c| c.end - c.start),
        ping_pong: sums.conflicts > 10,
        episodes: Vec::new(),
        contended: Vec::new(),
        kernel: None,
        timeline: (!blind).then_some(timeline),
    }
}

fn pairs(locks: &mut Locks, target: &str, mine: &[&Conflict], blind: bool) {
    let mut pairs: BTreeMap<(&str, &str), LockPair> = BTreeMap::new();
    for conflict in mine {
        let pair = pairs.entry((&conflict.holder, &conflict.waiter)).or_insert_with(|| LockPair {
            target: target.to_owned(),
            holder_nid: conflict.holder.clone(),
            waiter_nid: conflict.waiter.clone(),
            conflicts: 0,
            true_conflicts: (!blind).then_some(0),
            expansion_conflicts: (!blind).then_some(1),
            handovers: 0,
            wait_s: 0.0,
        });
        pair.conflicts += 1;
        pair.handovers += 1;
        pair.wait_s += conflict.end - conflict.start;
    }
    locks.pairs.extend(pairs.into_values());
}
