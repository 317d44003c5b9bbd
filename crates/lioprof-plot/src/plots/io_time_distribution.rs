//! How long reads and writes took: histograms of the total time.

use std::collections::BTreeMap;

use lioprof_model::{Analysis, Operation};

use super::plot::{Plot, PlotOptions};
use crate::data::Covers;
use crate::draw::{Align, Area, BLACK, GREY, Ink, Item, READ, SMALL, Scene, WRITE, ratio, width};
use crate::figure::{Axis, Grid, Panel, counted, duration_us, from_zero, left_of, log_time};
use crate::page::Page;

pub(super) const PLOT: Plot = Plot {
    name: "io-time-distribution",
    title: "Distribution of I/O times",
    how_to_read: "How many reads and writes took how long, from arrival at the server to the end, on a \
        logarithmic time axis. An octave is a factor of two; the bars are scaled so that equal areas are \
        equal numbers of RPCs. The vertical lines mark the median (p50), the time that 99 % did not exceed \
        (p99), and the slowest RPC. One narrow hump is a steady service; two humps \
        are two kinds of I/O, such as cache hits and disk; a long tail to the right, with the slowest far \
        from 99 %, is what a job waits for when all of its processes have to finish.",
    draw,
};

/// Total times of one opcode, all services.
struct Times {
    name: &'static str,
    ink: Ink,
    rpcs: u64,
    /// Lower edge, upper edge, RPCs.
    bars: Vec<(f64, f64, u64)>,
    /// What the vertical lines mean, and where they are.
    marks: Vec<(&'static str, f64)>,
}

impl Times {
    fn of(analysis: &Analysis, opcode: &str, name: &'static str, ink: Ink) -> Option<Self> {
        let parts: Vec<&Operation> = analysis.operations.iter().filter(|o| o.name == opcode).collect();
        let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
        for &(edge, rpcs) in parts.iter().flat_map(|o| &o.total_hist_us) {
            // A time of 0 µs is less than 1 µs: the leftmost bar of the axis.
            let sum = buckets.entry(edge.max(1)).or_default();
            *sum = sum.saturating_add(rpcs);
        }
        buckets.retain(|_, rpcs| *rpcs > 0);
        let bars = bars(&buckets);
        let rpcs = buckets.values().fold(0_u64, |sum, n| sum.saturating_add(*n));
        if rpcs == 0 {
            return None;
        }
        let max = parts.iter().filter_map(|o| o.latency.total_us.max).max();
        let of_one = |pick: fn(&Operation) -> Option<u64>| match parts.as_slice() {
            [one] => pick(one).map(|us| us as f64),
            _ => None,
        };
        let p50 = of_one(|o| o.latency.total_us.p50).or_else(|| quantile(&bars, 0.5));
        let p99 = of_one(|o| o.latency.total_us.p99).or_else(|| quantile(&bars, 0.99));
        let marks = [("p50", p50), ("p99", p99), ("slowest", max.map(|us| us as f64))];
        let marks = marks.into_iter().filter_map(|(what, us)| Some((what, us?))).collect();
        Some(Self { name, ink, rpcs, bars, marks })
    }
}

/// The buckets with their upper edges: an octave has four buckets of the same number of
/// microseconds.
fn bars(buckets: &BTreeMap<u64, u64>) -> Vec<(f64, f64, u64)> {
    let width = |low: u64| (1_u64 << low.max(1).ilog2()) as f64 / 4.0;
    buckets.iter().map(|(low, n)| (*low as f64, *low as f64 + width(*low).max(1.0), *n)).collect()
}

/// RPCs per quarter of an octave. The four buckets of an octave are of different width on a
/// logarithmic axis; their bare counts would show a saw that is not there.
fn density(&(low, high, rpcs): &(f64, f64, u64)) -> f64 {
    ratio(rpcs as f64, 4.0 * (high / low).log2())
}

/// A quantile, taken inside its bucket as if the RPCs were spread evenly.
fn quantile(bars: &[(f64, f64, u64)], share: f64) -> Option<f64> {
    let all: f64 = bars.iter().map(|b| b.2 as f64).sum();
    let mut below = 0.0;
    for (low, high, rpcs) in bars {
        let rpcs = *rpcs as f64;
        if below + rpcs >= share * all {
            return Some(low + (high - low) * (share * all - below) / rpcs);
        }
        below += rpcs;
    }
    None
}

fn draw(analysis: &Analysis, options: &PlotOptions) -> Result<Scene, &'static str> {
    let both: Vec<Times> = [("OST_READ", "Reads (OST_READ)", READ), ("OST_WRITE", "Writes (OST_WRITE)", WRITE)]
        .into_iter()
        .filter_map(|(opcode, name, ink)| Times::of(analysis, opcode, name, ink))
        .collect();
    if both.is_empty() {
        return Err("no read or write has a total time");
    }
    let what = "Reads and writes by their time from arrival to end.";
    let mut page = Page::new(options, analysis, PLOT.title, what, Covers::default());
    let all = || both.iter().flat_map(|t| &t.bars);
    let marked = || both.iter().flat_map(|t| &t.marks).map(|m| m.1);
    let low = all().map(|b| b.0).chain(marked()).fold(f64::INFINITY, f64::min);
    let bars_end = all().map(|b| b.1).fold(1.0, f64::max);
    let high = marked().fold(bars_end, f64::max);
    let time = log_time(low, high, "total time, log scale");
    let max = |times: &Times| times.bars.iter().map(density).fold(0.0, f64::max);
    // Reads and writes may differ a lot in number, and it is the shape that matters: own axes.
    let counts: Vec<Axis> = both.iter().map(|t| from_zero(max(t), 5.0, "RPCs per ¼ octave")).collect();
    let widest = counts.iter().max_by(|a, b| left_of(a).total_cmp(&left_of(b)));
    let widest = widest.unwrap_or(&counts[0]).clone();
    let grid = Grid::new(page.body(Grid::height(both.len(), 1, 230.0)), both.len(), 1);
    let scene = &mut page.scene;
    let panels = grid.panels(&time, &widest);
    for ((panel, times), count) in panels.iter().zip(&both).zip(&counts) {
        // The labels of the marks are between the head and the data.
        let area = panel.area.shrink(0.0, MARK_ROOM, 0.0, 0.0);
        let own = Panel { area, x: &time, y: count };
        own.grid(scene, true, true);
        for bar in &times.bars {
            let (x0, x1) = (own.x(bar.0), own.x(bar.1));
            // A lone RPC must be seen next to a million.
            let top = own.y(density(bar)).min(area.y1 - 1.0);
            let gap = if x1 - x0 > 3.0 { 1.0 } else { 0.0 };
            scene.mark(Item::Rect { area: Area::new(x0, top, x1 - gap, area.y1), ink: times.ink });
        }
        marks(scene, &own, &times.marks);
        own.frame(scene);
        own.y_ticks(scene);
        panel.head(scene, times.name, &counted(times.rpcs, "RPC"));
    }
    grid.x_axes(scene, &panels);
    grid.y_axis_title(scene, &panels);
    Ok(page.finish())
}

