//! Lock conflicts and waiting clients over time: panels for a few OSTs, heat maps for many.

use lioprof_model::bins::Bins;
use lioprof_model::names::without_file_system;
use lioprof_model::{Analysis, TargetKindName};

use super::plot::{Plot, PlotOptions};
use crate::data::{
    Contended, Covers, Kinds, NO_CONFLICT, add, bin_width, bins_of, contended, contended_osts, largest, mdt_note,
    peaks_are, raise,
};
use crate::draw::{Align, Area, BODY, FRAME, GREY, Item, PALE, QUEUE, SMALL, Scene, TINY, Text, index, ratio};
use crate::figure::{
    Axis, BELOW, Grid, HEAD, HeatScale, Key, Panel, RowLabels, Steps, Swatch, Window, colors, count, counted,
    duration_us, from_zero, heat, left_of, more_have, percent, split, y_title,
};
use crate::page::Page;

pub(super) const PLOT: Plot = Plot {
    name: "lock-contention-per-ost",
    title: "Lock contention per OST",
    how_to_read: "Each pair of panels (or, with more than six contended OSTs, each row) is one OST. Above, how many \
        lock requests of one client per second met a lock of another client; below, how many requests were waiting \
        for such a lock on average. A conflict is true if what the two clients asked for overlaps, and \
        expansion-only if they asked for different parts of the object and only the larger extent that the server \
        granted is in the way. Many expansion-only conflicts call for I/O in larger, aligned pieces or for more \
        stripes, many true ones for another way to share the file.",
    draw,
};

/// More OSTs than this become rows of a heat map.
const MOST_PANELS: usize = 6;
/// Between the two panels of an OST.
const GAP: f64 = 13.0;
/// Share of the upper one.
const UPPER: f64 = 0.62;

/// An OST over time.
struct Ost<'a> {
    of: Contended<'a>,
    /// Conflicts per second by kind.
    rates: [Vec<f64>; 3],
    all: Vec<f64>,
    waiting: Vec<f64>,
    /// The highest single bins of conflicts per second and of waiting requests, if several are drawn as one.
    peaks: Option<[Vec<f64>; 2]>,
}

impl<'a> Ost<'a> {
    fn new(of: Contended<'a>, bins: &Bins) -> Self {
        let zero = || vec![0.0; bins.len()];
        let (mut rates, mut all, mut waiting) = ([zero(), zero(), zero()], zero(), zero());
        let mut peaks = bins.hide_peaks().then(|| [zero(), zero()]);
        for series in &of.series {
            add(&mut all, &bins.rates(&series.conflicts));
            add(&mut rates[0], &bins.rates(&series.true_conflicts));
            add(&mut rates[1], &bins.rates(&series.expansion_conflicts));
            add(&mut waiting, &bins.means(&series.waiting));
            if let Some([conflicts, waiting]) = &mut peaks {
                raise(conflicts, &bins.peak_rates(&series.conflicts));
                raise(waiting, &bins.peaks(&series.waiting));
            }
        }
        for (bin, all) in all.iter().enumerate() {
            rates[0][bin] = rates[0][bin].min(*all);
            rates[1][bin] = rates[1][bin].min(all - rates[0][bin]);
            let rest = all - rates[0][bin] - rates[1][bin];
            // Not the rounding of a difference.
            rates[2][bin] = if rest > all * 1e-9 { rest } else { 0.0 };
        }
        Self { of, rates, all, waiting, peaks }
    }
}

