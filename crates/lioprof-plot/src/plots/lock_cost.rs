//! What contention costs: the bandwidth of contended OSTs, with the time in which clients waited.

use lioprof_model::bins::Bins;
use lioprof_model::{Analysis, TargetKindName, TargetSeries};

use super::plot::{Plot, PlotOptions};
use crate::data::{
    Contended, Covers, NO_CONFLICT, add, bin_width, bins_of, contended, contended_osts, cut, largest, seconds, sum,
};
use crate::draw::{Align, Area, GREY, Ink, Item, READ, SMALL, Scene, Text, WRITE, ratio, width};
use crate::figure::{Grid, Key, Panel, Steps, Swatch, Window, bytes, bytes_from_zero, duration_us, percent};
use crate::page::Page;

pub(super) const PLOT: Plot = Plot {
    name: "lock-cost",
    title: "Bandwidth of contended OSTs",
    how_to_read: "Each panel is one OST, the one whose clients waited longest for each other's locks first. The areas \
        are the bytes per second that it read and, on top, wrote; shaded, with a dark bar above, are the time bins in \
        which a client waited. The figures above compare the bandwidth of the bins in which a client waited with the \
        other bins with traffic, and say how much of the window somebody waited. Far less bandwidth in the shaded \
        parts is what contention may cost; but a busy OST also has more conflicts, so compare the same phase of a job \
        before you blame the locks.",
    draw,
};

const MOST_PANELS: usize = 6;
/// Background of the time in which a client waited.
const SHADE: Ink = Ink::new(0xf5_e6b8);
/// The bar above it.
const BAR: Ink = Ink::new(0x7a_5c00);
/// Height of the bar, and of the second line of a head.
const BAR_HIGH: f64 = 4.0;
const SECOND: f64 = 15.0;

struct Ost<'a> {
    of: Contended<'a>,
    read: Vec<f64>,
    both: Vec<f64>,
    /// Seconds since start.
    waits: Vec<(f64, f64)>,
}

fn draw(analysis: &Analysis, options: &PlotOptions) -> Result<Scene, &'static str> {
    let locks = contended(analysis)?;
    let mut osts = contended_osts(locks);
    if osts.is_empty() {
        return Err(NO_CONFLICT);
    }
    osts.sort_by(|a, b| b.wait_s.total_cmp(&a.wait_s));
    let hidden = cut(&mut osts, MOST_PANELS, |ost| ost.wait_s);
    let columns = if osts.len() > 3 { 2 } else { 1 };
    let lengths = analysis.series.targets.iter().map(|s| s.read_bytes.len().max(s.write_bytes.len()));
    let longest = lengths.chain(locks.series.targets.iter().map(|s| s.waiting.len())).max().unwrap_or(0);
    let bins = bins_of(analysis, longest, 240 / columns)?;
    let fine = bins_of(analysis, longest, 2000)?;
    let osts: Vec<Ost<'_>> = osts.into_iter().map(|ost| Ost::new(analysis, ost, &bins, &fine)).collect();

    let what = format!(
        "Bytes per second read and written, in bins of {}, and when clients waited for locks.",
        bin_width(&bins)
    );
    let covers = Covers { locks: true, targets: true, bytes: true };
    let mut page = Page::new(options, analysis, PLOT.title, &what, covers);
    let (reads, both) = (largest(osts.iter().flat_map(|o| &o.read)), largest(osts.iter().flat_map(|o| &o.both)));
    let mut keys = Vec::new();
    if reads > 0.0 {
        keys.push(Key::new(Swatch::Fill(READ.tint(0.75)), "read"));
    }
    if osts.iter().any(|o| o.both.iter().zip(&o.read).any(|(both, read)| both > read)) {
        keys.push(Key::new(Swatch::Fill(WRITE.tint(0.75)), if reads > 0.0 { "written (on top)" } else { "written" }));
    }
    keys.push(Key::new(Swatch::Fill(SHADE), "a client waited for another client's lock"));
    page.legend(&keys);
    let mut notes = vec![
        "A bin is shaded if a client waited in any part of it; the share of the time counts the waits alone."
            .to_owned(),
    ];
    if let Some(hidden) = hidden {
        let have = hidden.have("contended OST");
        notes.push(format!("The {MOST_PANELS} OSTs with most waiting are shown; {have} of it."));
    }
    page.note(notes.join(" "));
    let time = Window::of(analysis).axis(if columns > 1 { 6.0 } else { 10.0 });
    let bandwidth = bytes_from_zero(both, 4.0, "bandwidth", "/s");
    let grid = Grid::new(page.body(Grid::height(osts.len(), columns, 165.0)), osts.len(), columns);
    let mut panels = grid.panels(&time, &bandwidth);
    // The head has two lines, and the bar is between it and the data.
    panels.iter_mut().for_each(|panel| panel.area.y0 += SECOND + BAR_HIGH + 1.0);
    let scene = &mut page.scene;
    for (panel, ost) in panels.iter().zip(&osts) {
        let Area { y0, y1, .. } = panel.area;
        for (from, to) in &ost.waits {
            let (x0, x1) = (panel.x(*from), panel.x(*to));
            scene.rect(Area::new(x0, y0, x1, y1), SHADE);
            scene.mark(Item::Rect { area: Area::new(x0, y0 - BAR_HIGH - 1.0, x1, y0 - 1.0), ink: BAR });
        }
        panel.grid(scene, true, true);
        let steps = Steps { panel, edges: bins.edges_s() };
        let zero = vec![0.0; bins.len()];
        steps.between(scene, &zero, &ost.read, READ.tint(0.75));
        steps.between(scene, &ost.read, &ost.both, WRITE.tint(0.75));
        panel.frame(scene);
        head(scene, panel, ost, Window::of(analysis).span);
    }
    grid.axes(scene, &panels);
    Ok(page.finish())
}

