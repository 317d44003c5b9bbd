//! Where in an object clients read and wrote.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lioprof_model::names::{self, UNATTRIBUTED};
use lioprof_model::{Analysis, Direction, Object, SampledRpc};

use super::plot::{Plot, PlotOptions};
use crate::data::{Covers, Thinned, client_name, cut, largest, sound};
use crate::draw::{CATEGORIES, GREY, Ink, Item, OTHERS, Scene, index, ratio};
use crate::figure::{Grid, Key, Panel, Swatch, Window, bytes_from_zero, count, counted, cross, more_have, percent};
use crate::page::Page;

pub(super) const PLOT: Plot = Plot {
    name: "object-offsets",
    title: "Offsets in the busiest objects",
    how_to_read: "Each panel is one object (the part of a file on one OST), those with most bytes first, counted \
        over all RPCs; its head says how many of them are drawn. A mark is one RPC: when it was handled, and where in the object it began; a thin line upwards shows \
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
    let sums = Sums::of(analysis);
    let mut objects: Vec<(ObjectKey<'_>, Vec<&SampledRpc>)> = by_object.into_iter().collect();
    objects.sort_by_cached_key(|(key, rpcs)| (Reverse(sums.bytes(key)), Reverse(bytes(rpcs)), *key));
    // Of objects that the analysis has no sums of (an old one has none at all) what is known is the sample.
    let exact = objects.iter().take(MOST_PANELS).all(|(key, _)| sums.get(key).is_some());
    let hidden = cut(&mut objects, MOST_PANELS, |object| bytes(&object.1) as f64);

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
    if exact {
        note += &sums.notes(objects.iter().map(|(key, _)| *key));
    } else if let Some(hidden) = hidden {
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
        let mut marks = 0;
        for rpc in thinned.rpcs.iter().filter(mine) {
            marks += 1;
            let ink = clients.iter().position(|c| c.0 == rpc.client).map_or(OTHERS, |at| CATEGORIES[at]);
            mark(scene, panel, &window, rpc, ink);
        }
        panel.frame(scene);
        let all = sums.get(&(*target, object)).map(|object| object.read.rpcs + object.write.rpcs);
        let target = target.and_then(|t| analysis.targets.get(t as usize));
        let target = target.map_or(UNATTRIBUTED, |t| t.name.as_str());
        let name = names::object(target, object);
        panel.head(scene, &name, &figures(marks, rpcs.len() as u64, all, analysis.sample.one_in > 1));
    }
    grid.axes(scene, &panels);
    Ok(page.finish())
}

/// `120 RPCs`, or how many of them are drawn. `sampled`: of the sample; `all`: as the analysis counted them.
fn figures(marks: u64, sampled: u64, all: Option<u64>, is_sample: bool) -> String {
    match all {
        Some(all) if all == marks => counted(all, "RPC"),
        Some(all) => format!("{} of {}", count(marks), counted(all, "RPC")),
        None if is_sample => format!("{} of the sample", counted(sampled, "RPC")),
        None => counted(sampled, "RPC"),
    }
}

fn bytes(rpcs: &[&SampledRpc]) -> u64 {
    rpcs.iter().fold(0, |sum, rpc| sum.saturating_add(rpc.bytes.unwrap_or(0)))
}

/// What the analysis counted of objects, whatever is in the sample.
struct Sums<'a> {
    analysis: &'a Analysis,
    objects: BTreeMap<(&'a str, &'a str), &'a Object>,
}

impl<'a> Sums<'a> {
    fn of(analysis: &'a Analysis) -> Self {
        let of = |object: &'a Object| Some(((object.target.as_deref()?, object.fid.as_deref()?), object));
        Self { analysis, objects: analysis.objects.iter().filter_map(of).collect() }
    }

    fn get(&self, (target, fid): &ObjectKey<'a>) -> Option<&'a Object> {
        let target = self.analysis.targets.get((*target)? as usize)?;
        self.objects.get(&(target.name.as_str(), *fid)).copied()
    }

    fn bytes(&self, key: &ObjectKey<'a>) -> u64 {
        self.get(key).map_or(0, moved)
    }

    /// What is not drawn of all objects.
    fn notes(&self, drawn: impl Iterator<Item = ObjectKey<'a>>) -> String {
        let drawn: Vec<&Object> = drawn.filter_map(|key| self.get(&key)).collect();
        let all = &self.analysis.objects;
        let sum = |objects: Vec<&Object>| objects.into_iter().map(|it| moved(it) as f64).sum::<f64>();
        let (shown, whole) = (sum(drawn.clone()), sum(all.iter().collect()));
        let n = all.iter().map(|it| it.objects).sum::<u64>().saturating_sub(drawn.len() as u64);
        if n == 0 {
            return String::new();
        }
        // One row stands for the objects beyond those that the analysis counts singly; how many these are is not certain.
        let least = if all.iter().any(|it| it.fid.is_none()) { "At least " } else { "" };
        let mut note = format!(
            " {least}{} {} of the bytes.",
            more_have(index(n as f64), "object"),
            percent(ratio(whole - shown, whole))
        );
        let smallest = drawn.iter().map(|it| moved(it)).min().unwrap_or(0);
        let busier = self.objects.values().filter(|it| moved(it) > smallest).count() + 1;
        if busier > drawn.len() {
            let missing = counted((busier - drawn.len()) as u64, "object");
            let of_sample = if self.analysis.sample.one_in > 1 { " of the sample" } else { "" };
            note += &format!(" {missing} with more bytes cannot be drawn: no RPC{of_sample} with a known offset.");
        }
        note
    }
}

fn moved(object: &Object) -> u64 {
    object.read.bytes.saturating_add(object.write.bytes)
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