fn draw(analysis: &Analysis, options: &PlotOptions) -> Result<Scene, &'static str> {
    let locks = contended(analysis)?;
    let osts = contended_osts(locks);
    if osts.is_empty() {
        return Err(NO_CONFLICT);
    }
    let longest = locks.series.targets.iter().map(|s| s.conflicts.len().max(s.waiting.len())).max().unwrap_or(0);
    let few = osts.len() <= MOST_PANELS;
    // Conflicts are few: in narrow bins there would be one or none.
    let most = match osts.len() {
        0..=3 => 120,
        4..=MOST_PANELS => 80,
        _ => 150,
    };
    let bins = bins_of(analysis, longest, most)?;
    let osts: Vec<Ost<'_>> = osts.into_iter().map(|ost| Ost::new(ost, &bins)).collect();
    let what = format!(
        "Conflicts between clients per second, and mean number of requests waiting for another client's lock, in bins of {}.{}",
        bin_width(&bins),
        peaks_are(&bins, if few { "Thin lines" } else { "Colors" })
    );
    let page = Page::new(options, analysis, PLOT.title, &what, Covers { locks: true, ..Covers::default() });
    let known = analysis.targets.iter().filter(|t| t.kind == TargetKindName::Ost).map(|t| t.name.as_str());
    let quiet = known.filter(|name| osts.iter().all(|ost| ost.of.name != *name)).count();
    let mut notes: Vec<String> = Vec::new();
    if quiet > 0 {
        notes.push(format!("{} no conflict between clients.", counted_had(quiet, osts.len())));
    }
    notes.extend(mdt_note(locks));
    let time = Window::of(analysis).axis(if few && osts.len() > 3 { 6.0 } else { 10.0 });
    Ok(if few { panels(page, &osts, &bins, &time, notes) } else { heat_maps(page, osts, &bins, &time, notes) })
}

fn counted_had(quiet: usize, others: usize) -> String {
    let what = if others > 0 { "other OST" } else { "OST" };
    format!("{} had", counted(quiet as u64, what))
}

/// Keys of the kinds that there are.
fn kind_keys<'a>(osts: impl Iterator<Item = &'a Ost<'a>>) -> Vec<Key> {
    let mut kinds = Kinds::default();
    osts.for_each(|ost| kinds.merge(&ost.of.kinds));
    let names = [
        "true: the requests overlap",
        "expansion-only: only the grants overlap",
        if kinds.parts[0] + kinds.parts[1] > 0.0 { "unclassified" } else { "conflicts, kind not known" },
    ];
    let used = Kinds::INKS.into_iter().zip(names).zip(kinds.parts).filter(|(_, part)| *part > 0.0);
    used.map(|((ink, name), _)| Key::new(Swatch::Fill(ink), name)).collect()
}

