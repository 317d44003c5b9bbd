//! How far a figure may be off by chance.

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

    /// Error of the mean over the bins with anything in them, in which so many requests moved it; `None` of fewer than two of either.
    pub(super) fn busy_error(&self, requests: u64) -> Option<MeanError> {
        mean_error(&self.busy().collect::<Vec<_>>(), requests)
    }

    /// The same over all bins.
    pub(super) fn error(&self, requests: u64) -> Option<MeanError> {
        mean_error(&self.values, requests.min(self.busy_bins()))
    }
}

/// How far a mean may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MeanError {
    /// Its standard error, relative to it.
    pub(super) relative: f64,
    /// Degrees of freedom of that: how sure the standard error is.
    pub(super) freedom: f64,
}

impl MeanError {
    /// The larger one of two estimates, as unsure as the less sure one.
    pub(super) fn max(self, other: Self) -> Self {
        Self { relative: self.relative.max(other.relative), freedom: self.freedom.min(other.freedom) }
    }
}

/// Batches of bins below which their spread says too little about itself.
const MIN_BATCHES: usize = 10;

/// The same, of batches that are as long as requests are apart.
const MIN_BATCHES_OF_FEW: usize = 16;

/// Error of the mean of these values, which `events` moved, by batch means: neighbours are not independent (one long request fills many
/// bins, a slow half of a run makes the mean less sure, pauses at barriers do not), so they are averaged until there are no more batches
/// than events, and on as long as enough are left. The larger error of the last two ways of doing so holds.
fn mean_error(values: &[f64], events: u64) -> Option<MeanError> {
    if values.len() < 2 || events < 2 {
        return None;
    }
    let few = usize::try_from(events).unwrap_or(usize::MAX);
    let mut values = values.to_vec();
    let is_few = values.len() > few;
    if is_few {
        // The last batch may be a part of one.
        let batch = |values: &[f64]| values.iter().sum::<f64>() / real(values.len() as u64);
        values = values.chunks(values.len().div_ceil(few)).map(batch).collect();
    }
    // About one request per batch is coarse already.
    let enough = if is_few { MIN_BATCHES_OF_FEW } else { MIN_BATCHES };
    let mut error = error_of_mean(&values)?;
    while values.len() >= 2 * enough {
        let coarser: Vec<f64> = values.chunks_exact(2).map(|pair| f64::midpoint(pair[0], pair[1])).collect();
        error = error_of_mean(&coarser)?;
        if coarser.len() < 2 * enough {
            error = error.max(error_of_mean(&values)?);
        }
        values = coarser;
    }
    Some(error)
}

/// As if the values were independent.
fn error_of_mean(values: &[f64]) -> Option<MeanError> {
    let count = real(values.len() as u64);
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean > 0.0).then(|| MeanError { relative: (variance / count).sqrt() / mean, freedom: count - 1.0 })
}

/// Standard error of the share of samples beyond a limit, by batches of bins of `(samples, samples beyond)`: what is slow is
/// slow together, so samples are not independent. `None` of fewer than two bins with samples.
pub(super) fn share_error(bins: &[(f64, f64)]) -> Option<f64> {
    let busy: Vec<(f64, f64)> = bins.iter().copied().filter(|bin| bin.0 > 0.0).collect();
    if busy.len() < 2 {
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

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: u64 = 1_000_000;

    fn per_bin(values: &[f64]) -> PerBin {
        PerBin { values: values.to_vec() }
    }

    #[test]
    fn the_error_of_a_mean() {
        // Mean 3, variance 4, 16 values: the standard error is 2 / 4.
        let values: Vec<f64> = (0..16).map(|i| if i % 2 == 0 { 1.0 } else { 5.0 }).collect();
        let error = per_bin(&values).busy_error(MANY).unwrap();
        assert!((error.relative - (64.0_f64 / 15.0 / 16.0).sqrt() / 3.0).abs() < 1e-9, "{error:?}");
        assert_eq!(error.freedom, 15.0);
        assert_eq!(per_bin(&[7.0; 20]).busy_error(MANY).map(|it| it.relative), Some(0.0));
        assert_eq!(per_bin(&values[..2]).busy_error(MANY).map(|it| it.freedom), Some(1.0));
        assert_eq!(per_bin(&values[..1]).busy_error(MANY), None);
        assert_eq!(per_bin(&[0.0; 20]).busy_error(MANY), None);
    }

    #[test]
    fn neighbours_that_are_alike_make_it_larger() {
        let shuffled: Vec<f64> = (0..64).map(|i| if i % 2 == 0 { 1.0 } else { 5.0 }).collect();
        let halves: Vec<f64> = (0..64).map(|i| if i < 32 { 1.0 } else { 5.0 }).collect();
        let error = |values: &[f64]| per_bin(values).busy_error(MANY).unwrap().relative;
        assert!(error(&halves) > 1.4 * error(&shuffled));
        // At 16 batches of four, of which eight have a mean of 1 and eight of 5.
        assert!((error(&halves) - (64.0_f64 / 15.0 / 16.0).sqrt() / 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_few_requests_that_fill_many_bins_are_few() {
        // Four requests of 100 bins each.
        let values: Vec<f64> = (0..400).map(|i| f64::from(1 + i / 100)).collect();
        let error = per_bin(&values).error(4).unwrap();
        assert_eq!(error.freedom, 3.0);
        assert!((error.relative - (5.0_f64 / 3.0 / 4.0).sqrt() / 2.5).abs() < 0.01, "{error:?}");
        assert_eq!(per_bin(&values).error(1), None);
    }

    #[test]
    fn idle_bins_count_only_where_they_should() {
        let bins = per_bin(&[0.0, 2.0, 0.0, 4.0, 0.0]);
        assert_eq!((bins.busy_bins(), bins.busy_mean(), bins.span()), (2, Some(3.0), Some((1, 3))));
        assert_eq!(bins.part((1, 3)).values, [2.0, 0.0, 4.0]);
    }

    #[test]
    fn what_is_slow_together_says_less() {
        // 640 bins of ten samples, one in a hundred beyond the limit: each alone, or in bursts of forty.
        let alone: Vec<(f64, f64)> = (0..640).map(|bin| (10.0, f64::from(bin % 10 == 0))).collect();
        let bursts: Vec<(f64, f64)> = (0..640).map(|bin| (10.0, if bin % 400 < 4 { 10.0 } else { 0.0 })).collect();
        let error = |bins: &[(f64, f64)]| share_error(bins).unwrap();
        let independent = (0.01_f64 * 0.99 / 6400.0).sqrt();
        assert!(error(&alone) < 1.05 * independent, "{} {independent}", error(&alone));
        assert!(error(&bursts) > 3.0 * independent, "{} {independent}", error(&bursts));
        assert_eq!(share_error(&alone[..1]), None);
    }
}
