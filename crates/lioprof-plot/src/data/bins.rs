//! Bins of a plot, and sums over them.

use lioprof_model::Analysis;
use lioprof_model::bins::Bins;
pub(crate) use lioprof_model::bins::add;

use crate::figure::time_axis::Window;
use crate::figure::units::duration_us;

/// At most `most` bins over the whole window, out of those that any array has: `longest` is the longest array's length.
pub(crate) fn bins_of(analysis: &Analysis, longest: usize, most: usize) -> Result<Bins, &'static str> {
    let Window { origin, span } = Window::of(analysis);
    let bins = Bins::new(&analysis.series, origin, span, longest, most);
    bins.map(|bins| bins.filled_up(span)).ok_or("no time bins")
}

/// `1 s`.
pub(crate) fn bin_width(bins: &Bins) -> String {
    duration_us(bins.full_s() * 1e6)
}

/// Says what stands for the peaks that are hidden otherwise; nothing if none are.
pub(crate) fn peaks_are(bins: &Bins, drawn_as: &str) -> String {
    if !bins.hide_peaks() {
        return String::new();
    }
    format!(" {drawn_as}: the highest {} of each.", duration_us(bins.bin_s() * 1e6))
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
