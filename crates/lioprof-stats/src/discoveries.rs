//! Many comparisons at once.

/// Probabilities that chance alone does as much, adjusted for how many were looked at (Benjamini and Hochberg): of those that stay below a
/// limit, the share that chance made is below that limit. In the order given.
#[must_use]
pub fn adjusted(chances: &[f64]) -> Vec<f64> {
    let count = chances.len() as f64;
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|&a, &b| chances[a].total_cmp(&chances[b]).then(a.cmp(&b)));
    let mut adjusted = vec![1.0; chances.len()];
    let mut least: f64 = 1.0;
    for (rank, &index) in order.iter().enumerate().rev() {
        least = least.min(chances[index] * count / (rank + 1) as f64);
        adjusted[index] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_r() {
        // p.adjust(c(0.01, 0.02, 0.03, 0.5), "BH")
        let all = adjusted(&[0.5, 0.01, 0.03, 0.02]);
        for (value, expected) in all.iter().zip([0.5, 0.04, 0.04, 0.04]) {
            assert!((value - expected).abs() < 1e-12, "{all:?}");
        }
        assert_eq!(adjusted(&[]), Vec::<f64>::new());
    }
}
