//! The I/O trace: every RPC as a bar, over the whole window and, below, in a part of it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lioprof_model::{Accused, Analysis, SampledRpc};

use super::plot::{Plot, PlotOptions};
use crate::data::{Covers, Thinned, client_name, sound};
use crate::draw::{Area, BLACK, BODY, Item, READ, Scene, WRITE, direction, index};
use crate::figure::{
    Axis, BELOW, HEAD, Key, LaneRows, PAD, Panel, RowLabels, Swatch, Window, assign, counted, duration_us, more_have,
    percent, stripes, y_title,
};
use crate::page::Page;

pub(super) const PLOT: Plot = Plot {
    name: "io-timeline",
    title: "Reads and writes as they happened",
    how_to_read: "Time runs to the right; each row is one client. A bar is one RPC from its arrival at the \
        server to its end: pale while it waits for a service thread, full while it is handled. RPCs of a \
        client that overlap are drawn below each other, so the height of a pack of bars is how many were \
        under way at once. If RPCs are too short to be seen in the whole window, the moment with most RPCs of the clients \
        shown is drawn again below, enlarged; the black bracket shows where it is. Long pale parts are queueing; bars of \
        many clients that end together point to something all of them waited for.",
    draw,
};

/// Most bars of the whole window, and of the enlarged part.
const MOST_BARS: (usize, usize) = (2500, 1800);
/// Least height of a row.
const ROW: f64 = 13.0;
/// So many RPCs are worth being enlarged.
const ENOUGH: usize = 25;
/// Least width of a bar and the opacity of thinner ones: plain lines where there are few; where there
/// are many, finer and half transparent, so that the density can be seen.
const THIN: [(f64, f64); 2] = [(1.0, 1.0), (0.5, 0.5)];
/// So many bars per pixel of a row are many.
const MANY: f64 = 0.35;
/// Share of the colour that is left while an RPC waits.
const QUEUED: f64 = 0.4;

/// RPCs of the clients that are shown, by client.
type Rows<'a> = Vec<Vec<&'a SampledRpc>>;

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
    let accused = Accused::clients(analysis);
    let first = |client: u32| accused.first(&client_name(analysis, client));
    clients.sort_by_key(|(client, rpcs)| (first(*client), Reverse(rpcs.len()), *client));

    let what = "Each bar is an RPC from its arrival at the server to its end, a row per client.";
    let mut page = Page::new(options, analysis, PLOT.title, what, Covers::default());
    page.legend(&[
        Key::new(Swatch::Fill(READ.tint(QUEUED)), "read, waiting"),
        Key::new(Swatch::Fill(READ), "read, in process"),
        Key::new(Swatch::Fill(WRITE.tint(QUEUED)), "write, waiting"),
        Key::new(Swatch::Fill(WRITE), "write, in process"),
    ]);
    // Two panels, and two lines of notes that are to come.
    let room = (page.free_height() - 2.0 * (BELOW + HEAD) - 34.0).max(4.0 * ROW);
    // The moment of those that are drawn: at that of all there may be none of theirs.
    let fitting = |rows: f64| clients.len().min(index(rows).max(1));
    let of_first = |n: usize| clients[..n].iter().flat_map(|c| c.1.iter().copied()).collect::<Vec<_>>();
    let half = fitting(room / 2.0 / ROW * 0.8);
    let part = busiest(&of_first(half), &window);
    let most = if part.is_some() { half } else { fitting(room / ROW * 0.9) };
    let shown = of_first(most);
    let hidden = clients.split_off(most);
    let thinned = Thinned::new(analysis, shown.clone(), MOST_BARS.0);
    let mut note = thinned.describe();
    let order: Vec<u32> = clients.iter().map(|c| c.0).collect();
    let whole = by_row(&order, &thinned.rpcs);
    let enlarged = part.map(|(lo, hi)| {
        let inside = |rpc: &&SampledRpc| window.since(rpc.arrival) < hi && window.since(rpc.end) > lo;
        let some: Vec<&SampledRpc> = shown.iter().copied().filter(inside).collect();
        let some = Thinned::new(analysis, some, MOST_BARS.1);
        (lo, hi, by_row(&order, &some.rpcs), some.describe())
    });
    if let Some((_, _, _, below)) = enlarged.as_ref().filter(|e| e.3 != note) {
        note = format!("Above: {note} Below: {below}").replace(": Every", ": every");
    }
    if !hidden.is_empty() {
        let rest: usize = hidden.iter().map(|c| c.1.len()).sum();
        note += &format!(
            " The {} with most RPCs are shown; {} {} of the RPCs.",
            counted(clients.len() as u64, "client"),
            more_have(hidden.len(), "client"),
            percent(rest as f64 / analysis.sample.rpcs.len() as f64),
        );
    }
    note += " RPCs shorter than a pixel are drawn as thin lines.";
    page.note(note);

    let name = |client: u32| client_name(analysis, client);
    let names: Vec<String> = clients.iter().map(|(client, _)| accused.mark(&name(*client), &name(*client))).collect();
    page.explain_mark(&names);
    let labels = RowLabels::new(&names, ROW, 180.0);
    let free = page.free_height();
    let left = 16.0 + BODY * 1.7 + labels.width();
    let (x0, x1) = (left, f64::from(options.width_px) - 30.0);
    let time = window.axis(10.0);
    let share = if enlarged.is_some() { 0.42 } else { 1.0 };
    let heads = if enlarged.is_some() { 2.0 * (BELOW + HEAD) } else { BELOW };
    let first = Pack::new(&whole, &window, &time, (x0, x1), (free - heads) * share);
    let part_time = part.map(|(lo, hi)| Window::part(lo, hi, 8.0));
    let second = enlarged.as_ref().zip(part_time.as_ref()).map(|((lo, hi, rows, _), time)| {
        let room = free - heads - first.rows.height();
        (*lo, *hi, Pack::new(rows, &window, time, (x0, x1), room))
    });
    let height = first.rows.height() + second.as_ref().map_or(0.0, |s| s.2.rows.height()) + heads;
    let body = page.body(height);
    let scene = &mut page.scene;
    let head = if second.is_some() { HEAD } else { 0.0 };
    let mut area = first.draw(scene, body.y0 + head, &labels);
    if let Some((lo, hi, pack)) = &second {
        let panel = Panel { area, x: &time, y: &time };
        bracket(scene, &panel, *lo, *hi);
        panel.head(scene, "Whole window", "");
        let below = pack.draw(scene, area.y1 + BELOW + HEAD, &labels);
        let of_these = if hidden.is_empty() { "" } else { " of these clients" };
        let name = format!("The {} with most RPCs{of_these}, enlarged", duration_us((hi - lo) * 1e6));
        Panel { area: below, x: &time, y: &time }.head(scene, &name, "");
        area.y1 = below.y1;
    }
    y_title(scene, body.x0 + BODY, area, "client (NID)");
    Ok(page.finish())
}

