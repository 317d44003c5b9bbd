//! Tests of the layout: what a critical reader would see in the pictures.

use std::collections::BTreeMap;
use std::sync::Arc;

use lioprof_model::{
    Analysis, Asked, BeginEvidence, FlowSeries, Io, Object, OperationRow, Operations, Part, SampledRpc, ServiceParts,
    SpentOn, Stretch, Totals,
};
use lustre_debuglog::Opcode;

use crate::comparison::comparison_plots;
use crate::draw::area::Area;
use crate::draw::color::{CATEGORIES, EXPANSION, Ink, READ, TRUE_CONFLICT, UNCLASSIFIED, WRITE};
use crate::draw::scene::{Item, Scene};
use crate::draw::text::{Align, CAP_HEIGHT, Text, width};
use crate::operations;
use crate::options::PlotOptions;
use crate::plots::{plot, plots};
use crate::support::locks::Fight;
use crate::support::{LARGE, MIXED, SMALL, Shape, analysis, cases};

fn texts(scene: &Scene) -> Vec<&Text> {
    fn text(item: &Item) -> Option<&Text> {
        match item {
            Item::Text(text) => Some(text),
            _ => None,
        }
    }
    scene.items.iter().filter_map(text).collect()
}

/// The box around a text.
fn area(text: &Text) -> Area {
    let width = width(&text.text, text.size, text.bold);
    let start = match text.align {
        Align::Start => 0.0,
        Align::Middle => -width / 2.0,
        Align::End => -width,
    };
    let (up, down) = (text.size * CAP_HEIGHT, text.size * 0.2);
    let (x, y) = text.at;
    if text.upright {
        Area::new(x - up, y - start - width, x + down, y - start)
    } else {
        Area::new(x + start, y - up, x + start + width, y + down)
    }
}

/// Whether two areas share more than `slack` in both directions.
fn overlap(a: &Area, b: &Area, slack: f64) -> bool {
    a.x1.min(b.x1) - a.x0.max(b.x0) > slack && a.y1.min(b.y1) - a.y0.max(b.y0) > slack
}

/// No text leaves the page, covers another text, or lies on data.
fn check(name: &str, plot: &str, scene: &Scene) {
    let page = Area::new(0.0, 0.0, scene.width, scene.height);
    let texts = texts(scene);
    assert!(texts.iter().all(|t| t.size >= 10.0), "{name}/{}: tiny text", plot);
    // These write figures into their cells and above their bars.
    let labels_data = ["client-ost-matrix", "rpc-size", "lock-pairs"].contains(&plot);
    for (i, text) in texts.iter().enumerate() {
        let area = area(text);
        let what = format!("{name}/{}: `{}` at {area:?}", plot, text.text);
        let inside = area.x0 >= page.x0 && area.x1 <= page.x1 && area.y0 >= page.y0 && area.y1 <= page.y1;
        assert!(inside, "{what} leaves the page {page:?}");
        for other in &texts[i + 1..] {
            assert!(!overlap(&area, &self::area(other), 0.5), "{what} covers `{}`", other.text);
        }
        if !labels_data {
            let covers = scene.panels.iter().any(|panel| overlap(&area, panel, 2.0));
            assert!(!covers, "{what} lies on data");
        }
    }
    for item in &scene.items {
        let points: Vec<(f64, f64)> = match item {
            Item::Rect { area, .. } => vec![(area.x0, area.y0), (area.x1, area.y1)],
            Item::Line { points, .. } | Item::Polygon { points, .. } => points.clone(),
            Item::Dot { at, .. } => vec![*at],
            Item::Text(_) => Vec::new(),
        };
        let inside = |p: &(f64, f64)| (0.0..=scene.width).contains(&p.0) && (0.0..=scene.height).contains(&p.1);
        assert!(points.iter().all(inside), "{name}/{}: {item:?} leaves the page", plot);
    }
    assert!(scene.marks > 0, "{name}/{}: no data", plot);
}

