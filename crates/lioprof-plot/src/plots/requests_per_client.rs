//! Requests per second and client, a panel per OST: the plot that LIOProf made, per OST instead of
//! per OSS.

use std::collections::{BTreeMap, BTreeSet};

use lioprof_model::bins::Bins;
use lioprof_model::names::UNATTRIBUTED;
use lioprof_model::{Accused, Analysis, FlowSeries};

use super::plot::{Plot, PlotOptions};
use crate::data::{Covers, add, bin_width, bins_of, cut, largest, total};
use crate::draw::{CATEGORIES, Ink, Item, OTHERS, Scene, index};
use crate::figure::{Grid, Key, Panel, Swatch, Window, counted, from_zero, percent};
use crate::page::Page;

pub(super) const PLOT: Plot = Plot {
    name: "requests-per-client",
    title: "Read and write requests per client",
    how_to_read: "Each panel is one OST, the busiest first; each line is one client, in the same colour in \
        every panel. The height is the number of read and write RPCs of that client that ended per second. \
        The clients that findings name and those with most requests to these OSTs have a colour of their own; the grey line is \
        the mean of all the others, and grey areas show between which rates half and nine tenths of these are, so a coloured line \
        far above is a client that asks for more than its share. Requests are \
        counted, not bytes: a client with many small requests stands out here even if it moves little.",
    draw,
};

const MOST_PANELS: usize = 6;

/// Of so many other clients with a series of their own a density is drawn.
const DENSE: usize = 10;
/// Opacities and parts of the other clients, of which as many are below as above: nine tenths and half.
const BANDS: [(f64, f64, &str); 2] = [(0.14, 0.05, "nine tenths of the other clients"), (0.28, 0.25, "half of them")];

/// Requests on one OST.
struct OstRequests<'a> {
    name: &'a str,
    flows: Vec<&'a FlowSeries>,
    rpcs: u64,
}

fn rpcs(flow: &FlowSeries) -> u64 {
    total(&flow.read_rpcs).saturating_add(total(&flow.write_rpcs))
}

