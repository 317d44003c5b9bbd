//! Numbers in order.

/// The value with this share of the others below it, of sorted values; 0 without any.
pub(super) fn quantile(sorted: &[f64], per_cent: usize) -> f64 {
    sorted.get(sorted.len().saturating_sub(1) * per_cent / 100).copied().unwrap_or(0.0)
}

/// The same values, sorted.
pub(super) fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// How many of these sorted times are before another one.
pub(super) fn before(sorted: &[f64], time_us: f64) -> usize {
    sorted.partition_point(|&other_us| other_us < time_us)
}
