//! What was under way in bins of time, and when nothing was.
//!
//! Times may come in any order, and from several nodes one after the other. So each bin sums up request-microseconds by what they
//! were spent on, and marks which of its 64 points in time were covered by any request: both add up. Bins are aligned to multiples of
//! their width and widths are powers of two, so bins of two nodes fit into each other, and points of wide bins are points of narrow ones.

use serde::{Deserialize, Serialize};

/// Points of a bin: the bits of a word.
const POINTS: u32 = u64::BITS;
/// Narrowest bins: 64 points 16 µs apart.
const NARROWEST: u32 = 4;

/// What a request-microsecond was spent on: a place in a list.
pub(super) type Spent = u32;

/// From the one before, or the beginning, to here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) spent: Spent,
    pub(super) to_us: i64,
}

/// A bin of time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cell {
    /// Bit n: something was under way at the n-th point.
    pub(super) points: u64,
    /// Request-microseconds, by what they were spent on, in order.
    pub(super) us: Vec<(Spent, u64)>,
}

impl Cell {
    fn add(&mut self, spent: Spent, us: u64) {
        match self.us.binary_search_by_key(&spent, |(known, _)| *known) {
            Ok(at) => self.us[at].1 += us,
            Err(at) => self.us.insert(at, (spent, us)),
        }
    }

    fn take(&mut self, other: Self) {
        self.points |= other.points;
        if self.us.is_empty() {
            self.us = other.us;
        } else {
            other.us.into_iter().for_each(|(spent, us)| self.add(spent, us));
        }
    }
}

/// Bins next to each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Raster {
    /// Points are 2 to this power µs apart.
    pub(super) shift: u32,
    /// The start of the first bin over the width.
    pub(super) first_bin: i64,
    pub(super) bins: Vec<Cell>,
    /// From the first request's start to the last one's end.
    pub(super) first_us: i64,
    pub(super) last_us: i64,
}

impl Default for Raster {
    fn default() -> Self {
        Self { shift: NARROWEST, first_bin: 0, bins: Vec::new(), first_us: i64::MAX, last_us: i64::MIN }
    }
}

impl Raster {
    /// Empty bins for a span.
    pub(super) fn spanning(first_us: i64, last_us: i64, most_bins: usize) -> Self {
        let mut raster = Self::default();
        raster.cover(first_us, last_us, most_bins);
        raster
    }

    /// Width of the bins in µs.
    pub(super) fn width_us(&self) -> i64 {
        i64::from(POINTS) << self.shift
    }

    /// The bin of a time: its start over the width, a power of two.
    fn bin(&self, us: i64) -> i64 {
        us >> (POINTS.ilog2() + self.shift)
    }

    /// Whether nothing was added, not even an empty stretch.
    pub(super) fn is_empty(&self) -> bool {
        self.first_us > self.last_us
    }

    /// The bins with their starts.
    pub(super) fn bins(&self) -> impl Iterator<Item = (i64, &Cell)> {
        let width_us = self.width_us();
        self.bins.iter().zip(self.first_bin..).map(move |(cell, bin)| (bin * width_us, cell))
    }

    /// Whether the bins are those of the span, and all times are moments of this millennium.
    pub(super) fn is_sound(&self) -> bool {
        (NARROWEST..48).contains(&self.shift)
            && self.first_us <= self.last_us
            && [self.first_us, self.last_us].iter().all(|us| us.unsigned_abs() < 1 << 56)
            && self.first_bin == self.bin(self.first_us)
            && usize::try_from(self.bin(self.last_us) - self.first_bin + 1) == Ok(self.bins.len())
    }

    /// Adds stretches that follow on each other, and what each was spent on. Empty ones only count for the span.
    ///
    /// Hot: an RPC adds to three rasters.
    pub(super) fn add(&mut self, from_us: i64, stretches: &[Stretch], most_bins: usize) {
        let end_us = stretches.last().map_or(from_us, |stretch| stretch.to_us).max(from_us);
        self.cover(from_us, end_us, most_bins);
        let width_us = self.width_us();
        // Nearly all lie in one bin.
        for bin in self.bin(from_us)..=self.bin(end_us) {
            let [bin_from_us, bin_to_us] = [bin, bin + 1].map(|bin| (bin * width_us).clamp(from_us, end_us));
            let points = self.points_between(bin, bin_from_us, bin_to_us);
            let cell = self.cell(bin);
            cell.points |= points;
            let mut at_us = bin_from_us;
            for &Stretch { spent, to_us } in stretches {
                let to_us = to_us.min(bin_to_us);
                if at_us < to_us {
                    cell.add(spent, to_us.abs_diff(at_us));
                    at_us = to_us;
                }
            }
        }
    }

