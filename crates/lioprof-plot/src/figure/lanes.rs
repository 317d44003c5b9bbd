//! Bars that overlap in time, put into lanes below each other.

use crate::draw::num::index;

/// Puts bars, sorted by their start, into the first lane that is free, in at most `most` lanes.
/// Returns the lane of each, and how many lanes there are.
pub(crate) fn assign(bars: &[(f64, f64)], most: usize) -> (Vec<usize>, usize) {
    // Where the last bar of each lane ends.
    let mut ends: Vec<f64> = Vec::new();
    let mut lanes = Vec::with_capacity(bars.len());
    for &(start, end) in bars {
        let lane = match ends.iter().position(|busy| *busy <= start) {
            Some(free) => free,
            None if ends.len() < most.max(1) => {
                ends.push(f64::NEG_INFINITY);
                ends.len() - 1
            }
            // No room: over the one that ends soonest.
            None => (0..ends.len()).min_by(|a, b| ends[*a].total_cmp(&ends[*b])).unwrap_or(0),
        };
        ends[lane] = ends[lane].max(end);
        lanes.push(lane);
    }
    (lanes, ends.len())
}

/// Heights of rows that hold lanes of one height.
#[derive(Clone, Debug)]
pub(crate) struct LaneRows {
    /// Most lanes that a row may have.
    pub(crate) most: usize,
    /// Height of a lane.
    pub(crate) lane: f64,
    /// Upper and lower end of each row, from 0.
    pub(crate) rows: Vec<(f64, f64)>,
}

/// Space above and below the lanes of a row.
pub(crate) const PAD: f64 = 2.0;
const TALLEST: f64 = 12.0;
const LOWEST: f64 = 2.5;

impl LaneRows {
    /// Rows with so many lanes in `room`; rows are at least `least` high. If the lanes would get too
    /// low, their number is limited.
    pub(crate) fn new(lanes: &[usize], room: f64, least: f64) -> Self {
        let heights = |most: usize, lane: f64| -> Vec<f64> {
            lanes.iter().map(|n| ((*n).min(most) as f64 * lane + 2.0 * PAD).max(least)).collect()
        };
        let fits = |most: usize, lane: f64| heights(most, lane).iter().sum::<f64>() <= room;
        let mut most = lanes.iter().copied().max().unwrap_or(1).clamp(1, 64);
        while most > 1 && !fits(most, LOWEST) {
            most -= 1;
        }
        // The tallest lane that fits, in steps of a quarter of a pixel.
        let steps = index((TALLEST - LOWEST) * 4.0);
        let lane = (0..=steps).rev().map(|i| LOWEST + i as f64 / 4.0).find(|lane| fits(most, *lane)).unwrap_or(LOWEST);
        let mut top = 0.0;
        let mut rows = Vec::new();
        for height in heights(most, lane) {
            rows.push((top, top + height));
            top += height;
        }
        Self { most, lane, rows }
    }

    /// Height of all rows.
    pub(crate) fn height(&self) -> f64 {
        self.rows.last().map_or(0.0, |row| row.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_that_overlap_get_lanes_of_their_own() {
        let (lanes, n) = assign(&[(0.0, 5.0), (1.0, 2.0), (2.0, 6.0), (5.0, 7.0)], 8);
        assert_eq!((lanes, n), (vec![0, 1, 1, 0], 2));
        assert_eq!(assign(&[(0.0, 5.0), (1.0, 3.0), (2.0, 6.0)], 2).0, [0, 1, 1]);
    }

    #[test]
    fn rows_fit_into_their_room() {
        for lanes in [vec![1], vec![1, 40, 3], vec![100; 10], vec![2; 200]] {
            let rows = LaneRows::new(&lanes, 400.0, 12.0);
            let least = lanes.len() as f64 * 12.0;
            assert!(rows.height() <= least.max(400.0) + 1e-9, "{rows:?}");
        }
    }
}
