//! Damaged figures never panic, and never make a huge picture.

mod support;

use lioprof_model::{Analysis, Direction, Heatmap, SampledRpc, Window};
use lioprof_plot::{Format, Plot, PlotOptions, Rendered, plots, render};
use support::locks::Fight;
use support::{MIXED, STORM, Shape, cases};

const ODD: [f64; 9] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 1e-300, 1e18, f64::MAX, f64::MIN];

fn draw_all(what: &str, analysis: &Analysis) {
    draw_some(what, analysis, |_| true);
}

fn draw_some(what: &str, analysis: &Analysis, wanted: fn(&Plot) -> bool) {
    for plot in plots().iter().filter(|plot| wanted(plot)) {
        for format in [Format::Svg, Format::Png] {
            // Drawing the pixels of large pages is slow without optimisation.
            let (width_px, height_px) = if format == Format::Png { (480, 360) } else { (860, 680) };
            let options = PlotOptions { width_px, height_px, png_scale: 1, bare: false };
            let image = render(plot, analysis, format, &options).expect("no error");
            if let Rendered::Image(bytes) = image {
                assert!(bytes.len() < 3_000_000, "{what}/{}: {} bytes", plot.name, bytes.len());
                if format == Format::Svg {
                    let text = String::from_utf8(bytes).expect("UTF-8");
                    roxmltree::Document::parse(&text).expect("well-formed XML");
                    assert!(!text.contains("NaN") && !text.contains("\"inf"), "{what}/{}", plot.name);
                }
            }
        }
    }
}

fn made() -> Analysis {
    support::analysis(&Shape { rpcs: 300, ..MIXED })
}

#[test]
fn odd_windows_and_bins() {
    for value in ODD {
        let mut a = made();
        a.window.start = value;
        draw_all("window.start", &a);
        let mut a = made();
        a.window.end = value;
        draw_all("window.end", &a);
        let mut a = made();
        a.window = Window { start: value, end: value, duration_s: value, ..Window::default() };
        draw_all("window", &a);
        let mut a = made();
        a.series.bin_s = value;
        draw_all("bin_s", &a);
        let mut a = made();
        a.series.start = value;
        draw_all("series.start", &a);
        let mut a = made();
        a.loss.estimated_lost_fraction = Some(value);
        draw_all("loss", &a);
    }
    for bins in [0, 1, 2, 7, 100_000, usize::MAX] {
        let mut a = made();
        a.series.bins = bins;
        draw_all("bins", &a);
        a.window = Window::default();
        draw_all("bins without a window", &a);
    }
}

#[test]
fn odd_arrays() {
    for length in [0, 1, 5, 1000] {
        let mut a = made();
        for (i, target) in a.series.targets.iter_mut().enumerate() {
            target.read_bytes.resize(if i % 2 == 0 { length } else { 3 }, u64::MAX);
            target.write_bounded_bytes.resize(length, u64::MAX);
        }
        for node in &mut a.series.nodes {
            node.queued.resize(length, f64::NAN);
            node.in_process.resize(length / 2, f64::INFINITY);
        }
        for flow in &mut a.series.flows {
            flow.read_rpcs.resize(length, u64::MAX);
            flow.write_rpcs.clear();
        }
        draw_all("arrays", &a);
    }
    let mut a = made();
    for node in &mut a.series.nodes {
        node.queued.fill(f64::NEG_INFINITY);
        node.in_process.fill(-3.0);
    }
    draw_all("negative depth", &a);
}

#[test]
fn odd_heat_maps() {
    let cells = vec![(0, 0, 1), (u32::MAX, u32::MAX, u64::MAX), (3, 900, 0), (1, 1, u64::MAX)];
    for edges_us in [vec![], vec![0], vec![5], vec![9, 3, 1], vec![1, 1], vec![0, u64::MAX - 1, u64::MAX]] {
        let mut a = made();
        let map = Heatmap { direction: Direction::Read, edges_us, cells: cells.clone() };
        a.series.latency = vec![map.clone(), map];
        draw_all("heat map", &a);
    }
}

