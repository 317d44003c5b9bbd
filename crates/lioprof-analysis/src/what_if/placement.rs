//! Requests elsewhere: evenly on all OSTs, or sent by several clients.

use super::plan::Plan;
use super::run::Run;

/// Sends each client's reads, writes and syncs to all OSTs in turn. `None` with fewer than two.
pub(super) fn spread_evenly(plan: &mut Plan, run: &Run) -> Option<()> {
    let osts = run.osts();
    if osts.len() < 2 {
        return None;
    }
    let nodes = run.nodes_of_places();
    // Each client begins with another one, as files do. What is synced follows what is written.
    let mut next: Vec<[usize; 2]> = (0..plan.streams).map(|first| [first; 2]).collect();
    for step in plan.steps.iter_mut().filter(|step| step.kind.uses_disk() && run.places[step.place].is_ost) {
        let turn = &mut next[step.stream][usize::from(step.kind.is_bulk())];
        step.place = osts[*turn % osts.len()];
        step.node = nodes[step.place];
        *turn += 1;
    }
    Some(())
}

/// Shares a client's reads and writes among this many, each with its own link and its own chain of requests.
pub(super) fn share_work(plan: &mut Plan, client: usize, clients: usize) -> Option<()> {
    if clients < 2 {
        return None;
    }
    let others = plan.streams;
    plan.streams += clients - 1;
    let mut turn = 0;
    for step in plan.steps.iter_mut().filter(|step| step.client == client && step.kind.is_bulk()) {
        if turn > 0 {
            step.stream = others + turn - 1;
        }
        turn = (turn + 1) % clients;
    }
    Some(())
}
