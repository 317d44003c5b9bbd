//! Requests that the network brought, whether a thread began with them or not.

use serde::{Deserialize, Serialize};

use crate::merge::Merge;

const SECOND_US: i64 = 1_000_000;
/// How long before the last one they are known by the second.
const KEPT_US: i64 = 8 * SECOND_US;

/// How many there were in a part of a log, and how many of them in its last seconds. Parts of one log add up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrivals {
    rpcs: u64,
    /// Those of the last seconds: when each began, microseconds since the epoch, in order.
    last: Vec<(i64, u64)>,
}

impl Arrivals {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rpcs == 0
    }

    /// A request came at this time, microseconds since the epoch.
    #[inline]
    pub fn add(&mut self, time_us: i64) {
        self.rpcs += 1;
        match self.last.last_mut() {
            Some((second_us, rpcs)) if (0..SECOND_US).contains(&time_us.wrapping_sub(*second_us)) => *rpcs += 1,
            _ => self.add_to(time_us.div_euclid(SECOND_US).saturating_mul(SECOND_US), 1),
        }
    }

    #[cold]
    fn add_to(&mut self, second_us: i64, rpcs: u64) {
        match self.last.binary_search_by_key(&second_us, |(at_us, _)| *at_us) {
            Ok(at) => self.last[at].1 += rpcs,
            Err(at) => self.last.insert(at, (second_us, rpcs)),
        }
        let last_us = self.last.last().map_or(i64::MIN, |(at_us, _)| *at_us);
        self.last.retain(|(at_us, _)| *at_us > last_us.saturating_sub(KEPT_US));
    }

    /// How many there were for certain before this time, which is at most some seconds before the last one.
    #[must_use]
    pub fn before(&self, time_us: i64) -> u64 {
        let since = self.last.iter().filter(|(second_us, _)| *second_us > time_us.saturating_sub(SECOND_US));
        self.rpcs - since.map(|(_, rpcs)| rpcs).sum::<u64>()
    }
}

impl Merge for Arrivals {
    fn merge(&mut self, other: &Self) {
        self.rpcs += other.rpcs;
        other.last.iter().for_each(|(second_us, rpcs)| self.add_to(*second_us, *rpcs));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_in_the_last_seconds_is_known_apart() {
        let mut arrivals = Arrivals::default();
        assert!(arrivals.is_empty());
        // One each tenth of a second, not in order.
        (0..200).rev().for_each(|n| arrivals.add(n * SECOND_US / 10));
        assert_eq!(arrivals.before(20 * SECOND_US), 200);
        assert_eq!(arrivals.before(15 * SECOND_US), 150);
        // Of the second that has begun nothing is certain.
        assert_eq!(arrivals.before(15 * SECOND_US + 1), 150);
        assert_eq!(arrivals.before(15 * SECOND_US - 1), 140);
        assert_eq!(arrivals.last.len(), 8);
    }
}
