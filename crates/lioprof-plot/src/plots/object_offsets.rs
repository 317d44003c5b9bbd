//! Where in an object clients read and wrote.

use std::collections::BTreeMap;

use lioprof_model::{Analysis, Direction, SampledRpc};

use super::plot::{Plot, PlotOptions};
use crate::data::{Covers, Thinned, UNATTRIBUTED, client_name, cut, largest, sound};
use crate::draw::{CATEGORIES, GREY, Ink, Item, OTHERS, Scene};
use crate::figure::{Grid, Key, Page, Panel, Swatch, Window, bytes_from_zero, counted, cross};

pub(super) const PLOT: Plot = Plot {
    name: "object-offsets",
    title: "Offsets in the busiest objects",
    how_to_read: "Each panel is one object (the part of a file on one OST), those with most bytes first. A \
        mark is one RPC: when it was handled, and where in the object it began; a thin line upwards shows \
        how far it reached. The colour is the client, a disc is a read and a cross a write. Straight rising \
        lines are sequential I/O, clouds are random I/O. Colours that keep to bands of their own do not \
        disturb each other; colours mixed within a band fight for the same locks.",
    draw,
};

const MOST_PANELS: usize = 6;
const MOST_MARKS: usize = 3600;

/// Number of the target, FID.
type ObjectKey<'a> = (Option<u32>, &'a str);

fn draw(analysis: &Analysis, options: &PlotOptions) -> Result<Scene, &'static str> {
    let mut by_object: BTreeMap<ObjectKey<'_>, Vec<&SampledRpc>> = BTreeMap::new();
    for rpc in analysis.sample.rpcs.iter().filter(|rpc| sound(rpc) && rpc.offset.is_some()) {
        if let Some(object) = &rpc.object {
            by_object.entry((rpc.target, object)).or_default().push(rpc);
        }
    }
    if by_object.is_empty() {
        return Err("no read or write has a known object and offset");
    }
    let sum = |rpcs: &[&SampledRpc]| rpcs.iter().map(|r| r.bytes.unwrap_or(0) as f64).sum::<f64>();
    let mut objects: Vec<(ObjectKey<'_>, Vec<&SampledRpc>)> = by_object.into_iter().collect();
    objects.sort_by(|a, b| sum(&b.1).total_cmp(&sum(&a.1)).then_with(|| a.0.cmp(&b.0)));
    let hidden = cut(&mut objects, MOST_PANELS, |object| sum(&object.1));

    let mut by_client: BTreeMap<u32, usize> = BTreeMap::new();
    for rpc in objects.iter().flat_map(|o| &o.1) {
        *by_client.entry(rpc.client).or_default() += 1;
    }
    let mut clients: Vec<(u32, usize)> = by_client.into_iter().collect();
    clients.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let others = clients.split_off(clients.len().min(CATEGORIES.len()));

    let what = "Offset and time of read and write RPCs in the objects with most bytes, by client.";
    let mut page = Page::new(options, analysis, PLOT.title, what, Covers::default());
    let mut keys = vec![Key::new(Swatch::Dot(GREY), "read"), Key::new(Swatch::Cross(GREY), "write")];
    for ((client, _), ink) in clients.iter().zip(CATEGORIES) {
        keys.push(Key::new(Swatch::Fill(ink), client_name(analysis, *client)));
    }
    if !others.is_empty() {
        keys.push(Key::new(Swatch::Fill(OTHERS), counted(others.len() as u64, "other client")));
    }
    page.legend(&keys);
    let all: Vec<&SampledRpc> = objects.iter().flat_map(|o| o.1.iter().copied()).collect();
    let thinned = Thinned::new(analysis, all, MOST_MARKS);
    let mut note = thinned.describe();
    if let Some(hidden) = hidden {
        let of_sample = if analysis.sample.one_in > 1 { " of the sample" } else { "" };
        note += &format!(" {} of the bytes{of_sample}.", hidden.have("object"));
    }
    page.note(note);

    let columns = if objects.len() > 2 { 2 } else { 1 };
    let window = Window::of(analysis);
    let time = window.axis(if columns > 1 { 6.0 } else { 10.0 });
    let end = |r: &&SampledRpc| r.last.or(r.offset).unwrap_or(0) as f64 + 1.0;
    let ends: Vec<f64> = thinned.rpcs.iter().map(end).collect();
    let offset = bytes_from_zero(largest(&ends), 4.0, "offset in object", "");
    let height = if columns > 1 { 165.0 } else { 230.0 };
    let grid = Grid::new(page.body(Grid::height(objects.len(), columns, height)), objects.len(), columns);
    let panels = grid.panels(&time, &offset);
    let scene = &mut page.scene;
    for (panel, ((target, object), rpcs)) in panels.iter().zip(&objects) {
        panel.grid(scene, true, true);
        let mine = |r: &&&SampledRpc| r.target == *target && r.object.as_deref() == Some(object);
        for rpc in thinned.rpcs.iter().filter(mine) {
            let ink = clients.iter().position(|c| c.0 == rpc.client).map_or(OTHERS, |at| CATEGORIES[at]);
            mark(scene, panel, &window, rpc, ink);
        }
        panel.frame(scene);
        let target = target.and_then(|t| analysis.targets.get(t as usize));
        let target = target.map_or(UNATTRIBUTED, |t| t.name.as_str());
        let name = format!("{target} {object}");
        panel.head(scene, &name, &counted(rpcs.len() as u64, "RPC"));
    }
    grid.axes(scene, &panels);
    Ok(page.finish())
}

fn mark(scene: &mut Scene, panel: &Panel<'_>, window: &Window, rpc: &SampledRpc, ink: Ink) {
    let Some(offset) = rpc.offset else { return };
    let start = if rpc.start.is_finite() { rpc.start } else { rpc.arrival };
    let at = (panel.x(window.since(start)), panel.y(offset as f64));
    let top = panel.y(rpc.last.unwrap_or(offset) as f64);
    if at.1 - top > 3.0 {
        scene.line(&[at, (at.0, top)], ink.alpha(0.6), 1.0);
    }
    match rpc.direction {
        Direction::Read => scene.mark(Item::Dot { at, radius: 2.5, ink, filled: true }),
        Direction::Write => {
            scene.marks += 1;
            cross(scene, at, 2.5, ink);
        }
    }
}
