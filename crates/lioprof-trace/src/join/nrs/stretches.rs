//! Sets of numbers, as stretches without a hole, and when they were seen.

use std::collections::BTreeMap;

/// Stretches kept per set; beyond that the smallest holes are closed and their size is remembered.
const MAX_STRETCHES: usize = 512;

/// Lines of different threads may be this far out of order.
const DISORDER_US: i64 = 1_000_000;

/// Numbers without a hole, and when they were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) from_us: i64,
    pub(super) to_us: i64,
    /// All of them are requests that may be of high priority.
    pub(super) urgent: bool,
}

impl Stretch {
    pub(super) fn count(&self) -> u64 {
        self.last - self.first + 1
    }

    /// Takes on what another one, or one of its numbers, has.
    fn take_on(&mut self, from_us: i64, to_us: i64, urgent: bool) {
        self.from_us = self.from_us.min(from_us);
        self.to_us = self.to_us.max(to_us);
        self.urgent &= urgent;
    }
}

/// Disjoint stretches of numbers, by first number.
#[derive(Clone, Debug, Default)]
pub(super) struct Stretches(BTreeMap<u64, Stretch>);

impl Stretches {
    /// Returns whether the number was new.
    pub(super) fn insert(&mut self, number: u64, time_us: i64, urgent: bool) -> bool {
        // The usual case: the next number.
        if let Some(mut last) = self.0.last_entry()
            && last.get().last.checked_add(1) == Some(number)
        {
            last.get_mut().last = number;
            last.get_mut().take_on(time_us, time_us, urgent);
            return true;
        }
        let mut new = Stretch { first: number, last: number, from_us: time_us, to_us: time_us, urgent };
        if let Some((&first, before)) = self.0.range(..=number).next_back() {
            if number <= before.last {
                return false;
            }
            if before.last + 1 == number {
                new.first = first;
                new.take_on(before.from_us, before.to_us, before.urgent);
            }
        }
        if let Some(after) = number.checked_add(1).and_then(|next| self.0.remove(&next)) {
            new.last = after.last;
            new.take_on(after.from_us, after.to_us, after.urgent);
        }
        self.0.insert(new.first, new);
        true
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn last(&self) -> Option<u64> {
        Some(self.0.last_key_value()?.1.last)
    }

    pub(super) fn all(&self) -> Vec<Stretch> {
        self.0.values().copied().collect()
    }

    pub(super) fn count(&self) -> u64 {
        self.0.values().map(Stretch::count).sum()
    }

    /// Numbers in each hole.
    pub(super) fn hole_sizes(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.values().zip(self.0.keys().skip(1)).map(|(it, next)| next - it.last - 1)
    }

    /// Numbers in all holes.
    pub(super) fn holes(&self) -> u64 {
        let Some(((&first, _), last)) = self.0.first_key_value().zip(self.last()) else { return 0 };
        last - first + 1 - self.count()
    }

    pub(super) fn number_of_holes(&self) -> u64 {
        (self.0.len() as u64).saturating_sub(1)
    }

    pub(super) fn largest_hole(&self) -> u64 {
        self.hole_sizes().max().unwrap_or(0)
    }

    /// Closes the smallest hole when there are too many; returns its size.
    pub(super) fn shrink(&mut self) -> u64 {
        if self.0.len() <= MAX_STRETCHES {
            return 0;
        }
        let holes = self.0.values().zip(self.0.keys().skip(1)).map(|(it, next)| (next - it.last - 1, *next));
        let Some((len, next)) = holes.min() else { return 0 };
        let end = self.0.remove(&next);
        if let (Some(end), Some((_, before))) = (end, self.0.range_mut(..next).next_back()) {
            before.last = end.last;
            before.take_on(end.from_us, end.to_us, end.urgent);
        }
        len
    }
}

/// Whether one counter alone may have passed through all stretches, one after the other.
pub(super) fn in_one_row(stretches: &[Stretch]) -> bool {
    stretches.windows(2).all(|pair| follows(&pair[0], &pair[1]))
}

/// Whether a counter that was in the first stretch may be in the second one afterwards.
pub(super) fn follows(before: &Stretch, after: &Stretch) -> bool {
    before.to_us <= after.from_us.saturating_add(DISORDER_US)
}
