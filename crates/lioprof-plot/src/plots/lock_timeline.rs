//! Who held which part of an object when, and who waited for it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lioprof_model::{Analysis, LockObject, Timeline};

use super::Plot;
use crate::data::bins::largest;
use crate::data::locks::{NO_CONFLICT, contended, is_ost};
use crate::data::quality::Covers;
use crate::draw::area::Area;
use crate::draw::color::{BLACK, CATEGORIES, GREY, Ink, OTHERS};
use crate::draw::scene::{Item, Scene};
use crate::draw::text::BODY;
use crate::figure::axis::{Axis, Tick};
use crate::figure::hatch;
use crate::figure::legend::{Key, Swatch, wedge};
use crate::figure::page::Page;
use crate::figure::panel::{BELOW, HEAD, Panel, left_of, y_title};
use crate::figure::ticks::offsets;
use crate::figure::time_axis::Window;
use crate::figure::units::{counted, duration_us, more_have};
use crate::options::PlotOptions;

pub(super) const PLOT: Plot = Plot {
    name: "lock-timeline",
    title: "Who held and who waited for which bytes",
    how_to_read: "Each panel is one contended object; time runs to the right, the height is the byte offset in the \
        object, the colour is the client. A pale bar is a lock from its grant to its release, as wide as the server \
        granted it; the full bar inside is the part that the client had asked for. Hatching is a client that waits for \
        its part, a triangle above is a callback: the holder is told to give its lock back. Colours that take turns \
        all the time are clients that take the lock from each other; if their full bars lie at different heights, \
        they do not even want the same bytes. If the locks are too short to be seen, only the busiest stretch is \
        drawn, as the head of the panel says.",
    draw,
};

const MOST_PANELS: usize = 4;
/// Most bars of a panel, and most lines of hatching.
const MOST_BARS: usize = 700;
const MOST_LINES: f64 = 2500.0;
/// So many conflicts should be seen in an enlarged part.
const ENOUGH: usize = 20;
/// Narrower waits, in pixels, cannot be seen.
const SEEN: f64 = 5.0;
/// Above the panel, for callbacks.
const MARKS: f64 = 10.0;
/// Part of the height above the last byte asked for.
const MARGIN: f64 = 0.12;
/// Share of the colour of what was granted.
const GRANTED: f64 = 0.28;

/// A lock or a wait: seconds since start, bytes.
#[derive(Clone, Copy, Debug)]
struct Bar<'a> {
    nid: &'a str,
    time: (f64, f64),
    granted: (f64, f64),
    asked: (f64, f64),
}

/// An object's story.
struct Story<'a> {
    object: &'a LockObject,
    holds: Vec<Bar<'a>>,
    waits: Vec<Bar<'a>>,
    callbacks: Vec<(f64, &'a str)>,
    /// What is drawn of it, seconds since start.
    part: Option<(f64, f64)>,
}

/// First byte and the one after the last; up to the end of the file is infinity.
fn bytes(first: u64, last: u64) -> (f64, f64) {
    let end = if last == u64::MAX { f64::INFINITY } else { last.max(first) as f64 + 1.0 };
    (first as f64, end)
}

impl<'a> Story<'a> {
    fn of(object: &'a LockObject, timeline: &'a Timeline, window: &Window, wide: f64) -> Option<Self> {
        // Before and after the log are its ends.
        let span = |start: Option<f64>, end: Option<f64>| {
            let (from, to) = (start.map_or(0.0, |t| window.since(t)), end.map_or(window.span, |t| window.since(t)));
            (from.is_finite() && to.is_finite() && to >= from && to >= 0.0 && from <= window.span).then_some((from, to))
        };
        let mut holds: Vec<Bar<'a>> = Vec::new();
        for hold in &timeline.holds {
            let granted = bytes(hold.first_byte, hold.last_byte);
            let asked = bytes(hold.requested_first_byte, hold.requested_last_byte);
            holds.extend(span(hold.start, hold.end).map(|time| Bar { nid: &hold.nid, time, granted, asked }));
        }
        let mut waits: Vec<Bar<'a>> = Vec::new();
        for wait in &timeline.waits {
            let asked = bytes(wait.first_byte, wait.last_byte);
            waits.extend(span(Some(wait.start), wait.end).map(|time| Bar {
                nid: &wait.nid,
                time,
                granted: asked,
                asked,
            }));
        }
        let inside = |time: &f64| (0.0..=window.span).contains(time);
        let callbacks = timeline.blocking_asts.iter().map(|(time, nid)| (window.since(*time), nid.as_str()));
        let callbacks = callbacks.filter(|(time, _)| inside(time)).collect();
        if holds.is_empty() && waits.is_empty() {
            return None;
        }
        let part = busiest(&holds, &waits, window, wide);
        Some(Self { object, holds, waits, callbacks, part })
    }

