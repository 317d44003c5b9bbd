//! Locks as tables, and back.

use lioprof_model::parts::Keyed;
use lioprof_model::parts::rollup::{
    self, BlockingAst, LockJobKey, LockObject, LockPairKey, LockSpan, LockTargetKey, LockTimes, NodeFacts, Rollup,
};
use lioprof_model::{LockTargetSums, Merge, Symbol, Symbols};
use lustre_debuglog::{Extent, LockMode, ResourceId};

use super::enqueues;
use super::heaviest::{ObjectKey, PairKey};
use super::object::{Contended, Fight, Held, ObjectLocks, Owners, Track, Waited};
use super::sums::LockSums;
use crate::cells::{Times, Union};
use crate::parts::{BadPart, target_of};

impl LockSums {
    /// Adds everything to the rollup of a node.
    pub(crate) fn export(&self, facts: &mut NodeFacts, symbols: &Symbols, rollup: &mut Rollup) {
        facts.lock_evidence = self.evidence.values().next().copied();
        facts.lock_rules = self.rules.values().next().cloned();
        facts.cancels = self.cancels;
        for (&(node, target), sum) in &self.targets {
            let (node, target) = (symbols.text(node), target.to_string());
            for (span, times) in [
                (LockSpan::Wait, &sum.wait),
                (LockSpan::Release, &sum.release),
                (LockSpan::BlockingAst, &sum.blocking_ast),
            ] {
                let row = |times| LockTimes { node: node.clone(), target: target.clone(), span, times };
                rollup.lock_times.extend(times.buckets().into_iter().map(row));
            }
            let sums = LockTargetSums { contended_us: sum.contended.total_us(), ..sum.sums.clone() };
            rollup.lock_targets.push(Keyed { key: LockTargetKey { node, target }, sums });
        }
        rollup.lock_objects.extend(self.objects.iter().map(|(key, object)| export_object(key, object, symbols)));
        rollup.enqueue_times.extend(enqueues::export(&self.enqueues, &facts.node, symbols));
        let node = || facts.node.clone();
        rollup.lock_pairs.extend(self.pairs.iter().map(|(&PairKey { target, holder, waiter }, &sums)| {
            let [holder, waiter] = [holder, waiter].map(|nid| symbols.text(nid));
            Keyed { key: LockPairKey { node: node(), target: target.to_string(), holder, waiter }, sums }
        }));
        rollup.lock_jobs.extend(self.jobs.iter().map(|(job, sums)| Keyed {
            key: LockJobKey { node: node(), job: job.map(|job| symbols.text(job)) },
            sums: sums.clone(),
        }));
        // By name: the order of hash tables is an accident.
        rollup.lock_targets.sort_by(|a, b| a.key.target.cmp(&b.key.target));
        rollup.lock_times.sort_by(|a, b| (&a.target, a.span, a.times.bucket).cmp(&(&b.target, b.span, b.times.bucket)));
        rollup
            .lock_objects
            .sort_by(|a, b| (&a.target, &a.resource, a.inferred).cmp(&(&b.target, &b.resource, b.inferred)));
        rollup.lock_pairs.sort_by(|a, b| a.key.cmp(&b.key));
        rollup.lock_jobs.sort_by(|a, b| a.key.cmp(&b.key));
    }

    /// The locks of a rollup, `None` if no node looked at locks.
    pub(crate) fn import(
        nodes: &[&NodeFacts],
        rollup: &Rollup,
        symbols: &mut Symbols,
    ) -> Result<Option<Self>, BadPart> {
        let mut sums = Self::default();
        let mut looked_at = false;
        for facts in nodes.iter().filter(|facts| !facts.client) {
            looked_at |= facts.lock_rules.is_some();
            let node = symbols.intern(facts.node.as_bytes());
            sums.evidence.extend(facts.lock_evidence.map(|evidence| (node, evidence)));
            sums.rules.extend(facts.lock_rules.clone().map(|rules| (node, rules)));
            sums.cancels += facts.cancels;
        }
        for row in &rollup.lock_targets {
            let sum = sums.target(symbols.intern(row.key.node.as_bytes()), target_of(&row.key.target)?);
            sum.sums.merge(&LockTargetSums { contended_us: 0, ..row.sums.clone() });
            sum.contended.merge(&Union::of(row.sums.contended_us));
        }
        for row in &rollup.lock_times {
            let sum = sums.target(symbols.intern(row.node.as_bytes()), target_of(&row.target)?);
            match row.span {
                LockSpan::Wait => sum.wait.add_bucket(&row.times),
                LockSpan::Release => sum.release.add_bucket(&row.times),
                LockSpan::BlockingAst => sum.blocking_ast.add_bucket(&row.times),
            }
        }
        enqueues::import(&rollup.enqueue_times, symbols, &mut sums.enqueues)?;
        for row in &rollup.lock_objects {
            let (key, object) = import_object(row, symbols)?;
            sums.objects.extend([(key, object)], |mine, theirs| *mine = theirs);
        }
        for row in &rollup.lock_pairs {
            let [holder, waiter] = [&row.key.holder, &row.key.waiter].map(|nid| symbols.intern(nid.as_bytes()));
            sums.pair(target_of(&row.key.target)?, holder, waiter).merge(&row.sums);
        }
        for row in &rollup.lock_jobs {
            let job = row.key.job.as_ref().map(|job| symbols.intern(job.as_bytes()));
            sums.jobs.entry(job).or_default().merge(&row.sums);
        }
        Ok(looked_at.then_some(sums))
    }
}

