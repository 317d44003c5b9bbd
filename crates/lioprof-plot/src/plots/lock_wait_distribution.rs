//! How long clients waited for locks, and what the wait was made of.

use lioprof_model::{Analysis, Distribution, LockEvidence, LockTarget};

use super::plot::{Plot, PlotOptions};
use crate::data::{Covers, NO_CONFLICT, contended, cut, label, seconds};
use crate::draw::{Align, BLACK, BODY, CATEGORIES, GREY, Ink, QUEUE, Scene, TINY, fit, index, widest};
use crate::figure::{
    Axis, BELOW, Key, Panel, Swatch, counted, duration_us, range, range_axis, range_keys, short_count, split, stripes,
};
use crate::page::Page;

pub(super) const PLOT: Plot = Plot {
    name: "lock-wait-distribution",
    title: "How long clients waited for locks",
    how_to_read: "Three bars per target, on a logarithmic time axis: the wait of a client from its request to the \
        grant; the release, from the callback to the holder until it gave the lock back; and the round trip of the \
        callback itself. Each bar reaches from the median (disc) over 90 % (stroke) to 99 % (diamond), and the thin \
        line on to the slowest (ring). A release far longer than the round trip is a holder that first has to write \
        its cached data; a round trip that is long itself points to the network or to a client that hangs. A wait \
        longer than a release has stood in line behind other clients.",
    draw,
};

/// Height of a target.
const ROW: f64 = 58.0;

/// Name, times, colour.
type Bar = (&'static str, fn(&LockTarget) -> &Distribution, Ink);

/// The bars of a target.
const BARS: [Bar; 3] = [
    ("wait", |t| &t.wait_us, QUEUE),
    ("release", |t| &t.release_us, CATEGORIES[3]),
    ("callback", |t| &t.blocking_ast_us, CATEGORIES[5]),
];

fn draw(analysis: &Analysis, options: &PlotOptions) -> Result<Scene, &'static str> {
    let locks = contended(analysis)?;
    let timed = |t: &&LockTarget| t.totals.conflicts > 0 && BARS.iter().any(|(_, of, _)| drawable(of(t)));
    let mut targets: Vec<&LockTarget> = locks.targets.iter().filter(timed).collect();
    if targets.is_empty() {
        return Err(if locks.targets.iter().any(|t| t.totals.conflicts > 0) {
            "no wait for a lock has a known length"
        } else {
            NO_CONFLICT
        });
    }
    let waited = |t: &LockTarget| seconds(t.totals.wait_s);
    targets.sort_by(|a, b| {
        let by_conflicts = b.totals.conflicts.cmp(&a.totals.conflicts);
        waited(b).total_cmp(&waited(a)).then(by_conflicts).then_with(|| a.target.cmp(&b.target))
    });
    let what = "Time from a lock request to its grant, from the callback to the holder to its release, and round trip \
        of the callback; per target, the longest waits in all first.";
    let mut page = Page::new(options, analysis, PLOT.title, what, Covers { locks: true, ..Covers::default() });
    let mut keys = vec![
        Key::new(Swatch::Fill(BARS[0].2), "wait"),
        Key::new(Swatch::Fill(BARS[1].2), "release"),
        Key::new(Swatch::Fill(BARS[2].2), "callback (round trip)"),
    ];
    keys.extend(range_keys());
    page.legend(&keys);
    let fits = index((page.free_height() - BELOW - 45.0) / 44.0).clamp(1, 10);
    let mut notes: Vec<String> = Vec::new();
    if let Some(hidden) = cut(&mut targets, fits, |t| waited(t)) {
        let shown = counted(targets.len() as u64, "target");
        notes.push(format!("The {shown} with most waiting are shown; {} of it.", hidden.have("target")));
    }
    let open = locks.totals.open_waits.saturating_add(locks.mdt_totals.open_waits);
    if open > 0 {
        let (were, are) = if open == 1 { ("was", "is") } else { ("were", "are") };
        notes.push(format!(
            "{} that {were} still open when the log ended, or whose end is missing, {are} not included.",
            counted(open, "wait")
        ));
    }
    if targets.iter().any(|t| t.evidence != LockEvidence::Dlmtrace) {
        notes.push("The release needs dlmtrace; without it, it is left out and the wait is inferred.".to_owned());
    }
    page.note(notes.join(" "));

    let axis = range_axis(targets.iter().flat_map(|t| BARS.map(|(_, of, _)| of(t))), "time, log scale");
    let body = page.body(targets.len() as f64 * ROW + BELOW);
    let scene = &mut page.scene;
    let named = |t: &LockTarget| fit(&label(locks, &t.target, t.is_inferred()), BODY, 190.0);
    let names: Vec<String> = targets.iter().map(|t| named(t)).collect();
    let sums: Vec<String> =
        targets.iter().map(|t| fit(&format!("waited {} in all", duration_us(waited(t) * 1e6)), TINY, 190.0)).collect();
    let bars: Vec<[String; 3]> = targets.iter().map(|t| BARS.map(|(name, of, _)| bar_label(name, of(t)))).collect();
    let text = |all: &[String], size: f64| widest(all.iter().map(String::as_str), size);
    let names_wide = text(&names, BODY).max(text(&sums, TINY)) + 14.0;
    let bars_wide = bars.iter().map(|b| text(b, TINY)).fold(0.0, f64::max) + 10.0;
    // Room on the right for the label of the slowest.
    let area = body.shrink(names_wide + bars_wide, 0.0, 14.0, BELOW);
    let nothing = Axis::unmarked("");
    let panel = Panel { area, x: &axis, y: &nothing };
    let rows = split(area, targets.len());
    stripes(scene, area, &rows);
    panel.grid(scene, true, false);
    for (i, (target, (y0, y1))) in targets.iter().zip(&rows).enumerate() {
        let high = y1 - y0;
        let middle = f64::midpoint(*y0, *y1);
        scene.label(body.x0, middle - 7.0, Align::Start, BODY, BLACK, &names[i]);
        scene.label(body.x0, middle + 8.0, Align::Start, TINY, GREY, &sums[i]);
        let thick = (high * 0.13).clamp(3.0, 7.0);
        for (bar, (_, of, ink)) in BARS.iter().enumerate() {
            let y = y0 + high * (0.2 + 0.3 * bar as f64);
            range(scene, &panel, y, thick, of(target), *ink);
            scene.label(area.x0 - 7.0, y, Align::End, TINY, GREY, &bars[i][bar]);
        }
    }
    panel.frame(scene);
    panel.x_axis(scene);
    Ok(page.finish())
}

fn drawable(times: &Distribution) -> bool {
    times.count > 0 && times.p50.is_some()
}

fn bar_label(name: &str, times: &Distribution) -> String {
    if drawable(times) { format!("{name} ({})", short_count(times.count as f64)) } else { format!("{name} (unknown)") }
}
