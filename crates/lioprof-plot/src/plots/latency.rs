//! Queue and service time by operation.

use lioprof_model::{Analysis, Operation};

use super::plot::{Plot, PlotOptions};
use crate::data::{Covers, cut};
use crate::draw::{Align, BLACK, BODY, GREY, QUEUE, SERVICE, Scene, TINY, fit, widest};
use crate::figure::{Axis, BELOW, Key, Panel, Swatch, counted, range, range_axis, range_keys, split, stripes};
use crate::page::Page;

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
    let hidden = cut(&mut operations, MOST_ROWS, |o| o.rpcs as f64);
    let what = "Time that requests waited for a service thread (queue) and were handled (service).";
    let mut page = Page::new(options, analysis, PLOT.title, what, Covers::default());
    let mut keys = vec![Key::new(Swatch::Fill(QUEUE), "queue"), Key::new(Swatch::Fill(SERVICE), "service")];
    keys.extend(range_keys());
    page.legend(&keys);
    if let Some(hidden) = hidden {
        let have = hidden.have("operation");
        page.note(format!("The {MOST_ROWS} most frequent operations are shown; {have} of the RPCs."));
    }
    let times = operations.iter().flat_map(|o| [&o.latency.queue_us, &o.latency.service_us]);
    let axis = range_axis(times, "time, log scale");
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
    let nothing = Axis::unmarked("");
    let panel = Panel { area, x: &axis, y: &nothing };
    let rows = split(area, operations.len());
    stripes(scene, area, &rows);
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
    panel.x_axis(scene);
    Ok(page.finish())
}
