//! Bins of a [`Series`] as they are drawn: cut to the window, merged until there are few enough. All pictures and pages show these.
//!
//! A part of an RPC that ended in the window may have been handled before it. That is in no picture: it would look like a burst at the
//! beginning. Sums over the series are sums of what ended in the window, and so may be larger than what the bins hold.

use std::ops::Range;

use crate::Series;

/// A merged bin of which the window covers less than this is joined to its neighbour: the rate of a sliver is noise.
const SLIVER: f64 = 0.25;

/// Times of records are exact to this.
const CLOCK_S: f64 = 1e-6;

/// Most bins that lioprof makes of its own accord; if there are more, the user wants to see what single ones show.
const OWN_BINS: usize = 600;

/// Merged bins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bins {
    edges_s: Vec<f64>,
    /// Bins of the series in each merged bin; none in one that fills the window up.
    groups: Vec<Range<usize>>,
    /// Width of a merged bin that the window does not cut.
    full_s: f64,
    bin_s: f64,
    /// Bins of the series in the window.
    count: usize,
    /// The first of them, and how much of it lies before the window, if something happened before that, too: then so much of what was moved
    /// in it was moved before, as an RPC's bytes are spread evenly over its time.
    cut: (usize, f64),
}

impl Bins {
    /// At most `most` bins of a window of `span_s` seconds that begins at `start` (Unix seconds), of a series whose longest array has
    /// `longest` bins (those of a damaged file may be shorter than they should be). `None`: there are none, or they make no sense.
    #[must_use]
    pub fn new(series: &Series, start: f64, span_s: f64, longest: usize, most: usize) -> Option<Self> {
        let (bin_s, count) = (series.bin_s, series.bins.min(longest));
        if count == 0 || !bin_s.is_finite() || bin_s <= 0.0 || !series.start.is_finite() {
            return None;
        }
        let begin = |bin: usize| series.start - start + bin as f64 * bin_s;
        let edge = |bin: usize| begin(bin).clamp(0.0, span_s);
        let first = (0..count).find(|&bin| edge(bin + 1) > 0.0).unwrap_or(0);
        // What ended at the very end of the window is in a bin that begins there.
        let end = (first + 1..count).find(|&bin| begin(bin) > span_s + CLOCK_S).unwrap_or(count);
        let factor = (end - first).div_ceil(most.max(1));
        let full_s = bin_s * factor as f64;
        let mut groups: Vec<Range<usize>> = (first..end).step_by(factor).map(|at| at..(at + factor).min(end)).collect();
        let sliver = |it: &Range<usize>| edge(it.end) - edge(it.start) < full_s * SLIVER;
        while groups.len() > 1 && sliver(&groups[0]) {
            groups[1].start = groups[0].start;
            groups.remove(0);
        }
        while groups.len() > 1 && groups.last().is_some_and(sliver) {
            groups.pop();
            if let Some(last) = groups.last_mut() {
                last.end = end;
            }
        }
        let edges_s = groups.iter().map(|it| edge(it.start)).chain([edge(end)]).collect();
        let before = if first > 0 { (-begin(first) / bin_s).clamp(0.0, 1.0) } else { 0.0 };
        Some(Self { edges_s, groups, full_s, bin_s, count: end - first, cut: (first, before) })
    }

    /// The same with empty bins where the window is longer than the series: nothing happened there.
    #[must_use]
    pub fn filled_up(mut self, span_s: f64) -> Self {
        let (gap, end) = (self.full_s * SLIVER, self.groups.last().map_or(0, |it| it.end));
        if self.edges_s.first().is_some_and(|first| *first > gap) {
            self.groups.insert(0, 0..0);
            self.edges_s.insert(0, 0.0);
        }
        if self.edges_s.last().is_some_and(|last| span_s - last > gap) {
            self.groups.push(end..end);
            self.edges_s.push(span_s);
        }
        self
    }

    /// Seconds since the start of the window, one more than there are bins, cut to the window.
    #[must_use]
    pub fn edges_s(&self) -> &[f64] {
        &self.edges_s
    }

