//! Each plot of a capture, and all of them, as SVG and PNG.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use lioprof_analysis::{Analysis, Config, analyze};
use lioprof_plot::{Format, PlotOptions, Rendered, plots, render};

/// A capture in which clients fight for locks: most plots have something to show.
const CAPTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/captures/lock_pingpong");

/// Bytes of a plot's file; 0 if there is nothing to draw.
fn size(plot: &lioprof_plot::Plot, analysis: &Analysis, format: Format) -> usize {
    match render(plot, analysis, format, &PlotOptions::default()).expect("it can be drawn") {
        Rendered::Image(bytes) => bytes.len(),
        Rendered::Skipped(_) => 0,
    }
}

fn drawing(c: &mut Criterion) {
    let analysis = analyze(&[PathBuf::from(CAPTURE)], &Config::default(), None).expect("a capture").analysis;
    for (name, format) in [("svg", Format::Svg), ("png", Format::Png)] {
        let mut group = c.benchmark_group(name);
        group.sample_size(10).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1));
        let drawn: Vec<_> = plots().iter().filter(|plot| size(plot, &analysis, format) > 0).collect();
        assert!(drawn.len() > 10, "only {} plots have something to show", drawn.len());
        for plot in &drawn {
            group.bench_function(plot.name, |b| b.iter(|| black_box(size(plot, &analysis, format))));
        }
        group.bench_function("all", |b| {
            b.iter(|| drawn.iter().map(|plot| size(plot, &analysis, format)).sum::<usize>());
        });
        group.finish();
    }
}

criterion_group!(benches, drawing);
criterion_main!(benches);
