//! Time bins, merged so that each is wide enough to be seen.

use lioprof_model::Analysis;

use crate::figure::time_axis::Window;
use crate::figure::units::duration_us;

/// Merged bins.
#[derive(Clone, Debug)]
pub(crate) struct Bins {
    /// Seconds since start, one more than there are bins, cut to the window.
    pub(crate) edges: Vec<f64>,
    /// Bins of the series per merged bin.
    factor: usize,
    /// Bins of the series.
    count: usize,
    bin_s: f64,
}

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
        let edge = |i: usize| {
            let bin = (i * factor).min(count) as f64;
            (window.since(series.start) + bin * series.bin_s).clamp(0.0, window.span)
        };
        let edges = (0..=count.div_ceil(factor)).map(edge).collect();
        Some(Self {
            edges,
            factor,
            count,
            bin_s: series.bin_s,
        })
    }

    /// Number of merged bins.
    pub(crate) fn len(&self) -> usize {
        self.edges.len() - 1
    }

    /// `1 s`.
    pub(crate) fn width(&self) -> String {
        duration_us(self.bin_s * self.factor.min(self.count) as f64 * 1e6)
    }

    /// The merged bin of a bin of the series.
    pub(crate) fn merged(&self, bin: usize) -> usize {
        bin / self.factor
    }

    fn fold(&self, value: impl Fn(usize) -> f64) -> Vec<f64> {
        let merged = |i: usize| {
            let bins = i * self.factor..((i + 1) * self.factor).min(self.count);
            bins.map(&value).filter(|v| v.is_finite()).sum()
        };
        (0..self.len()).map(merged).collect()
    }

    /// Per second of the part of each bin that is inside of the window, so that the first and the
    /// last bin, which the capture covers only in part, do not look like a dip; but at least a
    /// quarter of a bin, so that a sliver does not look like a peak.
    pub(crate) fn rate(&self, values: &[u64]) -> Vec<f64> {
        let mut rates = self.fold(|bin| values.get(bin).copied().unwrap_or(0) as f64);
        for (rate, edges) in rates.iter_mut().zip(self.edges.windows(2)) {
            *rate /= (edges[1] - edges[0]).max(self.bin_s / 4.0);
        }
        rates
    }

    /// Means of the bins' figures; those that are no number or negative count as 0.
    pub(crate) fn mean(&self, values: &[f64]) -> Vec<f64> {
        let mut means = self.fold(|bin| values.get(bin).map_or(0.0, |v| v.clamp(0.0, 1e15)));
        for (i, mean) in means.iter_mut().enumerate() {
            *mean /= (self.count - i * self.factor).min(self.factor) as f64;
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

/// Largest number, 0 without any.
pub(crate) fn largest<'a>(values: impl IntoIterator<Item = &'a f64>) -> f64 {
    values
        .into_iter()
        .copied()
        .filter(|v| v.is_finite())
        .fold(0.0, f64::max)
}

/// Sum that cannot overflow.
pub(crate) fn total(values: &[u64]) -> u64 {
    values.iter().fold(0, |sum, v| sum.saturating_add(*v))
}
