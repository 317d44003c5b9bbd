//! What was under way for a client or job: stretch by stretch while there are few of them, then in bins.
//!
//! Of a hundred thousand clients most send a few requests, anywhere in the log: bins would be widened again with nearly every one.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::raster::{Raster, Spent, Stretch};

/// Stretches kept one by one.
const FEW: usize = 32;

/// A stretch of time by itself, in as little room as possible.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Alone {
    from_us: i64,
    us: u32,
    spent: Spent,
}

impl Alone {
    /// `None`: longer than 71 minutes. Whoever adds stretches cuts them at an hour.
    fn new(from_us: i64, to_us: i64, spent: Spent) -> Option<Self> {
        Some(Self { from_us, us: u32::try_from(to_us - from_us).ok()?, spent })
    }

    pub(super) fn spent(self) -> Spent {
        self.spent
    }

    fn to_us(self) -> i64 {
        self.from_us + i64::from(self.us)
    }
}

/// What was under way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum UnderWay {
    Few(Vec<Alone>),
    Many(Raster),
}

impl Default for UnderWay {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl From<Raster> for UnderWay {
    fn from(raster: Raster) -> Self {
        Self::Many(raster)
    }
}

impl UnderWay {
    /// Adds stretches that follow on each other, and what each was spent on.
    pub(super) fn add(&mut self, from_us: i64, stretches: &[Stretch], most_bins: usize) {
        match self {
            Self::Many(raster) => raster.add(from_us, stretches, most_bins),
            Self::Few(few) => {
                let before = few.len();
                let mut at_us = from_us;
                for &Stretch { spent, to_us } in stretches {
                    let to_us = to_us.max(at_us);
                    match Alone::new(at_us, to_us, spent) {
                        Some(alone) if few.len() < FEW => few.push(alone),
                        _ => {
                            few.truncate(before);
                            return self.many(most_bins).add(from_us, stretches, most_bins);
                        }
                    }
                    at_us = to_us;
                }
            }
        }
    }

    /// Adds what another one has; `spent` says what its numbers are here.
    pub(super) fn merge(&mut self, other: Self, spent: impl Fn(Spent) -> Spent, most_bins: usize) {
        match other {
            Self::Many(raster) => self.many(most_bins).merge(raster, spent, most_bins),
            Self::Few(few) => {
                for alone in few {
                    let stretch = Stretch { spent: spent(alone.spent), to_us: alone.to_us() };
                    self.add(alone.from_us, &[stretch], most_bins);
                }
            }
        }
    }

    /// In bins, of which there are no more than this.
    pub(super) fn raster(&self, most_bins: usize) -> Cow<'_, Raster> {
        match self {
            Self::Few(few) => Cow::Owned(in_bins(few, most_bins)),
            Self::Many(raster) if raster.has_more_than(most_bins) => {
                let mut raster = raster.clone();
                raster.limit(most_bins);
                Cow::Owned(raster)
            }
            Self::Many(raster) => Cow::Borrowed(raster),
        }
    }

    /// From now on in bins.
    fn many(&mut self, most_bins: usize) -> &mut Raster {
        if let Self::Few(few) = self {
            *self = Self::Many(in_bins(few, most_bins));
        }
        match self {
            Self::Many(raster) => raster,
            Self::Few(_) => unreachable!("there are many now"),
        }
    }
}

fn in_bins(few: &[Alone], most_bins: usize) -> Raster {
    let first_us = few.iter().map(|alone| alone.from_us).min();
    let last_us = few.iter().map(|alone| alone.to_us()).max();
    let Some((first_us, last_us)) = first_us.zip(last_us) else { return Raster::default() };
    // With bins of the width that will be needed: none is widened.
    let mut raster = Raster::spanning(first_us, last_us, most_bins);
    for alone in few {
        raster.add(alone.from_us, &[Stretch { spent: alone.spent, to_us: alone.to_us() }], most_bins);
    }
    raster
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests of two stretches each, in no order of time, and one that began long ago.
    fn requests(count: i64) -> impl Iterator<Item = (i64, [Stretch; 2])> {
        (0..count).map(|number| {
            let from_us = number * 7_919_003 % 60_000_011;
            let longest = if number == 5 { 5_000_000_000 } else { 40_000 };
            let start_us = from_us + number * 131 % longest;
            let end_us = start_us + if number == 5 { longest } else { number * 17 % 30_000 };
            let spent = Spent::from(number % 3 == 0);
            (from_us, [Stretch { spent: 2, to_us: start_us }, Stretch { spent, to_us: end_us }])
        })
    }

    #[test]
    fn few_are_as_in_bins_from_the_beginning() {
        for count in [0, 1, 3, 16, 17, 200] {
            for most_bins in [2, 64] {
                let mut in_bins = Raster::default();
                let mut whole = UnderWay::default();
                let mut parts = [UnderWay::default(), UnderWay::default()];
                for (number, (from_us, stretches)) in requests(count).enumerate() {
                    in_bins.add(from_us, &stretches, most_bins);
                    whole.add(from_us, &stretches, most_bins);
                    parts[usize::from(number > 10)].add(from_us, &stretches, most_bins);
                }
                in_bins.limit(most_bins);
                let [mut merged, other] = parts;
                merged.merge(other, |spent| spent, most_bins);
                assert_eq!(*whole.raster(most_bins), in_bins, "{count} {most_bins}");
                assert_eq!(*merged.raster(most_bins), in_bins, "{count} {most_bins}");
            }
        }
    }

    #[test]
    fn more_bins_than_there_may_be_now_are_joined() {
        let mut busy = UnderWay::default();
        requests(200).for_each(|(from_us, stretches)| busy.add(from_us, &stretches, 64));
        assert!(busy.raster(64).bins.len() > 2);
        assert!(busy.raster(2).bins.len() <= 2);
    }
}
