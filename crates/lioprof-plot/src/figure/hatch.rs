//! Hatching: what is estimated.

use crate::draw::{Area, Ink, Point, Scene, index};

/// Distance between two lines, horizontally.
const STEP: f64 = 4.0;
/// Width of a line.
const WIDTH: f64 = 1.0;

/// Hatches rectangles with lines that rise to the right; the lines of neighbouring rectangles
/// continue each other, and a line through several that touch is drawn as one.
///
/// The rectangles must be sorted by x and must not overlap.
pub(crate) fn fill(scene: &mut Scene, areas: &[Area], ink: Ink) {
    let areas: Vec<&Area> = areas.iter().filter(|a| a.is_finite() && a.height() > 0.3 && a.width() > 0.0).collect();
    let low = areas.iter().map(|a| a.x0 + a.y0).fold(f64::INFINITY, f64::min);
    let high = areas.iter().map(|a| a.x1 + a.y1).fold(f64::NEG_INFINITY, f64::max);
    if high <= low || high - low > 1e5 {
        return;
    }
    let first = (low / STEP).ceil();
    for i in 0..=index((high - first * STEP) / STEP) {
        // All points with x + y = sum.
        let sum = (first + i as f64) * STEP;
        let mut open: Option<(Point, Point)> = None;
        for area in &areas {
            let (from, to) = (area.x0.max(sum - area.y1), area.x1.min(sum - area.y0));
            if to - from < 1e-6 {
                continue;
            }
            let piece = ((from, sum - from), (to, sum - to));
            open = Some(match open {
                Some((start, end)) if (end.0 - from).abs() < 0.01 => (start, piece.1),
                Some((start, end)) => {
                    scene.line(&[start, end], ink, WIDTH);
                    piece
                }
                None => piece,
            });
        }
        if let Some((start, end)) = open {
            scene.line(&[start, end], ink, WIDTH);
        }
    }
}