#[test]
fn odd_rpcs() {
    let odd = |arrival, end, start| SampledRpc {
        arrival,
        start,
        end,
        direction: Direction::Write,
        client: u32::MAX,
        target: Some(u32::MAX),
        object: Some("x".repeat(5000)),
        offset: Some(u64::MAX),
        last: Some(0),
        bytes: Some(u64::MAX),
        job: Some(u32::MAX),
        before_us: Some(u64::MAX),
        transfer_us: Some(u64::MAX),
    };
    let mut a = made();
    for first in ODD {
        for second in ODD {
            a.sample.rpcs.push(odd(first, second, first));
            a.sample.rpcs.push(odd(first, first, second));
        }
    }
    a.sample.one_in = u64::MAX;
    draw_all("rpcs", &a);
    a.sample.one_in = 0;
    a.clients.clear();
    a.targets.clear();
    draw_all("rpcs of nobody", &a);
    a.window = Window::default();
    a.series.bins = 0;
    draw_all("rpcs of no time", &a);
}

#[test]
fn odd_totals_and_names() {
    let mut a = made();
    for operation in &mut a.operations {
        operation.total_hist_us = vec![(0, 1), (u64::MAX, u64::MAX), (7, 0), (3, u64::MAX)];
        operation.latency.total_us.max = Some(u64::MAX);
        operation.latency.queue_us.p50 = None;
        operation.latency.service_us.p50 = Some(u64::MAX);
        operation.latency.service_us.max = Some(0);
        operation.name = String::new();
        operation.service = "s".repeat(900);
    }
    a.operations[0].name = "OST_READ".to_owned();
    for flow in &mut a.flows {
        flow.read.bytes = u64::MAX;
        flow.nid = "n".repeat(700);
        flow.target = Some(String::new());
    }
    for io in [&mut a.totals.read, &mut a.totals.unattributed.write] {
        io.rpcs = u64::MAX;
        io.bounded_rpcs = u64::MAX;
        io.unsized_rpcs = u64::MAX;
        io.bytes_max = u64::MAX;
    }
    draw_all("totals", &a);
}

fn fought() -> Analysis {
    support::analysis(&Shape { rpcs: 300, osts: 14, fight: Fight::Storm(70), ..STORM })
}

fn lock_plots(what: &str, analysis: &Analysis) {
    draw_some(what, analysis, |plot| plot.name.starts_with("lock-"));
}

#[test]
fn odd_locks() {
    for value in ODD {
        let mut a = fought();
        let locks = locks_of(&mut a);
        locks.totals.wait_s = value;
        for target in &mut locks.targets {
            (target.contended_s, target.contended_share, target.totals.wait_s) = (value, value, value);
            (target.bandwidth_contended, target.bandwidth_uncontended) = (Some(value), None);
        }
        locks.series.targets.iter_mut().for_each(|s| s.waiting.fill(value));
        lock_plots("figures", &a);
        for object in &mut locks_of(&mut a).objects {
            let Some(timeline) = &mut object.timeline else { continue };
            for (i, hold) in timeline.holds.iter_mut().enumerate() {
                match i % 3 {
                    0 => hold.start = Some(value),
                    1 => hold.end = Some(value),
                    _ => (hold.first_byte, hold.last_byte) = (u64::MAX, 0),
                }
                (hold.requested_first_byte, hold.requested_last_byte) = (u64::MAX - i as u64, u64::MAX >> (i % 64));
            }
            for (i, wait) in timeline.waits.iter_mut().enumerate() {
                if i % 2 == 0 {
                    wait.end = Some(value);
                } else {
                    wait.start = value;
                }
                (wait.first_byte, wait.last_byte) = (u64::MAX, 0);
            }
            timeline.blocking_asts.iter_mut().for_each(|ast| ast.0 = value);
        }
        lock_plots("timeline", &a);
    }
    for length in [0, 1, 5, 1000] {
        let mut a = fought();
        for (i, series) in locks_of(&mut a).series.targets.iter_mut().enumerate() {
            series.conflicts.resize(if i % 2 == 0 { length } else { 3 }, u64::MAX);
            series.true_conflicts.resize(length / 2, u64::MAX);
            series.expansion_conflicts.resize(7, u64::MAX);
            series.waiting.resize(length, f64::NAN);
        }
        a.series.targets.truncate(1);
        lock_plots("arrays", &a);
        a.series.bins = length;
        a.window = Window::default();
        lock_plots("arrays without a window", &a);
    }
}