const MARK_ROOM: f64 = 20.0;

/// Vertical lines with their labels above the data, pushed apart where they would collide.
fn marks(scene: &mut Scene, panel: &Panel<'_>, marks: &[(&str, f64)]) {
    let area = panel.area;
    let mut names: Vec<(String, f64)> = Vec::new();
    for (what, us) in marks {
        match names.last_mut() {
            // The same time: one label for both.
            Some((name, before)) if duration_us(*before) == duration_us(*us) => {
                *name = format!("{name} = {what}");
            }
            _ => names.push(((*what).to_owned(), *us)),
        }
    }
    let places: Vec<f64> = names.iter().map(|(_, us)| panel.x(*us)).collect();
    let labels: Vec<String> = names.iter().map(|(name, us)| format!("{name} {}", duration_us(*us))).collect();
    let half: Vec<f64> = labels.iter().map(|l| width(l, SMALL, false) / 2.0).collect();
    let mut middle: Vec<f64> = places
        .iter()
        .zip(&half)
        .map(|(x, half)| x.clamp(area.x0 + half, (area.x1 - half).max(area.x0 + half)))
        .collect();
    for i in 1..middle.len() {
        middle[i] = middle[i].max(middle[i - 1] + half[i - 1] + half[i] + 10.0);
    }
    for i in (0..middle.len()).rev() {
        let limit = match middle.get(i + 1) {
            Some(next) => next - half[i + 1] - half[i] - 10.0,
            None => area.x1 - half[i],
        };
        middle[i] = middle[i].min(limit);
    }
    for ((label, middle), x) in labels.iter().zip(middle).zip(places) {
        let y = area.y0 - 12.0;
        scene.line(&[(middle, y + 6.0), (x, area.y0), (x, area.y1)], BLACK, 1.0);
        scene.label(middle, y, Align::Middle, SMALL, GREY, label);
    }
}
