//! Time bins, merged so that each is wide enough to be seen.

use std::ops::Range;

use lioprof_model::Analysis;

use crate::figure::time_axis::Window;
use crate::figure::units::duration_us;

/// Merged bins.
#[derive(Clone, Debug)]
pub(crate) struct Bins {
    /// Seconds since start, one more than there are bins, cut to the window.
    pub(crate) edges: Vec<f64>,
    /// Bins of the series in each merged bin; none in one that fills the window up.
    groups: Vec<Range<usize>>,
    /// Seconds of a merged bin that the window does not cut.
    full_s: f64,
    bin_s: f64,
    /// Bins of the series.
    count: usize,
}

/// Most bins that lioprof makes of its own accord; if there are more, the user wants to see what single ones show.
const OWN_BINS: usize = 600;

/// A merged bin of which the window covers less than this is joined to its neighbour: the rate of a
/// sliver is noise.
const SLIVER: f64 = 0.25;

impl Bins {
    /// At most `most` bins out of those that any array has: `longest` is the longest array's length.
    pub(crate) fn new(analysis: &Analysis, longest: usize, most: usize) -> Option<Self> {
        let series = &analysis.series;
        let count = series.bins.min(longest);
        let sane = series.bin_s.is_finite() && series.bin_s > 0.0 && series.start.is_finite();
        if count == 0 || !sane {
            return None;
        }
        let window = Window::of(analysis);
        let factor = count.div_ceil(most.max(1));
        let mut groups: Vec<Range<usize>> =
            (0..count.div_ceil(factor)).map(|i| i * factor..((i + 1) * factor).min(count)).collect();
        let edge = |bin: usize| (window.since(series.start) + bin as f64 * series.bin_s).clamp(0.0, window.span);
        let full_s = series.bin_s * factor.min(count) as f64;
        let sliver = |group: &Range<usize>| edge(group.end) - edge(group.start) < full_s * SLIVER;
        if groups.len() > 1 && sliver(&groups[0]) {
            groups[1].start = 0;
            groups.remove(0);
        }
        if groups.len() > 1 && groups.last().is_some_and(sliver) {
            groups.pop();
            if let Some(last) = groups.last_mut() {
                last.end = count;
            }
        }
        // Nothing happened where the window is longer than the series.
        let gap = full_s * SLIVER;
        if edge(0) > gap {
            groups.insert(0, 0..0);
        }
        if window.span - edge(count) > gap {
            groups.push(count..count);
        }
        let mut edges: Vec<f64> = groups.iter().map(|g| edge(g.start)).chain([edge(count)]).collect();
        if groups.first().is_some_and(Range::is_empty) {
            edges[0] = 0.0;
        }
        if groups.last().is_some_and(Range::is_empty) {
            let last = edges.len() - 1;
            edges[last] = window.span;
        }
        Some(Self { edges, groups, full_s, bin_s: series.bin_s, count })
    }

    /// Whether a merged bin is one in which nothing happened because the series has no bins there.
    pub(crate) fn is_filler(&self, merged: usize) -> bool {
        self.groups.get(merged).is_some_and(Range::is_empty)
    }

    /// Number of merged bins.
    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }

    /// `1 s`.
    pub(crate) fn width(&self) -> String {
        duration_us(self.full_s * 1e6)
    }

    /// The merged bin of a bin of the series.
    pub(crate) fn merged(&self, bin: usize) -> usize {
        self.groups.partition_point(|group| group.end <= bin)
    }

    fn sums(&self, value: impl Fn(usize) -> f64) -> Vec<f64> {
        let sum = |group: &Range<usize>| group.clone().map(&value).filter(|v| v.is_finite()).sum();
        self.groups.iter().map(sum).collect()
    }

    /// Per second of the part of each bin that is inside of the window, so that the first and the
    /// last bin, which the capture covers only in part, do not look like a dip.
    pub(crate) fn rate(&self, values: &[u64]) -> Vec<f64> {
        let mut rates = self.sums(|bin| values.get(bin).copied().unwrap_or(0) as f64);
        for (rate, edges) in rates.iter_mut().zip(self.edges.windows(2)) {
            *rate /= (edges[1] - edges[0]).max(self.bin_s * SLIVER);
        }
        rates
    }

    /// Whether single bins of a width that the user chose are merged here, so that their peaks have to be shown.
    pub(crate) fn hide_peaks(&self) -> bool {
        self.count > OWN_BINS && self.full_s > self.bin_s
    }

    /// Says what stands for the peaks that are hidden otherwise; nothing if none are.
    pub(crate) fn peaks_are(&self, drawn_as: &str) -> String {
        if !self.hide_peaks() {
            return String::new();
        }
        format!(" {drawn_as}: the highest {} of each.", duration_us(self.bin_s * 1e6))
    }

    /// Per second, the highest single bin of each merged one.
    pub(crate) fn peak_rate(&self, values: &[u64]) -> Vec<f64> {
        let peak = |group: &Range<usize>| values.iter().take(group.end).skip(group.start).max().copied();
        self.groups.iter().map(|group| peak(group).unwrap_or(0) as f64 / self.bin_s).collect()
    }

    /// The highest single bin of each merged one.
    pub(crate) fn peak(&self, values: &[f64]) -> Vec<f64> {
        let peak = |group: &Range<usize>| largest(values.iter().take(group.end).skip(group.start));
        self.groups.iter().map(peak).collect()
    }

    /// Means of the bins' figures; those that are no number or negative count as 0.
    pub(crate) fn mean(&self, values: &[f64]) -> Vec<f64> {
        let mut means = self.sums(|bin| values.get(bin).map_or(0.0, |v| v.clamp(0.0, 1e15)));
        for (mean, group) in means.iter_mut().zip(&self.groups) {
            *mean /= group.len().max(1) as f64;
        }
        means
    }
}

