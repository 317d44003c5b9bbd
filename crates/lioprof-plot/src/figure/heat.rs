//! Heat maps: a row of cells per thing, few rectangles.

use super::heat_scale::HeatScale;
use crate::draw::{Area, Item, PALE, Scene};

/// Draws one row of cells between `top` and `bottom`. `edges` has one entry more than `values`.
/// Neighbours of the same colour become one rectangle; empty cells are left as they are.
pub(crate) fn row(scene: &mut Scene, (top, bottom): (f64, f64), edges: &[f64], values: &[f64], scale: &HeatScale) {
    let cells = values.len().min(edges.len().saturating_sub(1));
    let mut from = 0;
    while from < cells {
        let step = scale.step(values[from]);
        let mut to = from + 1;
        while to < cells && scale.step(values[to]) == step {
            to += 1;
        }
        if step.is_some() {
            // Half a pixel into a neighbour that is drawn next, so that no seam shows.
            let more = to < cells && scale.step(values[to]).is_some();
            let area = Area::new(edges[from], top, edges[to] + if more { 0.5 } else { 0.0 }, bottom);
            scene.mark(Item::Rect { area, ink: scale.ink(values[from]) });
        }
        from = to;
    }
}

/// The background of cells: what is left of it means "nothing".
pub(crate) fn background(scene: &mut Scene, area: Area) {
    scene.panels.push(area);
    scene.rect(area, PALE);
}