    /// Number of merged bins.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Width of a merged bin that the window does not cut.
    #[must_use]
    pub fn full_s(&self) -> f64 {
        self.full_s
    }

    /// Width of a bin of the series.
    #[must_use]
    pub fn bin_s(&self) -> f64 {
        self.bin_s
    }

    /// Whether nothing happened in a merged bin because the series has no bins there.
    #[must_use]
    pub fn is_filler(&self, merged: usize) -> bool {
        self.groups.get(merged).is_some_and(Range::is_empty)
    }

    /// The merged bin of a bin of the series. What ended in the window is in one, if its clock is sane.
    #[must_use]
    pub fn merged(&self, bin: usize) -> usize {
        self.groups.partition_point(|group| group.end <= bin).min(self.len().saturating_sub(1))
    }

    /// Whether single bins of a width that the user chose are merged here, so that their peaks have to be shown.
    #[must_use]
    pub fn hide_peaks(&self) -> bool {
        self.count > OWN_BINS && self.full_s > self.bin_s
    }

    /// Sums over each merged bin.
    #[must_use]
    pub fn sums(&self, values: &[u64]) -> Vec<u64> {
        let of = |group: &Range<usize>| {
            let sum =
                values.iter().take(group.end).skip(group.start).fold(0_u64, |sum, value| sum.saturating_add(*value));
            if group.contains(&self.cut.0) { sum - self.cut_of(values) } else { sum }
        };
        self.groups.iter().map(of).collect()
    }

    /// What was moved before the window in the bin in which it begins.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of the value, which is not negative"
    )]
    fn cut_of(&self, values: &[u64]) -> u64 {
        let (bin, before) = self.cut;
        values.get(bin).map_or(0, |value| ((*value as f64 * before) as u64).min(*value))
    }

    /// What a series sums up to, beyond what its bins in the window hold: what was moved before.
    #[must_use]
    pub fn before(&self, values: &[u64]) -> u64 {
        let first = self.groups.iter().find(|it| !it.is_empty()).map_or(0, |it| it.start);
        let all = values.iter().take(first).fold(0_u64, |sum, value| sum.saturating_add(*value));
        all.saturating_add(self.cut_of(values))
    }

    /// Per second of the part of each bin that is inside of the window, so that the first and the last bin, which the capture covers only
    /// in part, do not look like a dip.
    #[must_use]
    pub fn rates(&self, values: &[u64]) -> Vec<f64> {
        let widths = self.edges_s.windows(2).map(|edges| (edges[1] - edges[0]).max(self.bin_s * SLIVER));
        self.sums(values).into_iter().zip(widths).map(|(sum, width)| sum as f64 / width).collect()
    }

    /// Per second, the highest single bin of each merged one.
    #[must_use]
    pub fn peak_rates(&self, values: &[u64]) -> Vec<f64> {
        let peak = |group: &Range<usize>| values.iter().take(group.end).skip(group.start).max().copied();
        self.groups.iter().map(|group| peak(group).unwrap_or(0) as f64 / self.bin_s).collect()
    }

    /// Means over each merged bin; what is no number or negative counts as 0.
    #[must_use]
    pub fn means(&self, values: &[f64]) -> Vec<f64> {
        let mean = |group: &Range<usize>| self.of(values, group).sum::<f64>() / group.len().max(1) as f64;
        self.groups.iter().map(mean).collect()
    }

    /// The highest single bin of each merged one.
    #[must_use]
    pub fn peaks(&self, values: &[f64]) -> Vec<f64> {
        self.groups.iter().map(|group| self.of(values, group).fold(0.0, f64::max)).collect()
    }

    fn of<'a>(&self, values: &'a [f64], group: &Range<usize>) -> impl Iterator<Item = f64> + use<'a> {
        /// What a damaged file may hold must not become infinite where it is summed up.
        const MOST: f64 = 1e15;
        let finite = values.iter().take(group.end).skip(group.start).filter(|it| it.is_finite());
        finite.map(|it| it.clamp(0.0, MOST))
    }
}

