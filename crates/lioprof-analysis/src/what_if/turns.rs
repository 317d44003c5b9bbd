//! Disks that serve one request after the other.
//!
//! The log shows when requests came and went, not what a disk did meanwhile: a bit of each, or one after the other. Requests of the same
//! kind and size take about the same work, so the truer of the two is the one by which they are more alike. It matters where requests
//! move to another disk: of those that a disk took in turn the last ones look dear to whoever thinks that all were served at once.

use std::collections::BTreeMap;

use super::order::{quantile, sorted};
use super::plan::Plan;

/// In turn means that no more than this share of the requests comes later than the next one by more than this share of the time for which
/// that one is there.
const OVERTAKE: f64 = 0.1;
/// So much more alike they have to be.
const CLEARLY: f64 = 0.8;

/// Time that a part of a step was at a disk.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub(super) from_us: f64,
    pub(super) to_us: f64,
    pub(super) number: usize,
    pub(super) part: usize,
}

/// What was at each disk.
pub(super) struct Turns {
    of_place: Vec<Vec<Turn>>,
}

impl Turns {
    pub(super) fn new(places: usize) -> Self {
        Self { of_place: vec![Vec::new(); places] }
    }

    pub(super) fn add(&mut self, place: usize, turn: Turn) {
        self.of_place[place].push(turn);
    }

    /// Replaces the works of a plan at disks where taking turns explains them better.
    pub(super) fn take_if_better(self, plan: &mut Plan) {
        plan.takes_turns = self.of_place.into_iter().map(|turns| take_if_better(turns, plan)).collect();
    }
}

fn take_if_better(mut turns: Vec<Turn>, plan: &mut Plan) -> bool {
    turns.sort_by(|a, b| {
        a.to_us.total_cmp(&b.to_us).then(a.from_us.total_cmp(&b.from_us)).then(a.number.cmp(&b.number))
    });
    let overtakes =
        |earlier: &Turn, later: &Turn| earlier.from_us - later.from_us > OVERTAKE * (later.to_us - later.from_us);
    let overtaken = turns.windows(2).filter(|pair| overtakes(&pair[0], &pair[1])).count();
    #[expect(clippy::cast_precision_loss, reason = "no more than some ten thousand requests")]
    if turns.len() < 2 || overtaken as f64 > OVERTAKE * turns.len() as f64 {
        return false;
    }
    let mut last_us = f64::NEG_INFINITY;
    let in_turn: Vec<f64> = turns
        .iter()
        .map(|turn| {
            let work_us = turn.to_us - turn.from_us.max(last_us);
            last_us = turn.to_us;
            work_us
        })
        .collect();
    let shared: Vec<f64> = turns.iter().map(|turn| plan.steps[turn.number].work_us[turn.part]).collect();
    let better = differ(&turns, &in_turn, plan) < CLEARLY * differ(&turns, &shared, plan);
    if better {
        for (turn, work_us) in turns.iter().zip(in_turn) {
            plan.steps[turn.number].work_us[turn.part] = work_us;
        }
    }
    better
}

/// How much the works of requests of the same kind and size differ from the middle one, in all.
fn differ(turns: &[Turn], works_us: &[f64], plan: &Plan) -> f64 {
    let mut alike: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for (turn, work_us) in turns.iter().zip(works_us) {
        let step = &plan.steps[turn.number];
        alike.entry((step.kind, step.log2_bytes, turn.part)).or_default().push(*work_us);
    }
    let from_middle = |works_us: Vec<f64>| -> f64 {
        let works_us = sorted(works_us);
        let middle_us = quantile(&works_us, 50);
        works_us.iter().map(|work_us| (work_us - middle_us).abs()).sum()
    };
    alike.into_values().map(from_middle).sum()
}