#[test]
fn parts_of_operations_fit_on_the_page() {
    for kinds in [1, 5, 60] {
        let row = |n: u32| {
            let parts: Vec<Stretch> = (0i64..)
                .zip(Part::ALL)
                .map(|(at, part)| Stretch { part, from_us: at * 1000, to_us: at * 1000 + 1000 })
                .collect();
            OperationRow {
                node: Arc::from("oss1"),
                pid: 7,
                asked: Asked::Rpc(Opcode(1000 + n)),
                fid: None,
                name: None,
                begin_us: 0,
                duration_us: 10_000 * u64::from(n),
                begin_evidence: BeginEvidence::FirstLine,
                evidence: lioprof_model::Evidence::Logged,
                result: None,
                rpcs: 1,
                joined_rpcs: 1,
                parts: parts.iter().copied().collect(),
                stretches: parts,
                sent: Vec::new(),
                axis_us: 0,
            }
        };
        let found = Operations { rows: (1..=kinds).map(row).collect(), ..Operations::default() };
        let scene = operations::draw(&found, &PlotOptions::default()).unwrap();
        check(&format!("{kinds} kinds"), operations::NAME, &scene);
    }
    assert!(operations::draw(&Operations::default(), &PlotOptions::default()).is_err());
}

fn check_all(name: &str, analysis: &Analysis, options: &PlotOptions) {
    for plot in plots() {
        if let Ok(scene) = (plot.draw)(analysis, options) {
            check(name, plot.name, &scene);
        }
    }
}

#[test]
fn text_is_on_the_page_and_covers_nothing() {
    for (name, analysis) in cases() {
        check_all(name, &analysis, &PlotOptions::default());
    }
}

#[test]
fn two_analyses_are_laid_out_as_well() {
    let narrow = PlotOptions { width_px: 600, height_px: 480, ..PlotOptions::default() };
    let mut drawn = 0;
    for (before, one) in cases() {
        for (after, other) in cases() {
            for options in [PlotOptions::default(), narrow] {
                for plot in comparison_plots() {
                    if let Ok(scene) = (plot.draw)([&one, &other], &options) {
                        check(&format!("{before} and {after}"), plot.name, &scene);
                        drawn += 1;
                    }
                }
            }
        }
    }
    assert!(drawn > 0);
}

#[test]
fn other_sizes_of_page_and_system_are_laid_out_as_well() {
    let narrow = PlotOptions { width_px: 600, height_px: 480, ..PlotOptions::default() };
    let wide = PlotOptions { width_px: 1600, height_px: 1000, ..PlotOptions::default() };
    for (osts, clients, nodes) in [(1, 3, 1), (4, 4, 4), (8, 8, 3), (9, 30, 5), (40, 450, 8)] {
        for shape in [SMALL, MIXED, Shape { fight: Fight::Storm(60), ..SMALL }] {
            let shape = Shape { osts, clients, nodes, rpcs: 2500, ..shape };
            let name = format!("{osts} OSTs, {clients} clients");
            let made = analysis(&shape);
            for options in [PlotOptions::default(), narrow, wide] {
                check_all(&format!("{name}, {} px", options.width_px), &made, &options.clamped());
            }
        }
    }
}

/// Rows are as low as they can be, so the titles of vertical axes are longer than the panels.
#[test]
fn few_rpcs_of_few_clients_are_laid_out_as_well() {
    for (clients, rpcs) in [(1, 1), (1, 8), (2, 8), (2, 40), (3, 3)] {
        let made = analysis(&Shape { osts: 1, clients, rpcs, ..SMALL });
        check_all(&format!("{rpcs} RPCs of {clients} clients"), &made, &PlotOptions::default());
        let titles = |scene: &Scene| texts(scene).iter().filter(|text| text.text == "client (NID)").count();
        assert_eq!(titles(&drawn("io-timeline", &made)), 1);
    }
}

#[test]
fn long_and_short_windows_have_readable_time_axes() {
    for (bins, bin_s) in [(40, 0.01), (50, 0.1), (90, 10.0), (200, 60.0), (300, 600.0), (30, 86_400.0)] {
        let made = analysis(&Shape { bins, bin_s, rpcs: 800, ..SMALL });
        check_all(&format!("{bins} bins of {bin_s} s"), &made, &PlotOptions::default());
    }
}

