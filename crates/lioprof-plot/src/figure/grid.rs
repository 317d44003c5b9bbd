//! Small multiples: several panels with the same axes.

use super::axis::Axis;
use super::panel::{BELOW, HEAD, Panel, left_of, y_title};
use crate::draw::{Area, BODY, Scene};

/// Panels in columns and rows, filled row by row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    body: Area,
    count: usize,
    columns: usize,
    rows: usize,
}

/// Between columns: the last label of one and the first of the next need room.
const GAP: f64 = 22.0;
/// Between a panel and the title of the one below.
const LOW: f64 = 6.0;

impl Grid {
    pub(crate) fn new(body: Area, count: usize, columns: usize) -> Self {
        let columns = columns.clamp(1, count.max(1));
        Self { body, count, columns, rows: count.max(1).div_ceil(columns) }
    }

    /// A height that suits so many panels.
    pub(crate) fn height(count: usize, columns: usize, each: f64) -> f64 {
        let rows = count.max(1).div_ceil(columns.max(1));
        rows as f64 * (each + HEAD + LOW) + BELOW - LOW
    }

    /// The panels.
    pub(crate) fn panels<'a>(&self, x: &'a Axis, y: &'a Axis) -> Vec<Panel<'a>> {
        // Half of the last label of the time axis sticks out on the right.
        let inner = self.body.shrink(left_of(y), 0.0, 14.0, BELOW - LOW);
        let wide = (inner.width() - GAP * (self.columns - 1) as f64) / self.columns as f64;
        let high = inner.height() / self.rows as f64;
        let panel = |i: usize| {
            let (column, row) = ((i % self.columns) as f64, (i / self.columns) as f64);
            let (x0, y0) = (inner.x0 + column * (wide + GAP), inner.y0 + row * high + HEAD);
            Panel { area: Area::new(x0, y0, x0 + wide, y0 + high - HEAD - LOW), x, y }
        };
        (0..self.count).map(panel).collect()
    }

    /// Nothing below.
    fn lonely(&self, i: usize) -> bool {
        i + self.columns >= self.count
    }

    /// Ticks of the outer panels, and the two titles.
    pub(crate) fn axes(&self, scene: &mut Scene, panels: &[Panel<'_>]) {
        for (i, panel) in panels.iter().enumerate() {
            if i % self.columns == 0 {
                panel.y_ticks(scene);
            }
        }
        self.x_axes(scene, panels);
        self.y_axis_title(scene, panels);
    }

    /// Ticks and title of the horizontal axis alone.
    pub(crate) fn x_axes(&self, scene: &mut Scene, panels: &[Panel<'_>]) {
        for (_, panel) in panels.iter().enumerate().filter(|(i, _)| self.lonely(*i)) {
            panel.x_ticks(scene);
        }
        let (Some(first), Some(last)) = (panels.first(), panels.last()) else {
            return;
        };
        let right = panels.iter().map(|p| p.area.x1).fold(0.0, f64::max);
        let area = Area::new(first.area.x0, first.area.y0, right, last.area.y1);
        Panel { area, ..*first }.x_title(scene);
    }

    /// The title of the vertical axis alone.
    pub(crate) fn y_axis_title(&self, scene: &mut Scene, panels: &[Panel<'_>]) {
        let (Some(first), Some(last)) = (panels.first(), panels.last()) else {
            return;
        };
        let all = Area::new(first.area.x0, first.area.y0, first.area.x1, last.area.y1);
        y_title(scene, self.body.x0 + BODY, all, &first.y.title);
    }
}
