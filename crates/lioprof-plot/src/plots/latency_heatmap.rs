//! Total time over time.

use lioprof_model::bins::Bins;
use lioprof_model::{Analysis, Direction, Heatmap};

use super::plot::{Plot, PlotOptions};
use crate::data::{Covers, bin_width, bins_of, largest};
use crate::draw::{Area, PALE, Scene};
use crate::figure::{Grid, HeatScale, Key, Swatch, Window, counted, heat, log_count, log_time};
use crate::page::Page;

pub(super) const PLOT: Plot = Plot {
    name: "latency-heatmap",
    title: "Total time of reads and writes over time",
    how_to_read: "Time runs to the right; the height is how long an RPC took from its arrival to its end, on \
        a logarithmic axis; the darkness is how many RPCs took that long, also logarithmic. A dark band is \
        what most RPCs see. Two bands are two kinds of RPC, for example those served from the cache and \
        those from disk. A band that climbs is a queue that builds up; single cells far above it are \
        stragglers that a mean would hide.",
    draw,
};

/// RPCs by bucket and merged bin.
struct Cells {
    name: &'static str,
    rpcs: u64,
    /// Lower edges and the upper edge of the last bucket.
    edges_us: Vec<f64>,
    rows: Vec<Vec<f64>>,
}

fn sound(map: &Heatmap) -> bool {
    !map.edges_us.is_empty() && map.edges_us.windows(2).all(|pair| pair[0] < pair[1])
}

impl Cells {
    fn of(maps: &[&Heatmap], direction: Direction, bins: &Bins) -> Option<Self> {
        let name = direction.pick("Reads", "Writes");
        let mut maps = maps.iter().filter(|m| m.direction == direction).peekable();
        let edges = maps.peek()?.edges_us.clone();
        let mut rows = vec![vec![0.0; bins.len()]; edges.len()];
        let mut rpcs = 0_u64;
        for map in maps.filter(|m| m.edges_us == edges) {
            for &(bin, bucket, count) in &map.cells {
                let row = rows.get_mut(bucket as usize);
                if let Some(cell) = row.and_then(|row| row.get_mut(bins.merged(bin as usize))) {
                    *cell += count as f64;
                    rpcs = rpcs.saturating_add(count);
                }
            }
        }
        // The first bucket may start at 0, the last has no end: as wide as their neighbours.
        let mut edges_us: Vec<f64> = edges.iter().map(|e| *e as f64).collect();
        let last = edges_us[edges_us.len() - 1].max(1.0);
        let before = edges_us.len().checked_sub(2).map_or(last / 2.0, |i| edges_us[i].max(last / 4.0));
        edges_us.push(last * (last / before.max(0.5)).clamp(1.05, 4.0));
        (rpcs > 0).then_some(Self { name, rpcs, edges_us, rows })
    }

    /// Shortest and longest time with an RPC.
    fn range(&self) -> (f64, f64) {
        let used = |row: &Vec<f64>| largest(row) > 0.0;
        let first = self.rows.iter().position(used).unwrap_or(0);
        let last = self.rows.iter().rposition(used).unwrap_or(0);
        (self.edges_us[first].max(1.0), self.edges_us[last + 1])
    }
}

fn draw(analysis: &Analysis, options: &PlotOptions) -> Result<Scene, &'static str> {
    let maps: Vec<&Heatmap> = analysis.series.latency.iter().filter(|m| sound(m)).collect();
    let longest = maps.iter().flat_map(|m| &m.cells).map(|c| c.0 as usize + 1).max().unwrap_or(0);
    if longest == 0 {
        return Err("no read or write has a total time");
    }
    let bins = bins_of(analysis, longest, 160)?;
    let both: Vec<Cells> =
        Direction::ALL.into_iter().filter_map(|direction| Cells::of(&maps, direction, &bins)).collect();
    if both.is_empty() {
        return Err("no read or write has a total time");
    }
    let what = format!("Reads and writes by their time from arrival to end, in bins of {}.", bin_width(&bins));
    let mut page = Page::new(options, analysis, PLOT.title, &what, Covers::default());
    page.legend(&[Key::new(Swatch::Fill(PALE), "no RPC")]);
    let range = |pick: fn((f64, f64)) -> f64| both.iter().map(move |c| pick(c.range()));
    let low = range(|r| r.0).fold(f64::INFINITY, f64::min);
    let high = range(|r| r.1).fold(1.0, f64::max);
    let total = log_time(low, high, "total time, log scale");
    let max = largest(both.iter().flat_map(|c| c.rows.iter().flatten()));
    let scale = HeatScale { axis: log_count(max, "RPCs per cell") };
    let time = Window::of(analysis).axis(10.0);
    let body = page.body(Grid::height(both.len(), 1, 210.0));
    let main = body.shrink(0.0, 0.0, scale.bar_width() - 14.0, 0.0);
    let grid = Grid::new(main, both.len(), 1);
    let panels = grid.panels(&time, &total);
    let scene = &mut page.scene;
    for (panel, cells) in panels.iter().zip(&both) {
        heat::background(scene, panel.area);
        let edges: Vec<f64> = bins.edges_s().iter().map(|e| panel.x(*e)).collect();
        for (bucket, row) in cells.rows.iter().enumerate() {
            let (low, high) = (cells.edges_us[bucket], cells.edges_us[bucket + 1]);
            heat::row(scene, (panel.y(high), panel.y(low)), &edges, row, &scale);
        }
        panel.frame(scene);
        panel.head(scene, cells.name, &counted(cells.rpcs, "RPC"));
    }
    grid.axes(scene, &panels);
    bar(scene, &panels.iter().map(|p| p.area).collect::<Vec<_>>(), body, &scale);
    Ok(page.finish())
}

/// One colour bar along all panels.
fn bar(scene: &mut Scene, panels: &[Area], body: Area, scale: &HeatScale) {
    if let (Some(first), Some(last)) = (panels.first(), panels.last()) {
        scale.bar(scene, Area::new(first.x1, first.y0, body.x1, last.y1));
    }
}