fn draw(analysis: &Analysis, options: &PlotOptions) -> Result<Scene, &'static str> {
    let flows: Vec<&FlowSeries> = analysis.series.flows.iter().filter(|f| rpcs(f) > 0).collect();
    if flows.is_empty() {
        return Err("no read or write requests");
    }
    let mut by_target: BTreeMap<&str, OstRequests<'_>> = BTreeMap::new();
    for flow in &flows {
        let name = flow.target.as_deref().unwrap_or(UNATTRIBUTED);
        let panel = by_target.entry(name).or_insert_with(|| OstRequests { name, flows: Vec::new(), rpcs: 0 });
        panel.rpcs = panel.rpcs.saturating_add(rpcs(flow));
        panel.flows.push(flow);
    }
    let mut targets: Vec<OstRequests<'_>> = by_target.into_values().collect();
    let accused = (Accused::targets(analysis), Accused::clients(analysis));
    targets.sort_by(|a, b| {
        let first = accused.0.first(a.name).cmp(&accused.0.first(b.name));
        first.then_with(|| b.rpcs.cmp(&a.rpcs)).then_with(|| a.name.cmp(b.name))
    });
    let hidden = cut(&mut targets, MOST_PANELS, |t| t.rpcs as f64);
    let columns = if targets.len() > 3 { 2 } else { 1 };
    let longest = flows.iter().map(|f| f.read_rpcs.len().max(f.write_rpcs.len())).max();
    let bins = bins_of(analysis, longest.unwrap_or(0), 180 / columns)?;
    // Those of the panels alone: a client that only uses other OSTs would have a colour and no line.
    let mut by_client: BTreeMap<&str, u64> = BTreeMap::new();
    for flow in targets.iter().flat_map(|target| &target.flows) {
        if let Some(nid) = &flow.nid {
            let sum = by_client.entry(nid).or_default();
            *sum = sum.saturating_add(rpcs(flow));
        }
    }
    let mut clients: Vec<(&str, u64)> = by_client.into_iter().collect();
    clients.sort_by(|a, b| (accused.1.first(a.0), b.1, a.0).cmp(&(accused.1.first(b.0), a.1, b.0)));
    let top: Vec<&str> = clients.iter().take(CATEGORIES.len()).map(|c| c.0).collect();

    let what = format!("Read and write RPCs that ended per second, by client, in bins of {}.", bin_width(&bins));
    let covers = Covers { targets: true, ..Covers::default() };
    let mut page = Page::new(options, analysis, PLOT.title, &what, covers);
    let panelled: Vec<ClientLines> = targets.iter().map(|t| ClientLines::of(analysis, t, &top, &bins)).collect();

    let nids: Vec<String> = top.iter().map(|nid| accused.1.mark(nid, nid)).collect();
    let names: Vec<String> = targets.iter().map(|target| accused.0.mark(target.name, target.name)).collect();
    page.explain_mark(names.iter().chain(&nids));
    let mut keys: Vec<Key> = nids.iter().zip(CATEGORIES).map(|(nid, ink)| Key::new(Swatch::Line(ink), nid)).collect();
    if panelled.iter().any(|lines| lines.others.is_some()) {
        keys.push(Key::new(Swatch::Line(OTHERS), "mean of the other clients"));
    }
    if panelled.iter().any(|lines| !lines.bands.is_empty()) {
        keys.extend(BANDS.map(|(alpha, _, name)| Key::new(Swatch::Fill(OTHERS.alpha(alpha)), name)));
    }
    page.legend(&keys);
    if panelled.iter().any(|lines| !lines.bands.is_empty() && lines.without > 0) {
        page.note("The areas leave out clients with so few requests that they have no series of their own.");
    }
    if let Some(hidden) = hidden {
        let have = hidden.have("OST");
        let first = if accused.0.first(targets[0].name) < usize::MAX { "that findings name and those " } else { "" };
        page.note(format!(
            "The OSTs {first}with most requests are shown, {MOST_PANELS} in all; {have} of the requests."
        ));
    }
    let time = Window::of(analysis).axis(if columns > 1 { 6.0 } else { 10.0 });
    let max = largest(panelled.iter().flat_map(|l| l.all().flatten()));
    let rate = from_zero(max, 4.0, "requests (RPCs/s)");
    let grid = Grid::new(page.body(Grid::height(targets.len(), columns, 150.0)), targets.len(), columns);
    let panels = grid.panels(&time, &rate);
    for (((panel, target), name), lines) in panels.iter().zip(&targets).zip(&names).zip(&panelled) {
        let scene = &mut page.scene;
        panel.grid(scene, true, true);
        for ((low, high), (alpha, ..)) in lines.bands.iter().zip(BANDS) {
            let mut around = points(panel, &bins, high);
            around.extend(points(panel, &bins, low).into_iter().rev());
            scene.mark(Item::Polygon { points: around, ink: OTHERS.alpha(alpha) });
        }
        if let Some(others) = &lines.others {
            line(scene, panel, &bins, others, OTHERS, 2.5);
        }
        for (values, ink) in lines.clients.iter().zip(CATEGORIES).rev() {
            if largest(values) > 0.0 {
                line(scene, panel, &bins, values, ink, 1.5);
            }
        }
        panel.frame(scene);
        let figures = match lines.others_share {
            Some(share) => format!("{}, {} by others", counted(target.rpcs, "RPC"), percent(share)),
            None => counted(target.rpcs, "RPC"),
        };
        panel.head(scene, name, &figures);
    }
    grid.axes(&mut page.scene, &panels);
    Ok(page.finish())
}

/// The lines of one panel.
struct ClientLines {
    /// One per top client.
    clients: Vec<Vec<f64>>,
    /// Mean of the others.
    others: Option<Vec<f64>>,
    /// Their share of the requests.
    others_share: Option<f64>,
    /// Lower and upper edges of [`BANDS`]; none where few of the others are known one by one.
    bands: Vec<(Vec<f64>, Vec<f64>)>,
    /// Other clients without a series of their own.
    without: usize,
}

