//! RPC sizes.

use std::collections::BTreeMap;

use lioprof_model::{Analysis, TargetKindName};

use super::plot::{Plot, PlotOptions};
use crate::data::Covers;
use crate::draw::{Align, Area, BODY, FRAME, GREY, Item, READ, SMALL, Scene, TINY, WRITE, index, width};
use crate::figure::{
    Axis, BELOW, Key, Panel, Swatch, bytes, counted, counts_from_zero, hatch, left_of, short_count, y_title,
};
use crate::page::Page;

pub(super) const PLOT: Plot = Plot {
    name: "rpc-size",
    title: "Sizes of read and write RPCs",
    how_to_read: "How many read and write RPCs moved how many bytes, summed over all OSTs. A bar labelled \
        64 KiB counts RPCs of more than 32 KiB up to 64 KiB. Hatching marks RPCs whose size is only \
        estimated. Most bytes should move in RPCs of the largest size that the clients allow (often 1 or \
        4 MiB); many small ones mean small or scattered I/O, which costs the servers far more per byte.",
    draw,
};

/// RPCs, and those of them whose size is estimated; read and written.
type Bucket = [(u64, u64); 2];

fn draw(analysis: &Analysis, options: &PlotOptions) -> Result<Scene, &'static str> {
    let mut buckets: BTreeMap<u32, Bucket> = BTreeMap::new();
    for target in analysis.targets.iter().filter(|t| t.kind == TargetKindName::Ost) {
        for (i, io) in [&target.read, &target.write].into_iter().enumerate() {
            for bucket in io.size_hist.buckets().iter().filter(|b| b.rpcs > 0) {
                let power = bucket.le_bytes.max(1).ilog2();
                let sum = &mut buckets.entry(power).or_default()[i];
                sum.0 = sum.0.saturating_add(bucket.rpcs);
                sum.1 = sum.1.saturating_add(bucket.bounded_rpcs.min(bucket.rpcs));
            }
        }
    }
    let (Some((&first, _)), Some((&last, _))) = (buckets.first_key_value(), buckets.last_key_value()) else {
        return Err("no read or write on an OST has a known size");
    };
    let what = "Read and write RPCs by size, in buckets of a power of two, all OSTs.";
    let covers = Covers { bytes: true, targets: true, ..Covers::default() };
    let mut page = Page::new(options, analysis, PLOT.title, what, covers);
    let mut keys = vec![Key::new(Swatch::Fill(READ), "read"), Key::new(Swatch::Fill(WRITE), "write")];
    if buckets.values().flatten().any(|(_, bounded)| *bounded > 0) {
        keys.push(Key::new(Swatch::Hatch(READ), "size estimated (read)"));
        keys.push(Key::new(Swatch::Hatch(WRITE), "size estimated (write)"));
    }
    page.legend(&keys);
    let totals = &analysis.totals;
    let hidden = [&totals.unattributed.read, &totals.unattributed.write]
        .iter()
        .fold(0_u64, |sum, io| sum.saturating_add(io.rpcs));
    if hidden > 0 {
        page.note(format!("{} of unknown OST are not in this plot.", counted(hidden, "RPC")));
    }

    let max = buckets.values().flatten().map(|(rpcs, _)| *rpcs as f64).fold(1.0, f64::max);
    let rpcs = counts_from_zero(max, 5.0, "RPCs");
    let nothing = Axis::unmarked("RPC size, up to");
    let body = page.body(330.0 + BELOW);
    let area = body.shrink(left_of(&rpcs), 6.0, 14.0, BELOW);
    let panel = Panel { area, x: &nothing, y: &rpcs };
    let scene = &mut page.scene;
    panel.grid(scene, false, true);
    let each = area.width() / f64::from(last - first + 1);
    let bar = (each * 0.45).min(60.0);
    // Only reads, or only writes: in the middle.
    let alone = (0..2).any(|i| buckets.values().all(|bucket| bucket[i].0 == 0));
    for (power, bucket) in &buckets {
        let middle = area.x0 + (f64::from(power - first) + 0.5) * each;
        for (i, ((rpcs, bounded), ink)) in bucket.iter().zip([READ, WRITE]).enumerate() {
            if *rpcs == 0 {
                continue;
            }
            let x0 = if alone { middle - bar / 2.0 } else { middle - bar * (1.0 - i as f64) };
            // A lone RPC must be seen next to a million.
            let top = panel.y(*rpcs as f64).min(area.y1 - 1.0);
            let sure = panel.y((rpcs - bounded) as f64);
            let full = Area::new(x0 + 0.5, top, x0 + bar - 0.5, area.y1);
            scene.mark(Item::Rect { area: Area { y0: sure.max(top), ..full }, ink });
            if *bounded > 0 {
                let estimated = Area { y1: sure.max(top), ..full };
                hatch::fill(scene, &[estimated], ink);
                scene.outline(estimated, ink, 1.0);
            }
            let label = short_count(*rpcs as f64);
            let size = if width(&label, SMALL, false) <= bar - 2.0 { SMALL } else { TINY };
            let x = x0 + bar / 2.0;
            if width(&label, size, false) <= bar - 2.0 {
                scene.label(x, top - 8.0, Align::Middle, size, GREY, &label);
            } else {
                let at = (x + size * 0.365, top - 4.0);
                scene.text(crate::draw::text::Text::new(at, label, size).ink(GREY).upright());
            }
        }
    }
    panel.frame(scene);
    panel.y_ticks(scene);
    size_labels(scene, area, (first, last), each);
    panel.x_title(scene);
    y_title(scene, body.x0 + BODY, area, &rpcs.title);
    Ok(page.finish())
}

/// Names of the buckets; every second or third one if they are narrow.
fn size_labels(scene: &mut Scene, area: Area, (first, last): (u32, u32), each: f64) {
    let label = |power: u32| bytes(2_f64.powi(i32::try_from(power).unwrap_or(63)));
    let widest = (first..=last).map(|p| width(&label(p), SMALL, false)).fold(0.0, f64::max);
    let every = index((widest + 8.0) / each) + 1;
    for power in (first..=last).step_by(every) {
        let x = area.x0 + (f64::from(power - first) + 0.5) * each;
        scene.line(&[(x, area.y1), (x, area.y1 + 4.5)], FRAME, 1.0);
        scene.label(x, area.y1 + 12.0, Align::Middle, SMALL, GREY, &label(power));
    }
}