fn drawn(name: &str, analysis: &Analysis) -> Scene {
    let plot = plot(name).expect("known plot");
    (plot.draw)(analysis, &PlotOptions::default()).expect("has data")
}

#[test]
fn what_only_a_client_spent_time_on_has_a_colour_and_fills_its_bar() {
    let mut made = analysis(&SMALL);
    let account = &mut made.time_account;
    let all = account.all.as_mut().expect("there is an account");
    all.spent.retain(|spent| spent.on != SpentOn::Nothing);
    all.span_us = all.spent.iter().map(|spent| spent.us).sum();
    account.series.spent.retain(|spent| spent.on != SpentOn::Nothing);
    let idle = &mut account.clients[1];
    idle.spent.retain(|spent| spent.on == SpentOn::Nothing);
    idle.span_us = idle.spent[0].us;
    let scene = drawn("time-account", &made);
    assert!(texts(&scene).iter().any(|t| t.text == "no request at any traced server"), "{:?}", texts(&scene));
    // Bars are thinner than the stripes below them. All are as wide as the panel.
    let head = texts(&scene).into_iter().find(|text| text.text == "In all, by client and job").expect("a head").at.1;
    let mut ends: BTreeMap<u64, f64> = BTreeMap::new();
    for item in &scene.items {
        match item {
            Item::Rect { area, .. } if area.y0 > head && area.height() < 13.0 => {
                let end = ends.entry(area.y0.to_bits()).or_default();
                *end = end.max(area.x1);
            }
            _ => (),
        }
    }
    let right = ends.values().copied().fold(0.0, f64::max);
    assert_eq!(ends.len(), 1 + made.time_account.clients.len() + made.time_account.jobs.len());
    assert!(ends.values().all(|end| right - end < 0.5), "{ends:?}");
}

#[test]
fn a_mask_is_missing_only_where_there_were_reads_or_writes() {
    let draw = plot("service-parts").expect("known plot").draw;
    let reason = |analysis: &Analysis| draw(analysis, &PlotOptions::default()).err();
    let mut made = analysis(&SMALL);
    made.service_parts = ServiceParts::default();
    assert_eq!(reason(&made), Some("no log shows when data moved (mask net)"));
    // As with `--opcode LDLM_ENQUEUE`.
    made.totals = Totals::default();
    assert_eq!(reason(&made), Some("no read or write requests"));
}

#[test]
fn every_client_with_a_colour_has_a_line() {
    // Of nine OSTs the six busiest are drawn. A client with many requests uses another one alone.
    let mut made = analysis(&Shape { osts: 9, clients: 30, rpcs: 2500, ..SMALL });
    let total = |flow: &FlowSeries| flow.read_rpcs.iter().chain(&flow.write_rpcs).sum::<u64>();
    let mut by_ost: BTreeMap<String, u64> = BTreeMap::new();
    for flow in &made.series.flows {
        if let Some(target) = &flow.target {
            *by_ost.entry(target.clone()).or_default() += total(flow);
        }
    }
    let (quiet, few) = by_ost.iter().min_by_key(|(_, rpcs)| **rpcs).expect("there are OSTs");
    made.series.flows.retain(|flow| flow.target.as_ref() != Some(quiet));
    let mut alone = made.series.flows.iter().find(|flow| flow.nid.is_some()).expect("a flow of a client").clone();
    alone.nid = Some("192.0.2.99@tcp".to_owned());
    alone.target = Some(quiet.clone());
    alone.read_rpcs.fill(0);
    alone.write_rpcs.fill(0);
    alone.write_rpcs[0] = *few;
    made.series.flows.push(alone);
    let scene = drawn("requests-per-client", &made);
    assert!(!texts(&scene).iter().any(|text| text.text == "192.0.2.99@tcp"));
    // Lines of the legend are wider.
    let is_line = |item: &Item, color: Ink| matches!(item, Item::Line { ink, width: 1.5, .. } if *ink == color);
    for color in CATEGORIES {
        assert!(scene.items.iter().any(|item| is_line(item, color)), "{color:?}");
    }
}