impl<'a> Ost<'a> {
    fn new(analysis: &Analysis, of: Contended<'a>, bins: &Bins, fine: &Bins) -> Self {
        let mut read = vec![0.0; bins.len()];
        let mut both = read.clone();
        let mine = |s: &&TargetSeries| s.kind == TargetKindName::Ost && s.name.as_deref() == Some(of.name);
        for series in analysis.series.targets.iter().filter(mine) {
            add(&mut read, &bins.rates(&series.read_bytes));
            add(&mut both, &bins.rates(&series.write_bytes));
        }
        add(&mut both, &read);
        let mut waiting = vec![0.0; fine.len()];
        of.series.iter().for_each(|series| add(&mut waiting, &fine.means(&series.waiting)));
        let mut waits: Vec<(f64, f64)> = Vec::new();
        for (bin, _) in waiting.iter().enumerate().filter(|(_, waiting)| **waiting > 0.0) {
            let (from, to) = (fine.edges_s()[bin], fine.edges_s()[bin + 1]);
            match waits.last_mut() {
                Some(last) if last.1 >= from => last.1 = to,
                _ => waits.push((from, to)),
            }
        }
        Self { of, read, both, waits }
    }

    /// Bandwidth while a client waited, and otherwise: the bytes of both rows if two nodes served the OST
    /// cannot be told apart, so the row with more conflicts speaks for it.
    fn bandwidths(&self) -> [Option<f64>; 2] {
        let row = self.of.rows.iter().max_by_key(|row| row.totals.conflicts);
        let sound = |rate: f64| rate.is_finite() && rate >= 0.0;
        row.map_or([None; 2], |row| {
            [row.bandwidth_contended, row.bandwidth_uncontended].map(|r| r.filter(|r| sound(*r)))
        })
    }
}

fn head(scene: &mut Scene, panel: &Panel<'_>, ost: &Ost<'_>, span: f64) {
    let contended = sum(ost.of.rows.iter().map(|row| seconds(row.contended_s)));
    let share = ratio(contended, span).min(1.0);
    let (share, waited) = (percent(share), duration_us(ost.of.wait_s * 1e6));
    let firsts = [
        format!("contended {share} of the time; clients waited {waited} in all"),
        format!("contended {share}, waited {waited}"),
        format!("contended {share}"),
    ];
    let rate = |rate: f64| format!("{}/s", bytes(rate));
    let [with, without] = ost.bandwidths();
    let second = match (with, without) {
        (Some(with), Some(without)) => {
            format!("{} while a client waited, {} while none did", rate(with), rate(without))
        }
        (Some(with), None) => format!("{} while a client waited; no other traffic", rate(with)),
        (None, Some(without)) => format!("{} while no client waited", rate(without)),
        (None, None) => String::new(),
    };
    let area = Area { y0: panel.area.y0 - BAR_HIGH - 1.0, ..panel.area };
    Panel { area: Area { y0: area.y0 - SECOND, ..area }, ..*panel }.head_fitting(scene, &ost.of.label, &firsts);
    if width(&second, SMALL, false) <= area.width() {
        let text = Text::new((area.x1, area.y0 - 6.0), second, SMALL).ink(GREY);
        scene.text(text.align(Align::End));
    }
}