fn by_row<'a>(clients: &[u32], rpcs: &[&'a SampledRpc]) -> Rows<'a> {
    let mut rows: BTreeMap<u32, Vec<&SampledRpc>> = BTreeMap::new();
    for rpc in rpcs {
        rows.entry(rpc.client).or_default().push(rpc);
    }
    clients.iter().map(|client| rows.remove(client).unwrap_or_default()).collect()
}

/// The part of the window with most RPCs, so short that a typical RPC has about 15 pixels; nothing
/// if RPCs can be seen in the whole window.
fn busiest(rpcs: &[&SampledRpc], window: &Window) -> Option<(f64, f64)> {
    let mut lengths: Vec<f64> = rpcs.iter().map(|r| r.end - r.arrival).collect();
    lengths.sort_by(f64::total_cmp);
    let typical = lengths.get(lengths.len() / 2).copied().unwrap_or(0.0).max(20e-6);
    let inside = |time: &f64| (0.0..=window.span).contains(time);
    let mut times: Vec<f64> = rpcs.iter().map(|r| window.since(r.arrival)).filter(inside).collect();
    times.sort_by(f64::total_cmp);
    // Few RPCs in so short a part: take a longer one, with fewer pixels per RPC.
    for length in [45.0, 90.0, 180.0, 360.0].map(|rpcs| rpcs * typical) {
        if length > window.span / 4.0 {
            return None;
        }
        let (count, start) = densest(&times, length);
        if count >= ENOUGH {
            let lo = (start - length * 0.02).min(window.span - length).max(0.0);
            return Some((lo, lo + length));
        }
    }
    None
}

/// The start of the span of this length with most of the sorted times, and how many.
fn densest(times: &[f64], length: f64) -> (usize, f64) {
    let mut best = (0, 0.0);
    let mut to = 0;
    for (from, start) in times.iter().enumerate() {
        while to < times.len() && times[to] < start + length {
            to += 1;
        }
        let count = to.saturating_sub(from);
        if count > best.0 {
            best = (count, *start);
        }
    }
    best
}