#[test]
fn the_enlarged_moment_is_one_of_the_clients_that_are_drawn() {
    let mut made = analysis(&Shape { clients: 300, rpcs: 2500, ..SMALL });
    let some = made.sample.rpcs[0].clone();
    let at = |client: usize, offset: f64| SampledRpc {
        client: u32::try_from(client).expect("a small number"),
        arrival: made.series.start + offset,
        start: made.series.start + offset,
        end: made.series.start + offset + 1e-3,
        ..some.clone()
    };
    // Ten clients with 40 RPCs each, 30 of them at 10 s; nearly 300 others have all of theirs, two each, at 20 s.
    let busy = (0..400).map(|i| at(i % 10, if i < 300 { 10.0 + i as f64 * 1e-4 } else { 11.0 + i as f64 * 0.01 }));
    let others = (0..580).map(|i| at(10 + i % 290, 20.0 + i as f64 * 1e-5));
    made.sample.rpcs = busy.chain(others).collect();
    made.sample.one_in = 1;
    let scene = drawn("io-timeline", &made);
    assert_eq!(scene.panels.len(), 2);
    let inside = |item: &&Item| match item {
        Item::Rect { area, ink } => area.y0 > scene.panels[1].y0 && [READ, WRITE].contains(ink),
        _ => false,
    };
    let bars = scene.items.iter().filter(inside).count();
    assert!(bars >= 100, "{bars} bars in the enlarged part");
    let head = |text: &&Text| text.text.ends_with("with most RPCs of these clients, enlarged");
    assert!(texts(&scene).iter().any(head), "{:?}", texts(&scene));
}

#[test]
fn objects_are_the_busiest_of_all_rpcs_not_of_the_sample() {
    let mut made = analysis(&SMALL);
    let template =
        made.sample.rpcs.iter().find(|rpc| rpc.offset.is_some() && rpc.target.is_some()).expect("one").clone();
    let target = made.targets[template.target.expect("a target") as usize].name.clone();
    let fid = |n: u64| format!("[0x200000401:0x{n:x}:0x0]");
    // Object n has n GiB in 1,000 RPCs; the sample, one RPC in four, has fewer bytes of the larger ones, and nothing of the
    // largest.
    let object = |n: u64| Object {
        target: Some(target.clone()),
        fid: Some(fid(n)),
        objects: 1,
        read: Io::default(),
        write: Io { rpcs: 1000, bytes: n << 30, ..Io::default() },
        clients: Some(1),
        writers: Some(1),
        first_byte: None,
        last_byte: None,
    };
    made.objects = (1..=9).map(object).collect();
    made.sample.one_in = 4;
    let rpc = |n: u64| SampledRpc { object: Some(fid(n)), bytes: Some(9 - n), ..template.clone() };
    made.sample.rpcs = (1..=8).flat_map(|n| [rpc(n), rpc(n)]).collect();
    let scene = drawn("object-offsets", &made);
    let all = texts(&scene);
    let heads: Vec<&str> = all.iter().map(|text| text.text.as_str()).filter(|text| text.contains("[0x2")).collect();
    let wanted: Vec<String> = (3..=8).rev().map(|n| format!("{target} {}", fid(n))).collect();
    assert_eq!(heads, wanted);
    assert_eq!(all.iter().filter(|text| text.text == "2 of 1,000 RPCs").count(), 6, "{all:?}");
    let notes = all.iter().map(|text| text.text.as_str()).collect::<Vec<_>>().join(" ");
    for words in ["3 more objects have 27 % of the bytes", "1 object with more bytes cannot be drawn"] {
        assert!(notes.contains(words), "{words}: {notes}");
    }
}

#[test]
fn there_is_a_bar_for_every_bucket() {
    let made = analysis(&SMALL);
    let buckets: usize = made
        .operations
        .iter()
        .filter(|o| o.name == "OST_READ" || o.name == "OST_WRITE")
        .map(|o| o.total_hist_us.len())
        .sum();
    assert_eq!(drawn("io-time-distribution", &made).marks, buckets);
}

