//! How far a figure may be off by chance.

use lioprof_model::Distribution;
pub(super) use lioprof_model::units::real;

/// A figure per time bin.
#[derive(Clone, Debug, Default)]
pub(super) struct PerBin {
    values: Vec<f64>,
}

impl PerBin {
    pub(super) fn new(bins: usize) -> Self {
        Self { values: vec![0.0; bins] }
    }

    pub(super) fn add(&mut self, more: impl IntoIterator<Item = f64>) {
        for (sum, more) in self.values.iter_mut().zip(more) {
            *sum += more;
        }
    }

    pub(super) fn add_counts(&mut self, more: &[u64]) {
        self.add(more.iter().map(|&count| real(count)));
    }

    pub(super) fn add_bins(&mut self, more: &Self) {
        self.add(more.values.iter().copied());
    }

    fn busy(&self) -> impl Iterator<Item = f64> + '_ {
        self.values.iter().copied().filter(|value| *value > 0.0)
    }

    /// Bins with anything in them.
    pub(super) fn busy_bins(&self) -> u64 {
        self.busy().count() as u64
    }

    /// Mean over these bins.
    pub(super) fn busy_mean(&self) -> Option<f64> {
        let bins = self.busy_bins();
        (bins > 0).then(|| self.busy().sum::<f64>() / real(bins))
    }

    /// First and last bin with anything in it.
    pub(super) fn span(&self) -> Option<(usize, usize)> {
        let first = self.values.iter().position(|value| *value > 0.0)?;
        let last = self.values.iter().rposition(|value| *value > 0.0)?;
        Some((first, last))
    }

    /// The bins from first to last, those without anything as well.
    pub(super) fn part(&self, span: (usize, usize)) -> Self {
        Self { values: self.values.get(span.0..=span.1).map(<[f64]>::to_vec).unwrap_or_default() }
    }

    /// As counts again, of what was only added up.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sums of counts: whole, never negative"
    )]
    pub(super) fn counts(&self) -> Vec<u64> {
        self.values.iter().map(|&value| value as u64).collect()
    }

    /// Relative standard error of the mean over the bins with anything in them; `None` of fewer than `min_bins`.
    pub(super) fn busy_error(&self, min_bins: u64) -> Option<f64> {
        relative_error(&self.busy().collect::<Vec<_>>(), min_bins)
    }

    /// The same over all bins.
    pub(super) fn error(&self, min_bins: u64) -> Option<f64> {
        (self.busy_bins() >= min_bins).then(|| relative_error(&self.values, min_bins))?
    }
}

/// Batches of bins below which their spread says too little about itself.
const MIN_BATCHES: usize = 16;

/// Standard error of the mean of these values, relative to it, by batch means: neighbours are not independent (a slow
/// half of a run makes the mean less sure, pauses at barriers do not), so they are averaged as long as enough batches are
/// left. The larger error of the last two ways of doing so holds.
fn relative_error(values: &[f64], min_values: u64) -> Option<f64> {
    if (values.len() as u64) < min_values.max(2) {
        return None;
    }
    let mut values = values.to_vec();
    let mut error = error_of_mean(&values)?;
    while values.len() >= 2 * MIN_BATCHES {
        let coarser: Vec<f64> = values.chunks_exact(2).map(|pair| f64::midpoint(pair[0], pair[1])).collect();
        error = error_of_mean(&coarser)?;
        if coarser.len() < 2 * MIN_BATCHES {
            error = error.max(error_of_mean(&values)?);
        }
        values = coarser;
    }
    Some(error)
}

/// As if the values were independent.
fn error_of_mean(values: &[f64]) -> Option<f64> {
    let count = real(values.len() as u64);
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean > 0.0).then(|| (variance / count).sqrt() / mean)
}

/// Standard error of the share of samples beyond a limit, by batches of bins of `(samples, samples beyond)`: what is slow is
/// slow together, so samples are not independent. `None` of fewer bins than `min_bins`.
pub(super) fn share_error(bins: &[(f64, f64)], min_bins: u64) -> Option<f64> {
    let busy: Vec<(f64, f64)> = bins.iter().copied().filter(|bin| bin.0 > 0.0).collect();
    if (busy.len() as u64) < min_bins.max(2) {
        return None;
    }
    let (samples, beyond) = busy.iter().fold((0.0, 0.0), |sum, bin| (sum.0 + bin.0, sum.1 + bin.1));
    let share = beyond / samples;
    // Of a ratio of sums: how far each batch is from its part of them.
    let error = |per_batch: usize| {
        let batches = busy.chunks(per_batch);
        let count = real(batches.len() as u64);
        let off = |batch: &[(f64, f64)]| batch.iter().map(|bin| bin.1 - share * bin.0).sum::<f64>().powi(2);
        (batches.map(off).sum::<f64>() * count / (count - 1.0)).sqrt() / samples
    };
    // As coarse as leaves enough batches, or finer where that shows more.
    let coarsest = (busy.len() / MIN_BATCHES).max(1);
    let widths = std::iter::successors(Some(1), |width| Some(width * 2)).take_while(|width| *width <= coarsest);
    widths.map(error).reduce(f64::max)
}

