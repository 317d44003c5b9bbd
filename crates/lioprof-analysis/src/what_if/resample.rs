//! Chance: the same run with other requests of the same kind in the place of each.

use std::collections::BTreeMap;

use super::plan::Plan;

/// Gives each read and write the works of one drawn from those of its client, target, direction and size. The same draw gives the same.
pub(super) fn resample(plan: &mut Plan, draw: u64) {
    let mut alike: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (number, step) in plan.steps.iter().enumerate().filter(|(_, step)| step.kind.is_bulk()) {
        alike.entry((step.client, step.place, step.kind, step.log2_bytes)).or_default().push(number);
    }
    let works: Vec<[f64; 3]> = plan.steps.iter().map(|step| step.work_us).collect();
    let mut random = draw.wrapping_mul(0xd1b5_4a32_d192_ed03);
    for numbers in alike.values() {
        for &number in numbers {
            let drawn = below(next(&mut random), numbers.len());
            plan.steps[number].work_us = works[numbers[drawn]];
        }
    }
}

/// The next number (splitmix64).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[expect(clippy::cast_possible_truncation, reason = "less than `count`, which is a usize")]
fn below(random: u64, count: usize) -> usize {
    ((u128::from(random) * count as u128) >> 64) as usize
}
