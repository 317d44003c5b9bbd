//! Time bins whose width adapts to the span of the data.

use std::cell::Cell;

use lioprof_model::Merge;
use serde::{Deserialize, Serialize};

/// Widths, microseconds: each divides the next, so bins can be joined without error.
const WIDTHS_US: [i64; 20] = [
    1_000,
    2_000,
    10_000,
    20_000,
    100_000,
    200_000,
    1_000_000,
    2_000_000,
    10_000_000,
    20_000_000,
    60_000_000,
    120_000_000,
    600_000_000,
    1_200_000_000,
    3_600_000_000,
    7_200_000_000,
    21_600_000_000,
    43_200_000_000,
    86_400_000_000,
    172_800_000_000,
];

/// Bins kept when the width is chosen by lioprof.
const MAX_BINS: i64 = 600;
/// Bins kept when the user chose the width; beyond that it is doubled.
const MAX_CHOSEN_BINS: i64 = 1_000_000;

/// The last microsecond of the year 9999: no log goes on for longer.
const MOST_US: i64 = 253_402_300_800_000_000;

/// The common width of all bins, and the span they cover.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BinClock {
    width_us: i64,
    chosen: bool,
    /// First and last bin in use.
    span: Option<(i64, i64)>,
    /// The bin asked for last and the time at which it starts. Times come almost in order, and a division costs more
    /// than all the rest of adding to a bin.
    recent: Cell<(i64, i64)>,
}

impl Default for BinClock {
    fn default() -> Self {
        Self::new(None)
    }
}

impl BinClock {
    /// With a width chosen by the user, or an adaptive one.
    pub(crate) fn new(width_us: Option<i64>) -> Self {
        Self {
            width_us: width_us.unwrap_or(WIDTHS_US[0]).max(1),
            chosen: width_us.is_some(),
            span: None,
            recent: Cell::new((0, 0)),
        }
    }

    /// First and last bin in use.
    #[cfg(test)]
    pub(crate) fn ends(&self) -> Option<(i64, i64)> {
        self.span
    }

    /// The width that the user chose, or what became of it.
    pub(crate) fn chosen_us(&self) -> Option<i64> {
        self.chosen.then_some(self.width_us)
    }

    pub(crate) fn width_us(&self) -> i64 {
        self.width_us
    }

    /// First bin and number of bins.
    pub(crate) fn span(&self) -> (i64, usize) {
        self.span.map_or((0, 0), |(first, last)| (first, usize::try_from(last - first + 1).unwrap_or(0)))
    }

    /// Whether it can be one that was made here: bins are as few as they should be, and their times are numbers.
    pub(crate) fn is_sound(&self) -> bool {
        let widest = WIDTHS_US[WIDTHS_US.len() - 1];
        let max = if self.chosen { MAX_CHOSEN_BINS } else { MAX_BINS };
        let is_width =
            if self.chosen { (1..=widest).contains(&self.width_us) } else { WIDTHS_US.contains(&self.width_us) };
        let is_time = |bin: i64| bin.checked_mul(self.width_us).is_some_and(|us| us.abs() <= MOST_US);
        is_width
            && self
                .span
                .is_none_or(|(first, last)| first <= last && is_time(first) && is_time(last) && last - first < max)
    }

    /// The bin of a time.
    pub(crate) fn bin(&self, time_us: i64) -> i64 {
        let (bin, start_us) = self.recent.get();
        if time_us >= start_us && time_us - start_us < self.width_us {
            return bin;
        }
        let bin = time_us.div_euclid(self.width_us);
        self.recent.set((bin, bin * self.width_us));
        bin
    }

    /// Makes room for a time. Returns by how much all bins have to be joined, if at all.
    pub(crate) fn cover(&mut self, time_us: i64) -> Option<i64> {
        let bin = self.bin(time_us);
        if self.span.is_some_and(|(first, last)| first <= bin && bin <= last) {
            return None;
        }
        let (first, last) = self.span.map_or((bin, bin), |(first, last)| (first.min(bin), last.max(bin)));
        self.span = Some((first, last));
        let max = if self.chosen { MAX_CHOSEN_BINS } else { MAX_BINS };
        let mut factor = 1;
        while last.div_euclid(factor) - first.div_euclid(factor) >= max {
            factor = self.next_factor(factor);
        }
        (factor > 1).then(|| {
            self.widen(factor);
            factor
        })
    }

    /// Joins `factor` bins into one.
    fn widen(&mut self, factor: i64) {
        self.width_us *= factor;
        self.recent.set((0, 0));
        self.span = self.span.map(|(first, last)| (first.div_euclid(factor), last.div_euclid(factor)));
    }

    fn next_factor(&self, factor: i64) -> i64 {
        let width = self.width_us * factor;
        match WIDTHS_US.iter().find(|&&w| w > width) {
            Some(&next) if !self.chosen => next / self.width_us,
            _ => factor * 2,
        }
    }

    /// Takes on another one's width, if that is wider, and its span; returns the factors by which the bins of each must be joined.
    pub(crate) fn unite(&mut self, other: &Self) -> (i64, i64) {
        let (mine, theirs) = (self.width_us, other.width_us);
        if mine < theirs {
            self.widen(theirs / mine);
        }
        for bin in other.span.into_iter().flat_map(|(first, last)| [first, last]) {
            self.cover(bin * theirs);
        }
        (self.width_us / mine, self.width_us / theirs)
    }
}

