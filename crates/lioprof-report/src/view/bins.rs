//! Time bins, joined until there are few enough.

use std::ops::Range;

use lioprof_model::Analysis;

use super::number::{Precise, drawn};

/// Joined bins.
#[derive(Clone, Debug)]
pub(crate) struct Bins {
    /// Seconds since the start of the window, one more than there are bins, cut to the window.
    edges: Vec<f64>,
    groups: Vec<Range<usize>>,
}

/// A bin of which the window covers less than this is joined to its neighbour: the rate of a sliver is noise.
const SLIVER: f64 = 0.25;

impl Bins {
    /// At most `most` bins; none if the series has none or makes no sense.
    pub(crate) fn new(analysis: &Analysis, most: usize) -> Self {
        let series = &analysis.series;
        // Arrays of a damaged file can be shorter than they should be, never longer than memory.
        let longest = series.targets.iter().map(|it| it.rpcs.len()).chain(series.nodes.iter().map(|it| it.rpcs.len()));
        let count = series.bins.min(longest.max().unwrap_or(0));
        if count == 0 || !series.bin_s.is_finite() || series.bin_s <= 0.0 || !series.start.is_finite() {
            return Self { edges: Vec::new(), groups: Vec::new() };
        }
        let span_s = analysis.window.duration_s.max(0.0);
        let offset_s = series.start - analysis.window.start;
        let edge = |bin: usize| (offset_s + bin as f64 * series.bin_s).clamp(0.0, span_s);
        // A part of an RPC that ended in the window may have been handled before it. That is not in this picture, and
        // must not look like a burst at its beginning.
        let first = (0..count).find(|&bin| edge(bin + 1) > 0.0).unwrap_or(0);
        let end = (first + 1..count).find(|&bin| edge(bin) >= span_s).unwrap_or(count);
        let factor = (end - first).div_ceil(most);
        let mut groups: Vec<Range<usize>> =
            (first..end).step_by(factor).map(|start| start..(start + factor).min(end)).collect();
        let sliver = |it: &Range<usize>| edge(it.end) - edge(it.start) < series.bin_s * factor as f64 * SLIVER;
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
        let edges = groups.iter().map(|it| edge(it.start)).chain([edge(end)]).collect();
        Self { edges, groups }
    }

    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }

    pub(crate) fn edges(&self) -> Precise {
        Precise(self.edges.clone())
    }

    /// The joined bin of a bin of the series; what ended in the window is in one, if its clock is sane.
    pub(crate) fn joined(&self, bin: usize) -> usize {
        self.groups.partition_point(|group| group.end <= bin).min(self.groups.len().saturating_sub(1))
    }

    /// Sums over each joined bin.
    pub(crate) fn sums(&self, values: &[u64]) -> Vec<f64> {
        let sum = |group: &Range<usize>| {
            group.clone().fold(0_u64, |sum, bin| sum.saturating_add(values.get(bin).copied().unwrap_or(0)))
        };
        self.groups.iter().map(|group| drawn(sum(group))).collect()
    }

    /// Means over each joined bin.
    pub(crate) fn means(&self, values: &[f64]) -> Vec<f64> {
        let mean = |group: &Range<usize>| {
            let sum: f64 = group.clone().filter_map(|bin| values.get(bin)).filter(|it| it.is_finite()).sum();
            sum / group.len() as f64
        };
        self.groups.iter().map(mean).collect()
    }
}

/// Adds what another row has.
pub(crate) fn add(sum: &mut Vec<f64>, more: &[f64]) {
    sum.resize(sum.len().max(more.len()), 0.0);
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum += more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lioprof_model::{NodeSeries, Series, Window};

    fn bins(start: f64, span: f64, count: usize, most: usize) -> Bins {
        let node = NodeSeries {
            node: String::new(),
            rpcs: vec![0; count],
            arrived: Vec::new(),
            queued: Vec::new(),
            in_process: Vec::new(),
            in_flight: Vec::new(),
            mean_total_us: Vec::new(),
        };
        let analysis = Analysis {
            window: Window {
                start: 1000.0 + start,
                end: 1000.0 + start + span,
                duration_s: span,
                traced_s: None,
                under_way_rpcs: None,
                limited: false,
            },
            series: Series { bin_s: 1.0, start: 1000.0, bins: count, nodes: vec![node], ..Series::default() },
            ..Analysis::default()
        };
        Bins::new(&analysis, most)
    }

    #[test]
    fn nothing_is_lost_at_the_edges() {
        let bins = bins(0.9, 2.2, 4, 100);
        assert_eq!(bins.len(), 2);
        assert_eq!(bins.sums(&[1, 2, 3, 4]), [3.0, 7.0]);
        assert_eq!([0, 1, 2, 3].map(|bin| bins.joined(bin)), [0, 0, 1, 1]);
    }

    #[test]
    fn what_was_handled_before_the_window_is_no_burst_at_its_beginning() {
        let bins = bins(3.0, 2.0, 6, 100);
        assert_eq!(bins.sums(&[9, 9, 9, 1, 2, 9]), [1.0, 2.0]);
    }

    #[test]
    fn many_become_few() {
        let bins = bins(0.0, 1000.0, 1000, 400);
        assert_eq!(bins.len(), 334);
        assert_eq!(bins.sums(&[1; 1000]).iter().sum::<f64>(), 1000.0);
        assert_eq!(bins.means(&[2.0; 1000])[333], 2.0);
    }

    #[test]
    fn nonsense_has_no_bins() {
        assert_eq!(Bins::new(&Analysis::default(), 10).len(), 0);
    }
}
