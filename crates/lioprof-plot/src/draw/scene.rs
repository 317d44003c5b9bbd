//! A picture as a list of shapes, before any file format.

use super::area::{Area, Point};
use super::color::Ink;
use super::text::{self, Align, Text};

/// One shape.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    /// A filled rectangle.
    Rect { area: Area, ink: Ink },
    /// An open line.
    Line { points: Vec<Point>, ink: Ink, width: f64 },
    /// A filled polygon.
    Polygon { points: Vec<Point>, ink: Ink },
    /// A disc or a ring.
    Dot { at: Point, radius: f64, ink: Ink, filled: bool },
    /// A line of text.
    Text(Text),
}

/// A picture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) items: Vec<Item>,
    /// Where data is drawn; no legend or label may be in there.
    pub(crate) panels: Vec<Area>,
    /// Number of bars, cells, lines and dots that stand for data.
    pub(crate) marks: usize,
}

impl Scene {
    /// Adds a shape; one with a coordinate that is no number is left out.
    pub(crate) fn push(&mut self, item: Item) {
        let finite = |points: &[Point]| points.iter().all(|p| p.0.is_finite() && p.1.is_finite());
        let sound = match &item {
            Item::Rect { area, .. } => area.is_finite() && area.width() > 0.0 && area.height() > 0.0,
            Item::Line { points, .. } => points.len() > 1 && finite(points),
            Item::Polygon { points, .. } => points.len() > 2 && finite(points),
            Item::Dot { at, .. } => finite(&[*at]),
            Item::Text(text) => finite(&[text.at]) && !text.text.is_empty(),
        };
        if sound {
            self.items.push(item);
        }
    }

    /// Adds a shape that stands for data.
    pub(crate) fn mark(&mut self, item: Item) {
        let before = self.items.len();
        self.push(item);
        self.marks += self.items.len() - before;
    }

    pub(crate) fn rect(&mut self, area: Area, ink: Ink) {
        self.push(Item::Rect { area, ink });
    }

    pub(crate) fn line(&mut self, points: &[Point], ink: Ink, width: f64) {
        self.push(Item::Line { points: points.to_vec(), ink, width });
    }

    /// The outline of a rectangle.
    pub(crate) fn outline(&mut self, area: Area, ink: Ink, width: f64) {
        let Area { x0, y0, x1, y1 } = area;
        self.line(&[(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)], ink, width);
    }

    pub(crate) fn text(&mut self, text: Text) {
        self.push(Item::Text(text));
    }

    /// A label of size `size` whose middle is at the height `y`.
    pub(crate) fn label(&mut self, x: f64, y: f64, align: Align, size: f64, ink: Ink, label: &str) {
        let at = (x, y + size * text::CAP_HEIGHT / 2.0);
        self.text(Text::new(at, label, size).align(align).ink(ink));
    }
}
