//! Lost records told by the request scheduler's numbers.
//!
//! Each part of a service (one per CPU partition) has two queues, regular and high priority, and each
//! queue numbers its requests 1, 2, 3, ... (`nrs_fifo.c`, `nrs_tbf.c`). A log line names the number, but
//! neither the part nor the queue. The part follows from the thread's name; the queue stays unknown. So
//! numbers of one part are fine as long as two contiguous stretches explain them, in any position.

use std::collections::BTreeMap;

/// Stretches kept per part; beyond that the smallest holes are closed and their size is remembered.
const MAX_STRETCHES: usize = 1024;

/// The numbers seen, per service part.
#[derive(Clone, Debug, Default)]
pub(crate) struct SequenceGaps {
    parts: BTreeMap<Box<[u8]>, Numbers>,
    told: GapSum,
}

/// What the numbers say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GapSum {
    /// Numbers seen.
    pub(crate) seen: u64,
    /// Numbers that no two contiguous stretches explain away.
    pub(crate) missing: u64,
}

impl SequenceGaps {
    /// A request with this number is handled by this thread.
    pub(crate) fn add(&mut self, thread: &[u8], number: u64) {
        let part = service_part(thread);
        match self.parts.get_mut(part) {
            Some(numbers) => numbers.add(number),
            None => {
                let mut numbers = Numbers::default();
                numbers.add(number);
                self.parts.insert(part.into(), numbers);
            }
        }
    }

    /// Sum over all parts, without what has been told already.
    pub(crate) fn sum(&self) -> GapSum {
        let all = self.all();
        GapSum {
            seen: all.seen.saturating_sub(self.told.seen),
            // A number that comes late closes a gap that has been told.
            missing: all.missing.saturating_sub(self.told.missing),
        }
    }

    /// The sum up to now has been told.
    pub(crate) fn counted(&mut self) {
        let all = self.all();
        self.told = GapSum { seen: all.seen, missing: all.missing.max(self.told.missing) };
    }

    fn all(&self) -> GapSum {
        self.parts.values().fold(GapSum::default(), |sum, numbers| GapSum {
            seen: sum.seen + numbers.seen,
            missing: sum.missing + numbers.missing(),
        })
    }
}

/// `ll_ost_io00_002` belongs to part `ll_ost_io00`; the kernel cuts long names at 15 bytes.
fn service_part(thread: &[u8]) -> &[u8] {
    match thread.iter().rposition(|&b| b == b'_') {
        Some(at) if at + 1 < thread.len() && thread[at + 1..].iter().all(u8::is_ascii_digit) => &thread[..at],
        _ => thread,
    }
}

/// A set of numbers in which each may occur twice (once per queue).
#[derive(Clone, Debug, Default)]
struct Numbers {
    seen: u64,
    once: Stretches,
    twice: Stretches,
    /// Holes that were closed to save memory.
    closed: u64,
}

impl Numbers {
    fn add(&mut self, number: u64) {
        self.seen += 1;
        if !self.once.insert(number) {
            self.twice.insert(number);
        }
        self.closed += self.once.shrink() + self.twice.shrink();
    }

    /// The fewest numbers that are missing, over all ways to explain what was seen by two counters.
    fn missing(&self) -> u64 {
        let Some((first, last)) = self.once.bounds() else { return 0 };
        let span = last - first + 1;
        let present = self.once.count();
        let missing = match self.twice.bounds() {
            // Both counters passed through this stretch; whatever they skipped in it or around it is missing.
            Some((low, high)) => (span - present) + (high - low + 1 - self.twice.count()),
            // No number twice: one hole may be the distance between the two counters.
            None => span - present - self.once.largest_hole(),
        };
        missing + self.closed
    }
}

/// Disjoint stretches of numbers, by first number.
#[derive(Clone, Debug, Default)]
struct Stretches(BTreeMap<u64, u64>);

impl Stretches {
    /// Returns whether the number was new.
    fn insert(&mut self, number: u64) -> bool {
        // The usual case: the next number.
        if let Some(mut last) = self.0.last_entry()
            && last.get().checked_add(1) == Some(number)
        {
            *last.get_mut() = number;
            return true;
        }
        let before = self.0.range(..=number).next_back().map(|(&a, &b)| (a, b));
        if before.is_some_and(|(_, last)| number <= last) {
            return false;
        }
        let start = match before {
            Some((first, last)) if last + 1 == number => first,
            _ => number,
        };
        let end = number.checked_add(1).and_then(|next| self.0.remove(&next)).unwrap_or(number);
        self.0.insert(start, end);
        true
    }

    fn bounds(&self) -> Option<(u64, u64)> {
        Some((*self.0.first_key_value()?.0, *self.0.last_key_value()?.1))
    }

    fn count(&self) -> u64 {
        self.0.iter().map(|(first, last)| last - first + 1).sum()
    }

    fn holes(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().zip(self.0.keys().skip(1)).map(|((_, last), next)| (next - last - 1, *next))
    }

    fn largest_hole(&self) -> u64 {
        self.holes().map(|(len, _)| len).max().unwrap_or(0)
    }

    /// Closes the smallest hole when there are too many; returns its size.
    fn shrink(&mut self) -> u64 {
        if self.0.len() <= MAX_STRETCHES {
            return 0;
        }
        let Some((len, next)) = self.holes().min() else { return 0 };
        let end = self.0.remove(&next);
        if let (Some(end), Some((_, last))) = (end, self.0.range_mut(..next).next_back()) {
            *last = end;
        }
        len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(numbers: impl IntoIterator<Item = u64>) -> u64 {
        let mut gaps = SequenceGaps::default();
        for number in numbers {
            gaps.add(b"ll_ost_io00_007", number);
        }
        gaps.sum().missing
    }

    #[test]
    fn one_counter_without_holes() {
        assert_eq!(missing(100..200), 0);
        assert_eq!(missing((100..200).rev()), 0);
    }

    #[test]
    fn two_counters_far_apart() {
        assert_eq!(missing((100..200).chain(5..9)), 0);
    }

    #[test]
    fn two_counters_that_overlap() {
        assert_eq!(missing((100..200).chain(150..260)), 0);
        assert_eq!(missing((100..200).chain(120..130)), 0);
    }

    #[test]
    fn a_second_hole_is_loss() {
        assert_eq!(missing((100..200).chain(210..300).chain(5..9)), 10);
        assert_eq!(missing((1..10).chain(12..20).chain(25..30)), 2);
    }

    #[test]
    fn a_hole_in_overlapping_counters_is_loss() {
        assert_eq!(missing((100..150).chain(160..200).chain(180..190)), 10);
    }

    #[test]
    fn parts_have_counters_of_their_own() {
        assert_eq!(service_part(b"ll_ost_io00_002"), b"ll_ost_io00");
        assert_eq!(service_part(b"ll_mgs_0002"), b"ll_mgs");
        assert_eq!(service_part(b"ll_ost_create00"), b"ll_ost_create00");
        let mut gaps = SequenceGaps::default();
        for (n, thread) in [(1, "ll_ost00_001"), (2, "ll_ost00_002"), (9, "mdt00_001"), (70, "mdt01_001")] {
            gaps.add(thread.as_bytes(), n);
        }
        assert_eq!(gaps.sum(), GapSum { seen: 4, missing: 0 });
    }

    #[test]
    fn memory_is_bounded_and_nothing_forgotten() {
        let odd = (0..10_000u64).map(|n| 2 * n);
        assert_eq!(missing(odd), 9_999 - 1);
    }
}