    fn bars(&self) -> impl Iterator<Item = &Bar<'a>> {
        self.holds.iter().chain(&self.waits)
    }

    /// From the first to the last byte that anybody asked for, and whether a lock reaches further.
    fn bytes(&self) -> (f64, f64, bool) {
        let (lo, hi) = self.part.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let seen = || self.bars().filter(move |bar| bar.time.1 >= lo && bar.time.0 <= hi);
        let low = seen().map(|bar| bar.asked.0).fold(f64::INFINITY, f64::min);
        let ends: Vec<f64> = seen().map(|bar| bar.asked.1).filter(|end| end.is_finite()).collect();
        let starts: Vec<f64> = seen().map(|bar| bar.asked.0).collect();
        // Whoever asks for everything from some byte on gives no end; leave some room above the byte.
        let high = largest(&ends).max(largest(&starts) * 1.1).max(1.0);
        let low = if low.is_finite() && low > high * 0.3 { low - (high - low) * 0.05 } else { 0.0 };
        let more = seen().any(|bar| bar.granted.1 > high * 1.001);
        (low.max(0.0), high, more)
    }
}

/// Bars that are seen between these times, evenly thinned if they are too many, and how much.
fn thinned<'b, 'a>(bars: &'b [Bar<'a>], (lo, hi): (f64, f64)) -> (Vec<&'b Bar<'a>>, usize) {
    let seen: Vec<&Bar<'_>> = bars.iter().filter(|bar| bar.time.1 >= lo && bar.time.0 <= hi).collect();
    let one_in = seen.len().div_ceil(MOST_BARS).max(1);
    (seen.into_iter().step_by(one_in).collect(), one_in)
}

/// The stretch with most conflicts, so short that a typical wait can be seen; nothing if the waits can be
/// seen in the whole window.
fn busiest(holds: &[Bar<'_>], waits: &[Bar<'_>], window: &Window, wide: f64) -> Option<(f64, f64)> {
    let bars = if waits.is_empty() { holds } else { waits };
    let mut lengths: Vec<f64> = bars.iter().map(|bar| bar.time.1 - bar.time.0).collect();
    lengths.sort_by(f64::total_cmp);
    let typical = lengths.get(lengths.len() / 2).copied().unwrap_or(0.0).max(20e-6);
    if typical / window.span * wide >= SEEN {
        return None;
    }
    let mut times: Vec<f64> = bars.iter().map(|bar| bar.time.0).filter(|time| *time >= 0.0).collect();
    times.sort_by(f64::total_cmp);
    let count = times.len().min(ENOUGH);
    let mut spans = times.windows(count.max(1)).map(|some| (some[count - 1] - some[0], some[0]));
    let first = spans.next()?;
    let (length, start) = spans.fold(first, |best, next| if next.0 < best.0 { next } else { best });
    let length = (length + typical).max(12.0 * typical) * 1.1;
    if length > window.span / 2.0 {
        return None;
    }
    let lo = (start - length * 0.06).min(window.span - length).max(0.0);
    Some((lo, lo + length))
}

