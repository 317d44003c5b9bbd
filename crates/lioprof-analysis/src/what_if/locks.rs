//! Nobody waits for a lock that another client has.

use std::collections::{BTreeMap, BTreeSet};

use lioprof_stats::united;

use super::model::Lean;
use super::order::{quantile, sorted};
use super::plan::Plan;
use super::rests::Rests;
use super::run::{Kind, Run};

/// Takes clients' waits for locks out of their pauses, and the requests for locks that there would not be: who need not give a lock of a
/// target back asks once. `lean`: whether those stay, and how much of the pauses around each is for it.
pub(super) fn no_waits(plan: &mut Plan, run: &Run, lean: Lean) {
    let waits = waits_by_client(run);
    let fights = fights(run);
    let pauses = pauses(plan, lean);
    let rests = Rests::of(plan);
    let mut asked: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut is_gone = vec![false; plan.steps.len()];
    for (number, step) in plan.steps.iter().enumerate().filter(|(_, step)| step.kind == Kind::LockRequest) {
        // Without its target's name, such a request is on no target that anybody fights for.
        let is_same = |place: usize| place == step.place || run.places[step.place].target.is_none();
        let party = fights.iter().find(|((client, place), (from_us, to_us))| {
            *client == step.client && is_same(*place) && step.arrival_us <= *to_us && *from_us <= step.end_us
        });
        is_gone[number] = party.is_some_and(|(&party, _)| !asked.insert(party)) && lean != Lean::Least;
    }
    for number in 0..plan.steps.len() {
        let step = &plan.steps[number];
        let waited_us = overlap(&waits[step.client], step.arrival_us - step.think_us, step.arrival_us);
        let after_gone = step.link.enabler.is_some_and(|enabler| is_gone[enabler]);
        let step = &mut plan.steps[number];
        step.think_us = (step.think_us - waited_us).max(0.0);
        let is_rest = rests.are_before(step);
        if after_gone && !is_rest {
            // The pause between grant and first use disappears as well.
            step.think_us = (step.think_us - pauses[step.client]).max(0.0);
        }
        if step.kind == Kind::LockRequest {
            let waited_us = overlap(&waits[step.client], step.arrival_us, step.end_us);
            step.work_us[0] = (step.work_us[0] - waited_us).max(0.0);
        }
        if is_gone[number] {
            // The pause before it is the program's, or the client was busy with giving the lock back: what was written under it goes out first.
            if lean == Lean::Most && !is_rest {
                step.think_us = 0.0;
            }
            step.work_us = [0.0; 3];
            step.queue_us = 0.0;
        }
    }
}

/// From the beginning of a client's first wait for locks of a place to the end of its last one, µs since the first arrival. What it asks
/// for before and after has nothing to do with the others.
fn fights(run: &Run) -> BTreeMap<(usize, usize), (f64, f64)> {
    let mut fights: BTreeMap<(usize, usize), (f64, f64)> = BTreeMap::new();
    for wait in &run.waits {
        let [from_us, to_us] = [wait.from_us, wait.to_us].map(|us| run.since_first(us));
        let fight = fights.entry((wait.client, wait.place)).or_insert((from_us, to_us));
        *fight = (fight.0.min(from_us), fight.1.max(to_us));
    }
    fights
}

/// When each client waited, sorted and without overlaps, µs since the first arrival.
fn waits_by_client(run: &Run) -> Vec<Vec<(f64, f64)>> {
    let mut waits: Vec<Vec<(f64, f64)>> = vec![Vec::new(); run.clients.len()];
    for wait in &run.waits {
        waits[wait.client].push((run.since_first(wait.from_us), run.since_first(wait.to_us)));
    }
    waits.into_iter().map(united).collect()
}

/// How much of the spans lies within `[from, to]`.
fn overlap(spans: &[(f64, f64)], from_us: f64, to_us: f64) -> f64 {
    let first = spans.partition_point(|span| span.1 <= from_us);
    let within = spans[first..].iter().take_while(|span| span.0 < to_us);
    within.map(|span| span.1.min(to_us) - span.0.max(from_us)).sum()
}

/// What of each client's pause after a lock request goes with it: the way there and back again, or all of it.
fn pauses(plan: &Plan, lean: Lean) -> Vec<f64> {
    if lean == Lean::Most {
        return vec![f64::INFINITY; plan.streams];
    }
    let mut pauses: Vec<Vec<f64>> = vec![Vec::new(); plan.streams];
    for step in plan.steps.iter().filter(|step| step.kind.is_waited_for() && step.link.enabler.is_some()) {
        pauses[step.client].push(step.think_us);
    }
    pauses.into_iter().map(|pauses| quantile(&sorted(pauses), 5)).collect()
}