/// Values per bin.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Bins<T> {
    first: i64,
    values: Vec<T>,
}

impl<T> Default for Bins<T> {
    fn default() -> Self {
        Self { first: 0, values: Vec::new() }
    }
}

/// Both of the same width.
impl<T: Merge + Clone + Default> Merge for Bins<T> {
    fn merge(&mut self, other: &Self) {
        for (bin, value) in other.iter() {
            self.at(bin).merge(value);
        }
    }
}

impl<T: Clone + Default> Bins<T> {
    /// The value of a bin, made if it is not there.
    pub(crate) fn at(&mut self, bin: i64) -> &mut T {
        if self.values.is_empty() {
            self.first = bin;
        }
        if bin < self.first {
            let missing = usize::try_from(self.first - bin).expect("bins are few, see BinClock");
            self.values.splice(0..0, std::iter::repeat_n(T::default(), missing));
            self.first = bin;
        }
        let index = usize::try_from(bin - self.first).expect("bin is not before first");
        if index >= self.values.len() {
            self.values.resize(index + 1, T::default());
        }
        &mut self.values[index]
    }

    /// Whether all of them are among these.
    pub(crate) fn are_within(&self, (first, count): (i64, usize)) -> bool {
        let before = self.first.checked_sub(first).and_then(|before| usize::try_from(before).ok());
        self.values.is_empty() || before.is_some_and(|before| before <= count && self.values.len() <= count - before)
    }

    /// Joins `factor` bins into one.
    pub(crate) fn join(&mut self, factor: i64)
    where
        T: Merge,
    {
        if factor == 1 {
            return;
        }
        let mut values: Vec<T> = Vec::with_capacity(self.values.len() / 2 + 1);
        let mut last = None;
        for (bin, value) in self.iter() {
            let joined = Some(bin.div_euclid(factor));
            match values.last_mut() {
                Some(sum) if last == joined => sum.merge(value),
                _ => values.push(value.clone()),
            }
            last = joined;
        }
        *self = Self { first: self.first.div_euclid(factor), values };
    }

    /// Bins and their values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (i64, &T)> {
        (self.first..).zip(&self.values)
    }

    /// One number per bin of a span.
    pub(crate) fn column<R: Clone>(&self, (first, len): (i64, usize), empty: R, get: impl Fn(&T) -> R) -> Vec<R> {
        let mut column = vec![empty; len];
        for (bin, value) in self.iter() {
            if let Some(slot) = usize::try_from(bin - first).ok().and_then(|i| column.get_mut(i)) {
                *slot = get(value);
            }
        }
        column
    }
}

impl<T: Copy + Default + Into<u64>> Bins<T> {
    /// Bins in which something was counted, and how much.
    pub(crate) fn filled(&self) -> impl Iterator<Item = (i64, u64)> {
        self.iter().map(|(bin, count)| (bin, (*count).into())).filter(|(_, count)| *count > 0)
    }
}

/// Bins in which something happened.
pub(crate) fn used<T: Merge + Clone + Default + PartialEq>(bins: &Bins<T>) -> impl Iterator<Item = (i64, &T)> {
    bins.iter().filter(|(_, value)| **value != T::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(clock: &mut BinClock, bins: &mut Bins<u64>, times: &[i64]) {
        for &time in times {
            if let Some(factor) = clock.cover(time) {
                bins.join(factor);
            }
            *bins.at(clock.bin(time)) += 1;
        }
    }

    #[test]
    fn widths_divide_each_other() {
        assert!(WIDTHS_US.windows(2).all(|w| w[1] % w[0] == 0));
    }

    #[test]
    fn bins_widen_and_lose_nothing() {
        let mut clock = BinClock::new(None);
        let mut bins = Bins::default();
        let times: Vec<i64> = (0..100_000).map(|n| 1_700_000_000_000_000 + n * 977).collect();
        fill(&mut clock, &mut bins, &times);
        let (_, len) = clock.span();
        assert!(len <= 600, "{len}");
        assert_eq!(clock.width_us(), 200_000);
        assert_eq!(bins.iter().map(|(_, n)| n).sum::<u64>(), 100_000);
    }

    #[test]
    fn the_order_of_times_does_not_matter() {
        let times: Vec<i64> = (0..5_000).map(|n| n * 7_919 % 60_000_000).collect();
        let mut result = Vec::new();
        for times in [times.clone(), times.iter().rev().copied().collect()] {
            let mut clock = BinClock::new(None);
            let mut bins = Bins::default();
            fill(&mut clock, &mut bins, &times);
            result.push((clock.width_us(), clock.span(), bins.column(clock.span(), 0, |n| *n)));
        }
        assert_eq!(result[0], result[1]);
    }

    #[test]
    fn a_chosen_width_is_kept() {
        let mut clock = BinClock::new(Some(250_000));
        let mut bins = Bins::default();
        fill(&mut clock, &mut bins, &[0, 900_000_000]);
        assert_eq!(clock.width_us(), 250_000);
        assert_eq!(clock.span().1, 3601);
    }
}