fn draw(analysis: &Analysis, options: &PlotOptions) -> Result<Scene, &'static str> {
    let locks = contended(analysis)?;
    let window = Window::of(analysis);
    let wide = f64::from(options.width_px) - 120.0;
    let extents: Vec<&LockObject> = locks.objects.iter().filter(|o| is_ost(&o.target) && o.conflicts > 0).collect();
    if extents.is_empty() {
        return Err(NO_CONFLICT);
    }
    let mut stories: Vec<Story<'_>> = extents
        .iter()
        .filter_map(|object| Story::of(object, object.timeline.as_ref()?, &window, wide))
        .collect();
    if stories.is_empty() {
        return Err("who held which lock when is not in the capture: this needs dlmtrace");
    }
    stories.sort_by_key(|story| Reverse(story.object.conflicts));
    stories.truncate(MOST_PANELS);
    let what = "Extent locks of the most contended objects, and requests waiting for them, by client.";
    let mut page = Page::new(options, analysis, PLOT.title, what, Covers { locks: true, ..Covers::default() });
    let inks = Inks::of(&stories);
    page.legend(&inks.keys(stories.iter().any(|s| s.bytes().2)));
    let mut notes: Vec<String> = Vec::new();
    if extents.len() > stories.len() {
        notes.push(format!("{} conflicts between clients.", more_have(extents.len() - stories.len(), "object")));
    }
    if stories.iter().any(|s| s.object.timeline.as_ref().is_some_and(|t| t.truncated)) {
        notes.push("Of objects with very many locks only the first ones are kept in the analysis.".to_owned());
    }
    // The whole window above the enlarged part, if there is only one object.
    let overview = match stories.as_slice() {
        [one] => one.part,
        _ => None,
    };
    let panels = stories.len() + usize::from(overview.is_some());
    let parts = |s: &Story<'_>| s.part.into_iter().chain(overview.map(|_| (0.0, window.span))).collect::<Vec<_>>();
    let parts = |s: &Story<'_>| if s.part.is_none() { vec![(0.0, window.span)] } else { parts(s) };
    let one_in = |s: &Story<'_>, part| thinned(&s.holds, part).1.max(thinned(&s.waits, part).1);
    let most = stories.iter().flat_map(|s| parts(s).into_iter().map(|part| one_in(s, part))).max().unwrap_or(1);
    if most > 1 {
        notes.push(format!("At least 1 in {most} locks and waits is drawn."));
    }
    if !notes.is_empty() {
        page.note(notes.join(" "));
    }

    // Each panel has a time axis of its own.
    let (ticks, last) = (HEAD, BELOW - HEAD);
    let each = match panels {
        1 => 360.0,
        2 => 230.0,
        _ => 180.0,
    };
    let body = page.body(panels as f64 * (each + HEAD + MARKS + ticks) + last);
    let axes: Vec<Axis> = stories.iter().map(byte_axis).collect();
    let left = axes.iter().map(left_of).fold(0.0, f64::max);
    let room = (body.height() - last - panels as f64 * (HEAD + MARKS + ticks)).max(40.0);
    let scene = &mut page.scene;
    let mut top = body.y0;
    let mut next = |share: f64| {
        let y0 = top + HEAD + MARKS;
        let area = Area::new(body.x0 + left, y0, body.x1 - 14.0, y0 + room * share);
        top = area.y1 + ticks;
        area
    };
    let mut lowest = body;
    for (story, axis) in stories.iter().zip(&axes) {
        let title = body.x0 + BODY;
        if let Some((lo, hi)) = overview {
            let time = window.axis(10.0);
            let panel = Panel { area: next(0.34), x: &time, y: axis };
            lines_of(scene, &panel, story, (0.0, window.span), &inks);
            bracket(scene, &panel, lo, hi);
            finish(scene, &panel, title);
            panel_head(scene, &panel, &name(story.object), &figures(story));
        }
        let (lo, hi) = story.part.unwrap_or((0.0, window.span));
        let time = if story.part.is_some() { Window::part(lo, hi, 8.0) } else { window.axis(10.0) };
        let share = if overview.is_some() { 0.66 } else { 1.0 / panels as f64 };
        let panel = Panel { area: next(share), x: &time, y: axis };
        lines_of(scene, &panel, story, (lo, hi), &inks);
        finish(scene, &panel, title);
        let enlarged = format!("{} with most conflicts, enlarged", duration_us((hi - lo) * 1e6));
        match (overview, story.part) {
            (Some(_), _) => panel_head(scene, &panel, &format!("The {enlarged}"), ""),
            (None, Some(_)) => {
                panel_head(scene, &panel, &name(story.object), &format!("{}; the {enlarged}", figures(story)))
            }
            (None, None) => panel_head(scene, &panel, &name(story.object), &figures(story)),
        }
        lowest = panel.area;
    }
    let time = Window::part(0.0, 1.0, 1.0);
    let title = Axis {
        title: if stories.iter().all(|s| s.part.is_none()) { window.axis(10.0).title } else { time.title.clone() },
        ..time
    };
    Panel { area: lowest, x: &title, y: &axes[0] }.x_title(scene);
    Ok(page.finish())
}

