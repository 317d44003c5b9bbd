//! When, and how evenly, an analysis' OSTs were used.

use lioprof_model::{ActivityOverTime, Analysis, Direction, TargetKindName, TargetSeries};

use super::noise::{PerBin, real};

/// Bytes and times of the OSTs over time.
pub(super) struct Activity {
    /// Bytes read and written per bin.
    pub(super) all: PerBin,
    /// Bytes read per bin.
    pub(super) read: PerBin,
    /// Bytes written per bin.
    pub(super) write: PerBin,
    /// First to last bin with bytes.
    pub(super) span: Option<(usize, usize)>,
    /// Seconds of that.
    pub(super) seconds: Option<f64>,
}

impl Activity {
    pub(super) fn of(analysis: &Analysis) -> Self {
        let series = &analysis.series;
        let new = || PerBin::new(series.bins);
        let (mut all, mut read, mut write) = (new(), new(), new());
        for target in series.targets.iter().filter(|target| target.kind == TargetKindName::Ost) {
            all.add_counts(&target.read_bytes);
            all.add_counts(&target.write_bytes);
            read.add_counts(&target.read_bytes);
            write.add_counts(&target.write_bytes);
        }
        let span = all.span();
        let seconds = span.map(|(first, last)| seconds(analysis, first, last));
        Self { all, read, write, span, seconds }
    }

    /// What is drawn of it.
    pub(super) fn course(&self, analysis: &Analysis) -> ActivityOverTime {
        let bytes = |bins: &PerBin| self.span.map(|span| bins.part(span).counts()).unwrap_or_default();
        // One service does them: ll_ost_io.
        let times = |opcode| {
            let operation = analysis.operations.iter().find(|it| it.opcode == opcode);
            operation.map(|it| it.total_hist_us.clone()).unwrap_or_default()
        };
        ActivityOverTime {
            read_bytes: bytes(&self.read),
            written_bytes: bytes(&self.write),
            read_total_hist_us: times(OST_READ),
            write_total_hist_us: times(OST_WRITE),
        }
    }
}

pub(super) const OST_READ: u32 = 3;
pub(super) const OST_WRITE: u32 = 4;

/// Seconds of the bins that lie within the window: the first and the last record may be in the middle of one.
fn seconds(analysis: &Analysis, first: usize, last: usize) -> f64 {
    let series = &analysis.series;
    let edge = |bin: usize| series.start + real(bin as u64) * series.bin_s;
    let (start, end) = (edge(first).max(analysis.window.start), edge(last + 1).min(analysis.window.end));
    if end > start { end - start } else { edge(last + 1) - edge(first) }
}

/// The bins of one OST, all its servers added up.
pub(super) fn of_target(analysis: &Analysis, name: &str, bytes: fn(&TargetSeries) -> &[u64]) -> PerBin {
    let mut sum = PerBin::new(analysis.series.bins);
    for series in analysis.series.targets.iter().filter(|series| series.name.as_deref() == Some(name)) {
        sum.add_counts(bytes(series));
    }
    sum
}

/// Calls with bin, lower and upper edge in microseconds and number of RPCs, for the latency histogram over time.
fn each_cell(analysis: &Analysis, direction: Direction, mut of: impl FnMut(usize, f64, f64, f64)) {
    for heat in analysis.series.latency.iter().filter(|heat| heat.direction == direction) {
        for &(bin, bucket, count) in &heat.cells {
            let (bin, bucket) = (bin as usize, bucket as usize);
            let Some(&low) = heat.edges_us.get(bucket).filter(|_| bin < analysis.series.bins) else { continue };
            let high = heat.edges_us.get(bucket + 1).copied().unwrap_or(low);
            of(bin, real(low), real(high), real(count));
        }
    }
}

/// RPCs of each bin, and how many of them took longer than `limit_us`.
pub(super) fn beyond(analysis: &Analysis, direction: Direction, limit_us: f64) -> Vec<(f64, f64)> {
    let mut bins = vec![(0.0, 0.0); analysis.series.bins];
    each_cell(analysis, direction, |bin, low, high, rpcs| {
        // Within a bucket as if evenly spread.
        let share =
            if high > low { ((high - limit_us) / (high - low)).clamp(0.0, 1.0) } else { f64::from(low > limit_us) };
        bins[bin].0 += rpcs;
        bins[bin].1 += rpcs * share;
    });
    bins
}
