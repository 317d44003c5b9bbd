//! Spans of time that overlap.

/// The same time, in order and without overlaps; spans may be in any order.
#[must_use]
pub fn united(mut spans: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    spans.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut united: Vec<(f64, f64)> = Vec::with_capacity(spans.len());
    for (from, to) in spans {
        match united.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => united.push((from, to)),
        }
    }
    united
}

/// How long they are together; time in which several overlap counts once.
#[must_use]
pub fn covered(spans: Vec<(f64, f64)>) -> f64 {
    united(spans).into_iter().map(|(from, to)| to - from).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_counts_once() {
        let spans = vec![(5.0, 6.0), (0.0, 2.0), (1.0, 3.0), (3.0, 4.0), (0.5, 1.0)];
        assert_eq!(united(spans.clone()), [(0.0, 4.0), (5.0, 6.0)]);
        assert_eq!(covered(spans), 5.0);
        assert_eq!(covered(Vec::new()), 0.0);
    }
}
