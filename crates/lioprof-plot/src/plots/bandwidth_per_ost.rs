//! Bandwidth over time: lines for a few OSTs, heat maps for many.

use std::collections::BTreeMap;

use lioprof_model::bins::Bins;
use lioprof_model::names::{UNATTRIBUTED, without_file_system};
use lioprof_model::{Accused, Analysis, Direction, TargetKindName, TargetSeries};

use super::plot::{Plot, PlotOptions};
use crate::data::{Covers, add, bin_width, bins_of, largest, peaks_are, raise, total};
use crate::draw::{Area, FRAME, Ink, PALE, READ, Scene, TINY, WRITE, index};
use crate::figure::{
    Axis, BELOW, Grid, HEAD, HeatScale, Key, Panel, RowLabels, Steps, Swatch, Window, bytes, bytes_colors,
    bytes_from_zero, count, counted, heat, more_have, percent, split,
};
use crate::page::Page;

pub(super) const PLOT: Plot = Plot {
    name: "bandwidth-per-ost",
    title: "Bandwidth per OST",
    how_to_read: "Each panel (or, with more than eight OSTs, each row) is one OST; all share one scale, so \
        they can be compared. The height of a line, or the darkness of a cell, is the number of bytes per \
        second that RPCs moved in that time bin, of those that ended in the time shown; what these moved \
        before it is only in the sums. Hatching marks the part that comes from RPCs \
        whose size is only estimated. Dashed lines are what obdfilter-survey got from the OST, where its \
        output was given. \"unattributed\" is traffic whose OST the capture does not name. OSTs \
        that should share the load but differ by much point to a bad stripe layout or a slow OST; gaps that \
        all OSTs share point to the clients or the network.",
    draw,
};

/// What is available is drawn up to this many times what was moved.
const MOST_ABOVE: f64 = 4.0;
/// Strength of its line.
const AVAILABLE: f64 = 0.75;

/// Strength of the lines of peaks.
const PEAK: f64 = 0.6;

/// More OSTs than this become rows of a heat map.
const MOST_PANELS: usize = 8;

/// Bytes of an OST over time.
struct Ost {
    name: String,
    /// Read and written by requests that ended in the window.
    total: [u64; 2],
    /// What of it was moved before the window.
    before: [u64; 2],
    /// Bytes per second, read and written.
    rate: [Vec<f64>; 2],
    /// The estimated part of it.
    bounded: [Vec<f64>; 2],
    /// The highest single bin of each merged one; empty where there is no need to tell.
    peak: [Vec<f64>; 2],
    /// What it can deliver, by obdfilter-survey.
    available: [Option<f64>; 2],
}

impl Ost {
    fn new(name: String, available: [Option<f64>; 2], bins: &Bins) -> Self {
        let zero = || [vec![0.0; bins.len()], vec![0.0; bins.len()]];
        Self {
            name,
            total: [0; 2],
            before: [0; 2],
            rate: zero(),
            bounded: zero(),
            peak: [Vec::new(), Vec::new()],
            available,
        }
    }

    fn all(&self) -> u64 {
        self.total[0].saturating_add(self.total[1])
    }

    fn add(&mut self, series: &TargetSeries, bins: &Bins) {
        let values = [&series.read_bytes, &series.write_bytes];
        let bounded = [&series.read_bounded_bytes, &series.write_bounded_bytes];
        for i in 0..2 {
            self.total[i] = self.total[i].saturating_add(total(values[i]));
            self.before[i] = self.before[i].saturating_add(bins.before(values[i]));
            add(&mut self.rate[i], &bins.rates(values[i]));
            add(&mut self.bounded[i], &bins.rates(bounded[i]));
            if bins.hide_peaks() {
                self.peak[i].resize(bins.len(), 0.0);
                // A target that two servers have had: one after the other.
                raise(&mut self.peak[i], &bins.peak_rates(values[i]));
            }
        }
    }
}

