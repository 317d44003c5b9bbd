//! Legends: always outside of the data.

use crate::draw::{Align, Area, BLACK, BODY, FRAME, Ink, Item, Point, Scene, fit, width};
use crate::figure::hatch;

/// What a legend entry shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Swatch {
    Fill(Ink),
    Hatch(Ink),
    Line(Ink),
    Dot(Ink),
    Ring(Ink),
    Cross(Ink),
    Bar(Ink),
    Diamond(Ink),
    Wedge(Ink),
    /// Only text.
    None,
}

/// A legend entry.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub(crate) swatch: Swatch,
    pub(crate) label: String,
}

impl Key {
    pub(crate) fn new(swatch: Swatch, label: impl Into<String>) -> Self {
        Self { swatch, label: label.into() }
    }
}

const SWATCH: f64 = 18.0;
const ROW: f64 = 19.0;
/// No entry is wider than this.
const WIDEST: f64 = 300.0;

/// Draws the entries in rows from the upper left corner; returns the height they take.
pub(crate) fn draw(scene: &mut Scene, at: Point, room: f64, keys: &[Key]) -> f64 {
    let (mut x, mut y) = at;
    for key in keys {
        let label = fit(&key.label, BODY, WIDEST.min(room - SWATCH - 6.0));
        let swatch = if key.swatch == Swatch::None { 0.0 } else { SWATCH + 6.0 };
        let wide = swatch + width(&label, BODY, false);
        if x > at.0 && x + wide > at.0 + room {
            x = at.0;
            y += ROW;
        }
        let middle = y + ROW / 2.0;
        draw_swatch(scene, Area::new(x, middle - 5.5, x + SWATCH, middle + 5.5), key.swatch);
        scene.label(x + swatch, middle, Align::Start, BODY, BLACK, &label);
        x += wide + 18.0;
    }
    if keys.is_empty() { 0.0 } else { y + ROW - at.1 }
}

fn draw_swatch(scene: &mut Scene, area: Area, swatch: Swatch) {
    let (x, y) = area.center();
    match swatch {
        Swatch::Fill(ink) => {
            scene.rect(area, ink);
            scene.outline(area, FRAME, 0.5);
        }
        Swatch::Hatch(ink) => {
            hatch::fill(scene, &[area], ink);
            scene.outline(area, ink, 1.0);
        }
        Swatch::Line(ink) => scene.line(&[(area.x0, y), (area.x1, y)], ink, 2.5),
        Swatch::Dot(ink) => {
            scene.push(Item::Dot { at: (x, y), radius: 4.0, ink, filled: true });
        }
        Swatch::Ring(ink) => {
            scene.push(Item::Dot { at: (x, y), radius: 4.0, ink, filled: false });
        }
        Swatch::Cross(ink) => cross(scene, (x, y), 4.0, ink),
        Swatch::Bar(ink) => scene.line(&[(x, area.y0), (x, area.y1)], ink, 2.0),
        Swatch::Diamond(ink) => diamond(scene, (x, y), 5.0, ink),
        Swatch::Wedge(ink) => wedge(scene, (x, y + 5.0), 5.0, ink),
        Swatch::None => {}
    }
}

/// A marker in the form of an x.
pub(crate) fn cross(scene: &mut Scene, (x, y): Point, r: f64, ink: Ink) {
    scene.line(&[(x - r, y - r), (x + r, y + r)], ink, 1.5);
    scene.line(&[(x - r, y + r), (x + r, y - r)], ink, 1.5);
}

/// A marker in the form of a square on its corner.
pub(crate) fn diamond(scene: &mut Scene, (x, y): Point, r: f64, ink: Ink) {
    let points = vec![(x, y - r), (x + r, y), (x, y + r), (x - r, y)];
    scene.push(Item::Polygon { points, ink });
}

/// A marker in the form of a triangle that points down to its place.
pub(crate) fn wedge(scene: &mut Scene, (x, y): Point, r: f64, ink: Ink) {
    scene.push(Item::Polygon { points: vec![(x - r, y - 1.8 * r), (x + r, y - 1.8 * r), (x, y)], ink });
}