#[test]
fn sizes_are_summed_over_the_osts_and_written_above_the_bars() {
    let made = analysis(&SMALL);
    let scene = drawn("rpc-size", &made);
    let of = |le_bytes: u64| -> u64 {
        let hists = made.targets.iter().map(|t| &t.read.size_hist);
        hists.flat_map(|h| h.buckets()).filter(|b| b.le_bytes == le_bytes).map(|b| b.rpcs).sum()
    };
    let label = of(1 << 20).to_string();
    assert!(texts(&scene).iter().any(|t| t.text == label), "{label}");
    assert_eq!(scene.marks, 10, "five sizes, read and written");
}

#[test]
fn every_rpc_of_a_small_capture_is_a_mark() {
    let made = analysis(&Shape { rpcs: 150, ..SMALL });
    let scene = drawn("io-timeline", &made);
    assert!(scene.marks >= 150, "{}", scene.marks);
    let offsets = drawn("object-offsets", &made);
    assert!((100..=150).contains(&offsets.marks), "{}", offsets.marks);
}

#[test]
fn the_tallest_line_is_as_tall_as_its_value() {
    let mut made = analysis(&Shape { osts: 1, ..SMALL });
    let series = &mut made.series.targets[0];
    for bytes in [&mut series.read_bytes, &mut series.write_bytes] {
        bytes.fill(0);
    }
    // 30 MiB in a bin of one second, on an axis that ends at 40 MiB/s.
    series.read_bytes[20] = 30 << 20;
    let scene = drawn("bandwidth-per-ost", &made);
    let panel = scene.panels[0];
    let top = scene.items.iter().filter_map(|item| match item {
        Item::Line { points, ink, .. } if *ink == READ => Some(points),
        _ => None,
    });
    let top = top.flatten().filter(|p| p.1 >= panel.y0).map(|p| p.1).fold(f64::INFINITY, f64::min);
    let share = (panel.y1 - top) / panel.height();
    assert!((share - 0.75).abs() < 1e-6, "{share}");
}

#[test]
fn the_mean_depth_is_that_of_the_window() {
    let mut made = analysis(&SMALL);
    // One request in process for ten seconds of a window of forty.
    let node = &mut made.series.nodes[0];
    node.queued.fill(0.0);
    node.in_process.fill(0.0);
    node.in_process[20..30].fill(1.0);
    made.window.start = made.series.start;
    made.window.end = made.series.start + 40.0;
    let scene = drawn("queue-depth", &made);
    let texts = texts(&scene);
    assert!(texts.iter().any(|t| t.text.starts_with("mean 0 queued, 0.25 in process")), "{texts:?}");
}

#[test]
fn large_systems_are_cut_to_a_page() {
    let made = analysis(&LARGE);
    for plot in plots() {
        let scene = (plot.draw)(&made, &PlotOptions::default()).expect(plot.name);
        assert!(scene.items.len() < 20_000, "{}: {}", plot.name, scene.items.len());
        assert!(scene.height <= 700.0, "{}: {}", plot.name, scene.height);
    }
    let scene = drawn("bandwidth-per-ost", &made);
    let notes = texts(&scene);
    assert!(notes.iter().any(|t| t.text.contains("more OSTs have")), "{notes:?}");
}

#[test]
fn every_lock_and_wait_of_the_enlarged_part_is_a_mark() {
    let made = analysis(&SMALL);
    let scene = drawn("lock-timeline", &made);
    // Above, all 61 locks; below, at least 20 waits and the locks before, between and after them.
    assert_eq!(scene.panels.len(), 2);
    assert!((61 + 20 + 21..61 + 25 + 26).contains(&scene.marks), "{}", scene.marks);
    let asked = scene.items.iter().filter_map(|item| match item {
        Item::Rect { area, ink } if area.y0 > scene.panels[1].y0 && ink.alpha >= 1.0 => Some(*ink),
        _ => None,
    });
    let colors: Vec<_> = asked.collect();
    assert!(colors.len() >= 21, "{}", colors.len());
    assert!(colors.windows(2).all(|pair| pair[0] != pair[1]), "clients take turns");
}

