//! What each OST moved.

use std::collections::BTreeMap;

use lioprof_model::names::without_file_system;
use lioprof_model::{Analysis, TargetKindName};

use super::plot::{ComparisonPlot, INKS, PlotOptions, keys};
use crate::data::{Covers, cut};
use crate::draw::{Area, Item, Scene, index};
use crate::figure::{Axis, BELOW, HEAD, Panel, RowLabels, Swatch, bytes, bytes_from_zero, split, stripes};
use crate::page::Page;

pub(super) const PLOT: ComparisonPlot = ComparisonPlot {
    name: "compare-osts",
    title: "Bytes per OST, before and after",
    how_to_read: "One row per OST, reads left and writes right: the upper bar is before, the lower one after. Bars of \
        the same length in all rows mean an even load.",
    draw,
};

/// Height of a row.
const ROW: f64 = 26.0;

/// Bytes read and written, before and after.
#[derive(Clone, Copy, Default)]
struct Moved {
    bytes: [[u64; 2]; 2],
}

impl Moved {
    fn all(&self) -> u64 {
        self.bytes.iter().flatten().fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }
}

fn draw(sides: [&Analysis; 2], options: &PlotOptions) -> Result<Scene, &'static str> {
    let mut by_name: BTreeMap<&str, Moved> = BTreeMap::new();
    for (side, analysis) in sides.iter().enumerate() {
        for target in analysis.targets.iter().filter(|target| target.kind == TargetKindName::Ost) {
            let moved = by_name.entry(&target.name).or_default();
            for (direction, io) in [&target.read, &target.write].into_iter().enumerate() {
                let sum = &mut moved.bytes[direction][side];
                *sum = sum.saturating_add(io.io.bytes);
            }
        }
    }
    let mut osts: Vec<(&str, Moved)> = by_name.into_iter().collect();
    if osts.iter().all(|(_, moved)| moved.all() == 0) {
        return Err("no bytes were read or written on OSTs, or their sizes are unknown");
    }
    let covers = Covers { bytes: true, targets: true, ..Covers::default() };
    let mut page = Page::of_two(options, sides, PLOT.title, "Bytes that each OST moved.", covers);
    page.legend(&keys(Swatch::Fill));
    let room = index((page.free_height() - HEAD - BELOW - 16.0) / ROW).max(2);
    if osts.len() > room {
        osts.sort_by(|a, b| b.1.all().cmp(&a.1.all()).then_with(|| a.0.cmp(b.0)));
    }
    if let Some(hidden) = cut(&mut osts, room, |(_, moved)| moved.all() as f64) {
        let have = hidden.have("OST");
        page.note(format!("The {room} OSTs with most bytes are shown; {have} of the bytes."));
    }
    let body = page.body(HEAD + BELOW + osts.len() as f64 * ROW).shrink(0.0, HEAD, 14.0, BELOW);
    let names = without_file_system(osts.iter().map(|(name, _)| *name));
    let labels = RowLabels::new(&names, body.height() / osts.len() as f64 - 2.0, 150.0);
    let directions: Vec<usize> =
        (0..2).filter(|direction| osts.iter().any(|(_, moved)| moved.bytes[*direction] != [0, 0])).collect();
    let max = osts.iter().flat_map(|(_, moved)| moved.bytes.iter().flatten()).max().map_or(0.0, |max| *max as f64);
    let axis = bytes_from_zero(max, if directions.len() > 1 { 3.0 } else { 6.0 }, "bytes", "");
    let nothing = Axis::unmarked("");
    let gap = 26.0;
    let inner = body.shrink(labels.width(), 0.0, 0.0, 0.0);
    let columns = directions.len() as f64;
    let wide = (inner.width() - gap * (columns - 1.0)) / columns;
    let scene = &mut page.scene;
    let rows = split(inner, osts.len());
    labels.draw(scene, inner.x0, &rows);
    for (column, direction) in directions.iter().enumerate() {
        let x0 = inner.x0 + column as f64 * (wide + gap);
        let area = Area::new(x0, inner.y0, x0 + wide, inner.y1);
        let panel = Panel { area, x: &axis, y: &nothing };
        stripes(scene, area, &rows);
        panel.grid(scene, true, false);
        for ((_, moved), (y0, y1)) in osts.iter().zip(&rows) {
            let thick = (y1 - y0) * 0.36;
            for (side, ink) in INKS.into_iter().enumerate() {
                let top = y0 + (y1 - y0) * 0.12 + side as f64 * thick;
                let bar = Area::new(area.x0, top, panel.x(moved.bytes[*direction][side] as f64), top + thick);
                scene.mark(Item::Rect { area: bar, ink });
            }
        }
        panel.frame(scene);
        let sum = |side: usize| bytes(osts.iter().map(|(_, moved)| moved.bytes[*direction][side] as f64).sum());
        let figures = [format!("before {}, after {}", sum(0), sum(1)), String::new()];
        panel.head_fitting(scene, ["Read", "Written"][*direction], &figures);
        panel.x_axis(scene);
    }
    Ok(page.finish())
}
