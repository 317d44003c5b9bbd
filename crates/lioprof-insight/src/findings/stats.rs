//! Statistics for few samples, of which some may be far off.

pub(super) use lioprof_model::units::real;

/// The middle one; the mean of both in the middle if their number is even. `None` without any.
pub(super) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    let middle = values.len() / 2;
    if middle == values.len() {
        return None;
    }
    let odd = values.len() % 2 == 1;
    let (lower, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if odd {
        return Some(upper);
    }
    lower.iter().copied().max_by(f64::total_cmp).map(|below| f64::midpoint(below, upper))
}

/// `part` of `whole`; 0 of nothing.
pub(super) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median([]), None);
        assert_eq!(median([3.0, 1.0, 100.0]), Some(3.0));
        assert_eq!(median([4.0, 1.0, 2.0, 100.0]), Some(3.0));
    }
}
