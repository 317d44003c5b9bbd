//! Nobody waits for a lock that another client has.

use std::collections::BTreeSet;

use super::model::Lean;
use super::order::{quantile, sorted};
use super::plan::Plan;
use super::run::{Kind, Run};

/// Takes clients' waits for locks out of their pauses, and the requests for locks that there would not be: who need not give a lock of a
/// target back asks once. `lean`: whether those stay, and how much of the pauses around each is for it.
pub(super) fn no_waits(plan: &mut Plan, run: &Run, lean: Lean) {
    let waits = waits_by_client(run);
    let fought: BTreeSet<(usize, usize)> = run.waits.iter().map(|wait| (wait.client, wait.place)).collect();
    let pauses = pauses(plan, lean);
    let mut asked: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut is_gone = vec![false; plan.steps.len()];
    for (number, step) in plan.steps.iter().enumerate().filter(|(_, step)| step.kind == Kind::LockRequest) {
        // Without its target's name, such a request is on no target that anybody fights for.
        let party = fought.iter().find(|(client, place)| {
            *client == step.client && (*place == step.place || run.places[step.place].target.is_none())
        });
        is_gone[number] = party.is_some_and(|&party| !asked.insert(party)) && lean != Lean::Least;
    }
    for number in 0..plan.steps.len() {
        let step = &plan.steps[number];
        let waited_us = overlap(&waits[step.client], step.arrival_us - step.think_us, step.arrival_us);
        let after_gone = step.link.enabler.is_some_and(|enabler| is_gone[enabler]);
        let step = &mut plan.steps[number];
        step.think_us = (step.think_us - waited_us).max(0.0);
        if after_gone {
            // Nor is there the pause between the lock and what it is for.
            step.think_us = (step.think_us - pauses[step.client]).max(0.0);
        }
        if step.kind == Kind::LockRequest {
            let waited_us = overlap(&waits[step.client], step.arrival_us, step.end_us);
            step.work_us[0] = (step.work_us[0] - waited_us).max(0.0);
        }
        if is_gone[number] {
            // The pause before it is the program's, or the client was busy with giving the lock back: what was written under it goes out first.
            if lean == Lean::Most {
                step.think_us = 0.0;
            }
            step.work_us = [0.0; 3];
            step.queue_us = 0.0;
        }
    }
}

/// When each client waited, sorted and without overlaps, µs since the first arrival.
fn waits_by_client(run: &Run) -> Vec<Vec<(f64, f64)>> {
    let mut waits: Vec<Vec<(f64, f64)>> = vec![Vec::new(); run.clients.len()];
    for wait in &run.waits {
        waits[wait.client].push((run.since_first(wait.from_us), run.since_first(wait.to_us)));
    }
    waits.into_iter().map(united).collect()
}

fn united(mut spans: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    spans.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut united: Vec<(f64, f64)> = Vec::with_capacity(spans.len());
    for (from_us, to_us) in spans {
        match united.last_mut() {
            Some(last) if from_us <= last.1 => last.1 = last.1.max(to_us),
            _ => united.push((from_us, to_us)),
        }
    }
    united
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
