//! Named rows: one thing each (an OST, a client, an operation).

use crate::draw::{Align, Area, BLACK, BODY, GREY, PALE, SMALL, Scene, TINY, Text, fit, widest};

/// Names left of their rows.
#[derive(Clone, Debug)]
pub(crate) struct RowLabels {
    labels: Vec<String>,
    size: f64,
    room: f64,
}

impl RowLabels {
    /// Names for rows of this height, shortened in their middle to at most `widest_allowed`.
    pub(crate) fn new(names: &[String], row_height: f64, widest_allowed: f64) -> Self {
        let size = match row_height {
            h if h >= 17.0 => BODY,
            h if h >= 13.0 => SMALL,
            _ => TINY,
        };
        let labels: Vec<String> = names.iter().map(|n| fit(n, size, widest_allowed)).collect();
        let room = widest(labels.iter().map(String::as_str), size) + 8.0;
        Self { labels, size, room }
    }

    /// Width they take, with the gap to the rows.
    pub(crate) fn width(&self) -> f64 {
        self.room
    }

    /// Writes them, each in the middle of its row, right-aligned before `x`.
    pub(crate) fn draw(&self, scene: &mut Scene, x: f64, rows: &[(f64, f64)]) {
        for (label, (top, bottom)) in self.labels.iter().zip(rows) {
            let y = f64::midpoint(*top, *bottom);
            scene.label(x - 6.0, y, Align::End, self.size, BLACK, label);
        }
    }
}

/// Divides an area into `count` rows of the same height.
pub(crate) fn split(area: Area, count: usize) -> Vec<(f64, f64)> {
    let each = area.height() / count.max(1) as f64;
    (0..count).map(|i| (area.y0 + i as f64 * each, area.y0 + (i + 1) as f64 * each)).collect()
}

/// A background for every other row.
pub(crate) fn stripes(scene: &mut Scene, area: Area, rows: &[(f64, f64)]) {
    for (y0, y1) in rows.iter().step_by(2) {
        scene.rect(Area::new(area.x0, *y0, area.x1, *y1), PALE);
    }
}

/// Names below the columns of a matrix: level where they fit, else upright and cut to `room`.
pub(crate) fn column_names(scene: &mut Scene, area: Area, names: &[String], level: bool, room: f64) {
    let each = area.width() / names.len() as f64;
    let size = if each < 13.5 { TINY } else { SMALL };
    for (i, name) in names.iter().enumerate() {
        let x = area.x0 + (i as f64 + 0.5) * each;
        if level {
            scene.label(x, area.y1 + 10.0, Align::Middle, SMALL, GREY, name);
        } else {
            let at = (x + size * 0.365, area.y1 + 6.0);
            scene.text(Text::new(at, fit(name, size, room), size).ink(GREY).align(Align::End).upright());
        }
    }
}
