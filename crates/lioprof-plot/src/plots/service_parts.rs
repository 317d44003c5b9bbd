//! Mean service time of reads and writes in three parts, by OST and by client.

use lioprof_model::names::target_of;
use lioprof_model::{ACCUSED, Accused, Analysis, Direction, ServiceSplit, TargetParts, Totals};

use super::plot::{Plot, PlotOptions};
use crate::data::{Covers, cut};
use crate::draw::{
    AFTER_TRANSFER, Align, Area, BEFORE_TRANSFER, GREY, Ink, Item, LINE, SMALL, Scene, TRANSFER, widest,
};
use crate::figure::{
    Axis, BELOW, HEAD, Key, Panel, RowLabels, Swatch, counted, duration_us, from_zero, split, stripes,
};
use crate::page::Page;

pub(super) const PLOT: Plot = Plot {
    name: "service-parts",
    title: "Service time: disk and network",
    how_to_read: "One bar per OST and per client: the mean service time of its reads or writes, split at the bulk transfer. \
        Before it a read is read from disk and a write is prepared, the transfer is network and client, and after it a write is \
        written to disk. A long part before (reads) or after (writes) on one OST means a slow disk. A long transfer on all OSTs of one \
        server means that server's link, with one client that client or its link. RPCs whose transfer is unknown are left out; \
        the log needs the debug mask net.",
    draw,
};

/// Bars of each kind.
const MOST_ROWS: usize = 16;
const ROW: f64 = 19.0;

/// The three parts of a bar.
const INKS: [(Ink, &str); 3] =
    [(BEFORE_TRANSFER, "before the transfer"), (TRANSFER, "transfer"), (AFTER_TRANSFER, "after the transfer")];

/// Bars of one direction, of OSTs or of clients.
struct Group<'a> {
    head: String,
    /// Whose the bars are.
    what: &'static str,
    bars: Vec<(String, &'a ServiceSplit)>,
}

