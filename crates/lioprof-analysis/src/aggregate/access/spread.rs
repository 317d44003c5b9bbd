//! Momentary pictures: how many requests each OST has, at equal distances of time.
//!
//! Means over time bins would not do: OSTs that are busy one after the other look busy all the time. Pictures of
//! several servers can be laid over each other, because they are taken at multiples of a common step.

use lioprof_model::Spread;
use lioprof_model::units::seconds;
use lustre_debuglog::TargetName;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Pictures kept; with more, every second one is given up.
const MAX_PICTURES: usize = 1024;
/// Distance of pictures at the start.
const FIRST_STEP_US: i64 = 125;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pictures {
    step_us: i64,
    targets: Vec<TargetName>,
    /// The place of each in that list.
    places: FxHashMap<TargetName, usize>,
    /// Requests of each target, by its place, by the picture's number.
    taken: FxHashMap<i64, Vec<u32>>,
}

impl Default for Pictures {
    fn default() -> Self {
        Self { step_us: FIRST_STEP_US, targets: Vec::new(), places: FxHashMap::default(), taken: FxHashMap::default() }
    }
}

impl Pictures {
    /// Requests that the pictures show, by the picture's number and target.
    pub(super) fn taken(&self) -> impl Iterator<Item = (i64, TargetName, u64)> {
        self.taken.iter().flat_map(move |(&number, requests)| {
            let of_targets = self.targets.iter().zip(requests).filter(|(_, count)| **count > 0);
            of_targets.map(move |(&target, &count)| (number, target, u64::from(count)))
        })
    }

    /// Adds to a picture that was taken before.
    pub(super) fn put(&mut self, number: i64, target: TargetName, requests: u64) {
        let place = self.place(target);
        let sum = self.at(number, place);
        *sum = sum.saturating_add(u32::try_from(requests).unwrap_or(u32::MAX));
    }

    fn place(&mut self, target: TargetName) -> usize {
        *self.places.entry(target).or_insert_with(|| {
            self.targets.push(target);
            self.targets.len() - 1
        })
    }

    /// The requests of a target in a picture.
    fn at(&mut self, number: i64, place: usize) -> &mut u32 {
        let requests = self.taken.entry(number).or_default();
        if requests.len() <= place {
            requests.resize(self.targets.len(), 0);
        }
        &mut requests[place]
    }

    /// A request that was there from arrival to end.
    pub(super) fn add(&mut self, target: TargetName, arrival_us: i64, end_us: i64) {
        // This request alone would exceed the limit of snapshots: double the interval.
        while (end_us - arrival_us) / self.step_us > i64::try_from(MAX_PICTURES).unwrap_or(i64::MAX) {
            self.thin_out();
        }
        let mut number = arrival_us.div_euclid(self.step_us) + 1;
        if number * self.step_us > end_us {
            return;
        }
        let place = self.place(target);
        while number * self.step_us <= end_us {
            *self.at(number, place) += 1;
            if self.taken.len() > MAX_PICTURES {
                // The numbers change, and of those still to come every second one counts.
                self.thin_out();
                number = number.div_euclid(2) + 1;
            } else {
                number += 1;
            }
        }
    }

    /// Doubles the distance.
    fn thin_out(&mut self) {
        self.step_us *= 2;
        let taken = std::mem::take(&mut self.taken);
        let even = taken.into_iter().filter(|(number, _)| number % 2 == 0);
        self.taken = even.map(|(number, requests)| (number / 2, requests)).collect();
    }

    pub(super) fn merge(&mut self, mut other: Self) {
        while self.step_us < other.step_us {
            self.thin_out();
        }
        while other.step_us < self.step_us {
            other.thin_out();
        }
        for (number, target, count) in other.taken() {
            self.put(number, target, count);
        }
        while self.taken.len() > MAX_PICTURES {
            self.thin_out();
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "means of counts")]
    pub(super) fn finish(&self) -> Spread {
        let mut loaded: u64 = 0;
        let (mut in_flight, mut busy) = (0, 0);
        let (mut spread, mut chance) = (0.0, 0.0);
        let mut long_run: FxHashMap<TargetName, u64> = FxHashMap::default();
        for (_, target, count) in self.taken() {
            *long_run.entry(target).or_default() += count;
        }
        let targets = long_run.len() as f64;
        // In the order of time: sums of fractions depend on the order.
        let mut numbers: Vec<i64> = self.taken.keys().copied().collect();
        numbers.sort_unstable();
        for requests in numbers.iter().filter_map(|number| self.taken.get(number)) {
            let counts = requests.iter().map(|count| u64::from(*count));
            let sum: u64 = counts.clone().sum();
            if sum < 2 {
                continue;
            }
            loaded += 1;
            in_flight += sum;
            busy += counts.clone().filter(|count| *count > 0).count() as u64;
            spread += effective(counts);
            chance += sum as f64 * targets / (targets + sum as f64 - 1.0);
        }
        let mean = |sum: f64| (loaded > 0).then(|| sum / loaded as f64);
        Spread {
            step_s: seconds(self.step_us),
            pictures: self.taken.len() as u64,
            loaded_pictures: loaded,
            targets: long_run.len() as u64,
            mean_in_flight: mean(in_flight as f64),
            mean_busy_targets: mean(busy as f64),
            mean_spread: mean(spread),
            chance_spread: mean(chance),
            long_run_spread: (loaded > 0).then(|| effective(long_run.into_values())),
        }
    }
}

/// The effective number of targets: whole squared by the sum of squares.
#[expect(clippy::cast_precision_loss, reason = "counts of requests")]
fn effective(counts: impl Iterator<Item = u64>) -> f64 {
    let (mut sum, mut squares) = (0u64, 0u64);
    for count in counts {
        sum += count;
        squares += count * count;
    }
    if squares == 0 { 0.0 } else { (sum as f64).powi(2) / squares as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ost(index: u16) -> TargetName {
        TargetName::parse_bytes(format!("lustre-OST{index:04x}").as_bytes()).unwrap()
    }

    fn close(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < 0.05)
    }

    #[test]
    fn one_after_the_other_is_not_all_at_once() {
        let (mut turns, mut even) = (Pictures::default(), Pictures::default());
        for round in 0..1000 {
            for request in 0..4u16 {
                let start_us = round * 10_000;
                turns.add(ost(u16::try_from(round % 4).unwrap()), start_us, start_us + 9_999);
                even.add(ost(request), start_us, start_us + 9_999);
            }
        }
        let (turns, even) = (turns.finish(), even.finish());
        assert!(close(turns.mean_spread, 1.0) && close(turns.long_run_spread, 4.0), "{turns:?}");
        assert!(close(even.mean_spread, 4.0) && close(even.chance_spread, 16.0 / 7.0), "{even:?}");
        assert_eq!((turns.targets, even.targets), (4, 4));
        assert!(turns.pictures <= 1024 && turns.pictures > 400, "{turns:?}");
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        let (mut whole, mut first, mut second) = (Pictures::default(), Pictures::default(), Pictures::default());
        for request in 0..5_000i64 {
            let (start_us, end_us) = (request * 700, request * 700 + 3_000 + request % 7 * 1_000);
            let target = ost(u16::try_from(request % 3).unwrap());
            whole.add(target, start_us, end_us);
            if request % 2 == 0 { &mut first } else { &mut second }.add(target, start_us, end_us);
        }
        first.merge(second);
        assert_eq!(first.finish(), whole.finish());
    }
}
