//! How much a server or a client was seen to move.

use super::order::{quantile, sorted};
use super::plan::{BEFORE, Plan, Step, TRANSFER};
use super::run::Run;

/// No server, no client, nor all together, move more bytes than the most that they moved over twice as long as the middle transfer takes.
pub(super) fn limit(plan: &mut Plan, run: &Run) {
    let transfers: Vec<(usize, usize, Transfer)> = plan
        .steps
        .iter()
        .zip(&run.requests)
        .filter_map(|(step, request)| Some((step.node, step.client, transfer(step, request.parts)?)))
        .collect();
    let window_us =
        2.0 * quantile(&sorted(transfers.iter().map(|(.., transfer)| transfer.to_us - transfer.from_us)), 50);
    if window_us <= 0.0 {
        return;
    }
    let of = |numbers: usize, number: fn(&(usize, usize, Transfer)) -> usize| {
        let mut by_number: Vec<Vec<Transfer>> = vec![Vec::new(); numbers];
        for entry in &transfers {
            by_number[number(entry)].push(entry.2);
        }
        by_number.into_iter().map(|transfers| most(&transfers, window_us)).collect::<Vec<f64>>()
    };
    plan.most_of_all = of(1, |_| 0).first().copied();
    plan.most_of_node = of(plan.nodes, |entry| entry.0);
    plan.most_of_stream = of(plan.streams, |entry| entry.1);
}

/// When bytes moved.
#[derive(Clone, Copy)]
struct Transfer {
    from_us: f64,
    to_us: f64,
    bytes: f64,
}

/// When a bulk request's bytes moved: in its transfer, or while it was in service if the log does not show that.
fn transfer(step: &Step, parts: Option<(u32, u32)>) -> Option<Transfer> {
    if !step.kind.is_bulk() || step.bytes <= 0.0 {
        return None;
    }
    let start_us = step.arrival_us + step.queue_us;
    let (from_us, to_us) = match parts {
        Some((before_us, transfer_us)) => {
            let from_us = start_us + f64::from(before_us);
            (from_us, from_us + f64::from(transfer_us))
        }
        None => (start_us, step.end_us),
    };
    // What is gone has moved nothing, and so has what took no time.
    (to_us > from_us && step.work_us[BEFORE..=TRANSFER].iter().all(|us| us.is_finite())).then_some(Transfer {
        from_us,
        to_us,
        bytes: step.bytes,
    })
}

/// Most bytes per µs over a window that begins where a transfer begins or ends. Each transfer's bytes are spread evenly over its time.
fn most(transfers: &[Transfer], window_us: f64) -> f64 {
    let mut changes: Vec<(f64, f64)> = Vec::with_capacity(2 * transfers.len());
    for Transfer { from_us, to_us, bytes } in transfers {
        let rate = bytes / (to_us - from_us);
        changes.push((*from_us, rate));
        changes.push((*to_us, -rate));
    }
    changes.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    // How many bytes had moved at each change.
    let (mut moved, mut rate, mut last_us) = (0.0, 0.0, 0.0);
    let mut course: Vec<(f64, f64, f64)> = Vec::with_capacity(changes.len());
    for (at_us, change) in changes {
        moved += rate * (at_us - last_us);
        rate = (rate + change).max(0.0);
        last_us = at_us;
        course.push((at_us, moved, rate));
    }
    let (mut most, mut end) = (0.0f64, 0);
    for &(from_us, before, _) in &course {
        let to_us = from_us + window_us;
        while end + 1 < course.len() && course[end + 1].0 <= to_us {
            end += 1;
        }
        let (at_us, moved, rate) = course[end];
        most = most.max((moved + rate * (to_us - at_us).max(0.0) - before) / window_us);
    }
    most
}
