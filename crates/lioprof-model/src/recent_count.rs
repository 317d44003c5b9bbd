//! How many there were of something, and how many of them when, up to some seconds ago.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::merge::Merge;

/// Moments are known to this, microseconds.
const SLOT_US: i64 = 1_000_000;
/// How long before the last one they are known.
const KEPT_US: i64 = 7_000_000;

/// A count of a part of a log. Parts of one log add up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecentCount {
    /// Those that are in a slot.
    count: u64,
    /// Those of the last seconds: when each slot began, microseconds since the epoch, in order.
    last: VecDeque<(i64, u64)>,
    /// The slot that is counted now, of which none is in `count` yet: each line of a log passes here.
    now: (i64, u64),
}

impl RecentCount {
    /// Whether there was none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count + self.now.1 == 0
    }

    /// One more, at this time, microseconds since the epoch.
    #[inline]
    pub fn add(&mut self, time_us: i64) {
        if !(0..SLOT_US).contains(&time_us.wrapping_sub(self.now.0)) {
            self.begin(time_us);
        }
        self.now.1 += 1;
    }

    /// Begins with another slot.
    #[cold]
    fn begin(&mut self, time_us: i64) {
        self.settle();
        self.now.0 = time_us.div_euclid(SLOT_US).saturating_mul(SLOT_US);
    }

    /// Puts what is counted now to the others.
    fn settle(&mut self) {
        let (slot_us, count) = std::mem::take(&mut self.now);
        if count > 0 {
            self.add_to(slot_us, count);
        }
    }

    fn add_to(&mut self, slot_us: i64, count: u64) {
        self.count += count;
        // From the end: a log goes to and fro between the last slots where several CPUs wrote it.
        let at = self.last.iter().rposition(|(at_us, _)| *at_us <= slot_us);
        match at.map(|at| &mut self.last[at]) {
            Some((at_us, here)) if *at_us == slot_us => *here += count,
            _ => self.insert(at.map_or(0, |at| at + 1), (slot_us, count)),
        }
    }

    /// Another slot, most often the last one. Those that are too long before that are forgotten.
    #[cold]
    fn insert(&mut self, at: usize, slot: (i64, u64)) {
        if at == self.last.len() {
            self.last.push_back(slot);
        } else {
            self.last.insert(at, slot);
        }
        let kept_us = self.last.back().map_or(i64::MIN, |(at_us, _)| at_us.saturating_sub(KEPT_US));
        while self.last.front().is_some_and(|(at_us, _)| *at_us <= kept_us) {
            self.last.pop_front();
        }
    }

    /// How many there were before this time, from and to; it is at most six seconds before the end of the log.
    #[must_use]
    pub fn before(&self, time_us: i64) -> (u64, u64) {
        let mut all = self.clone();
        all.settle();
        let since = |since_us: i64| -> u64 {
            all.last.iter().filter(|(slot_us, _)| *slot_us >= since_us).map(|(_, count)| count).sum()
        };
        (all.count - since(time_us.saturating_sub(SLOT_US).saturating_add(1)), all.count - since(time_us))
    }
}

impl Merge for RecentCount {
    fn merge(&mut self, other: &Self) {
        self.settle();
        let mut other = other.clone();
        other.settle();
        // Those of slots that are too long ago to be told apart.
        self.count += other.count - other.last.iter().map(|(_, count)| count).sum::<u64>();
        other.last.iter().for_each(|(slot_us, count)| self.add_to(*slot_us, *count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_in_the_last_seconds_is_known_by_its_time() {
        let mut all = RecentCount::default();
        assert!(all.is_empty());
        // Ten a second for 20 s, not in order.
        (0..200).rev().for_each(|n| all.add(n * 100_000));
        assert_eq!(all.before(20_000_000), (200, 200));
        assert_eq!(all.before(15_000_000), (150, 150));
        assert_eq!(all.before(15_100_000), (150, 160));
        assert!(all.last.len() <= 7);
    }
}
