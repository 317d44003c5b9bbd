//! How long reads and writes took: which share took no longer than a time.

use lioprof_model::Analysis;

use super::plot::{ComparisonPlot, INKS, PlotOptions, keys};
use crate::data::Covers;
use crate::draw::{Item, Scene};
use crate::figure::{Axis, Grid, Scale, Swatch, Tick, count, duration_us, log_time};
use crate::page::Page;

pub(super) const PLOT: ComparisonPlot = ComparisonPlot {
    name: "compare-latency",
    title: "Total time of reads and writes, before and after",
    how_to_read: "The height of a line is the share of the RPCs that took no longer, queue and service together, than \
        the time below; the time axis is logarithmic. A line further left is faster. Look at the top: the slowest \
        hundredth decides how long a collective call takes.",
    draw,
};

/// A cumulative distribution.
struct Times {
    rpcs: u64,
    /// Upper edge of a bucket, microseconds, and the share of the RPCs up to it.
    steps: Vec<(f64, f64)>,
    /// Lower edge of the first bucket.
    low: f64,
    p50: Option<u64>,
    p99: Option<u64>,
}

impl Times {
    fn of(analysis: &Analysis, name: &str) -> Option<Self> {
        // One service does them.
        let operation = analysis.operations.iter().filter(|it| it.name == name).max_by_key(|it| it.rpcs)?;
        let buckets = &operation.total_hist_us;
        let all: u64 = buckets.iter().fold(0, |sum, bucket| sum.saturating_add(bucket.1));
        let (low, last) = (buckets.first()?.0, buckets.last()?.0);
        let slowest = operation.latency.total_us.max.unwrap_or(last).max(last);
        let mut steps = Vec::new();
        let mut sum = 0_u64;
        for (at, (_, rpcs)) in buckets.iter().enumerate() {
            sum = sum.saturating_add(*rpcs);
            // Buckets without RPCs are left out: a step ends a quarter of a factor of two on, or at the next one.
            let edge = buckets[at].0.max(1) as f64 * 2_f64.powf(0.25);
            let next = buckets.get(at + 1).map_or(slowest as f64, |next| next.0 as f64);
            steps.push((edge.min(next).max(1.0), sum as f64 / all.max(1) as f64));
        }
        let times = &operation.latency.total_us;
        (all > 0).then_some(Self { rpcs: all, steps, low: low.max(1) as f64, p50: times.p50, p99: times.p99 })
    }

    fn describe(&self) -> String {
        let us = |us: Option<u64>| us.map_or_else(|| "?".to_owned(), |us| duration_us(us as f64));
        format!("{}: p50 {}, p99 {}", count(self.rpcs), us(self.p50), us(self.p99))
    }
}

fn draw(sides: [&Analysis; 2], options: &PlotOptions) -> Result<Scene, &'static str> {
    let both = |name: &str| sides.map(|analysis| Times::of(analysis, name));
    let panelled: Vec<(&str, [Option<Times>; 2])> = [("Reads", both("OST_READ")), ("Writes", both("OST_WRITE"))]
        .into_iter()
        .filter(|(_, times)| times.iter().any(Option::is_some))
        .collect();
    if panelled.is_empty() {
        return Err("there are no times of reads or writes");
    }
    let what = "Share of the RPCs that took no longer than this, queue and service together.";
    let mut page = Page::of_two(options, sides, PLOT.title, what, Covers::default());
    page.legend(&keys(Swatch::Line));
    let all = || panelled.iter().flat_map(|(_, times)| times.iter().flatten());
    let low = all().map(|times| times.low).fold(f64::INFINITY, f64::min);
    let high = all().filter_map(|times| times.steps.last()).map(|step| step.0).fold(low, f64::max);
    let time = log_time(low, high, "total time, log scale");
    let ticks = [0.0, 0.25, 0.5, 0.75, 0.9, 1.0].map(|share| Tick::new(share, format!("{:.0}", share * 100.0)));
    let share = Axis {
        scale: Scale::Linear { lo: 0.0, hi: 1.02 },
        ticks: ticks.to_vec(),
        title: "share of the RPCs (%)".to_owned(),
    };
    let grid = Grid::new(page.body(Grid::height(panelled.len(), 1, 190.0)), panelled.len(), 1);
    let panels = grid.panels(&time, &share);
    for (panel, (name, times)) in panels.iter().zip(&panelled) {
        let scene = &mut page.scene;
        panel.grid(scene, true, true);
        for (times, ink) in times.iter().zip(INKS).filter_map(|(times, ink)| Some((times.as_ref()?, ink))) {
            let start = (panel.x(times.low), panel.y(0.0));
            let steps = times.steps.iter().map(|(us, share)| (panel.x(*us), panel.y(*share)));
            let points = [start].into_iter().chain(steps).collect();
            scene.mark(Item::Line { points, ink, width: 2.0 });
        }
        panel.frame(scene);
        let figures = |at: usize| times[at].as_ref().map_or_else(|| "none".to_owned(), Times::describe);
        panel.head(scene, name, &format!("before {}; after {}", figures(0), figures(1)));
    }
    grid.axes(&mut page.scene, &panels);
    Ok(page.finish())
}
