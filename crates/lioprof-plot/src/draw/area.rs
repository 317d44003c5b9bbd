//! Rectangles of the page.

/// A point of the page, in page pixels from the upper left corner.
pub(crate) type Point = (f64, f64);

/// A rectangle of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Area {
    pub(crate) x0: f64,
    pub(crate) y0: f64,
    pub(crate) x1: f64,
    pub(crate) y1: f64,
}

impl Area {
    pub(crate) fn new(x0: f64, y0: f64, x1: f64, y1: f64) -> Self {
        Self { x0, y0, x1, y1 }
    }

    pub(crate) fn width(&self) -> f64 {
        self.x1 - self.x0
    }

    pub(crate) fn height(&self) -> f64 {
        self.y1 - self.y0
    }

    pub(crate) fn center(&self) -> Point {
        (f64::midpoint(self.x0, self.x1), f64::midpoint(self.y0, self.y1))
    }

    /// The same, smaller by these margins.
    pub(crate) fn shrink(&self, left: f64, top: f64, right: f64, bottom: f64) -> Self {
        Self::new(self.x0 + left, self.y0 + top, self.x1 - right, self.y1 - bottom)
    }

    pub(crate) fn is_finite(&self) -> bool {
        [self.x0, self.y0, self.x1, self.y1].iter().all(|v| v.is_finite())
    }
}