fn draw(analysis: &Analysis, options: &PlotOptions) -> Result<Scene, &'static str> {
    let series: Vec<&TargetSeries> = analysis.series.targets.iter().filter(|t| t.kind == TargetKindName::Ost).collect();
    if series.iter().all(|s| total(&s.read_bytes) == 0 && total(&s.write_bytes) == 0) {
        return Err("no bytes were read or written on OSTs, or their sizes are unknown");
    }
    // Two units of a file system may serve an OST one after the other: add them up.
    let mut by_name: BTreeMap<Option<&str>, Vec<&TargetSeries>> = BTreeMap::new();
    for one in &series {
        by_name.entry(one.name.as_deref()).or_default().push(one);
    }
    let few = by_name.len() <= MOST_PANELS;
    let longest = series.iter().map(|s| s.read_bytes.len().max(s.write_bytes.len())).max();
    let most = match by_name.len() {
        0..=3 => 240,
        4..=MOST_PANELS => 110,
        _ => 150,
    };
    let bins = bins_of(analysis, longest.unwrap_or(0), most)?;
    let mut osts: Vec<Ost> = Vec::new();
    for (name, parts) in by_name {
        let name = name.unwrap_or(UNATTRIBUTED).to_owned();
        let available = Direction::ALL.map(|direction| {
            let baseline = analysis.baseline.as_ref().filter(|_| name != UNATTRIBUTED)?;
            baseline.ost_bytes_per_s(&parts.first()?.node, direction)
        });
        let mut ost = Ost::new(name, available, &bins);
        parts.iter().for_each(|part| ost.add(part, &bins));
        if ost.name != UNATTRIBUTED || ost.all() > 0 {
            osts.push(ost);
        }
    }
    // `None` sorts first; unattributed belongs at the end.
    let accused = Accused::targets(analysis);
    let place = |it: &Ost| (accused.first(&it.name), it.name == UNATTRIBUTED);
    osts.sort_by(|a, b| (place(a), &a.name).cmp(&(place(b), &b.name)));
    let covers = Covers { bytes: true, targets: true, ..Covers::default() };
    let peaks = peaks_are(&bins, if few { "Thin lines" } else { "Colors" });
    let what = format!("Bytes per second over time, in bins of {}.{peaks}", bin_width(&bins));
    let page = Page::new(options, analysis, PLOT.title, &what, covers);
    let time = Window::of(analysis).axis(if few && osts.len() > 3 { 6.0 } else { 10.0 });
    Ok(if few { lines(page, &osts, &bins, &time, &accused) } else { heat_maps(page, osts, &bins, &time, &accused) })
}

