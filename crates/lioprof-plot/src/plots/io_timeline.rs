//! The I/O trace: every RPC as a bar.

use std::collections::BTreeMap;

use lioprof_model::{Analysis, Direction, SampledRpc};

use super::Plot;
use crate::data::quality::Covers;
use crate::data::sample::{Thinned, client_name, sound};
use crate::draw::area::Area;
use crate::draw::color::{PALE, READ, WRITE, direction};
use crate::draw::num::index;
use crate::draw::scene::{Item, Scene};
use crate::draw::text::BODY;
use crate::figure::axis::{Axis, Scale};
use crate::figure::legend::{Key, Swatch};
use crate::figure::page::Page;
use crate::figure::panel::{BELOW, Panel, y_title};
use crate::figure::rows::{RowLabels, split};
use crate::figure::time_axis::Window;
use crate::figure::units::{counted, percent};
use crate::options::PlotOptions;

pub(super) const PLOT: Plot = Plot {
    name: "io-timeline",
    title: "Reads and writes as they happened",
    how_to_read: "Time runs to the right; each row is one client. A bar is one RPC from its arrival at the \
        server to its end: pale while it waits for a service thread, full while it is handled. RPCs of a \
        client that overlap are drawn below each other, so the height of a pack of bars is how many were \
        under way at once. Long pale parts are queueing; bars of many clients that end together point to \
        something all of them waited for. In a large capture only a sample of the RPCs is shown.",
    draw,
};

const MOST_BARS: usize = 3500;
/// Height of a row that is good to read, and the smallest one.
const ROW: (f64, f64) = (44.0, 16.0);
/// Smallest height of a lane, without its gap.
const LANE: f64 = 2.0;

fn draw(analysis: &Analysis, options: &PlotOptions) -> Result<Scene, &'static str> {
    let window = Window::of(analysis);
    let mut by_client: BTreeMap<u32, Vec<&SampledRpc>> = BTreeMap::new();
    for rpc in analysis.sample.rpcs.iter().filter(|rpc| sound(rpc)) {
        by_client.entry(rpc.client).or_default().push(rpc);
    }
    if by_client.is_empty() {
        return Err("the capture has no reads or writes with known times");
    }
    let mut clients: Vec<(u32, Vec<&SampledRpc>)> = by_client.into_iter().collect();
    clients.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(&b.0)));
    let what = "Each bar is an RPC from its arrival at the server to its end, a row per client.";
    let mut page = Page::new(options, analysis, PLOT.title, what, Covers::default());
    page.legend(&[
        Key::new(Swatch::Fill(READ.tint(QUEUED)), "read, waiting"),
        Key::new(Swatch::Fill(READ), "read, in process"),
        Key::new(Swatch::Fill(WRITE.tint(QUEUED)), "write, waiting"),
        Key::new(Swatch::Fill(WRITE), "write, in process"),
    ]);
    // Two lines of notes are to come.
    let fits = index((page.free_height() - BELOW - 34.0) / ROW.1).max(1);
    let hidden = clients.split_off(clients.len().min(fits));
    let shown: Vec<&SampledRpc> = clients.iter().flat_map(|c| c.1.iter().copied()).collect();
    let thinned = Thinned::new(analysis, shown, MOST_BARS);
    let mut note = thinned.describe();
    if !hidden.is_empty() {
        let rest: usize = hidden.iter().map(|c| c.1.len()).sum();
        note += &format!(
            " The {} with most RPCs are shown; {} have {} of the RPCs.",
            counted(clients.len() as u64, "client"),
            counted(hidden.len() as u64, "more client"),
            percent(rest as f64 / analysis.sample.rpcs.len() as f64),
        );
    }
    note += " Bars are at least one pixel wide.";
    page.note(note);

    let names: Vec<String> = clients.iter().map(|(client, _)| client_name(analysis, *client)).collect();
    let body = page.body((clients.len() as f64 * ROW.0).max(90.0) + BELOW);
    let each = (body.height() - BELOW) / clients.len() as f64;
    let labels = RowLabels::new(&names, each, 180.0);
    let time = window.axis(10.0);
    let nothing = Axis { scale: Scale::Linear { lo: 0.0, hi: 1.0 }, ticks: Vec::new(), title: String::new() };
    let area = body.shrink(BODY * 1.7 + labels.width(), 0.0, 14.0, BELOW);
    let panel = Panel { area, x: &time, y: &nothing };
    let rows = split(area, clients.len());
    let scene = &mut page.scene;
    for (y0, y1) in rows.iter().step_by(2) {
        scene.rect(Area::new(area.x0, *y0, area.x1, *y1), PALE);
    }
    panel.grid(scene, true, false);
    let mut left: BTreeMap<u32, Vec<&SampledRpc>> = BTreeMap::new();
    for rpc in thinned.rpcs {
        left.entry(rpc.client).or_default().push(rpc);
    }
    for ((client, _), row) in clients.iter().zip(&rows) {
        if let Some(rpcs) = left.get_mut(client) {
            bars(scene, &panel, &window, *row, rpcs);
        }
    }
    panel.frame(scene);
    labels.draw(scene, area.x0, &rows);
    panel.x_ticks(scene);
    panel.x_title(scene);
    y_title(scene, body.x0 + BODY, area, "client (NID)");
    Ok(page.finish())
}

/// Share of the colour that is left while an RPC waits.
const QUEUED: f64 = 0.4;

/// The RPCs of one client in lanes, so that those under way at once are below each other.
fn bars(scene: &mut Scene, panel: &Panel<'_>, window: &Window, row: (f64, f64), rpcs: &mut [&SampledRpc]) {
    rpcs.sort_by(|a, b| a.arrival.total_cmp(&b.arrival).then_with(|| a.end.total_cmp(&b.end)));
    let room = row.1 - row.0 - 4.0;
    let most = index(room / (LANE + 0.5)).max(1);
    // End of the last RPC of each lane, in pixels.
    let mut lanes: Vec<f64> = Vec::new();
    let mut placed: Vec<(usize, f64, f64, f64, Direction)> = Vec::new();
    for rpc in rpcs {
        let x0 = panel.x(window.since(rpc.arrival));
        let x2 = panel.x(window.since(rpc.end)).max(x0 + 1.0);
        let start = if rpc.start.is_finite() { rpc.start } else { rpc.arrival };
        let x1 = panel.x(window.since(start)).min(x2 - 1.0).max(x0);
        let free = lanes.iter().position(|end| *end <= x0);
        let lane = match free {
            Some(lane) => lane,
            None if lanes.len() < most => {
                lanes.push(0.0);
                lanes.len() - 1
            }
            // No room: over the lane that is free soonest.
            None => (0..lanes.len()).min_by(|a, b| lanes[*a].total_cmp(&lanes[*b])).unwrap_or(0),
        };
        lanes[lane] = lanes[lane].max(x2);
        placed.push((lane, x0, x1, x2, rpc.direction));
    }
    let each = (room / lanes.len().max(1) as f64).min(12.0);
    for (lane, x0, x1, x2, kind) in placed {
        let y0 = row.0 + 2.0 + lane as f64 * each;
        let y1 = y0 + each - if each > 3.0 { 1.0 } else { 0.5 };
        let ink = direction(kind);
        if x1 - x0 >= 0.5 {
            scene.push(Item::Rect { area: Area::new(x0, y0, x1, y1), ink: ink.tint(QUEUED) });
        }
        scene.mark(Item::Rect { area: Area::new(x1, y0, x2, y1), ink });
    }
}
