//! A plan with things otherwise.

use lioprof_model::Change;

use super::locks::no_waits;
use super::model::{Lean, Model, Sharing};
use super::peers::{Subject, as_peers, faster};
use super::placement::{share_work, spread_evenly};
use super::plan::Plan;
use super::replay::count_links;
use super::run::Run;
use super::sizes::{full_size, no_small};

/// The plan with these changes; `None` if one of them means nothing for this log.
pub(super) fn with(plan: &Plan, run: &Run, changes: &[Change], model: Model) -> Option<Plan> {
    let mut plan = plan.clone();
    for change in changes {
        make(&mut plan, run, change, model)?;
    }
    count_links(&mut plan);
    Some(plan)
}

/// Whether it makes a difference how a model leans.
pub(super) fn is_uncertain(change: &Change) -> bool {
    matches!(change, Change::NoLockWaits | Change::FullSize | Change::NoSmall | Change::Writers { .. })
}

/// Whether a model has anything to say of a change.
pub(super) fn is_for(model: Model, change: &Change) -> bool {
    match change {
        // Requests go where none went before, or are of other sizes: what was moved at most limits nothing.
        Change::SpreadEvenly | Change::FullSize => !model.capped,
        // More clients help if links of clients are what limits.
        Change::Writers { .. } => !model.capped && model.transfer == Sharing::Client,
        _ => true,
    }
}

fn make(plan: &mut Plan, run: &Run, change: &Change, model: Model) -> Option<()> {
    let target_number = |target: &String| run.places.iter().position(|place| place.target.as_ref() == Some(target));
    let client_number = |client: &String| run.clients.iter().position(|nid| nid == client);
    match change {
        Change::TargetAsPeers { target } => as_peers(plan, Subject::Place(target_number(target)?)),
        Change::TargetFaster { target, factor } => faster(plan, target_number(target)?, *factor),
        Change::NodeAsPeers { node } => {
            let place = run.places.iter().position(|place| place.node == *node)?;
            as_peers(plan, Subject::Node(run.nodes_of_places()[place]))
        }
        Change::ClientAsPeers { client } => as_peers(plan, Subject::Client(client_number(client)?)),
        Change::SpreadEvenly => spread_evenly(plan, run),
        Change::NoLockWaits | Change::FullSize | Change::NoSmall => {
            // Where there is nothing of the kind, there is nothing to save, and that is an answer.
            leave_out(plan, run, change, model.lean);
            Some(())
        }
        Change::Writers { client, writers } => share_work(plan, client_number(client)?, *writers as usize, model.lean),
    }
}

fn leave_out(plan: &mut Plan, run: &Run, change: &Change, lean: Lean) {
    match change {
        Change::NoLockWaits => no_waits(plan, run, lean),
        Change::FullSize => full_size(plan, lean),
        _ => no_small(plan, lean),
    }
}
