//! Keeps the truth while a simulation runs.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::World;
use crate::counters::{Counters, ExportCounters, LockCounters, ServiceCounters, TargetCounters, Traffic};

/// Something that counts, at the time of its line in the log.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effect {
    Rpc(RpcEffect),
    Dropped { node: usize, service: &'static str },
    Sent { node: usize, opcode: u16 },
    Lock { target: usize, what: LockEffect },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RpcEffect {
    pub(crate) target: usize,
    pub(crate) mount: usize,
    pub(crate) job: usize,
    pub(crate) service: &'static str,
    pub(crate) opcode: u16,
    /// Bytes of a read or write.
    pub(crate) bytes: Option<u64>,
    pub(crate) wait_us: u64,
    pub(crate) service_us: u64,
}

/// By mount where a client is concerned.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LockEffect {
    Enqueue(usize),
    Granted,
    Blocked,
    Glimpse,
    Local,
    Waited(u64),
    Conflict { asks: usize, holds: usize },
    Cancel(usize),
    BlockingAst(usize),
    CompletionAst(usize),
    GlimpseAst(usize),
    Eviction(usize),
}

#[derive(Default)]
struct TargetAccount {
    all: Traffic,
    mounts: FxHashMap<usize, Traffic>,
    jobs: FxHashMap<usize, Traffic>,
    locks: LockCounters,
}

/// All sums of a run.
pub(crate) struct Account {
    targets: Vec<TargetAccount>,
    services: BTreeMap<(usize, &'static str), ServiceCounters>,
    sent: BTreeMap<(usize, u16), u64>,
    /// Target and job: jobs that counted for the first time since somebody asked.
    new_jobs: Vec<(usize, usize)>,
}

impl Account {
    pub(crate) fn new(targets: usize) -> Self {
        Self {
            targets: (0..targets).map(|_| TargetAccount::default()).collect(),
            services: BTreeMap::new(),
            sent: BTreeMap::new(),
            new_jobs: Vec::new(),
        }
    }

    pub(crate) fn apply(&mut self, world: &World, effect: Effect) {
        match effect {
            Effect::Rpc(rpc) => self.rpc(world, &rpc),
            Effect::Dropped { node, service } => self.services.entry((node, service)).or_default().dropped += 1,
            Effect::Sent { node, opcode } => *self.sent.entry((node, opcode)).or_default() += 1,
            Effect::Lock { target, what } => self.lock(world, target, what),
        }
    }

    fn rpc(&mut self, world: &World, rpc: &RpcEffect) {
        let target = &mut self.targets[rpc.target];
        count(&mut target.all, rpc);
        count(target.mounts.entry(rpc.mount).or_default(), rpc);
        if !world.jobs[rpc.job].is_empty() {
            let job = target.jobs.entry(rpc.job).or_insert_with(|| {
                self.new_jobs.push((rpc.target, rpc.job));
                Traffic::default()
            });
            count(job, rpc);
        }
        let service = self.services.entry((world.targets[rpc.target].node, rpc.service)).or_default();
        service.wait_us.add(rpc.wait_us);
        service.operations_us.entry(rpc.opcode).or_default().add(rpc.service_us);
    }

    fn lock(&mut self, world: &World, target: usize, what: LockEffect) {
        let locks = &mut self.targets[target].locks;
        let nid = |mount: usize| world.nid(mount).to_owned();
        let clients = &mut locks.clients;
        match what {
            LockEffect::Enqueue(mount) => clients.entry(nid(mount)).or_default().enqueues += 1,
            LockEffect::Cancel(mount) => clients.entry(nid(mount)).or_default().cancels += 1,
            LockEffect::BlockingAst(mount) => clients.entry(nid(mount)).or_default().blocking_asts += 1,
            LockEffect::CompletionAst(mount) => clients.entry(nid(mount)).or_default().completion_asts += 1,
            LockEffect::GlimpseAst(mount) => clients.entry(nid(mount)).or_default().glimpse_asts += 1,
            LockEffect::Eviction(mount) => clients.entry(nid(mount)).or_default().evictions += 1,
            LockEffect::Granted => locks.granted += 1,
            LockEffect::Blocked => locks.blocked += 1,
            LockEffect::Glimpse => locks.glimpses += 1,
            LockEffect::Local => locks.local += 1,
            LockEffect::Waited(wait_us) => locks.wait_us.add(wait_us),
            LockEffect::Conflict { asks, holds } => {
                *locks.conflicts.entry((nid(asks), nid(holds))).or_default() += 1;
            }
        }
    }

    /// Targets and jobs that counted for the first time since the last call.
    pub(crate) fn take_new_jobs(&mut self) -> Vec<(usize, usize)> {
        std::mem::take(&mut self.new_jobs)
    }

    /// The sums of one target.
    pub(crate) fn target(&self, world: &World, target: usize) -> TargetCounters {
        target_counters(world, &self.targets[target])
    }

    /// The services of one node.
    pub(crate) fn services(&self, node: usize) -> BTreeMap<&'static str, &ServiceCounters> {
        let services = self.services.iter().filter(|((of, _), _)| *of == node);
        services.map(|((_, name), service)| (*name, service)).collect()
    }

    /// The sums of one node, or of all.
    pub(crate) fn counters(&self, world: &World, node: Option<usize>) -> Counters {
        let mut counters = Counters::default();
        for (target, account) in world.targets.iter().zip(&self.targets) {
            if node.is_none_or(|node| node == target.node) {
                counters.targets.insert(target.name.clone(), target_counters(world, account));
            }
        }
        for ((of, name), service) in &self.services {
            if node.is_none_or(|node| node == *of) {
                counters.services.entry((*name).to_owned()).or_default().merge(service);
            }
        }
        for ((of, opcode), sent) in &self.sent {
            if node.is_none_or(|node| node == *of) {
                *counters.sent.entry(*opcode).or_default() += sent;
            }
        }
        counters
    }
}

fn count(traffic: &mut Traffic, rpc: &RpcEffect) {
    match (rpc.opcode, rpc.bytes) {
        (super::opcode::OST_READ, Some(bytes)) => traffic.add_read(bytes),
        (super::opcode::OST_WRITE, Some(bytes)) => traffic.add_write(bytes),
        _ => {}
    }
    traffic.operations_us.entry(rpc.opcode).or_default().add(rpc.service_us);
}

fn target_counters(world: &World, account: &TargetAccount) -> TargetCounters {
    let mut exports: BTreeMap<String, ExportCounters> = BTreeMap::new();
    for (mount, traffic) in &account.mounts {
        let export = exports.entry(world.nid(*mount).to_owned()).or_default();
        export.uuids.push(world.mounts[*mount].uuid.clone());
        export.uuids.sort();
        export.traffic.merge(traffic);
    }
    let jobs = account.jobs.iter().map(|(job, traffic)| (world.jobs[*job].clone(), traffic.clone())).collect();
    TargetCounters { traffic: account.all.clone(), exports, jobs, locks: account.locks.clone() }
}