#[test]
fn a_wait_does_not_hide_who_still_holds_the_bytes() {
    let mut made = analysis(&SMALL);
    let start = made.window.start;
    let object = &mut made.locks.as_mut().expect("has locks").objects[0];
    let timeline = object.timeline.as_mut().expect("has a timeline");
    timeline.blocking_asts.clear();
    // One client holds 1 MiB for 20 s, another one waits for the same bytes for 15 s of them.
    timeline.holds.truncate(1);
    timeline.waits.truncate(1);
    let (hold, wait) = (&mut timeline.holds[0], &mut timeline.waits[0]);
    (hold.start, hold.end) = (Some(start + 5.0), Some(start + 25.0));
    (hold.first_byte, hold.last_byte) = (0, (1 << 20) - 1);
    (hold.requested_first_byte, hold.requested_last_byte) = (hold.first_byte, hold.last_byte);
    (wait.start, wait.end) = (start + 10.0, Some(start + 25.0));
    (wait.first_byte, wait.last_byte) = (hold.first_byte, hold.last_byte);
    (hold.nid, wait.nid) = ("10.0.0.1@tcp".to_owned(), "10.0.0.2@tcp".to_owned());
    made.locks.as_mut().expect("has locks").objects.truncate(1);
    let scene = drawn("lock-timeline", &made);
    let panel = scene.panels[0];
    let inside = |area: &Area| area.y0 >= panel.y0 - 1.0 && area.y1 <= panel.y1 + 1.0 && area.width() > 20.0;
    let full = scene.items.iter().rposition(|item| match item {
        Item::Rect { area, ink } => *ink == CATEGORIES[0] && inside(area),
        _ => false,
    });
    let full = full.expect("the bar of the holder");
    // Above it lines, and a ground that lets most of it through.
    for item in &scene.items[full + 1..] {
        match item {
            Item::Rect { area, ink } if inside(area) && area.height() > 4.0 => assert!(ink.alpha <= 0.4, "{item:?}"),
            _ => (),
        }
    }
    let hatched = |item: &Item| matches!(item, Item::Line { ink, .. } if *ink == CATEGORIES[1]);
    assert!(scene.items[full + 1..].iter().filter(|item| hatched(item)).count() > 10);
    // The bar is as long as the lock, and is seen in its full colour above and below the wait.
    let Item::Rect { area: bar, .. } = scene.items[full] else { panic!("{:?}", scene.items[full]) };
    let waits = scene.items[full + 1..].iter().filter_map(|item| match item {
        Item::Line { points, .. } if hatched(item) => Some(points),
        _ => None,
    });
    let edge = bar.height() / 10.0;
    assert!(waits.flatten().all(|(_, y)| (bar.y0 + edge..bar.y1 - edge).contains(y)), "{bar:?}");
}

#[test]
fn kinds_of_conflicts_are_stacked_to_their_sum() {
    let mut made = analysis(&SMALL);
    let locks = made.locks.as_mut().expect("has locks");
    let series = &mut locks.series.targets[0];
    for counts in [&mut series.conflicts, &mut series.true_conflicts, &mut series.expansion_conflicts] {
        counts.fill(0);
    }
    // 5 true, 10 expansion-only and 15 others in a second, on an axis that ends at 40.
    (series.conflicts[20], series.true_conflicts[20], series.expansion_conflicts[20]) = (30, 5, 10);
    let totals = &mut locks.targets[0].totals;
    totals.conflicts = 30;
    totals.true_conflicts = Some(5);
    totals.expansion_conflicts = Some(10);
    let scene = drawn("lock-contention-per-ost", &made);
    let panel = scene.panels[0];
    let top = |color| {
        let points = scene.items.iter().filter_map(move |item| match item {
            Item::Polygon { points, ink } if *ink == color => Some(points),
            _ => None,
        });
        let top = points.flatten().map(|p| p.1).fold(f64::INFINITY, f64::min);
        ((panel.y1 - top) / panel.height() * 40.0).round()
    };
    assert_eq!([TRUE_CONFLICT, EXPANSION, UNCLASSIFIED].map(top), [5.0, 15.0, 30.0]);
    let figures = "30 conflicts, 17 % true, 33 % expansion-only, 50 % unclassified";
    assert!(texts(&scene).iter().any(|t| t.text.starts_with(figures)), "{:?}", texts(&scene));
}