fn name(object: &LockObject) -> String {
    let what = object.fid.as_deref().or(object.resource.as_deref()).unwrap_or("unknown object");
    format!("{} {what}", object.target)
}

fn figures(story: &Story<'_>) -> String {
    format!("{}, {}", counted(story.object.conflicts, "conflict"), counted(story.object.alternations, "hand-over"))
}

fn panel_head(scene: &mut Scene, panel: &Panel<'_>, name: &str, figures: &str) {
    let area = Area { y0: panel.area.y0 - MARKS, ..panel.area };
    Panel { area, ..*panel }.head(scene, name, figures);
}

/// Offsets up to the last byte asked for, and a margin for what reaches further.
fn byte_axis(story: &Story<'_>) -> Axis {
    let (low, high, more) = story.bytes();
    let mut axis = offsets(low, high, 4.0, "offset");
    let top = high + (high - low) * MARGIN;
    axis.scale = crate::figure::axis::Scale::Linear { lo: low, hi: top };
    if more {
        axis.ticks.push(Tick::new(top, "EOF"));
    }
    axis
}

/// Frame and axes.
fn finish(scene: &mut Scene, panel: &Panel<'_>, title: f64) {
    panel.frame(scene);
    panel.x_ticks(scene);
    panel.y_ticks(scene);
    y_title(scene, title, panel.area, &panel.y.title);
}

/// Where the enlarged part is.
fn bracket(scene: &mut Scene, panel: &Panel<'_>, lo: f64, hi: f64) {
    let middle = f64::midpoint(panel.x(lo), panel.x(hi));
    let half = ((panel.x(hi) - panel.x(lo)) / 2.0).max(2.0);
    let y = panel.area.y1;
    scene.line(
        &[(middle - half, y), (middle - half, y + 4.0), (middle + half, y + 4.0), (middle + half, y)],
        BLACK,
        1.5,
    );
}