fn panels(mut page: Page, osts: &[Ost<'_>], bins: &Bins, time: &Axis, notes: Vec<String>) -> Scene {
    let mut keys = kind_keys(osts.iter());
    keys.push(Key::new(Swatch::Fill(QUEUE.tint(0.75)), "waiting requests"));
    page.legend(&keys);
    page.note(notes.join(" "));
    let columns = if osts.len() > 3 { 2 } else { 1 };
    let peaks = |number: usize| osts.iter().filter_map(move |o| o.peaks.as_ref()).flat_map(move |peaks| &peaks[number]);
    let conflicts = from_zero(largest(osts.iter().flat_map(|o| &o.all).chain(peaks(0))), 5.0, "conflicts/s");
    let waiting = from_zero(largest(osts.iter().flat_map(|o| &o.waiting).chain(peaks(1))), 3.0, "waiting");
    let widest = if left_of(&waiting) > left_of(&conflicts) { &waiting } else { &conflicts };
    let each = if osts.len() == 1 { 330.0 } else { 215.0 };
    let body = page.body(Grid::height(osts.len(), columns, each));
    let grid = Grid::new(body, osts.len(), columns);
    let cells = grid.panels(time, widest);
    let scene = &mut page.scene;
    let zero = vec![0.0; bins.len()];
    for (i, (cell, ost)) in cells.iter().zip(osts).enumerate() {
        let Area { x0, y0, x1, y1 } = cell.area;
        let split = y0 + (y1 - y0 - GAP) * UPPER;
        let upper = Panel { area: Area::new(x0, y0, x1, split), x: time, y: &conflicts };
        let lower = Panel { area: Area::new(x0, split + GAP, x1, y1), x: time, y: &waiting };
        upper.grid(scene, true, true);
        lower.grid(scene, true, true);
        let steps = Steps { panel: &upper, edges: bins.edges_s() };
        let mut low = zero.clone();
        for (rates, ink) in ost.rates.iter().zip(Kinds::INKS) {
            let mut high = low.clone();
            add(&mut high, rates);
            if largest(rates) > 0.0 {
                steps.between(scene, &low, &high, ink);
            }
            low = high;
        }
        steps.line(scene, &ost.all, GREY, 0.5);
        let steps = Steps { panel: &lower, edges: bins.edges_s() };
        steps.between(scene, &zero, &ost.waiting, QUEUE.tint(0.75));
        if let Some([conflicts, waiting]) = &ost.peaks {
            Steps { panel: &upper, edges: bins.edges_s() }.line(scene, conflicts, GREY, 0.6);
            steps.line(scene, waiting, QUEUE, 0.6);
        }
        upper.frame(scene);
        lower.frame(scene);
        let conflicts = counted(index(ost.of.kinds.all()) as u64, "conflict");
        let waited = duration_us(ost.of.wait_s * 1e6);
        let figures = [
            format!("{conflicts}, {}; clients waited {waited} in all", ost.of.kinds.describe()),
            format!("{conflicts}; clients waited {waited} in all"),
            format!("{conflicts}, waited {waited}"),
            conflicts,
        ];
        upper.head_fitting(scene, &ost.of.label, &figures);
        if i % columns == 0 {
            for panel in [&upper, &lower] {
                panel.y_ticks(scene);
                y_title(scene, body.x0 + BODY, panel.area, &panel.y.title);
            }
        }
    }
    grid.x_axes(scene, &cells);
    page.finish()
}

/// Width of the bars that show the kinds, and of the gap before them.
const KINDS: (f64, f64) = (64.0, 12.0);

fn heat_maps(mut page: Page, mut osts: Vec<Ost<'_>>, bins: &Bins, time: &Axis, mut notes: Vec<String>) -> Scene {
    for ost in &mut osts {
        if let Some(peaks) = ost.peaks.take() {
            [ost.all, ost.waiting] = peaks;
        }
    }
    let mut keys = kind_keys(osts.iter());
    keys.push(Key::new(Swatch::Fill(PALE), "none"));
    page.legend(&keys);
    // Room for two heat maps, and for the note if it is needed.
    let rows_in = |page: &Page| index((page.free_height() - 2.0 * HEAD - BELOW - 16.0 - 16.0) / 2.0 / (TINY * 1.3));
    let mut kinds = Kinds::default();
    osts.iter().for_each(|ost| kinds.merge(&ost.of.kinds));
    let with_mean = osts.len() > rows_in(&page);
    if with_mean {
        let (all, shown) = (osts.len(), rows_in(&page).saturating_sub(2).max(1));
        let rest: f64 = osts[shown..].iter().map(|o| o.of.kinds.all()).sum();
        notes.insert(
            0,
            format!(
                "The {} with most conflicts are shown. {} {} of the conflicts; the last row is their mean.",
                counted(shown as u64, "OST"),
                more_have(all - shown, "OST"),
                percent(ratio(rest, kinds.all())),
            ),
        );
        let others = mean_of(&osts[shown..], bins);
        osts.truncate(shown);
        osts.push(others);
    }
    page.note(notes.join(" "));
    let rows = osts.len() as f64;
    let body = page.body(2.0 * (rows * 18.0 + HEAD) + 16.0 + BELOW);
    let each = (body.height() - BELOW - 16.0) / 2.0;
    let names = without_file_system(osts.iter().map(|o| o.of.name).filter(|name| !name.is_empty()));
    let marked = |(ost, name): (&Ost<'_>, String)| match ost.of.label.strip_prefix(ost.of.name) {
        Some(mark) if !ost.of.name.is_empty() => format!("{name}{mark}"),
        _ => ost.of.label.clone(),
    };
    let names: Vec<String> = osts.iter().zip(names.into_iter().chain([String::new()])).map(marked).collect();
    let labels = RowLabels::new(&names, (each - HEAD) / rows, 170.0);
    let scales = [
        HeatScale { axis: colors(largest(osts.iter().flat_map(|o| &o.all)), "conflicts/s") },
        HeatScale { axis: colors(largest(osts.iter().flat_map(|o| &o.waiting)), "waiting requests") },
    ];
    let bar = scales.iter().map(HeatScale::bar_width).fold(0.0, f64::max);
    let scene = &mut page.scene;
    for (i, (name, scale)) in ["Conflicts between clients", "Requests waiting"].into_iter().zip(&scales).enumerate() {
        let top = body.y0 + i as f64 * (each + 16.0) + HEAD;
        let right = body.x1 - bar - KINDS.0 - KINDS.1;
        let area = Area::new(body.x0 + labels.width(), top, right, top + each - HEAD);
        let places = split(area, osts.len());
        heat::background(scene, area);
        if with_mean {
            let y = places[osts.len() - 1].0 - 0.5;
            scene.line(&[(area.x0 - 4.0, y), (area.x1, y)], FRAME, 1.0);
        }
        let panel = Panel { area, x: time, y: &scale.axis };
        let edges: Vec<f64> = bins.edges_s().iter().map(|e| panel.x(*e)).collect();
        for (ost, (y0, y1)) in osts.iter().zip(&places) {
            heat::row(scene, (*y0, y1 - 1.0), &edges, if i == 0 { &ost.all } else { &ost.waiting }, scale);
        }
        panel.frame(scene);
        labels.draw(scene, area.x0, &places);
        let beside = Area { x0: right + KINDS.1, x1: right + KINDS.1 + KINDS.0, ..area };
        if i == 0 {
            let all = counted(index(kinds.all()) as u64, "conflict");
            panel.head(scene, name, &format!("{all}, {}", kinds.describe()));
            kind_bars(scene, beside, &osts, &places);
        } else {
            panel.head(scene, name, "");
            wait_figures(scene, beside, &osts, &places);
            panel.x_axis(scene);
        }
        scale.bar(scene, Area::new(beside.x1, area.y0, body.x1, area.y1));
    }
    page.finish()
}

/// What kinds of conflicts each row has.
fn kind_bars(scene: &mut Scene, area: Area, osts: &[Ost<'_>], places: &[(f64, f64)]) {
    scene.panels.push(area);
    for (ost, (y0, y1)) in osts.iter().zip(places) {
        let mut x = area.x0;
        for (part, ink) in ost.of.kinds.parts.iter().zip(Kinds::INKS) {
            let to = x + ratio(*part, ost.of.kinds.all()) * area.width();
            scene.mark(Item::Rect { area: Area::new(x, *y0, to, y1 - 1.0), ink });
            x = to;
        }
    }
    scene.outline(area, FRAME, 1.0);
    scene.text(Text::new((area.x0, area.y0 - 7.0), "Kinds", BODY).bold());
}

/// How long clients waited in each row.
fn wait_figures(scene: &mut Scene, area: Area, osts: &[Ost<'_>], places: &[(f64, f64)]) {
    let size = if places.first().is_some_and(|(y0, y1)| y1 - y0 >= 13.0) { SMALL } else { TINY };
    for (ost, (y0, y1)) in osts.iter().zip(places) {
        let label = duration_us(ost.of.wait_s * 1e6);
        scene.label(area.x1, f64::midpoint(*y0, *y1), Align::End, size, GREY, &label);
    }
    scene.text(Text::new((area.x1, area.y0 - 7.0), "Waited", BODY).bold().align(Align::End));
}

fn mean_of<'a>(osts: &[Ost<'a>], bins: &Bins) -> Ost<'a> {
    let zero = || vec![0.0; bins.len()];
    let heads = osts.len().max(1) as f64;
    let mut kinds = Kinds::default();
    let (mut all, mut waiting) = (zero(), zero());
    for ost in osts {
        kinds.merge(&ost.of.kinds);
        add(&mut all, &ost.all);
        add(&mut waiting, &ost.waiting);
    }
    all.iter_mut().chain(&mut waiting).for_each(|value| *value /= heads);
    let wait_s = osts.iter().map(|ost| ost.of.wait_s).sum::<f64>() / heads;
    let label = format!("mean of {} others", count(osts.len() as u64));
    let of = Contended { name: "", label, kinds, wait_s, rows: Vec::new(), series: Vec::new() };
    Ost { of, rates: [zero(), zero(), zero()], all, waiting, peaks: None }
}