#[test]
fn odd_lock_totals_and_names() {
    let mut a = fought();
    let locks = locks_of(&mut a);
    for (i, target) in locks.targets.iter_mut().enumerate() {
        target.totals.conflicts = u64::MAX;
        target.totals.true_conflicts = Some(u64::MAX);
        target.totals.expansion_conflicts = Some(u64::MAX);
        target.totals.open_waits = u64::MAX;
        target.wait_us.max = Some(0);
        target.wait_us.p50 = Some(u64::MAX);
        target.release_us.p50 = None;
        target.blocking_ast_us.count = 0;
        target.target = if i % 2 == 0 { String::new() } else { "t".repeat(900) };
    }
    (locks.totals.open_waits, locks.mdt_totals.open_waits) = (u64::MAX, u64::MAX);
    (locks.totals.unclassified_conflicts, locks.mdt_totals.conflicts) = (Some(u64::MAX), u64::MAX);
    for pair in &mut locks.pairs {
        (pair.conflicts, pair.handovers) = (u64::MAX, u64::MAX);
    }
    locks.pairs[0].holder_nid = "n".repeat(700);
    locks.pairs[1].waiter_nid = locks.pairs[1].holder_nid.clone();
    for object in &mut locks.objects {
        object.fid = None;
        object.resource = Some("r".repeat(800));
        object.alternations = u64::MAX;
    }
    draw_all("lock totals", &a);
    let locks = locks_of(&mut a);
    locks.targets.clear();
    lock_plots("no targets", &a);
    let locks = locks_of(&mut a);
    locks.series.targets.clear();
    locks.pairs.clear();
    lock_plots("no series", &a);
    locks_of(&mut a).objects.iter_mut().for_each(|o| o.timeline = Some(lioprof_model::Timeline::default()));
    lock_plots("empty timelines", &a);
}

#[test]
fn crowded_lock_timelines() {
    let mut a = support::analysis(&Shape { rpcs: 10, ..support::SMALL });
    let span = a.window.end - a.window.start;
    let start = a.window.start;
    let timeline = locks_of(&mut a).objects[0].timeline.as_mut().expect("has a timeline");
    let (hold, wait) = (timeline.holds[0].clone(), timeline.waits[0].clone());
    for i in 0..5000_u64 {
        let at = start + span * (i % 100) as f64 / 100.0;
        let nid = format!("10.0.0.{i}@tcp");
        // Long ones, all over each other.
        timeline.holds.push(lioprof_model::Hold { nid: nid.clone(), start: Some(at), end: None, ..hold.clone() });
        timeline.waits.push(lioprof_model::Wait { nid: nid.clone(), start: at, end: None, ..wait.clone() });
        timeline.blocking_asts.push((at, nid));
    }
    timeline.truncated = true;
    lock_plots("crowded", &a);
}

fn locks_of(analysis: &mut Analysis) -> &mut lioprof_model::Locks {
    analysis.locks.as_mut().expect("has locks")
}

#[test]
fn odd_sizes_of_page() {
    for (_, analysis) in cases().into_iter().take(1) {
        for (width_px, height_px, png_scale) in [(0, 0, 0), (1, 4000, 1), (4000, 1, 1)] {
            let options = PlotOptions { width_px, height_px, png_scale, bare: png_scale == 1 };
            for plot in plots() {
                for format in [Format::Svg, Format::Png] {
                    render(plot, &analysis, format, &options).expect("no error");
                }
            }
        }
    }
}
