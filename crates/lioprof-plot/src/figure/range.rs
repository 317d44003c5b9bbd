//! A distribution of times as a bar: median, 90 %, 99 %, slowest.

use lioprof_model::Distribution;

use super::axis::Axis;
use super::legend::{Key, Swatch, diamond};
use super::panel::Panel;
use super::ticks::log_time;
use crate::draw::{Area, GREY, Ink, Item, Scene};

/// Draws it at the height `y`: a bar from the median (disc) over 90 % (stroke) to 99 % (diamond), and
/// a thin line on to the slowest (ring).
pub(crate) fn range(scene: &mut Scene, panel: &Panel<'_>, y: f64, thick: f64, times: &Distribution, ink: Ink) {
    let place = |us: Option<u64>| us.map(|us| panel.x(us as f64));
    let (p50, p90, p99, max) = (place(times.p50), place(times.p90), place(times.p99), place(times.max));
    if let (Some(from), Some(to)) = (p50, max) {
        scene.line(&[(from, y), (to, y)], ink, 1.0);
        scene.push(Item::Dot { at: (to, y), radius: thick * 0.65, ink, filled: false });
    }
    if let (Some(from), Some(to)) = (p50, p99) {
        let half = thick / 2.0;
        let area = Area::new(from, y - half, to.max(from + 1.0), y + half);
        scene.mark(Item::Rect { area, ink: ink.tint(0.55) });
        diamond(scene, (to, y), thick * 0.7, ink);
    }
    if let Some(x) = p90 {
        scene.line(&[(x, y - thick * 0.8), (x, y + thick * 0.8)], ink, 2.0);
    }
    if let Some(x) = p50 {
        scene.push(Item::Dot { at: (x, y), radius: thick * 0.6, ink, filled: true });
    }
}

/// What the signs mean.
pub(crate) fn range_keys() -> [Key; 4] {
    [
        Key::new(Swatch::Dot(GREY), "median"),
        Key::new(Swatch::Bar(GREY), "90 %"),
        Key::new(Swatch::Diamond(GREY), "99 %"),
        Key::new(Swatch::Ring(GREY), "slowest"),
    ]
}

/// From the shortest median to the longest time of all.
pub(crate) fn range_axis<'a>(all: impl Iterator<Item = &'a Distribution> + Clone, title: &str) -> Axis {
    let low = all.clone().filter_map(|times| times.p50).min().unwrap_or(1).max(1);
    let high = all.filter_map(|times| times.max.max(times.p99)).max().unwrap_or(1).max(low);
    log_time(low as f64, high as f64, title)
}