/// Locks, waits and callbacks.
fn lines_of(scene: &mut Scene, panel: &Panel<'_>, story: &Story<'_>, part: (f64, f64), inks: &Inks<'_>) {
    panel.grid(scene, true, true);
    let margin = panel.area.y0 + panel.area.height() * (1.0 - 1.0 / (1.0 + MARGIN));
    let place = |bar: &Bar<'_>| {
        let (x0, x1) = (panel.x(bar.time.0), panel.x(bar.time.1));
        (x0, x1.max(x0 + 1.0).min(panel.area.x1))
    };
    let (holds, waits) = (thinned(&story.holds, part).0, thinned(&story.waits, part).0);
    for hold in &holds {
        let (x0, x1) = place(hold);
        let ink = inks.ink(hold.nid);
        let bottom = panel.y(hold.granted.0);
        let top = panel.y(hold.granted.1.min(1e20)).max(margin);
        let pale = ink.alpha(GRANTED);
        scene.mark(Item::Rect { area: Area::new(x0, top.min(bottom - 1.0), x1, bottom), ink: pale });
        // Fades out where it goes on to the end of the file.
        if hold.granted.1 > 1.001 * story.bytes().1 {
            let step = (margin - panel.area.y0) / 5.0;
            for i in 0..5 {
                let y1 = margin - f64::from(i) * step;
                scene.rect(Area::new(x0, y1 - step, x1, y1), ink.alpha(GRANTED * (1.0 - (f64::from(i) + 0.5) / 5.0)));
            }
        }
    }
    for hold in &holds {
        let (x0, x1) = place(hold);
        let ink = inks.ink(hold.nid);
        scene.push(Item::Rect { area: asked(panel, hold, margin, (x0, x1), 3.0), ink });
    }
    let areas: Vec<(Area, Ink)> =
        waits.iter().map(|wait| (asked(panel, wait, margin, place(wait), 7.0), inks.ink(wait.nid))).collect();
    let lines: f64 = areas.iter().map(|(area, _)| (area.width() + area.height()) / 4.0).sum();
    for (area, ink) in areas {
        let white = Ink::new(0xff_ffff).alpha(0.75);
        scene.mark(Item::Rect { area, ink: white });
        if lines <= MOST_LINES && area.width() >= 4.0 {
            hatch::fill(scene, &[area], ink);
        } else {
            scene.rect(area, ink.alpha(0.4));
        }
        if area.width() >= 3.0 {
            scene.outline(area, ink, 1.0);
        }
    }
    let mut free = f64::NEG_INFINITY;
    for (time, nid) in story.callbacks.iter().filter(|(time, _)| (part.0..=part.1).contains(time)) {
        let x = panel.x(*time);
        // Marks on the same pixel hide each other.
        if x - free >= 0.5 || x < free {
            wedge(scene, (x, panel.area.y0 - 1.0), 4.0, inks.ink(nid));
            free = x;
        }
    }
}

/// Where the part of a bar is that was asked for.
fn asked(panel: &Panel<'_>, bar: &Bar<'_>, margin: f64, (x0, x1): (f64, f64), least: f64) -> Area {
    let (bottom, top) = (panel.y(bar.asked.0), panel.y(bar.asked.1.min(1e20)).max(margin));
    let middle = f64::midpoint(bottom, top);
    let half = ((bottom - top) / 2.0).max(least / 2.0);
    Area::new(x0, (middle - half).max(panel.area.y0), x1, (middle + half).min(panel.area.y1))
}

/// Colours of the clients.
struct Inks<'a> {
    clients: Vec<&'a str>,
    others: usize,
}

impl<'a> Inks<'a> {
    fn of(stories: &[Story<'a>]) -> Self {
        let mut sums: BTreeMap<&str, usize> = BTreeMap::new();
        for story in stories {
            let (lo, hi) = story.part.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            for bar in story.bars() {
                // Whoever is seen in an enlarged part comes first.
                let seen = bar.time.1 >= lo && bar.time.0 <= hi;
                *sums.entry(bar.nid).or_default() += if seen { 1000 } else { 1 };
            }
        }
        let mut order: Vec<(&str, usize)> = sums.into_iter().collect();
        order.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let others = order.len().saturating_sub(CATEGORIES.len());
        Self { clients: order.into_iter().take(CATEGORIES.len()).map(|(nid, _)| nid).collect(), others }
    }

    fn ink(&self, nid: &str) -> Ink {
        self.clients.iter().position(|client| *client == nid).map_or(OTHERS, |at| CATEGORIES[at])
    }

    fn keys(&self, more: bool) -> Vec<Key> {
        let mut keys: Vec<Key> =
            self.clients.iter().zip(CATEGORIES).map(|(nid, ink)| Key::new(Swatch::Fill(ink), *nid)).collect();
        if self.others > 0 {
            keys.push(Key::new(Swatch::Fill(OTHERS), counted(self.others as u64, "other client")));
        }
        keys.push(Key::new(
            Swatch::Fill(GREY.alpha(GRANTED)),
            if more { "granted (fading: to end of file)" } else { "granted" },
        ));
        keys.push(Key::new(Swatch::Fill(GREY), "asked for"));
        keys.push(Key::new(Swatch::Hatch(GREY), "waiting"));
        keys.push(Key::new(Swatch::Wedge(GREY), "callback to the holder"));
        keys
    }
}