fn draw(analysis: &Analysis, options: &PlotOptions) -> Result<Scene, &'static str> {
    let mut groups = groups(analysis);
    if groups.is_empty() {
        let Totals { read, write, dom_read, dom_write, .. } = &analysis.totals;
        // Without any no mask would show their parts.
        let any = [read, write, dom_read, dom_write].iter().any(|io| io.rpcs > 0);
        return Err(if any { "no log shows when data moved (mask net)" } else { "no read or write requests" });
    }
    let what = "Mean service time of reads and writes before, in and after the bulk transfer.";
    let mut page = Page::new(options, analysis, PLOT.title, what, Covers::default());
    page.legend(&INKS.map(|(ink, name)| Key::new(Swatch::Fill(ink), name)));
    page.explain_mark(groups.iter().flat_map(|group| &group.bars).map(|(name, _)| name));
    // A group that is cut has a note of two lines.
    let high = |group: &Group<'_>, most: usize| {
        let note = if group.bars.len() > most { 2.0 * SMALL * LINE } else { 0.0 };
        HEAD + ROW / 2.0 + group.bars.len().min(most) as f64 * ROW + note
    };
    let fits = |most: &usize| groups.iter().map(|group| high(group, *most)).sum::<f64>() + BELOW <= page.free_height();
    let most = (1..=MOST_ROWS).rev().find(fits).unwrap_or(1);
    for group in &mut groups {
        if let Some(hidden) = cut(&mut group.bars, most, |(_, parts)| parts.rpcs as f64) {
            let (head, what) = (&group.head, group.what);
            page.note(format!("{head}: the {most} slowest are shown; {} of these RPCs.", hidden.have(what)));
        }
    }

    let bars = || groups.iter().flat_map(|group| &group.bars);
    let figures: Vec<String> = bars().map(|(_, parts)| figures(parts)).collect();
    // Room right of the longest bar for its figures.
    let right = widest(figures.iter().map(String::as_str), SMALL) + 14.0;
    let longest_us = bars().map(|(_, parts)| parts.mean_service_us()).fold(1.0, f64::max);
    let (unit, unit_us) = if longest_us >= 1e6 { ("s", 1e6) } else { ("ms", 1e3) };
    let time = from_zero(longest_us / unit_us, 6.0, &format!("mean service time ({unit})"));
    let nothing = Axis::unmarked("");
    let height = groups.iter().map(|group| HEAD + group.bars.len() as f64 * ROW + ROW / 2.0).sum::<f64>();
    let body = page.body(height + BELOW);
    let names: Vec<String> = bars().map(|(name, _)| name.clone()).collect();
    let left = RowLabels::new(&names, ROW, 210.0).width();
    let scene = &mut page.scene;
    let mut top = body.y0;
    for (at, group) in groups.iter().enumerate() {
        let y0 = top + HEAD;
        let area = Area::new(body.x0 + left, y0, body.x1 - right, y0 + group.bars.len() as f64 * ROW);
        let panel = Panel { area, x: &time, y: &nothing };
        let rows = split(area, group.bars.len());
        stripes(scene, area, &rows);
        panel.grid(scene, true, false);
        let names: Vec<String> = group.bars.iter().map(|(name, _)| name.clone()).collect();
        RowLabels::new(&names, ROW, 210.0).draw(scene, area.x0, &rows);
        for ((_, parts), &(row_top, row_bottom)) in group.bars.iter().zip(&rows) {
            let mut at_us = 0.0;
            for ((_, part), (ink, _)) in parts.in_order().into_iter().zip(INKS) {
                let from = panel.x(at_us / unit_us);
                at_us += part.us.mean.unwrap_or(0.0);
                let bar = Area::new(from, row_top + 3.5, panel.x(at_us / unit_us), row_bottom - 3.5);
                scene.mark(Item::Rect { area: bar, ink });
            }
            let middle = f64::midpoint(row_top, row_bottom);
            scene.label(area.x1 + 8.0, middle, Align::Start, SMALL, GREY, &self::figures(parts));
        }
        panel.frame(scene);
        panel.head(scene, &group.head, "");
        if at + 1 == groups.len() {
            panel.x_axis(scene);
        }
        top = area.y1 + ROW / 2.0;
    }
    Ok(page.finish())
}

/// Reads and then writes: OSTs, then clients; whom findings name first, then the slowest.
fn groups(analysis: &Analysis) -> Vec<Group<'_>> {
    let all = &analysis.service_parts;
    let (osts, nids) = (Accused::targets(analysis), Accused::clients(analysis));
    let target = |it: &TargetParts| target_of(it.target.as_deref(), &it.node).into_owned();
    let targets = || all.targets.iter().map(|it| (osts.mark(&target(it), &target(it)), &it.parts)).collect::<Vec<_>>();
    let clients = || all.clients.iter().map(|it| (nids.mark(&it.nid, &it.nid), &it.parts)).collect::<Vec<_>>();
    let mut groups = Vec::new();
    for (direction, verb) in [(Direction::Read, "Reads"), (Direction::Write, "Writes")] {
        for (what, mut bars) in [("target", targets()), ("client", clients())] {
            bars.retain(|(_, parts)| parts.direction == direction && parts.rpcs > 0);
            let is_marked = |name: &str| name.starts_with(ACCUSED);
            bars.sort_by(|a, b| {
                let slower = b.1.mean_service_us().total_cmp(&a.1.mean_service_us());
                is_marked(&b.0).cmp(&is_marked(&a.0)).then(slower).then_with(|| a.0.cmp(&b.0))
            });
            if !bars.is_empty() {
                groups.push(Group { head: format!("{verb} by {what}"), what, bars });
            }
        }
    }
    groups
}

/// `6.46 s, 14 RPCs`.
fn figures(parts: &ServiceSplit) -> String {
    format!("{}, {}", duration_us(parts.mean_service_us()), counted(parts.rpcs, "RPC"))
}