/// Adds what another row has to a sum over bins.
pub fn add(sum: &mut Vec<f64>, more: &[f64]) {
    sum.resize(sum.len().max(more.len()), 0.0);
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum += more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(start: f64, span_s: f64, count: usize, most: usize) -> Bins {
        let series = Series { bin_s: 1.0, start: 1000.0, bins: count, ..Series::default() };
        Bins::new(&series, 1000.0 + start, span_s, count, most).unwrap()
    }

    #[test]
    fn bins_are_cut_to_the_window_and_keep_their_sum() {
        let bins = bins(0.5, 2.0, 3, 100);
        assert_eq!(bins.edges_s(), [0.0, 0.5, 1.5, 2.0]);
        assert_eq!(bins.rates(&[10, 10, 10]), [20.0, 10.0, 20.0]);
    }

    #[test]
    fn slivers_are_joined_and_nothing_is_lost_at_the_edges() {
        let bins = bins(0.9, 2.2, 4, 100);
        assert_eq!(bins.sums(&[1, 2, 3, 4]), [3, 7]);
        assert_eq!([0, 1, 2, 3].map(|bin| bins.merged(bin)), [0, 0, 1, 1]);
    }

    #[test]
    fn what_was_handled_before_the_window_is_no_burst_at_its_beginning() {
        let bins = bins(3.0, 2.0, 7, 100);
        assert_eq!(bins.sums(&[9, 9, 9, 1, 2, 3, 9]), [1, 5]);
        assert_eq!(bins.before(&[9, 9, 9, 1, 2, 3, 9]), 27);
    }

    /// The window begins in the midst of a bin, and of what was moved.
    #[test]
    fn nor_is_what_was_handled_before_it_in_its_first_bin() {
        let values = [8, 8, 8, 8, 8, 8];
        let bins = bins(3.75, 2.25, 6, 100);
        assert_eq!((bins.edges_s(), bins.rates(&values)), (&[0.0, 0.25, 1.25, 2.25][..], vec![8.0, 8.0, 8.0]));
        assert_eq!(bins.before(&values) + bins.sums(&values).iter().sum::<u64>(), 48);
    }

    #[test]
    fn a_window_longer_than_the_series_is_filled_up() {
        let bins = bins(-3.0, 10.0, 2, 100).filled_up(10.0);
        assert_eq!(bins.edges_s(), [0.0, 3.0, 4.0, 5.0, 10.0]);
        assert_eq!(bins.rates(&[7, 8]), [0.0, 7.0, 8.0, 0.0]);
        assert_eq!(bins.means(&[7.0, 8.0]), [0.0, 7.0, 8.0, 0.0]);
        assert_eq!([0, 1].map(|bin| bins.merged(bin)), [1, 2]);
        assert!(bins.is_filler(0) && !bins.is_filler(1) && bins.is_filler(3));
    }

    #[test]
    fn a_single_bin_that_stands_out_is_the_peak_of_a_merged_one() {
        let bins = bins(0.0, 17_280.0, 17_280, 110);
        assert!(bins.hide_peaks());
        let mut values = vec![1; 17_280];
        values[9_001] = 1 << 20;
        let highest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        let peaks = bins.peak_rates(&values);
        assert_eq!(highest(&peaks), f64::from(1 << 20));
        assert_eq!(peaks.iter().filter(|peak| **peak > 1.0).count(), 1);
        assert!(highest(&bins.rates(&values)) < 1e4);
    }

    #[test]
    fn many_bins_become_few() {
        let bins = bins(0.0, 1000.0, 1000, 150);
        assert_eq!((bins.len(), bins.full_s()), (143, 7.0));
        assert_eq!(bins.means(&[2.0; 1000])[0], 2.0);
        assert_eq!(bins.sums(&[1; 1000]).iter().sum::<u64>(), 1000);
    }

    #[test]
    fn nonsense_has_no_bins() {
        assert_eq!(Bins::new(&Series::default(), 0.0, 1.0, 10, 10), None);
    }
}
