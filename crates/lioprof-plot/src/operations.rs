//! Where the time of clients' operations went, by kind.

use lioprof_model::{KindSums, Operations, Part};

use crate::data::cut;
use crate::draw::{
    AFTER_TRANSFER, Align, Area, GREY, Ink, Item, OTHERS, QUEUE, SERVICE, SMALL, Scene, TRANSFER, WRITE, index, widest,
};
use crate::figure::{
    Axis, BELOW, HEAD, Key, Panel, RowLabels, Swatch, Tick, counted, duration_us, hatch, split, stripes,
};
use crate::options::PlotOptions;
use crate::page::Page;

/// Name of the plot of clients' operations: the stem of its file's name.
pub const NAME: &str = "operations-parts";
pub(crate) const TITLE: &str = "Where the time of operations went";

const ROW: f64 = 22.0;
/// Room for the names of kinds.
const NAMES: f64 = 170.0;

/// The colour of a part; the unknown is hatched.
fn ink(part: Part) -> Ink {
    match part {
        Part::ClientWork => Ink::new(0x9a_7d5f),
        Part::ClientQueue => Ink::new(0xf2_cf63),
        Part::NetworkOut => Ink::new(0x56_a8dc),
        Part::ServerQueue => QUEUE,
        Part::LockWait => WRITE,
        Part::ServerWork => SERVICE,
        Part::Disk => AFTER_TRANSFER,
        Part::NetworkBack => TRANSFER,
        Part::Other => Ink::new(0xcc_79a7),
        Part::Unknown => OTHERS,
    }
}

/// One bar for each kind of operation: the shares of its parts.
pub(crate) fn draw(operations: &Operations, options: &PlotOptions) -> Result<Scene, &'static str> {
    let mut kinds = operations.by_kind();
    kinds.retain(|kind| kind.duration_us.total > 0);
    if kinds.is_empty() {
        return Err("there is no operation and no RPC in these logs");
    }
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.duration_us.total));
    let what = if operations.inferred() > 0 {
        "Shares of the time that programs spent in each kind of operation. Kinds with * were inferred: each lasted at least so long."
    } else if operations.from_clients {
        "Shares of the time that programs spent in each kind of operation."
    } else {
        "Shares of the time that RPCs took at their servers, from arrival to the end of handling: no client's log has operations."
    };
    let mut page = Page::plain(options, TITLE, what);
    let is_used = |part: &Part| kinds.iter().any(|kind| kind.parts().any(|(told, _)| told == *part));
    let keys: Vec<Key> = Part::ALL
        .into_iter()
        .filter(is_used)
        .map(|part| {
            Key::new(
                if part == Part::Unknown { Swatch::Hatch(ink(part)) } else { Swatch::Fill(ink(part)) },
                part.words(),
            )
        })
        .collect();
    page.legend(&keys);
    let room = index((page.free_height() - HEAD - BELOW - 24.0) / ROW).max(1);
    if let Some(hidden) = cut(&mut kinds, room, |kind| kind.duration_us.total as f64) {
        page.note(format!("The {room} kinds with most time are shown; {} of it.", hidden.have("kind")));
    }
    let figures: Vec<String> = kinds.iter().map(|kind| figures(kind, operations)).collect();
    let right = widest(figures.iter().map(String::as_str), SMALL) + 14.0;
    let names: Vec<String> = kinds.iter().map(|kind| kind.asked.to_string()).collect();
    let labels = RowLabels::new(&names, ROW, NAMES);
    let height = kinds.len() as f64 * ROW;
    let body = page.body(height + BELOW);
    let area = Area::new(body.x0 + labels.width(), body.y0, body.x1 - right, body.y0 + height);
    let scene = &mut page.scene;
    let rows = split(area, kinds.len());
    let ticks = [0.0, 0.25, 0.5, 0.75, 1.0].map(|at| Tick::new(at, format!("{:.0} %", at * 100.0))).to_vec();
    let shares = Axis { ticks, ..Axis::unmarked("share of the time") };
    let nothing = Axis::unmarked("");
    let panel = Panel { area, x: &shares, y: &nothing };
    stripes(scene, area, &rows);
    panel.grid(scene, true, false);
    labels.draw(scene, area.x0, &rows);
    for ((kind, figures), &(top, bottom)) in kinds.iter().zip(&figures).zip(&rows) {
        let total = kind.duration_us.total as f64;
        let mut at = 0.0;
        for (part, us) in kind.parts() {
            let from = panel.x(at);
            at += us.total as f64 / total;
            let bar = Area::new(from, top + 3.5, panel.x(at.min(1.0)), bottom - 3.5);
            if part == Part::Unknown {
                hatch::fill(scene, &[bar], ink(part));
                scene.marks += 1;
            } else {
                scene.mark(Item::Rect { area: bar, ink: ink(part) });
            }
        }
        scene.label(area.x1 + 8.0, f64::midpoint(top, bottom), Align::Start, SMALL, GREY, figures);
    }
    panel.frame(scene);
    panel.x_axis(scene);
    Ok(page.finish())
}

/// `30.5 ms, 280 operations`.
fn figures(kind: &KindSums, operations: &Operations) -> String {
    let mean_us = kind.duration_us.total as f64 / kind.count.max(1) as f64;
    let what = if operations.from_clients { "operation" } else { "RPC" };
    format!("{}, {}", duration_us(mean_us), counted(kind.count, what))
}
