//! The work of each part of a request by a model, from how long it took and what else was under way.

use super::model::{Model, Split};
use super::order::{quantile, sorted};
use super::plan::{BEFORE, Plan, TRANSFER};
use super::run::Run;
use super::sharing;

/// The same plan with works.
pub(super) fn by(plan: &Plan, run: &Run, model: Model) -> Plan {
    let mut plan = plan.clone();
    tell_apart(&mut plan, run, model.split);
    sharing::to_work(&mut plan, model.transfer);
    plan
}

/// Tells transfer and disk apart where the log does not.
fn tell_apart(plan: &mut Plan, run: &Run, split: Split) {
    let is_unknown = |&number: &usize| plan.steps[number].kind.is_bulk() && run.requests[number].parts.is_none();
    let unknown: Vec<usize> = (0..plan.steps.len()).filter(is_unknown).collect();
    if unknown.is_empty() {
        return;
    }
    let transfers: Vec<f64> = match split {
        Split::Seen => transfer_shares(plan, run),
        Split::AllTransfer => vec![1.0; plan.places],
        Split::AllDisk => vec![0.0; plan.places],
    };
    for number in unknown {
        let step = &mut plan.steps[number];
        let service_us = step.work_us[BEFORE];
        // Data of short requests travel with the request itself.
        let inline = split == Split::Seen && run.requests[number].bytes <= sharing::INLINE_BYTES;
        let transfer_us = if inline { 0.0 } else { service_us * transfers[step.place] };
        step.work_us = [0.0, transfer_us, 0.0];
        let part = step.disk_part();
        step.work_us[part] = service_us - transfer_us;
    }
}

/// The share of the transfer in the middle request's service time, by place; without any there, of all places.
fn transfer_shares(plan: &Plan, run: &Run) -> Vec<f64> {
    let mut shares: Vec<Vec<f64>> = vec![Vec::new(); plan.places];
    for (step, request) in plan.steps.iter().zip(&run.requests) {
        let service_us: f64 = step.work_us.iter().sum();
        if step.kind.is_bulk() && request.parts.is_some() && service_us > 0.0 {
            shares[step.place].push(step.work_us[TRANSFER] / service_us);
        }
    }
    let all = quantile(&sorted(shares.iter().flatten().copied()), 50);
    shares.into_iter().map(|shares| if shares.is_empty() { all } else { quantile(&sorted(shares), 50) }).collect()
}
