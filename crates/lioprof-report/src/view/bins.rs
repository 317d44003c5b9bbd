//! Time bins of the page, and sums over them.

use lioprof_model::Analysis;
use lioprof_model::bins::Bins;

use super::number::{Precise, drawn};

/// At most `most` bins; none if the series has none or makes no sense.
pub(crate) fn bins_of(analysis: &Analysis, most: usize) -> Bins {
    let series = &analysis.series;
    // Arrays of a damaged file can be shorter than they should be, never longer than memory.
    let longest =
        series.targets.iter().map(|it| it.rpcs.len()).chain(series.nodes.iter().map(|it| it.rpcs.len())).max();
    let span_s = analysis.window.duration_s.max(0.0);
    Bins::new(series, analysis.window.start, span_s, longest.unwrap_or(0), most).unwrap_or_default()
}

/// Their edges, seconds since the start of the window.
pub(crate) fn edges(bins: &Bins) -> Precise {
    Precise(bins.edges_s().to_vec())
}

/// Sums over each bin.
pub(crate) fn sums(bins: &Bins, values: &[u64]) -> Vec<f64> {
    bins.sums(values).into_iter().map(drawn).collect()
}
