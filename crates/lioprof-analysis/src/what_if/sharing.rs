//! How much of a disk or a link each part of a request took.
//!
//! A part that is one of n at a resource gets the nth part of it (processor sharing), so its work is the time that it took, each moment
//! divided by how many there were. A disk may also take one after the other (`turns.rs`); then its work is the time since the one before
//! was over. With fewer at the resource it is over sooner, with more later; the resource as a whole is as fast as it was seen to be.

use super::instant::Instant;
use super::model::Sharing;
use super::plan::{AFTER, BEFORE, Plan, Step, TRANSFER};
use super::turns;

/// Reads and writes of up to so many bytes have no transfer of their own ("short I/O").
pub(super) const INLINE_BYTES: u32 = 16_384;

/// Turns the time that each part took into its work.
pub(super) fn to_work(plan: &mut Plan, transfer: Sharing) {
    let mut moments: Vec<Moment> = Vec::new();
    let mut turns = turns::Turns::new(plan.places);
    for (number, step) in plan.steps.iter().enumerate().filter(|(_, step)| step.kind.uses_disk()) {
        let mut from_us = step.arrival_us + step.queue_us;
        for part in [BEFORE, TRANSFER, AFTER] {
            let to_us = from_us + step.work_us[part];
            if let Some(resource) = resource(plan, step, part, transfer).filter(|_| to_us > from_us) {
                moments.push(Moment::new(resource, from_us, true, number, part));
                moments.push(Moment::new(resource, to_us, false, number, part));
                // The other one of the two takes next to nothing, and falls between the turns.
                if part != TRANSFER && 2.0 * step.work_us[part] >= step.disk_us() {
                    turns.add(resource, turns::Turn { from_us, to_us, number, part });
                }
            }
            from_us = to_us;
        }
    }
    moments.sort_unstable_by_key(|moment| (moment.resource, moment.at));
    let (mut of_resource, mut under_way, mut progress_us, mut last_us) = (usize::MAX, 0u32, 0.0, 0.0);
    for moment in moments {
        if moment.resource != of_resource {
            (of_resource, under_way, progress_us, last_us) = (moment.resource, 0, 0.0, moment.at.us());
        }
        if under_way > 0 {
            progress_us += (moment.at.us() - last_us) / f64::from(under_way);
        }
        last_us = moment.at.us();
        let work_us = &mut plan.steps[moment.number].work_us[moment.part];
        if moment.starts {
            // Until its end, the progress of the resource at its start.
            *work_us = progress_us;
            under_way += 1;
        } else {
            *work_us = progress_us - *work_us;
            under_way -= 1;
        }
    }
    turns.take_if_better(plan);
}

struct Moment {
    resource: usize,
    at: Instant,
    starts: bool,
    number: usize,
    part: usize,
}

impl Moment {
    /// Ends come before starts of the same time.
    fn new(resource: usize, at_us: f64, starts: bool, number: usize, part: usize) -> Self {
        let order = u64::from(starts) << 63 | (number as u64) << 2 | part as u64;
        Self { resource, at: Instant::new(at_us, order), starts, number, part }
    }
}

/// Number of the resource that a part of a step shares: disks first, then links. `None`: it has one for itself.
pub(super) fn resource(plan: &Plan, step: &Step, part: usize, transfer: Sharing) -> Option<usize> {
    if !step.kind.uses_disk() {
        return None;
    }
    if part != TRANSFER {
        return Some(step.place);
    }
    let link = match transfer {
        Sharing::Nobody => return None,
        Sharing::Client => step.stream,
        Sharing::Node => step.node,
        Sharing::Everybody => 0,
    };
    Some(plan.places + link)
}

/// How many such resources there are.
pub(super) fn resources(plan: &Plan) -> usize {
    plan.places + plan.streams.max(plan.nodes).max(1)
}