fn lines(mut page: Page, osts: &[Ost], bins: &Bins, time: &Axis, accused: &Accused<'_>) -> Scene {
    let names: Vec<String> = osts.iter().map(|ost| accused.mark(&ost.name, &ost.name)).collect();
    page.explain_mark(&names);
    let mut keys = vec![Key::new(Swatch::Line(READ), "read"), Key::new(Swatch::Line(WRITE), "write")];
    if osts.iter().any(|o| largest(o.bounded.iter().flatten()) > 0.0) {
        keys.push(Key::new(Swatch::Hatch(READ), "estimated part of reads"));
        keys.push(Key::new(Swatch::Hatch(WRITE), "estimated part of writes"));
    }
    let max = largest(osts.iter().flat_map(|o| o.rate.iter().chain(&o.peak).flatten()));
    // A ceiling far above would leave no height for what was moved.
    let ceilings = |i: usize| osts.iter().filter(move |o| o.total[i] > 0).filter_map(move |o| o.available[i]);
    let drawn = [0, 1].map(|i| ceilings(i).filter(|ceiling| *ceiling <= max * MOST_ABOVE).fold(0.0, f64::max));
    for (i, (ink, name)) in [(READ, "reads"), (WRITE, "writes")].into_iter().enumerate() {
        if drawn[i] > 0.0 {
            keys.push(Key::new(Swatch::Line(ink.alpha(AVAILABLE)), format!("{name} available, obdfilter-survey")));
        }
        let above = ceilings(i).filter(|ceiling| *ceiling > max * MOST_ABOVE).fold(f64::INFINITY, f64::min);
        if above.is_finite() {
            page.note(format!(
                "Above the scale: {name} available, obdfilter-survey: {}/s per OST and more.",
                bytes(above)
            ));
        }
    }
    page.legend(&keys);
    let max = max.max(drawn[0]).max(drawn[1]);
    let columns = if osts.len() > 3 { 2 } else { 1 };
    let bandwidth = bytes_from_zero(max, 4.0, "bandwidth", "/s");
    let grid = Grid::new(page.body(Grid::height(osts.len(), columns, 150.0)), osts.len(), columns);
    let panels = grid.panels(time, &bandwidth);
    for ((panel, ost), name) in panels.iter().zip(osts).zip(&names) {
        let scene = &mut page.scene;
        panel.grid(scene, true, true);
        let steps = Steps { panel, edges: bins.edges_s() };
        let zero = vec![0.0; bins.len()];
        for (i, ink) in [READ, WRITE].into_iter().enumerate() {
            if ost.total[i] > 0 {
                steps.between(scene, &zero, &ost.rate[i], ink.alpha(0.13));
            }
        }
        for (i, ink) in [READ, WRITE].into_iter().enumerate() {
            let sure: Vec<f64> =
                ost.rate[i].iter().zip(&ost.bounded[i]).map(|(all, part)| (all - part).max(0.0)).collect();
            if largest(&ost.bounded[i]) > 0.0 {
                steps.hatch(scene, &sure, &ost.rate[i], ink);
                steps.line(scene, &sure, ink, 0.5);
            }
            if ost.total[i] > 0 {
                steps.line(scene, &ost.rate[i], ink, 1.5);
            }
            if largest(&ost.peak[i]) > 0.0 {
                steps.line(scene, &ost.peak[i], ink.alpha(PEAK), 0.6);
            }
        }
        for (i, ink) in [READ, WRITE].into_iter().enumerate() {
            if let Some(ceiling) = ost.available[i].filter(|ceiling| ost.total[i] > 0 && *ceiling <= drawn[i]) {
                dashes(scene, panel, ceiling, ink.alpha(AVAILABLE));
            }
        }
        panel.frame(scene);
        let sum = |i: usize| match ost.before[i] {
            0 => bytes(ost.total[i] as f64),
            before => format!("{} ({} of it before)", bytes(ost.total[i] as f64), bytes(before as f64)),
        };
        let sums = format!("read {}, written {}", sum(0), sum(1));
        panel.head(scene, name, &sums);
    }
    grid.axes(&mut page.scene, &panels);
    page.finish()
}

/// A dashed line all over a panel.
fn dashes(scene: &mut Scene, panel: &Panel<'_>, value: f64, ink: Ink) {
    const DASH: f64 = 6.0;
    let y = panel.y(value);
    let mut x = panel.area.x0;
    while x < panel.area.x1 {
        scene.line(&[(x, y), ((x + DASH).min(panel.area.x1), y)], ink, 1.2);
        x += DASH + 4.0;
    }
}

