//! Queue and service time by operation.

use lioprof_model::{Analysis, Operation};

use super::plot::Plot;
use crate::data::Covers;
use crate::draw::{Align, Area, BLACK, BODY, GREY, PALE, QUEUE, SERVICE, Scene, TINY, fit, widest};
use crate::figure::{
    Axis, BELOW, Key, Page, Panel, Scale, Swatch, counted, log_time, more_have, percent, range, split,
};
use crate::options::PlotOptions;

pub(super) const PLOT: Plot = Plot {
    name: "latency",
    title: "Queue and service time by operation",
    how_to_read: "One row per operation and service, the most frequent first; the time axis is logarithmic. \
        The orange bar is the time that requests waited for a service thread, the green one the time in \
        which a thread handled them: each bar reaches from the median (disc) over 90 % (stroke) to 99 % \
        (diamond) of the requests, and the thin line on to the slowest one (ring). Long orange bars mean too \
        few threads or too many requests; long green ones mean slow disks, locks or network. A time below \
        1 µs is drawn at 1 µs.",
    draw,
};

const MOST_ROWS: usize = 12;

fn draw(analysis: &Analysis, options: &PlotOptions) -> Result<Scene, &'static str> {
    let timed = |o: &&Operation| o.latency.queue_us.count > 0 || o.latency.service_us.count > 0;
    let mut operations: Vec<&Operation> = analysis.operations.iter().filter(timed).collect();
    if operations.is_empty() {
        return Err("no operation has times");
    }
    operations.sort_by(|a, b| {
        let name = |o: &Operation| (o.opcode, o.service.clone());
        b.rpcs.cmp(&a.rpcs).then_with(|| name(a).cmp(&name(b)))
    });
    let hidden = operations.split_off(operations.len().min(MOST_ROWS));
    let what = "Time that requests waited for a service thread (queue) and were handled (service).";
    let mut page = Page::new(options, analysis, PLOT.title, what, Covers::default());
    page.legend(&[
        Key::new(Swatch::Fill(QUEUE), "queue"),
        Key::new(Swatch::Fill(SERVICE), "service"),
        Key::new(Swatch::Dot(GREY), "median"),
        Key::new(Swatch::Bar(GREY), "90 %"),
        Key::new(Swatch::Diamond(GREY), "99 %"),
        Key::new(Swatch::Ring(GREY), "slowest"),
    ]);
    if !hidden.is_empty() {
        let sum = |some: &[&Operation]| some.iter().map(|o| o.rpcs as f64).sum::<f64>();
        let (shown, rest) = (sum(&operations), sum(&hidden));
        page.note(format!(
            "The {MOST_ROWS} most frequent operations are shown; {} {} of the RPCs.",
            more_have(hidden.len(), "operation"),
            percent(rest / (shown + rest))
        ));
    }
    let axis = axis(&operations);
    let body = page.body(operations.len() as f64 * 46.0 + BELOW);
    let scene = &mut page.scene;
    let services = operations
        .iter()
        .map(|o| format!("{}, {}", o.service, counted(o.rpcs, "RPC")))
        .map(|label| fit(&label, TINY, 210.0))
        .collect::<Vec<_>>();
    let names: Vec<String> = operations.iter().map(|o| fit(&o.name, BODY, 210.0)).collect();
    let left =
        widest(names.iter().map(String::as_str), BODY).max(widest(services.iter().map(String::as_str), TINY)) + 10.0;
    // Room on the right for the label of the slowest.
    let area = body.shrink(left, 0.0, 14.0, BELOW);
    let nothing = Axis { scale: Scale::Linear { lo: 0.0, hi: 1.0 }, ticks: Vec::new(), title: String::new() };
    let panel = Panel { area, x: &axis, y: &nothing };
    let rows = split(area, operations.len());
    for (y0, y1) in rows.iter().step_by(2) {
        scene.rect(Area::new(area.x0, *y0, area.x1, *y1), PALE);
    }
    panel.grid(scene, true, false);
    for (i, (operation, (y0, y1))) in operations.iter().zip(&rows).enumerate() {
        let high = y1 - y0;
        let middle = f64::midpoint(*y0, *y1);
        scene.label(area.x0 - 7.0, middle - 7.0, Align::End, BODY, BLACK, &names[i]);
        scene.label(area.x0 - 7.0, middle + 8.0, Align::End, TINY, GREY, &services[i]);
        let thick = (high * 0.17).clamp(3.0, 8.0);
        range(scene, &panel, y0 + high * 0.3, thick, &operation.latency.queue_us, QUEUE);
        range(scene, &panel, y0 + high * 0.7, thick, &operation.latency.service_us, SERVICE);
    }
    panel.frame(scene);
    panel.x_ticks(scene);
    panel.x_title(scene);
    Ok(page.finish())
}

/// From the shortest median to the slowest request of all.
fn axis(operations: &[&Operation]) -> Axis {
    let all = || operations.iter().flat_map(|o| [&o.latency.queue_us, &o.latency.service_us]);
    let low = all().filter_map(|d| d.p50).min().unwrap_or(1).max(1);
    let high = all().filter_map(|d| d.max).max().unwrap_or(1).max(low);
    log_time(low as f64, high as f64, "time, log scale")
}
