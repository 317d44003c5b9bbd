//! Figures per time bin as steps: a line, an area, and the estimated part of it hatched.

use super::hatch;
use super::panel::Panel;
use crate::draw::{Area, Ink, Item, Scene};

/// Bins on the time axis: `edges` has one entry more than there are values; seconds since start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps<'a> {
    pub(crate) panel: &'a Panel<'a>,
    pub(crate) edges: &'a [f64],
}

impl Steps<'_> {
    fn area(&self, bin: usize, low: f64, high: f64) -> Area {
        let (x0, x1) = (self.panel.x(self.edges[bin]), self.panel.x(self.edges[bin + 1]));
        Area::new(x0, self.panel.y(high), x1, self.panel.y(low))
    }

    /// The stepped outline of `values`.
    pub(crate) fn line(&self, scene: &mut Scene, values: &[f64], ink: Ink, width: f64) {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (bin, &value) in values.iter().enumerate().take(self.edges.len() - 1) {
            let area = self.area(bin, 0.0, value);
            let flat = points.last().is_some_and(|p| (p.1 - area.y0).abs() < 0.01);
            if flat {
                points.pop();
            } else {
                points.push((area.x0, area.y0));
            }
            points.push((area.x1, area.y0));
        }
        scene.mark(Item::Line { points, ink, width });
    }

    /// Everything between `low` and `high`.
    pub(crate) fn between(&self, scene: &mut Scene, low: &[f64], high: &[f64], ink: Ink) {
        let mut upper = Vec::new();
        let mut lower = Vec::new();
        for bin in 0..low.len().min(high.len()).min(self.edges.len() - 1) {
            let area = self.area(bin, low[bin], high[bin]);
            upper.extend([(area.x0, area.y0), (area.x1, area.y0)]);
            lower.extend([(area.x0, area.y1), (area.x1, area.y1)]);
        }
        upper.extend(lower.into_iter().rev());
        scene.mark(Item::Polygon { points: upper, ink });
    }

    /// Hatches everything between `low` and `high`.
    pub(crate) fn hatch(&self, scene: &mut Scene, low: &[f64], high: &[f64], ink: Ink) {
        let bins = low.len().min(high.len()).min(self.edges.len() - 1);
        let areas: Vec<Area> = (0..bins).map(|bin| self.area(bin, low[bin], high[bin])).collect();
        hatch::fill(scene, &areas, ink);
    }
}