/// Relative standard error of a percentile: half of how far it lies between the ranks one standard deviation to both
/// sides: as if samples were independent, or `deviation` of the share below it, if that is larger. `None` if the
/// distribution has no samples beyond the percentile to tell.
pub(super) fn percentile_error(times: &Distribution, share: f64, deviation: Option<f64>) -> Option<f64> {
    let count = real(times.count);
    let deviation = (share * (1.0 - share) / count).sqrt().max(deviation.unwrap_or(0.0));
    let (low, high) = (value_at(times, share - deviation)?, value_at(times, share + deviation)?);
    let value = value_at(times, share)?;
    (value > 0.0).then(|| (high - low) / 2.0 / value)
}

/// The time below which a share of the samples lies, between the percentiles that are known.
fn value_at(times: &Distribution, share: f64) -> Option<f64> {
    let known = [(0.5, times.p50?), (0.9, times.p90?), (0.99, times.p99?), (0.999, times.p999?), (1.0, times.max?)];
    let (mut left, mut right) = (known[0], known[1]);
    for pair in known.windows(2) {
        (left, right) = (pair[0], pair[1]);
        if share <= right.0 {
            break;
        }
    }
    // Below the median as it goes on above: nothing nearer is known.
    let part = (share - left.0) / (right.0 - left.0);
    Some((real(left.1) + part.min(1.0) * (real(right.1) - real(left.1))).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn per_bin(values: &[f64]) -> PerBin {
        PerBin { values: values.to_vec() }
    }

    #[test]
    fn the_error_of_a_mean() {
        // Mean 3, variance 4, 16 values: the standard error is 2 / 4.
        let values: Vec<f64> = (0..16).map(|i| if i % 2 == 0 { 1.0 } else { 5.0 }).collect();
        let error = per_bin(&values).busy_error(8).unwrap();
        assert!((error - (64.0_f64 / 15.0 / 16.0).sqrt() / 3.0).abs() < 1e-9, "{error}");
        assert_eq!(per_bin(&[7.0; 20]).busy_error(8), Some(0.0));
        assert_eq!(per_bin(&values[..7]).busy_error(8), None);
        assert_eq!(per_bin(&[0.0; 20]).busy_error(8), None);
    }

    #[test]
    fn neighbours_that_are_alike_make_it_larger() {
        let shuffled: Vec<f64> = (0..64).map(|i| if i % 2 == 0 { 1.0 } else { 5.0 }).collect();
        let halves: Vec<f64> = (0..64).map(|i| if i < 32 { 1.0 } else { 5.0 }).collect();
        let error = |values: &[f64]| per_bin(values).busy_error(8).unwrap();
        assert!(error(&halves) > 1.4 * error(&shuffled));
        // At 16 batches of four, of which eight have a mean of 1 and eight of 5.
        assert!((error(&halves) - (64.0_f64 / 15.0 / 16.0).sqrt() / 3.0).abs() < 1e-9);
    }

    #[test]
    fn idle_bins_count_only_where_they_should() {
        let bins = per_bin(&[0.0, 2.0, 0.0, 4.0, 0.0]);
        assert_eq!((bins.busy_bins(), bins.busy_mean(), bins.span()), (2, Some(3.0), Some((1, 3))));
        assert_eq!(bins.part((1, 3)).values, [2.0, 0.0, 4.0]);
    }

    #[test]
    fn rare_percentiles_are_less_sure() {
        let times = |count| Distribution {
            count,
            mean: Some(120.0),
            p50: Some(100),
            p90: Some(200),
            p99: Some(400),
            p999: Some(800),
            max: Some(1000),
        };
        let error = |count, share| percentile_error(&times(count), share, None).unwrap();
        assert!(error(100, 0.99) > error(10_000, 0.99));
        assert!(error(1000, 0.5) < error(1000, 0.99));
        assert_eq!(percentile_error(&Distribution::default(), 0.5, None), None);
        assert!(percentile_error(&times(10_000), 0.99, Some(0.005)).unwrap() > error(10_000, 0.99));
    }

    #[test]
    fn what_is_slow_together_says_less() {
        // 640 bins of ten samples, one in a hundred beyond the limit: each alone, or in bursts of forty.
        let alone: Vec<(f64, f64)> = (0..640).map(|bin| (10.0, f64::from(bin % 10 == 0))).collect();
        let bursts: Vec<(f64, f64)> = (0..640).map(|bin| (10.0, if bin % 400 < 4 { 10.0 } else { 0.0 })).collect();
        let error = |bins: &[(f64, f64)]| share_error(bins, 8).unwrap();
        let independent = (0.01_f64 * 0.99 / 6400.0).sqrt();
        assert!(error(&alone) < 1.05 * independent, "{} {independent}", error(&alone));
        assert!(error(&bursts) > 3.0 * independent, "{} {independent}", error(&bursts));
        assert_eq!(share_error(&alone[..7], 8), None);
    }
}