/// Where the enlarged part is.
fn bracket(scene: &mut Scene, panel: &Panel<'_>, lo: f64, hi: f64) {
    let (x0, x1) = (panel.x(lo), panel.x(hi));
    let middle = f64::midpoint(x0, x1);
    let half = ((x1 - x0) / 2.0).max(2.0);
    let Area { y0, y1, .. } = panel.area;
    for (y, out) in [(y0, -4.0), (y1, 4.0)] {
        scene.line(&[(middle - half, y), (middle - half, y + out)], BLACK, 1.0);
        scene.line(&[(middle + half, y), (middle + half, y + out)], BLACK, 1.0);
        scene.line(&[(middle - half, y + out), (middle + half, y + out)], BLACK, 1.5);
    }
}

/// One bar in pixels: arrival, start of handling, end.
struct Bar<'a> {
    x: [f64; 3],
    lane: usize,
    rpc: &'a SampledRpc,
}

/// The bars of a panel.
struct Pack<'a> {
    x: (f64, f64),
    time: &'a Axis,
    bars: Vec<Vec<Bar<'a>>>,
    rows: LaneRows,
    /// Of [`THIN`].
    thin: (f64, f64),
}

impl<'a> Pack<'a> {
    fn new(rows: &[Vec<&'a SampledRpc>], window: &Window, time: &'a Axis, x: (f64, f64), room: f64) -> Self {
        let place = |unix_s: f64| x.0 + time.scale.place(window.since(unix_s)) * (x.1 - x.0);
        let busiest = rows.iter().map(Vec::len).max().unwrap_or(0);
        let thin = THIN[usize::from(busiest as f64 > MANY * (x.1 - x.0))];
        let mut bars: Vec<Vec<Bar<'a>>> = Vec::new();
        for row in rows {
            let mut sorted = row.clone();
            sorted.sort_by(|a, b| a.arrival.total_cmp(&b.arrival).then_with(|| a.end.total_cmp(&b.end)));
            let bar = |rpc: &'a SampledRpc| {
                let start = if rpc.start.is_finite() { rpc.start } else { rpc.arrival };
                let (x0, x1) = (place(rpc.arrival), place(start));
                let x2 = place(rpc.end).max(x0 + thin.0);
                Bar { x: [x0, x1.min(x2 - thin.0).max(x0), x2], lane: 0, rpc }
            };
            bars.push(sorted.into_iter().map(bar).collect());
        }
        // By time, not by pixel: RPCs that only look as if they overlapped share a lane.
        let spans = |row: &[Bar<'_>]| row.iter().map(|b| (b.rpc.arrival, b.rpc.end)).collect::<Vec<_>>();
        let lanes: Vec<usize> = bars.iter().map(|row| assign(&spans(row), usize::MAX).1).collect();
        let rows = LaneRows::new(&lanes, room, ROW);
        for row in &mut bars {
            let (lanes, _) = assign(&spans(row), rows.most);
            row.iter_mut().zip(lanes).for_each(|(bar, lane)| bar.lane = lane);
        }
        Self { x, time, bars, rows, thin }
    }

    fn draw(&self, scene: &mut Scene, top: f64, labels: &RowLabels) -> Area {
        let area = Area::new(self.x.0, top, self.x.1, top + self.rows.height());
        let nothing = Axis::unmarked("");
        let panel = Panel { area, x: self.time, y: &nothing };
        let rows: Vec<(f64, f64)> = self.rows.rows.iter().map(|(y0, y1)| (top + y0, top + y1)).collect();
        stripes(scene, area, &rows);
        panel.grid(scene, true, false);
        let thick = self.rows.lane - if self.rows.lane > 4.0 { 1.0 } else { 0.5 };
        for (row, (y0, _)) in self.bars.iter().zip(&rows) {
            for bar in row {
                let y0 = y0 + PAD + bar.lane as f64 * self.rows.lane;
                let [x0, x1, x2] = bar.x;
                let thin = x2 - x0 <= self.thin.0 + 1e-9;
                let ink = direction(bar.rpc.direction).alpha(if thin { self.thin.1 } else { 1.0 });
                if x1 - x0 >= 0.5 {
                    let area = Area::new(x0, y0, x1, y0 + thick);
                    scene.push(Item::Rect { area, ink: ink.tint(QUEUED) });
                }
                scene.mark(Item::Rect { area: Area::new(x1, y0, x2, y0 + thick), ink });
            }
        }
        panel.frame(scene);
        labels.draw(scene, area.x0, &rows);
        panel.x_axis(scene);
        area
    }
}