/// Adds `more` to `sum`.
pub(crate) fn add(sum: &mut [f64], more: &[f64]) {
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum += more;
    }
}

/// The higher of two, one by one.
pub(crate) fn raise(highest: &mut [f64], more: &[f64]) {
    highest.iter_mut().zip(more).for_each(|(highest, more)| *highest = highest.max(*more));
}

/// Largest number, 0 without any.
pub(crate) fn largest<'a>(values: impl IntoIterator<Item = &'a f64>) -> f64 {
    values.into_iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max)
}

/// Sum that cannot overflow.
pub(crate) fn total(values: &[u64]) -> u64 {
    values.iter().fold(0, |sum, v| sum.saturating_add(*v))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(start: f64, span: f64, count: usize, most: usize) -> Bins {
        let mut analysis = Analysis::default();
        analysis.window.start = 1000.0 + start;
        analysis.window.end = 1000.0 + start + span;
        analysis.series.start = 1000.0;
        analysis.series.bin_s = 1.0;
        analysis.series.bins = count;
        Bins::new(&analysis, count, most).unwrap()
    }

    #[test]
    fn bins_are_cut_to_the_window_and_keep_their_sum() {
        let bins = bins(0.5, 2.0, 3, 100);
        assert_eq!(bins.edges, [0.0, 0.5, 1.5, 2.0]);
        assert_eq!(bins.rate(&[10, 10, 10]), [20.0, 10.0, 20.0]);
    }

    #[test]
    fn slivers_are_joined() {
        let bins = bins(0.9, 2.2, 4, 100);
        assert_eq!(bins.len(), 2);
        assert_eq!([0, 1, 2, 3].map(|bin| bins.merged(bin)), [0, 0, 1, 1]);
        let moved: f64 =
            bins.rate(&[1, 2, 3, 4]).iter().zip(bins.edges.windows(2)).map(|(r, e)| r * (e[1] - e[0])).sum();
        assert!((moved - 10.0).abs() < 1e-9, "{moved}");
    }

    #[test]
    fn a_window_longer_than_the_series_is_filled_up() {
        let bins = bins(-3.0, 10.0, 2, 100);
        assert_eq!(bins.edges, [0.0, 3.0, 4.0, 5.0, 10.0]);
        assert_eq!(bins.rate(&[7, 8]), [0.0, 7.0, 8.0, 0.0]);
        assert_eq!(bins.mean(&[7.0, 8.0]), [0.0, 7.0, 8.0, 0.0]);
        assert_eq!([0, 1].map(|bin| bins.merged(bin)), [1, 2]);
        assert!(bins.is_filler(0) && !bins.is_filler(1) && bins.is_filler(3));
    }

    #[test]
    fn a_single_bin_that_stands_out_is_the_peak_of_a_merged_one() {
        let bins = bins(0.0, 17_280.0, 17_280, 110);
        assert!(bins.hide_peaks());
        let mut values = vec![1; 17_280];
        values[9_001] = 1 << 20;
        let peaks = bins.peak_rate(&values);
        assert_eq!(largest(&peaks), f64::from(1 << 20));
        assert_eq!(peaks.iter().filter(|peak| **peak > 1.0).count(), 1);
        assert!(largest(&bins.rate(&values)) < 1e4);
    }

    #[test]
    fn many_bins_become_few() {
        let bins = bins(0.0, 1000.0, 1000, 150);
        assert_eq!((bins.len(), bins.width().as_str()), (143, "7 s"));
        assert_eq!(bins.mean(&[2.0; 1000])[0], 2.0);
    }
}
