//! Time covered by intervals, each of which counts once.

use lioprof_model::Merge;
use serde::{Deserialize, Serialize};

/// Time covered by intervals that come in the order of their ends.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Union {
    /// Disjoint, ascending.
    recent: Vec<(i64, i64)>,
    /// Time covered by older ones.
    closed_us: i64,
}

/// Intervals that a later, longer one may still swallow. Of older ones only the sum is kept: what covers their time again counts twice.
const MAX_RECENT: usize = 4096;

impl Merge for Union {
    fn merge(&mut self, other: &Self) {
        self.closed_us += other.closed_us;
        let mut all: Vec<(i64, i64)> = self.recent.drain(..).chain(other.recent.iter().copied()).collect();
        all.sort_unstable_by_key(|&(start, end)| (end, start));
        for (start, end) in all {
            self.add(start, end);
        }
    }
}

impl Union {
    pub(crate) fn add(&mut self, mut start: i64, end: i64) {
        while let Some(&(s, e)) = self.recent.last() {
            if e < start {
                break;
            }
            start = start.min(s);
            self.recent.pop();
        }
        self.recent.push((start, end));
        if self.recent.len() > MAX_RECENT {
            self.closed_us += self.recent.drain(..MAX_RECENT / 2).map(|(s, e)| e - s).sum::<i64>();
        }
    }

    pub(crate) fn total_us(&self) -> i64 {
        self.closed_us + self.recent.iter().map(|(s, e)| e - s).sum::<i64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_waits_are_not_counted_twice() {
        let mut union = Union::default();
        for (start, end) in [(10, 20), (15, 25), (30, 40), (5, 45), (50, 60)] {
            union.add(start, end);
        }
        assert_eq!(union.total_us(), 40 + 10);
    }
}
