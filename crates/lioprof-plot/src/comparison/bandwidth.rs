//! Bandwidth of all OSTs over time, both runs from their first byte on.

use lioprof_model::{Analysis, TargetKindName};

use super::plot::{ComparisonPlot, INKS, PlotOptions, keys};
use crate::data::{Covers, largest, total};
use crate::draw::{Scene, index};
use crate::figure::{Grid, Steps, Swatch, Window, bytes, bytes_from_zero, duration_us, percent};
use crate::page::Page;

pub(super) const PLOT: ComparisonPlot = ComparisonPlot {
    name: "compare-bandwidth",
    title: "Bandwidth of all OSTs, before and after",
    how_to_read: "Bytes per second of all OSTs together, reads above and writes below. Both runs begin where their \
        first byte moved, so the one that ends further left was done sooner. The same work gives the same area.",
    draw,
};

/// Steps of one run.
const MOST_BINS: usize = 120;

/// Reads (or writes) that are no more than this share of the bytes would be a line along the axis.
const HARDLY: f64 = 0.01;

/// Bytes of all OSTs per bin, from the first bin with any on.
struct Run {
    bin_s: f64,
    bytes: [Vec<u64>; 2],
}

impl Run {
    fn of(analysis: &Analysis) -> Option<Self> {
        let series = &analysis.series;
        let sane = series.bin_s.is_finite() && series.bin_s > 0.0;
        let osts = || series.targets.iter().filter(|target| target.kind == TargetKindName::Ost);
        let longest = osts().map(|target| target.read_bytes.len().max(target.write_bytes.len())).max()?;
        let mut bytes = [vec![0_u64; longest], vec![0_u64; longest]];
        for target in osts() {
            for (sum, values) in bytes.iter_mut().zip([&target.read_bytes, &target.write_bytes]) {
                for (sum, value) in sum.iter_mut().zip(values) {
                    *sum = sum.saturating_add(*value);
                }
            }
        }
        let moved = |bin: &usize| bytes.iter().any(|bytes| bytes[*bin] > 0);
        let first = (0..longest).find(moved).filter(|_| sane)?;
        let last = (0..longest).rfind(moved)?;
        let bytes = bytes.map(|bytes| bytes[first..=last].to_vec());
        Some(Self { bin_s: series.bin_s, bytes })
    }

    fn bins(&self) -> usize {
        self.bytes[0].len()
    }

    fn span(&self) -> f64 {
        self.bins() as f64 * self.bin_s
    }

    /// Bins that make one of about `width_s`.
    fn merged(&self, width_s: f64) -> usize {
        index((width_s / self.bin_s).round()).max(1)
    }

    /// Edges and bytes per second, in merged bins of about `width_s`.
    fn rates(&self, direction: usize, width_s: f64) -> (Vec<f64>, Vec<f64>) {
        let merged = self.merged(width_s);
        let chunks = self.bytes[direction].chunks(merged);
        let rates = chunks.map(|bins| total(bins) as f64 / (bins.len() as f64 * self.bin_s)).collect();
        let edges = (0..self.bins()).step_by(merged).chain([self.bins()]).map(|bin| bin as f64 * self.bin_s);
        (edges.collect(), rates)
    }
}

fn draw(sides: [&Analysis; 2], options: &PlotOptions) -> Result<Scene, &'static str> {
    let [Some(before), Some(after)] = sides.map(Run::of) else {
        return Err("one of the two has no bytes of OSTs");
    };
    let runs = [before, after];
    let span = runs.iter().map(Run::span).fold(0.0, f64::max);
    // The same width for both: a wider bin smooths.
    let widest = runs.iter().map(|run| run.bin_s).fold(span / MOST_BINS as f64, f64::max);
    let sums = [0, 1].map(|direction| runs.iter().map(|run| total(&run.bytes[direction]) as f64).sum::<f64>());
    let shown = |direction: &usize| sums[*direction] > HARDLY * (sums[0] + sums[1]);
    let directions: Vec<usize> = (0..2).filter(shown).collect();
    let [first, second] = [&runs[0], &runs[1]].map(|run| duration_us(run.merged(widest) as f64 * run.bin_s * 1e6));
    let widths = if first == second { first } else { format!("{first} (before) and {second} (after)") };
    let what = format!("Bytes per second since the first byte, in bins of {widths}.");
    let covers = Covers { bytes: true, ..Covers::default() };
    let mut page = Page::of_two(options, sides, PLOT.title, &what, covers);
    page.legend(&keys(Swatch::Line));
    for hidden in (0..2).filter(|direction| !shown(direction) && sums[*direction] > 0.0) {
        let name = ["Reads", "Writes"][hidden];
        page.note(format!("{name} are left out: they are less than {} of the bytes.", percent(HARDLY)));
    }
    let time = Window { origin: 0.0, span }.axis(10.0);
    let drawn: Vec<[(Vec<f64>, Vec<f64>); 2]> = directions
        .iter()
        .map(|direction| [runs[0].rates(*direction, widest), runs[1].rates(*direction, widest)])
        .collect();
    let max = largest(drawn.iter().flatten().flat_map(|(_, rates)| rates));
    let bandwidth = bytes_from_zero(max, 4.0, "bandwidth", "/s");
    let grid = Grid::new(page.body(Grid::height(directions.len(), 1, 190.0)), directions.len(), 1);
    let panels = grid.panels(&time, &bandwidth);
    for ((panel, direction), lines) in panels.iter().zip(&directions).zip(&drawn) {
        let scene = &mut page.scene;
        panel.grid(scene, true, true);
        for ((edges, rates), ink) in lines.iter().zip(INKS) {
            let steps = Steps { panel, edges };
            steps.between(scene, &vec![0.0; rates.len()], rates, ink.alpha(0.13));
        }
        for ((edges, rates), ink) in lines.iter().zip(INKS) {
            Steps { panel, edges }.line(scene, rates, ink, 1.7);
        }
        panel.frame(scene);
        let [first, second] = [&runs[0], &runs[1]].map(|run| {
            let span = duration_us(run.span() * 1e6);
            format!("{} in {span}", bytes(total(&run.bytes[*direction]) as f64))
        });
        panel.head(scene, ["Reads", "Writes"][*direction], &format!("before {first}, after {second}"));
    }
    grid.axes(&mut page.scene, &panels);
    Ok(page.finish())
}
