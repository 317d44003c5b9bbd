//! Rests of programs: pauses that are so much longer than a client's others that no request of the file system is the reason.
//!
//! A program computes, waits for another job, or somebody starts it again. Whatever requests there would be otherwise, it would rest.

use lioprof_stats::united;

use super::order::{quantile, sorted};
use super::plan::{Plan, Step};
use super::run::Run;

/// Shortest pause that is a rest.
const SHORTEST_US: f64 = 500_000.0;
/// And it is so many times as long as the longest of the client's short pauses ..
const TIMES: f64 = 10.0;
/// .. which these are, in per cent of its pauses. A program that rests before each of its files has many short ones between.
const SHORT: usize = 25;

/// How long nobody had any request that somebody waits for, where that is long enough for a rest.
pub(super) fn of_all_us(run: &Run) -> f64 {
    let waited_for = run.requests.iter().filter(|request| request.kind.is_waited_for());
    let spans = waited_for.map(|request| (run.since_first(request.arrival_us), run.since_first(request.end_us)));
    let busy = united(spans.filter(|(arrival_us, end_us)| arrival_us <= end_us).collect());
    busy.windows(2).map(|pair| pair[1].0 - pair[0].1).filter(|quiet_us| *quiet_us >= SHORTEST_US).sum()
}

/// Who rests when.
pub(super) struct Rests {
    /// The shortest rest of each client, µs.
    from_us: Vec<f64>,
}

impl Rests {
    pub(super) fn of(plan: &Plan) -> Self {
        let mut pauses: Vec<Vec<f64>> = vec![Vec::new(); plan.streams];
        for step in plan.steps.iter().filter(|step| step.kind.is_waited_for() && step.link.enabler.is_some()) {
            pauses[step.client].push(step.think_us);
        }
        let from_us = |pauses: Vec<f64>| (TIMES * quantile(&sorted(pauses), SHORT)).max(SHORTEST_US);
        Self { from_us: pauses.into_iter().map(from_us).collect() }
    }

    /// Whether the client rests before it.
    pub(super) fn are_before(&self, step: &Step) -> bool {
        step.link.enabler.is_some() && step.think_us >= self.from_us[step.client]
    }

    /// Lets those that follow on requests that are gone go out as much later as the client rested before these.
    pub(super) fn keep(&self, plan: &mut Plan) {
        let mut rested_us = vec![0.0; plan.steps.len()];
        for number in 0..plan.steps.len() {
            let step = &plan.steps[number];
            let before_us =
                step.link.enabler.filter(|&enabler| plan.steps[enabler].gone).map_or(0.0, |it| rested_us[it]);
            let own_us = if self.are_before(step) { step.think_us } else { 0.0 };
            if step.gone {
                rested_us[number] = before_us + own_us;
            } else if step.link.barrier_us.is_none() {
                plan.steps[number].think_us += before_us;
            }
        }
    }
}
