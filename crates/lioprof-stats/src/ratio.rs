//! Ratios of sums.

use super::interval::{ERROR, Interval};
use super::student::student;

/// A ratio of two sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio;

impl Ratio {
    /// What the sum of the first over that of the second may be, by how much it depends on single ones of the pieces: a jackknife of its
    /// logarithm. Requests of one piece of time depend on each other; pieces hardly do. `None`: no two pieces, or nothing to divide.
    #[must_use]
    pub fn of(pieces: &[(f64, f64)]) -> Option<Interval> {
        let (above, below) = pieces.iter().fold((0.0, 0.0), |sum, piece| (sum.0 + piece.0, sum.1 + piece.1));
        let count = pieces.len() as f64;
        let without: Vec<f64> = pieces
            .iter()
            .map(|piece| (above - piece.0, below - piece.1))
            .filter(|&(above, below)| above > 0.0 && below > 0.0)
            .map(|(above, below)| (above / below).ln())
            .collect();
        if pieces.len() < 2 || above <= 0.0 || below <= 0.0 {
            return None;
        }
        if without.len() < pieces.len() {
            // All of one of the sums is in one piece: it could as well be nothing.
            return Some(Interval { low: 0.0, high: f64::INFINITY });
        }
        let mean = without.iter().sum::<f64>() / count;
        let squares: f64 = without.iter().map(|value| (value - mean).powi(2)).sum();
        let error = (squares * (count - 1.0) / count).sqrt();
        let middle = (above / below).ln();
        let width = if error > 0.0 { student(count - 1.0, ERROR) * error } else { 0.0 };
        Some(Interval { low: (middle - width).exp(), high: (middle + width).exp() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_everywhere_is_certain() {
        let all = Ratio::of(&[(2.0, 1.0); 8]).unwrap();
        assert!((all.low - 2.0).abs() < 1e-9 && (all.high - 2.0).abs() < 1e-9, "{all:?}");
    }

    #[test]
    fn one_piece_that_decides_is_no_proof() {
        let mut pieces = [(1.0, 1.0); 8];
        pieces[3].0 = 30.0;
        let one = Ratio::of(&pieces).unwrap();
        assert!(one.low < 2.0 && one.high > 4.0, "{one:?}");
        assert_eq!(Ratio::of(&[(1.0, 1.0)]), None);
        assert_eq!(Ratio::of(&[(0.0, 1.0), (3.0, 1.0)]).map(|ratio| ratio.low), Some(0.0));
    }
}
