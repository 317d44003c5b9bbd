//! How many there were of something, and how many of them when, up to some seconds ago.

use serde::{Deserialize, Serialize};

use crate::merge::Merge;

/// Moments are known to this, microseconds.
const SLOT_US: i64 = 250_000;
/// So many of the last slots are known.
const SLOTS: u8 = 32;

/// A count of a part of a log. Parts of one log add up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecentCount {
    count: u64,
    /// The last slot that has one, counted from the epoch.
    last: i64,
    /// Of the last slots, each at the remainder of its number.
    slots: [u64; SLOTS as usize],
}

impl RecentCount {
    /// Whether there was none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// One more, at this time, microseconds since the epoch.
    #[inline]
    pub fn add(&mut self, time_us: i64) {
        self.add_to(time_us.div_euclid(SLOT_US), 1);
    }

    #[inline]
    fn add_to(&mut self, slot: i64, count: u64) {
        if slot > self.last {
            self.begin(slot);
        }
        self.count = self.count.saturating_add(count);
        if self.last.abs_diff(slot) < u64::from(SLOTS) {
            let here = &mut self.slots[place(slot)];
            *here = here.saturating_add(count);
        }
    }

    /// A later slot than all before.
    #[cold]
    fn begin(&mut self, slot: i64) {
        let passed = slot.abs_diff(self.last);
        let new = (0..SLOTS).take_while(|ago| u64::from(*ago) < passed);
        new.for_each(|ago| self.slots[place(slot.saturating_sub(ago.into()))] = 0);
        self.last = slot;
    }

    /// The last slots and how many there were in each.
    fn of_slots(&self) -> impl Iterator<Item = (i64, u64)> {
        (0..SLOTS).map(|ago| self.last.saturating_sub(ago.into())).map(|slot| (slot, self.slots[place(slot)]))
    }

    /// How many there were before this time, from and to; it is at most six seconds before the end of the log.
    #[must_use]
    pub fn before(&self, time_us: i64) -> (u64, u64) {
        let since = |since_us: i64| -> u64 {
            let of_slots = self.of_slots().filter(|(slot, _)| slot.saturating_mul(SLOT_US) >= since_us);
            of_slots.fold(0, |sum, (_, count)| sum.saturating_add(count))
        };
        let before = |us: i64| self.count.saturating_sub(since(us));
        (before(time_us.saturating_sub(SLOT_US).saturating_add(1)), before(time_us))
    }
}

/// Where the count of a slot is.
#[inline]
fn place(slot: i64) -> usize {
    usize::try_from(slot.rem_euclid(SLOTS.into())).unwrap_or(0)
}

impl Merge for RecentCount {
    fn merge(&mut self, other: &Self) {
        // Those of slots that are too long ago to be told apart.
        let known = other.of_slots().fold(0, |sum: u64, (_, count)| sum.saturating_add(count));
        self.count = self.count.saturating_add(other.count.saturating_sub(known));
        other.of_slots().filter(|(_, count)| *count > 0).for_each(|(slot, count)| self.add_to(slot, count));
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
        assert_eq!(all.before(15_100_000), (150, 153));
    }
}