    /// A bin that is there.
    fn cell(&mut self, bin: i64) -> &mut Cell {
        let index = usize::try_from(bin - self.first_bin).expect("the bin is covered");
        &mut self.bins[index]
    }

    /// The points of a bin in `[from, to)`.
    pub(super) fn points_between(&self, bin: i64, from_us: i64, to_us: i64) -> u64 {
        let start_us = bin * self.width_us();
        // The number of points before a time.
        let before = |us: i64| {
            let number = ((us - start_us) + (1 << self.shift) - 1) >> self.shift;
            u32::try_from(number.clamp(0, i64::from(POINTS))).expect("there are 64")
        };
        below(before(to_us)) & !below(before(from_us))
    }

    /// Widens the bins until there are no more than this, and makes those in which this time lies. If they are there already, how many
    /// there may be now counts when the next one is needed, or at the end.
    #[inline]
    fn cover(&mut self, first_us: i64, last_us: i64, most_bins: usize) {
        self.first_us = self.first_us.min(first_us);
        self.last_us = self.last_us.max(last_us);
        let after_last = self.first_bin + i64::try_from(self.bins.len()).expect("bins are few");
        if self.bin(first_us) < self.first_bin || self.bin(last_us) >= after_last {
            self.make_room(first_us, last_us, most_bins);
        }
    }

    #[cold]
    fn make_room(&mut self, first_us: i64, last_us: i64, most_bins: usize) {
        self.limit(most_bins);
        let [first, last] = [first_us, last_us].map(|us| self.bin(us));
        if self.bins.is_empty() {
            self.first_bin = first;
        }
        if first < self.first_bin {
            let more = usize::try_from(self.first_bin - first).expect("bins are few");
            self.bins.splice(0..0, std::iter::repeat_n(Cell::default(), more));
            self.first_bin = first;
        }
        let wanted = usize::try_from(last - self.first_bin + 1).expect("bins are few");
        if self.bins.len() < wanted {
            self.bins.resize(wanted, Cell::default());
        }
    }

    /// Whether there are more bins than this, and than two: these may lie on both sides of a border of bins of any width.
    pub(super) fn has_more_than(&self, most_bins: usize) -> bool {
        let most_bins = i64::try_from(most_bins.max(2)).unwrap_or(i64::MAX);
        !self.is_empty() && self.bin(self.last_us) - self.bin(self.first_us) >= most_bins
    }

    /// Widens the bins until there are no more than this.
    pub(super) fn limit(&mut self, most_bins: usize) {
        while self.has_more_than(most_bins) {
            self.widen();
        }
    }

    /// Makes bins twice as wide.
    fn widen(&mut self) {
        let mut bins: Vec<Cell> = Vec::with_capacity(self.bins.len() / 2 + 1);
        let first_bin = self.first_bin.div_euclid(2);
        for (cell, bin) in std::mem::take(&mut self.bins).into_iter().zip(self.first_bin..) {
            let index = usize::try_from(bin.div_euclid(2) - first_bin).expect("bins are few");
            if index == bins.len() {
                bins.push(Cell::default());
            }
            let half = if bin.rem_euclid(2) == 0 { 0 } else { POINTS / 2 };
            bins[index].take(Cell { points: every_other(cell.points) << half, us: cell.us });
        }
        (self.first_bin, self.bins, self.shift) = (first_bin, bins, self.shift + 1);
    }