fn heat_maps(mut page: Page, mut osts: Vec<Ost>, bins: &Bins, time: &Axis, accused: &Accused<'_>) -> Scene {
    for ost in &mut osts {
        for (rate, peak) in ost.rate.iter_mut().zip(&ost.peak).filter(|(_, peak)| !peak.is_empty()) {
            rate.clone_from(peak);
        }
    }
    osts.sort_by(|a, b| (accused.first(&a.name), b.all(), &a.name).cmp(&(accused.first(&b.name), a.all(), &b.name)));
    page.explain_mark(&osts.iter().map(|ost| accused.mark(&ost.name, &ost.name)).collect::<Vec<_>>());
    page.legend(&[Key::new(Swatch::Fill(PALE), "nothing moved")]);
    let before: f64 = osts.iter().flat_map(|ost| ost.before).map(|bytes| bytes as f64).sum();
    if before > 0.0 {
        page.note(format!("Requests that ended in this time moved {} before it, which are not drawn.", bytes(before)));
    }
    for (i, name) in ["reads", "writes"].into_iter().enumerate() {
        let ceilings = || osts.iter().filter(|ost| ost.total[i] > 0).filter_map(|ost| ost.available[i]);
        let (low, high) = (ceilings().fold(f64::INFINITY, f64::min), ceilings().fold(0.0, f64::max));
        if low.is_finite() {
            let range = if low < high { format!("{} to {}", bytes(low), bytes(high)) } else { bytes(low) };
            page.note(format!("Available to {name}, obdfilter-survey: {range}/s per OST."));
        }
    }
    // Room for two heat maps, and for the note if it is needed.
    let rows_in = |page: &Page| index((page.free_height() - 2.0 * HEAD - BELOW - 16.0) / 2.0 / (TINY * 1.3));
    let with_mean = osts.len() > rows_in(&page);
    if with_mean {
        let (all, shown) = (osts.len(), rows_in(&page).saturating_sub(2).max(1));
        let sum = |osts: &[Ost]| osts.iter().map(|o| o.all() as f64).sum::<f64>();
        let rest = sum(&osts[shown..]);
        page.note(format!(
            "{} {} are shown. {} {} of the bytes; the last row is their mean.",
            if accused.first(&osts[0].name) < usize::MAX {
                "Those that findings name, and the busiest:"
            } else {
                "The busiest"
            },
            counted(shown as u64, "OST"),
            more_have(all - shown, "OST"),
            percent(rest / sum(&osts)),
        ));
        let others = mean_of(&osts[shown..], bins);
        osts.truncate(shown);
        osts.push(others);
    }
    let rows = osts.len() as f64;
    let body = page.body(2.0 * (rows * 18.0 + HEAD) + 16.0 + BELOW);
    let each = (body.height() - BELOW - 16.0) / 2.0;
    let short = without_file_system(osts.iter().map(|o| o.name.as_str()));
    let names: Vec<String> = osts.iter().zip(short).map(|(ost, short)| accused.mark(&ost.name, &short)).collect();
    let labels = RowLabels::new(&names, (each - HEAD) / rows, 170.0);
    let max = largest(osts.iter().flat_map(|o| o.rate.iter().flatten()));
    let scale = HeatScale { axis: bytes_colors(max, "bandwidth", "/s") };
    let scene = &mut page.scene;
    let mut lowest = body;
    for (i, name) in ["Read", "Written"].into_iter().enumerate() {
        let top = body.y0 + i as f64 * (each + 16.0) + HEAD;
        let area = Area::new(body.x0 + labels.width(), top, body.x1 - scale.bar_width(), top + each - HEAD);
        let places = split(area, osts.len());
        heat::background(scene, area);
        if with_mean {
            let y = places[osts.len() - 1].0 - 0.5;
            scene.line(&[(area.x0 - 4.0, y), (area.x1, y)], FRAME, 1.0);
        }
        let panel = Panel { area, x: time, y: &scale.axis };
        let edges: Vec<f64> = bins.edges_s().iter().map(|e| panel.x(*e)).collect();
        for (ost, (y0, y1)) in osts.iter().zip(&places) {
            heat::row(scene, (*y0, y1 - 1.0), &edges, &ost.rate[i], &scale);
        }
        panel.frame(scene);
        labels.draw(scene, area.x0, &places);
        panel.head(scene, name, "");
        if i == 1 {
            panel.x_axis(scene);
        }
        lowest = area;
    }
    let bar = Area::new(lowest.x1, body.y0 + HEAD, body.x1, lowest.y1);
    scale.bar(scene, bar);
    page.finish()
}

fn mean_of(osts: &[Ost], bins: &Bins) -> Ost {
    let mut mean = Ost::new(format!("mean of {} others", count(osts.len() as u64)), [None; 2], bins);
    for i in 0..2 {
        for ost in osts {
            add(&mut mean.rate[i], &ost.rate[i]);
        }
        mean.rate[i].iter_mut().for_each(|rate| *rate /= osts.len() as f64);
    }
    mean
}