impl ClientLines {
    fn of(analysis: &Analysis, target: &OstRequests<'_>, top: &[&str], bins: &Bins) -> Self {
        let mut clients = vec![vec![0.0; bins.len()]; top.len()];
        let mut others = vec![0.0; bins.len()];
        let mut others_rpcs = 0_u64;
        let mut names: BTreeSet<&str> = BTreeSet::new();
        let mut single: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for flow in &target.flows {
            let known = flow.nid.as_deref().and_then(|nid| top.iter().position(|t| *t == nid));
            if known.is_none() {
                others_rpcs = others_rpcs.saturating_add(rpcs(flow));
                names.extend(flow.nid.as_deref());
            }
            let line = known.map_or(&mut others, |at| &mut clients[at]);
            add(line, &bins.rates(&flow.read_rpcs));
            add(line, &bins.rates(&flow.write_rpcs));
            if let (None, Some(nid)) = (known, &flow.nid) {
                let line = single.entry(nid).or_insert_with(|| vec![0.0; bins.len()]);
                add(line, &bins.rates(&flow.read_rpcs));
                add(line, &bins.rates(&flow.write_rpcs));
            }
        }
        // Clients behind the row without a NID are named in the flows of the whole capture.
        let here = |name: Option<&str>| name.unwrap_or(UNATTRIBUTED) == target.name;
        let used = |rpcs: u64| rpcs > 0;
        names.extend(
            analysis
                .flows
                .iter()
                .filter(|f| here(f.target.as_deref()) && used(f.read.rpcs.saturating_add(f.write.rpcs)))
                .map(|f| f.nid.as_str())
                .filter(|nid| !top.contains(nid)),
        );
        let heads = names.len().max(1) as f64;
        others.iter_mut().for_each(|rate| *rate /= heads);
        let any = others_rpcs > 0;
        let share = others_rpcs as f64 / target.rpcs.max(1) as f64;
        let without = names.len().saturating_sub(single.len());
        let lines: Vec<Vec<f64>> = single.into_values().collect();
        let bands = if lines.len() >= DENSE { bands(&lines, bins.len()) } else { Vec::new() };
        Self { clients, others: any.then_some(others), others_share: any.then_some(share), bands, without }
    }

    fn all(&self) -> impl Iterator<Item = &Vec<f64>> {
        self.clients.iter().chain(&self.others).chain(self.bands.iter().map(|(_, high)| high))
    }
}

/// Between which rates the parts of clients are that [`BANDS`] names, bin by bin.
fn bands(clients: &[Vec<f64>], bins: usize) -> Vec<(Vec<f64>, Vec<f64>)> {
    let mut bands = vec![(Vec::new(), Vec::new()); BANDS.len()];
    for bin in 0..bins {
        let mut rates: Vec<f64> = clients.iter().filter_map(|client| client.get(bin).copied()).collect();
        rates.sort_by(f64::total_cmp);
        let most = rates.len().saturating_sub(1);
        let at = |part: f64| rates.get(index((most as f64 * part).round())).copied().unwrap_or(0.0);
        for ((low, high), (_, below, _)) in bands.iter_mut().zip(BANDS) {
            low.push(at(below));
            high.push(at(1.0 - below));
        }
    }
    bands
}

/// A line through the middles of the bins; a single bin, and a time without bins, is a level line.
fn line(scene: &mut Scene, panel: &Panel<'_>, bins: &Bins, values: &[f64], ink: Ink, width: f64) {
    scene.mark(Item::Line { points: points(panel, bins, values), ink, width });
}

fn points(panel: &Panel<'_>, bins: &Bins, values: &[f64]) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (i, value) in values.iter().enumerate() {
        let (from, to) = (bins.edges_s()[i], bins.edges_s()[i + 1]);
        let level = bins.is_filler(i) || values.len() == 1;
        let at = if level { vec![from, to] } else { vec![f64::midpoint(from, to)] };
        points.extend(at.into_iter().map(|time| (panel.x(time), panel.y(*value))));
    }
    points
}
