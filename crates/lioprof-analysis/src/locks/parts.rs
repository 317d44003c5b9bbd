//! Locks as tables, and back.

use lioprof_model::parts::rollup::{
    self, BlockingAst, LockJob, LockObject, LockPair, LockSpan, LockTarget, LockTimes, NodeFacts, Rollup,
};
use lioprof_model::{ConflictKinds, Symbol, Symbols};
use lustre_debuglog::{Extent, LockMode, ResourceId};

use super::object::{Contended, Fight, Held, ObjectLocks, Owners, Track, Waited};
use super::sums::{JobLocks, LockSums, ObjectKey, PairSum, TargetSum, Union};
use crate::aggregate::Times;
use crate::parts::{BadPart, target_of};

impl LockSums {
    /// Adds everything to the rollup of a node.
    pub(crate) fn export(&self, facts: &mut NodeFacts, symbols: &Symbols, rollup: &mut Rollup) {
        facts.lock_evidence = self.evidence.values().next().copied();
        facts.lock_rules.clone_from(&self.rules);
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
            rollup.lock_targets.push(export_target(node, target, sum));
        }
        rollup.lock_objects.extend(self.objects.iter().map(|(key, object)| export_object(key, object, symbols)));
        rollup.lock_pairs.extend(self.pairs.iter().map(|(&(target, holder, waiter), sum)| LockPair {
            node: facts.node.clone(),
            target: target.to_string(),
            holder: symbols.text(holder),
            waiter: symbols.text(waiter),
            conflicts: sum.conflicts,
            true_conflicts: sum.true_conflicts,
            expansion_conflicts: sum.expansion_conflicts,
            handovers: sum.handovers,
            wait_us: sum.wait_us,
        }));
        rollup.lock_jobs.extend(self.jobs.iter().map(|(job, sum)| LockJob {
            node: facts.node.clone(),
            job: job.map(|job| symbols.text(job)),
            enqueues: sum.enqueues,
            blocked: sum.blocked,
            wait_us: sum.wait_us,
        }));
        // By name: the order of hash tables is an accident.
        rollup.lock_targets.sort_by(|a, b| a.target.cmp(&b.target));
        rollup.lock_times.sort_by(|a, b| (&a.target, a.span, a.times.bucket).cmp(&(&b.target, b.span, b.times.bucket)));
        rollup
            .lock_objects
            .sort_by(|a, b| (&a.target, &a.resource, a.inferred).cmp(&(&b.target, &b.resource, b.inferred)));
        rollup.lock_pairs.sort_by(|a, b| (&a.target, &a.holder, &a.waiter).cmp(&(&b.target, &b.holder, &b.waiter)));
        rollup.lock_jobs.sort_by(|a, b| a.job.cmp(&b.job));
    }

    /// The locks of a rollup, with its nodes in the order of their names: what each node has once, the last one decides.
    /// `None` if no node looked at locks.
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
            sums.rules = facts.lock_rules.clone().or(sums.rules.take());
            sums.cancels += facts.cancels;
        }
        for row in &rollup.lock_targets {
            let key = (symbols.intern(row.node.as_bytes()), target_of(&row.target)?);
            sums.targets.entry(key).or_default().merge(&import_target(row));
        }
        for row in &rollup.lock_times {
            let sum = sums.target(symbols.intern(row.node.as_bytes()), target_of(&row.target)?);
            match row.span {
                LockSpan::Wait => sum.wait.add_bucket(&row.times),
                LockSpan::Release => sum.release.add_bucket(&row.times),
                LockSpan::BlockingAst => sum.blocking_ast.add_bucket(&row.times),
            }
        }
        for row in &rollup.lock_objects {
            let (key, object) = import_object(row, symbols)?;
            sums.objects.insert(key, object);
        }
        for row in &rollup.lock_pairs {
            let [holder, waiter] = [&row.holder, &row.waiter].map(|nid| symbols.intern(nid.as_bytes()));
            let sum: &mut PairSum = sums.pairs.entry((target_of(&row.target)?, holder, waiter)).or_default();
            sum.conflicts += row.conflicts;
            sum.true_conflicts += row.true_conflicts;
            sum.expansion_conflicts += row.expansion_conflicts;
            sum.handovers += row.handovers;
            sum.wait_us += row.wait_us;
        }
        for row in &rollup.lock_jobs {
            let job = row.job.as_ref().map(|job| symbols.intern(job.as_bytes()));
            let sum: &mut JobLocks = sums.jobs.entry(job).or_default();
            sum.enqueues += row.enqueues;
            sum.blocked += row.blocked;
            sum.wait_us += row.wait_us;
        }
        Ok(looked_at.then_some(sums))
    }
}

fn export_target(node: String, target: String, sum: &TargetSum) -> LockTarget {
    LockTarget {
        node,
        target,
        enqueues: sum.enqueues,
        granted_at_once: sum.granted_at_once,
        blocked: sum.blocked,
        client_conflicts: sum.kinds.client,
        own_conflicts: sum.kinds.own,
        server_conflicts: sum.kinds.server,
        true_conflicts: sum.true_conflicts,
        expansion_conflicts: sum.expansion_conflicts,
        unclassified_conflicts: sum.unclassified_conflicts,
        write_write: sum.write_write,
        read_write: sum.read_write,
        group: sum.group,
        handovers: sum.handovers,
        blocking_asts: sum.blocking_asts,
        completion_asts: sum.completion_asts,
        glimpse_asts: sum.glimpse_asts,
        evictions: sum.evictions,
        callback_timeouts: sum.callback_timeouts,
        wait_us: sum.wait_us,
        open_waits: sum.open_waits,
        unborn_locks: sum.unborn_locks,
        flushed_bytes: sum.flushed_bytes,
        contended_us: sum.contended.total_us(),
    }
}

fn import_target(row: &LockTarget) -> TargetSum {
    TargetSum {
        enqueues: row.enqueues,
        granted_at_once: row.granted_at_once,
        blocked: row.blocked,
        kinds: ConflictKinds { client: row.client_conflicts, own: row.own_conflicts, server: row.server_conflicts },
        true_conflicts: row.true_conflicts,
        expansion_conflicts: row.expansion_conflicts,
        unclassified_conflicts: row.unclassified_conflicts,
        write_write: row.write_write,
        read_write: row.read_write,
        group: row.group,
        handovers: row.handovers,
        blocking_asts: row.blocking_asts,
        completion_asts: row.completion_asts,
        glimpse_asts: row.glimpse_asts,
        evictions: row.evictions,
        callback_timeouts: row.callback_timeouts,
        wait_us: row.wait_us,
        open_waits: row.open_waits,
        unborn_locks: row.unborn_locks,
        wait: Times::default(),
        release: Times::default(),
        blocking_ast: Times::default(),
        flushed_bytes: row.flushed_bytes,
        contended: Union::of(row.contended_us),
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
