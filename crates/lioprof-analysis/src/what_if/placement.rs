//! Requests elsewhere: evenly on all OSTs, or sent by several clients.

use std::collections::{BTreeMap, BTreeSet};

use super::model::Lean;
use super::order::{quantile, sorted};
use super::plan::{Plan, Step};
use super::run::{Kind, Run};

/// Sends each client's reads, writes and syncs to all OSTs in turn. `None` with fewer than two.
pub(super) fn spread_evenly(plan: &mut Plan, run: &Run) -> Option<()> {
    let osts = run.osts();
    if osts.len() < 2 {
        return None;
    }
    let nodes = run.nodes_of_places();
    // What is synced follows what is written.
    let mut loads = [(); 2].map(|()| Loads::new(osts.len()));
    for step in plan.steps.iter_mut().filter(|step| step.kind.uses_disk() && run.places[step.place].is_ost) {
        let least = loads[usize::from(step.kind.is_bulk())].give(step);
        step.place = osts[least];
        step.node = nodes[step.place];
    }
    Some(())
}

/// Shares a client's reads and writes among this many, each with its own link and its own chain of requests. `lean`: how often they take each
/// other's locks of the objects that they share.
pub(super) fn share_work(plan: &mut Plan, client: usize, clients: usize, lean: Lean) -> Option<()> {
    if clients < 2 {
        return None;
    }
    let others = plan.streams;
    plan.streams += clients - 1;
    let mut loads = Loads::new(clients);
    for step in plan.steps.iter_mut().filter(|step| step.client == client && step.kind.is_bulk()) {
        let least = loads.give(step);
        if least > 0 {
            step.stream = others + least - 1;
        }
    }
    take_locks(plan, client, lean);
    Some(())
}

/// Several that write one object take its lock from each other: a server grants as much of an object as nobody holds. A write that finds
/// none of its object under way then waits until another's is over and the lock has come back. Where many are under way, the client
/// holds the lock for all of them.
fn take_locks(plan: &mut Plan, client: usize, lean: Lean) {
    let lock_us = sorted(
        plan.steps
            .iter()
            .filter(|step| step.client == client && step.kind == Kind::LockRequest)
            .map(|step| step.work_us.iter().sum()),
    );
    let lock_us = quantile(&lock_us, 50);
    let is_write = |step: &Step| step.client == client && step.kind == Kind::Write && step.object != 0;
    let mut writers: BTreeMap<(usize, u32), BTreeSet<usize>> = BTreeMap::new();
    for step in plan.steps.iter().filter(|step| is_write(step)) {
        writers.entry((step.place, step.object)).or_default().insert(step.stream);
    }
    let mut over_us: BTreeMap<(usize, u32), f64> = BTreeMap::new();
    for step in plan.steps.iter_mut().filter(|step| is_write(step)) {
        let object = (step.place, step.object);
        if writers[&object].len() < 2 {
            continue;
        }
        let before_us = over_us.entry(object).or_insert(f64::INFINITY);
        if *before_us <= step.arrival_us {
            step.think_us += lean.share() * (lock_us + step.work_us.iter().sum::<f64>());
        }
        *before_us = if before_us.is_finite() { before_us.max(step.end_us) } else { step.end_us };
    }
}

/// How much each of several has to do. How long requests take differs by what else was under way and by what caches held; whoever gets the
/// next one because all share the work does not get more of it than the others.
struct Loads {
    work_us: Vec<f64>,
}

impl Loads {
    fn new(several: usize) -> Self {
        Self { work_us: vec![0.0; several] }
    }

    /// Gives a step to the first of those who have the least to do.
    fn give(&mut self, step: &Step) -> usize {
        let mut least = 0;
        for number in 1..self.work_us.len() {
            if self.work_us[number] < self.work_us[least] {
                least = number;
            }
        }
        // What takes no time counts as well: in turn, then.
        self.work_us[least] += step.work_us.iter().sum::<f64>().max(1.0);
        least
    }
}
