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

/// Values in order, to take the median of all but a few of them without sorting all others each time.
pub(super) struct Ordered(Vec<f64>);

impl Ordered {
    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_unstable_by(f64::total_cmp);
        Self(values)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// As [`median`], of all values but these, which are among them.
    pub(super) fn median_without(&self, mut without: Vec<f64>) -> Option<f64> {
        without.sort_unstable_by(f64::total_cmp);
        let count = self.0.len().checked_sub(without.len()).filter(|&count| count > 0)?;
        // Where those are; equal ones one behind the other.
        let mut gone: Vec<usize> = Vec::with_capacity(without.len());
        for value in without {
            let first = self.0.partition_point(|other| other.total_cmp(&value).is_lt());
            gone.push(gone.last().map_or(first, |last| first.max(last + 1)));
        }
        let ranked =
            |rank: usize| self.0.get(gone.iter().fold(rank, |at, &gone| at + usize::from(gone <= at))).copied();
        let upper = ranked(count / 2)?;
        if count % 2 == 1 { Some(upper) } else { Some(f64::midpoint(ranked(count / 2 - 1)?, upper)) }
    }
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

    #[test]
    fn the_median_of_all_but_some_is_that_of_the_others() {
        let values = [4.0, 1.0, 2.0, 2.0, 100.0, 2.0, 7.0];
        for gone in 0..1u32 << values.len() {
            let (out, left): (Vec<_>, Vec<_>) = (0..values.len()).partition(|at| gone >> at & 1 == 1);
            let of = |places: Vec<usize>| places.into_iter().map(|at| values[at]).collect::<Vec<f64>>();
            assert_eq!(Ordered::of(values).median_without(of(out)), median(of(left)), "{gone:b}");
        }
    }
}