    /// Adds what another one has; `spent` says what its numbers are here.
    pub(super) fn merge(&mut self, mut other: Self, spent: impl Fn(Spent) -> Spent, most_bins: usize) {
        while other.shift < self.shift {
            other.widen();
        }
        while self.shift < other.shift {
            self.widen();
        }
        if other.is_empty() {
            return;
        }
        self.cover(other.first_us, other.last_us, most_bins);
        while other.shift < self.shift {
            other.widen();
        }
        for (cell, bin) in other.bins.into_iter().zip(other.first_bin..) {
            let index = usize::try_from(bin - self.first_bin).expect("the span is covered");
            let mine = &mut self.bins[index];
            mine.points |= cell.points;
            for (kind, us) in cell.us {
                mine.add(spent(kind), us);
            }
        }
    }
}

/// The lowest bits.
fn below(count: u32) -> u64 {
    1u64.checked_shl(count).map_or(u64::MAX, |bit| bit - 1)
}

/// Every other bit, the lowest first, side by side.
fn every_other(bits: u64) -> u64 {
    // Bits that stand alone become pairs side by side, these become fours, and so on.
    let closer = |bits: u64, far: u32, mask: u64| (bits | bits >> far) & mask;
    let mut bits = bits & 0x5555_5555_5555_5555;
    bits = closer(bits, 1, 0x3333_3333_3333_3333);
    bits = closer(bits, 2, 0x0f0f_0f0f_0f0f_0f0f);
    bits = closer(bits, 4, 0x00ff_00ff_00ff_00ff);
    bits = closer(bits, 8, 0x0000_ffff_0000_ffff);
    closer(bits, 16, 0xffff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widening_loses_no_time_and_keeps_points() {
        let stretches = [(3, 1_000_003), (2_500_000, 2_500_001), (40_000_000, 61_234_567), (50_000_000, 50_000_000)];
        let mut narrow = Raster::default();
        let mut wide = Raster::default();
        for (from, to) in stretches {
            narrow.add(from, &[Stretch { spent: 0, to_us: to }], 1 << 20);
        }
        for (from, to) in stretches.into_iter().rev() {
            wide.add(from, &[Stretch { spent: 0, to_us: to }], 16);
        }
        let us = |raster: &Raster| raster.bins.iter().flat_map(|cell| &cell.us).map(|(_, us)| us).sum::<u64>();
        assert_eq!(us(&narrow), stretches.iter().map(|(from, to)| u64::try_from(to - from).unwrap()).sum::<u64>());
        for raster in [&mut narrow, &mut wide] {
            raster.limit(16);
        }
        assert_eq!(narrow, wide);
        assert!(wide.bins.len() <= 16);
    }

    #[test]
    fn two_parts_are_the_whole() {
        let stretches: Vec<(Spent, i64, i64)> = (0..200)
            .map(|number: i64| {
                let from = -50_000 + number * 7_919 % 1_000_003;
                (Spent::from(number % 3 == 0), from, from + number * 131 % 40_000)
            })
            .collect();
        let mut whole = Raster::default();
        let [mut one, mut other] = [Raster::default(), Raster::default()];
        for (number, &(spent, from, to_us)) in stretches.iter().enumerate() {
            // Two that follow on each other are as two by themselves.
            let between_us = i64::midpoint(from, to_us);
            let both = [Stretch { spent: 2, to_us: between_us }, Stretch { spent, to_us }];
            whole.add(from, &both, 8);
            let part = if number < 120 { &mut one } else { &mut other };
            part.add(from, &both[..1], 8);
            part.add(between_us, &both[1..], 8);
        }
        one.merge(other, |spent| spent, 8);
        assert_eq!(one, whole);
    }

    #[test]
    fn points_are_those_in_the_stretch() {
        let raster = Raster::default();
        assert_eq!(raster.points_between(0, 0, 16), 0b1);
        assert_eq!(raster.points_between(0, 1, 16), 0);
        assert_eq!(raster.points_between(0, 1, 33), 0b110);
        assert_eq!(raster.points_between(0, -5, 5_000), u64::MAX);
        for bits in [0b1101, 0, 1, u64::MAX, 0x8000_0000_0000_0001, 0x4444_1111_5555_aaaa, 0x0123_4567_89ab_cdef] {
            let others = (0..POINTS / 2).filter(|bit| bits >> (2 * bit) & 1 == 1);
            assert_eq!(every_other(bits), others.fold(0, |all, bit| all | 1 << bit), "{bits:x}");
        }
    }
}
