//! Sums over conflicts and waits: mergeable.

use std::collections::BTreeMap;

use lioprof_model::parts::sums::{LockJobSums, LockPairSums};
use lioprof_model::{LockEvidence, LockRules, LockTargetSums, Merge, Symbol};
use lustre_debuglog::{Opcode, ResourceId, TargetName};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::enqueues::EnqueueSums;
use super::heaviest::{ContendedObjects, ContendedPairs, ObjectKey, PairKey};
use super::object::Track;
use super::parties::{Kind, Overlap};
use crate::cells::{Times, Union};
use crate::renumber::renumber_fields;

/// A target of a node.
pub(crate) type TargetOf = (Symbol, TargetName);

/// Which modes collide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Modes {
    WriteWrite,
    ReadWrite,
    Group,
    Other,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct TargetSum {
    pub(crate) sums: LockTargetSums,
    pub(crate) wait: Times,
    pub(crate) release: Times,
    pub(crate) blocking_ast: Times,
    pub(crate) contended: Union,
}

lioprof_model::merge_fields!(TargetSum { sums, wait, release, blocking_ast, contended });

impl TargetSum {
    /// Counts a conflict by who is against whom.
    pub(crate) fn conflict(&mut self, kind: Kind) {
        match kind {
            Kind::Client { .. } => self.sums.client_conflicts += 1,
            Kind::Own => self.sums.own_conflicts += 1,
            Kind::Server => self.sums.server_conflicts += 1,
        }
    }
}

/// Lock contention that the time series has yet to take; bins are made when all is known.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Contention {
    Conflict {
        overlap: Overlap,
        holder: Symbol,
        waiter: Symbol,
        /// `None`: no lock line names it.
        resource: Option<ResourceId>,
    },
    BlockingAst,
    /// A wait of a client that ends now and has lasted this long.
    Wait {
        wait_us: i64,
        client: Symbol,
        job: Option<Symbol>,
    },
}

/// Entries of all timelines, from which on only the heaviest objects keep theirs.
const MAX_ENTRIES: usize = 200_000;

/// Sums of one node or several.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct LockSums {
    pub(crate) evidence: BTreeMap<Symbol, LockEvidence>,
    /// The rules of each node.
    pub(crate) rules: BTreeMap<Symbol, LockRules>,
    pub(crate) targets: FxHashMap<TargetOf, TargetSum>,
    pub(crate) objects: ContendedObjects,
    pub(crate) pairs: ContendedPairs,
    pub(crate) jobs: FxHashMap<Option<Symbol>, LockJobSums>,
    pub(crate) cancels: u64,
    pub(crate) enqueues: EnqueueSums,
    /// Entries of timelines, since these were last cut down.
    pub(super) entries: usize,
    /// What the series still has to take: emptied by the node's driver after each event.
    #[serde(skip)]
    pub(crate) contention: Vec<(i64, TargetName, Contention)>,
}

// Of a node that has ended nobody takes what was left for the series.
renumber_fields!(LockSums { objects, pairs, enqueues } keys { evidence, rules, targets, jobs } without {
    cancels, entries, contention
});

impl LockSums {
    pub(crate) fn target(&mut self, node: Symbol, target: TargetName) -> &mut TargetSum {
        self.targets.entry((node, target)).or_default()
    }

    /// What adds up of a target.
    pub(crate) fn sums_of(&mut self, node: Symbol, target: TargetName) -> &mut LockTargetSums {
        &mut self.target(node, target).sums
    }

    pub(crate) fn pair(&mut self, target: TargetName, holder: Symbol, waiter: Symbol) -> &mut LockPairSums {
        self.pairs.of(PairKey { target, holder, waiter })
    }

    /// The timeline of an object that is known, for one more entry.
    pub(crate) fn timeline(&mut self, key: &ObjectKey) -> Option<&mut Track> {
        self.entries += 1;
        if self.entries > MAX_ENTRIES {
            self.entries = self.objects.keep_timelines();
        }
        self.objects.known(key).map(|object| &mut object.timeline)
    }

    /// Counts a callback that the node sent.
    pub(crate) fn callback(&mut self, node: Symbol, target: TargetName, opcode: Opcode, time_us: i64) {
        let sum = self.sums_of(node, target);
        match opcode {
            Opcode::LDLM_BL_CALLBACK => {
                sum.blocking_asts += 1;
                self.contention.push((time_us, target, Contention::BlockingAst));
            }
            Opcode::LDLM_CP_CALLBACK => sum.completion_asts += 1,
            Opcode::LDLM_GL_CALLBACK => sum.glimpse_asts += 1,
            _ => {}
        }
    }

    /// A request of this client and job got its lock after a wait for another client's; returns how long it took. `ends_us`: the earliest
    /// and the latest moment at which it may have ended.
    pub(crate) fn waited(
        &mut self,
        (node, target): TargetOf,
        (client, job): (Symbol, Option<Symbol>),
        [since_us, until_us]: [i64; 2],
        ends_us: [i64; 2],
    ) -> u64 {
        let lasted = |end_us: i64| u64::try_from(end_us - since_us).unwrap_or(0);
        let wait_us = lasted(until_us);
        let sum = self.target(node, target);
        sum.wait.add(wait_us);
        sum.sums.wait_us += wait_us;
        sum.sums.wait_min_us += lasted(ends_us[0]);
        sum.sums.wait_max_us += lasted(ends_us[1]);
        sum.contended.add(since_us, until_us);
        self.jobs.entry(job).or_default().wait_us += wait_us;
        self.contention.push((until_us, target, Contention::Wait { wait_us: until_us - since_us, client, job }));
        wait_us
    }

    /// A client waited until another one had answered how large a file is.
    pub(crate) fn glimpsed(
        &mut self,
        (node, target): TargetOf,
        (client, job): (Symbol, Option<Symbol>),
        holder: Symbol,
        (wait_us, until_us): (u64, i64),
    ) {
        self.sums_of(node, target).glimpse_wait_us += wait_us;
        let pair = self.pair(target, holder, client);
        pair.glimpses += 1;
        pair.glimpse_wait_us += wait_us;
        let wait_us = i64::try_from(wait_us).unwrap_or(i64::MAX);
        self.contention.push((until_us, target, Contention::Wait { wait_us, client, job }));
    }

    /// Adds another node's sums; both must use the same table of symbols.
    pub(crate) fn merge(&mut self, other: Self) {
        self.evidence.extend(other.evidence);
        self.rules.extend(other.rules);
        self.targets.merge(&other.targets);
        self.objects.extend(other.objects, |mine, theirs| *mine = theirs);
        self.pairs.extend(other.pairs, |mine, theirs| mine.merge(&theirs));
        self.jobs.merge(&other.jobs);
        self.cancels += other.cancels;
        self.enqueues.merge(&other.enqueues);
        self.entries += other.entries;
        self.contention.extend(other.contention);
    }
}