fn export_object(key: &ObjectKey, object: &ObjectLocks, symbols: &Symbols) -> LockObject {
    let names = |clients: &mut dyn Iterator<Item = Symbol>| {
        let mut names: Vec<String> = clients.map(|client| symbols.text(client)).collect();
        names.sort();
        names
    };
    LockObject {
        node: symbols.text(key.node),
        target: key.target.to_string(),
        resource: key.resource.0.to_vec(),
        inferred: key.inferred,
        conflicts: object.conflicts,
        true_conflicts: object.true_conflicts,
        expansion_conflicts: object.expansion_conflicts,
        unclassified_conflicts: object.unclassified_conflicts,
        clients: names(&mut object.clients.iter().copied()),
        wait_us: object.wait_us,
        wait: object.wait.buckets(),
        grants: object.owners.grants,
        alternations: object.owners.alternations,
        fights: object
            .owners
            .fights()
            .iter()
            .map(|fight| rollup::Fight {
                start_us: fight.start_us,
                end_us: fight.end_us,
                alternations: fight.alternations,
                clients: names(&mut fight.clients.iter().copied()),
            })
            .collect(),
        contended: object.contended.intervals.clone(),
        kernel: object.kernel,
        holds: object.timeline.holds.iter().map(|hold| export_hold(hold, symbols)).collect(),
        waits: object.timeline.waits.iter().map(|wait| export_wait(wait, symbols)).collect(),
        blocking_asts: object
            .timeline
            .blocking_asts
            .iter()
            .map(|&(time_us, nid)| BlockingAst { time_us, nid: symbols.text(nid) })
            .collect(),
        truncated: object.timeline.truncated,
    }
}

fn export_hold(hold: &Held, symbols: &Symbols) -> rollup::Hold {
    rollup::Hold {
        nid: symbols.text(hold.client),
        mode: hold.mode.to_string(),
        start_us: hold.start_us,
        end_us: hold.end_us,
        granted_start: hold.granted.start,
        granted_end: hold.granted.end,
        requested_start: hold.requested.start,
        requested_end: hold.requested.end,
    }
}

fn export_wait(wait: &Waited, symbols: &Symbols) -> rollup::Wait {
    rollup::Wait {
        nid: symbols.text(wait.client),
        start_us: wait.start_us,
        end_us: wait.end_us,
        requested_start: wait.requested.start,
        requested_end: wait.requested.end,
    }
}

fn import_object(row: &LockObject, symbols: &mut Symbols) -> Result<(ObjectKey, ObjectLocks), BadPart> {
    let resource = <[u64; 4]>::try_from(row.resource.as_slice())
        .map_err(|_| BadPart::new("the four words of a resource's name", format!("{:?}", row.resource)))?;
    let key = ObjectKey {
        node: symbols.intern(row.node.as_bytes()),
        target: target_of(&row.target)?,
        resource: ResourceId(resource),
        inferred: row.inferred,
    };
    let mut wait = Times::default();
    row.wait.iter().for_each(|bucket| wait.add_bucket(bucket));
    let mut symbol = |name: &String| symbols.intern(name.as_bytes());
    let fights = row.fights.iter().map(|fight| Fight {
        start_us: fight.start_us,
        end_us: fight.end_us,
        alternations: fight.alternations,
        clients: fight.clients.iter().map(&mut symbol).collect(),
    });
    let owners = Owners::of(row.grants, row.alternations, fights.collect());
    let mut holds = Vec::with_capacity(row.holds.len());
    for hold in &row.holds {
        holds.push(Held {
            client: symbol(&hold.nid),
            mode: mode(&hold.mode)?,
            start_us: hold.start_us,
            end_us: hold.end_us,
            granted: Extent { start: hold.granted_start, end: hold.granted_end },
            requested: Extent { start: hold.requested_start, end: hold.requested_end },
        });
    }
    let waits = row.waits.iter().map(|wait| Waited {
        client: symbol(&wait.nid),
        start_us: wait.start_us,
        end_us: wait.end_us,
        requested: Extent { start: wait.requested_start, end: wait.requested_end },
    });
    let waits = waits.collect();
    let blocking_asts = row.blocking_asts.iter().map(|ast| (ast.time_us, symbol(&ast.nid))).collect();
    let object = ObjectLocks {
        conflicts: row.conflicts,
        true_conflicts: row.true_conflicts,
        expansion_conflicts: row.expansion_conflicts,
        unclassified_conflicts: row.unclassified_conflicts,
        clients: row.clients.iter().map(&mut symbol).collect(),
        wait_us: row.wait_us,
        wait,
        owners,
        contended: Contended::of(row.contended.clone()),
        kernel: row.kernel,
        timeline: Track { holds, waits, blocking_asts, truncated: row.truncated },
    };
    Ok((key, object))
}

fn mode(text: &str) -> Result<LockMode, BadPart> {
    LockMode::parse_bytes(text.as_bytes()).ok_or_else(|| BadPart::new("a lock mode such as PW", text))
}
