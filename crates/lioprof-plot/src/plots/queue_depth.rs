//! Requests that wait and requests in process.

use lioprof_model::bins::Bins;
use lioprof_model::{Accused, Analysis, NodeSeries};

use super::plot::{Plot, PlotOptions};
use crate::data::{Covers, add, bin_width, bins_of, cut, largest, peaks_are};
use crate::draw::{QUEUE, SERVICE, Scene, ratio};
use crate::figure::{Grid, Key, Steps, Swatch, Window, from_zero, short};
use crate::page::Page;

pub(super) const PLOT: Plot = Plot {
    name: "queue-depth",
    title: "Requests queued and in process per server",
    how_to_read: "Each panel is one server, the busiest first. The green area is the mean number of requests \
        that service threads were working on, the orange area on top of it those that were waiting for a \
        thread; together they are all the requests inside the server. Green that stays level while orange \
        grows means that all threads are busy: the storage is saturated, or there are too few threads. \
        Orange peaks at regular times often are checkpoints.",
    draw,
};

const MOST_PANELS: usize = 6;

struct Depth<'a> {
    node: &'a str,
    in_process: Vec<f64>,
    /// Queued and in process.
    both: Vec<f64>,
    /// Of both, the highest single bin of each merged one; empty where there is no need to tell.
    peak: Vec<f64>,
    mean_queued: f64,
    mean_in_process: f64,
}

impl<'a> Depth<'a> {
    fn of(series: &'a NodeSeries, bins: &Bins) -> Self {
        let (in_process, queued) = (bins.means(&series.in_process), bins.means(&series.queued));
        // Bins at the ends of the window may be shorter or longer than the others.
        let width = |i: usize| bins.edges_s()[i + 1] - bins.edges_s()[i];
        let all: f64 = (0..bins.len()).map(width).sum();
        let mean = |values: &[f64]| ratio(values.iter().enumerate().map(|(i, v)| v * width(i)).sum(), all);
        let (mean_queued, mean_in_process) = (mean(&queued), mean(&in_process));
        let mut both = in_process.clone();
        add(&mut both, &queued);
        let peak = if bins.hide_peaks() { bins.peaks(&series.in_flight) } else { Vec::new() };
        Self { node: &series.node, in_process, both, peak, mean_queued, mean_in_process }
    }

    fn mean(&self) -> f64 {
        self.mean_queued + self.mean_in_process
    }
}

fn draw(analysis: &Analysis, options: &PlotOptions) -> Result<Scene, &'static str> {
    let nodes = &analysis.series.nodes;
    let longest = nodes.iter().map(|n| n.in_process.len().max(n.queued.len())).max().unwrap_or(0);
    if longest == 0 {
        return Err("no server handled a request");
    }
    let columns = if nodes.len() > 3 { 2 } else { 1 };
    let bins = bins_of(analysis, longest, 240 / columns)?;
    let mut depths: Vec<Depth<'_>> = nodes.iter().map(|node| Depth::of(node, &bins)).collect();
    if depths.iter().all(|d| largest(&d.both) <= 0.0) {
        return Err("no server had a request queued or in process");
    }
    let accused = Accused::nodes(analysis);
    depths.sort_by(|a, b| {
        let first = accused.first(a.node).cmp(&accused.first(b.node));
        first.then_with(|| b.mean().total_cmp(&a.mean())).then_with(|| a.node.cmp(b.node))
    });
    let hidden = cut(&mut depths, MOST_PANELS, Depth::mean);
    let (width, peaks) = (bin_width(&bins), peaks_are(&bins, "Line"));
    let what = format!("Mean number of requests that waited or were handled, in bins of {width}.{peaks}");
    let mut page = Page::new(options, analysis, PLOT.title, &what, Covers::default());
    page.legend(&[
        Key::new(Swatch::Fill(QUEUE.tint(0.75)), "queued (waiting for a thread)"),
        Key::new(Swatch::Fill(SERVICE.tint(0.75)), "in process"),
    ]);
    let names: Vec<String> = depths.iter().map(|depth| accused.mark(depth.node, depth.node)).collect();
    page.explain_mark(&names);
    if let Some(hidden) = hidden {
        page.note(format!("The {MOST_PANELS} busiest servers are shown; {} of the requests.", hidden.have("server")));
    }
    let time = Window::of(analysis).axis(if columns > 1 { 6.0 } else { 10.0 });
    let requests =
        from_zero(largest(depths.iter().flat_map(|d| d.both.iter().chain(&d.peak))), 4.0, "requests (mean number)");
    let grid = Grid::new(page.body(Grid::height(depths.len(), columns, 150.0)), depths.len(), columns);
    let panels = grid.panels(&time, &requests);
    let scene = &mut page.scene;
    for ((panel, depth), name) in panels.iter().zip(&depths).zip(&names) {
        panel.grid(scene, true, true);
        let steps = Steps { panel, edges: bins.edges_s() };
        let zero = vec![0.0; bins.len()];
        steps.between(scene, &depth.in_process, &depth.both, QUEUE.alpha(0.75));
        steps.between(scene, &zero, &depth.in_process, SERVICE.alpha(0.75));
        if !depth.peak.is_empty() {
            steps.line(scene, &depth.peak, QUEUE, 0.8);
        }
        panel.frame(scene);
        let mut figures =
            format!("mean {} queued, {} in process", short(depth.mean_queued), short(depth.mean_in_process));
        if columns == 1 {
            figures += &format!("; highest bin {}", short(largest(depth.both.iter().chain(&depth.peak))));
        }
        panel.head(scene, name, &figures);
    }
    grid.axes(scene, &panels);
    Ok(page.finish())
}
