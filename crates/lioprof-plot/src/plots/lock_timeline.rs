//! Who held which part of an object when, and who waited for it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lioprof_model::names;
use lioprof_model::{Analysis, LockObject, Timeline};

use super::plot::{Plot, PlotOptions};
use crate::data::{Covers, NO_CONFLICT, contended, is_ost, largest};
use crate::draw::{Area, BLACK, BODY, CATEGORIES, GREY, Ink, Item, OTHERS, SMALL, Scene};
use crate::figure::{
    Axis, BELOW, HEAD, Key, Panel, Scale, Swatch, Tick, Window, counted, duration_us, hatch, left_of, more_have,
    offsets, wedge, y_title,
};
use crate::page::Page;

pub(super) const PLOT: Plot = Plot {
    name: "lock-timeline",
    title: "Who held and who waited for which bytes",
    how_to_read: "Each panel is one contended object; time runs to the right, the height is the byte offset in the \
        object, the colour is the client. A pale bar is a lock from its grant to its release, as wide as the server \
        granted it; the full bar inside is the part that the client had asked for. Hatching is a client that waits for \
        its part, drawn narrower within the bar of whoever still holds it; a triangle above is a callback: the holder is \
        told to give its lock back. Colours that take turns all the time are clients that take the lock from each other; \
        if their full bars lie at different heights, they do not even want the same bytes. If the locks are too short to \
        be seen, only the busiest stretch is drawn, as the head of the panel says.",
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
/// Steps in which a lock fades there, wide and narrow ones.
const FADE: (u32, u32) = (12, 3);
/// Share of the colour of what was granted.
const GRANTED: f64 = 0.28;
/// White below hatching: over what was granted, and over full bars, which stay darker than that.
const UNDER: f64 = 0.6;
const OVER: f64 = 0.4;
/// Share of the height of a full bar that is left free above and below a wait for the same bytes.
const EDGE: f64 = 0.12;

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

    /// What is seen between these times.
    fn view(&self, time: (f64, f64), enlarged: bool) -> View {
        let seen = || self.bars().filter(move |bar| bar.within(time));
        let low = seen().map(|bar| bar.asked.0).fold(f64::INFINITY, f64::min);
        let ends: Vec<f64> = seen().map(|bar| bar.asked.1).filter(|end| end.is_finite()).collect();
        let starts: Vec<f64> = seen().map(|bar| bar.asked.0).collect();
        // Whoever asks for everything from some byte on gives no end; leave some room above the byte.
        let high = largest(&ends).max(largest(&starts) * 1.1).max(1.0);
        let low = if low.is_finite() && low > high * 0.3 { low - (high - low) * 0.05 } else { 0.0 };
        let more = seen().any(|bar| bar.granted.1 > high);
        View { time, enlarged, bytes: (low.max(0.0), high), more }
    }

    /// The stretch that is drawn; for an object that has the page for itself, below the whole window.
    fn views(&self, window: &Window, alone: bool) -> Vec<View> {
        let whole = || self.view((0.0, window.span), false);
        match self.part {
            None => vec![whole()],
            Some(part) if alone => vec![whole(), self.view(part, true)],
            Some(part) => vec![self.view(part, true)],
        }
    }
}

impl Bar<'_> {
    fn within(&self, (lo, hi): (f64, f64)) -> bool {
        self.time.1 >= lo && self.time.0 <= hi
    }
}

/// A panel of a story.
#[derive(Clone, Copy, Debug)]
struct View {
    /// Seconds since start.
    time: (f64, f64),
    /// Only a part of the window.
    enlarged: bool,
    /// From the first to behind the last byte that anybody asked for.
    bytes: (f64, f64),
    /// Locks reach further.
    more: bool,
}

impl View {
    /// Offsets up to the last byte asked for, and a margin for what reaches further.
    fn axis(&self, height: f64) -> Axis {
        let (low, high) = self.bytes;
        let mut axis = offsets(low, high, 5.0, "offset");
        let top = high + (high - low) * MARGIN;
        axis.scale = Scale::Linear { lo: low, hi: top };
        if self.more {
            // Its label comes first.
            let is_at_top = |at: f64| (top - at) / (top - low) * height < SMALL * 1.2;
            axis.ticks.iter_mut().filter(|tick| is_at_top(tick.at)).for_each(|tick| tick.label.clear());
            axis.ticks.push(Tick::new(top, "EOF"));
        }
        axis
    }
}

/// Bars that are seen between these times, evenly thinned if they are too many, and how much.
fn thinned<'b, 'a>(bars: &'b [Bar<'a>], time: (f64, f64)) -> (Vec<&'b Bar<'a>>, usize) {
    let seen: Vec<&Bar<'_>> = bars.iter().filter(|bar| bar.within(time)).collect();
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
    let (between, start) = spans.fold(first, |best, next| if next.0 < best.0 { next } else { best });
    let length = (between + typical).max(12.0 * typical) * 1.1;
    if length > window.span / 2.0 {
        return None;
    }
    let lo = (start + (between + typical - length) / 2.0).min(window.span - length).max(0.0);
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
    let mut stories: Vec<Story<'_>> =
        extents.iter().filter_map(|object| Story::of(object, object.timeline.as_ref()?, &window, wide)).collect();
    if stories.is_empty() {
        return Err("who held which lock when is not in the capture: this needs dlmtrace");
    }
    stories.sort_by_key(|story| Reverse(story.object.conflicts));
    stories.truncate(MOST_PANELS);
    let alone = stories.len() == 1;
    let views: Vec<(&Story<'_>, View)> =
        stories.iter().flat_map(|s| s.views(&window, alone).into_iter().map(move |view| (s, view))).collect();
    let what = "Extent locks of the most contended objects, and requests waiting for them, by client.";
    let mut page = Page::new(options, analysis, PLOT.title, what, Covers { locks: true, ..Covers::default() });
    let inks = Inks::of(&stories);
    page.legend(&inks.keys(views.iter().any(|(_, view)| view.more)));
    let notes = notes(&views, extents.len() - stories.len());
    page.note(notes);

    // Each panel has a time axis of its own; all in seconds if any is enlarged.
    let enlarged = views.iter().any(|(_, view)| view.enlarged);
    let seconds = |(lo, hi), parts| if enlarged { Window::part(lo, hi, parts) } else { window.axis(parts) };
    let panels = views.len() as f64;
    let each = match views.len() {
        1 => 360.0,
        2 => 230.0,
        _ => 180.0,
    };
    let (ticks, last) = (HEAD, BELOW - HEAD);
    let around = panels * (HEAD + MARKS + ticks) + last;
    let body = page.body(panels * each + around);
    let room = (body.height() - around).max(40.0);
    let share = |i: usize| match (alone && enlarged, i) {
        (true, 0) => 0.34,
        (true, _) => 0.66,
        _ => 1.0 / panels,
    };
    let axes: Vec<Axis> = views.iter().enumerate().map(|(i, (_, view))| view.axis(room * share(i))).collect();
    let left = axes.iter().map(left_of).fold(0.0, f64::max);
    let scene = &mut page.scene;
    let mut top = body.y0;
    for (i, ((story, view), y)) in views.iter().zip(&axes).enumerate() {
        let (above, below) = (alone && enlarged && i == 0, alone && enlarged && i > 0);
        let y0 = top + HEAD + MARKS;
        let area = Area::new(body.x0 + left, y0, body.x1 - 14.0, y0 + room * share(i));
        let x = seconds(view.time, 9.0);
        let panel = Panel { area, x: &x, y };
        panel.grid(scene, true, true);
        granted(scene, &panel, story, view, &inks);
        if above {
            holds(scene, &panel, story, view, &inks);
            views.iter().skip(1).for_each(|(_, part)| bracket(scene, &panel, part.time));
        } else {
            // Hatching needs a light ground; under it the bar of whoever still holds what is waited for is to be seen.
            let waits = waits(&panel, story, view, &inks);
            waits.iter().for_each(|wait| scene.mark(wait.ground(UNDER)));
            holds(scene, &panel, story, view, &inks);
            waits.iter().for_each(|wait| scene.push(wait.ground(OVER)));
            hatching(scene, &waits);
            callbacks(scene, &panel, story, view, &inks);
        }
        panel.frame(scene);
        panel.x_ticks(scene);
        panel.y_ticks(scene);
        y_title(scene, body.x0 + BODY, area, &y.title);
        let (name, mut figures) = (name(story.object), figures(story.object));
        let length = duration_us((view.time.1 - view.time.0) * 1e6);
        let part = format!("the {length} with most conflicts, enlarged");
        let head = Panel { area: Area { y0: y0 - MARKS, ..area }, ..panel };
        if below {
            head.head(scene, &part.replacen('t', "T", 1), "");
        } else {
            if view.enlarged {
                figures += &format!("; {part}");
            }
            head.head(scene, &name, &figures);
        }
        if i + 1 == views.len() {
            panel.x_title(scene);
        }
        top = area.y1 + ticks;
    }
    Ok(page.finish())
}

/// What is not drawn.
fn notes(views: &[(&Story<'_>, View)], hidden: usize) -> String {
    let mut notes: Vec<String> = Vec::new();
    if hidden > 0 {
        notes.push(format!("{} conflicts between clients.", more_have(hidden, "object")));
    }
    if views.iter().any(|(s, _)| s.object.timeline.as_ref().is_some_and(|t| t.truncated)) {
        notes.push("Of an object with very many locks, only the first ones are kept in the analysis.".to_owned());
    }
    let one_in = |(s, view): &(&Story<'_>, View)| thinned(&s.holds, view.time).1.max(thinned(&s.waits, view.time).1);
    let most = views.iter().map(one_in).max().unwrap_or(1);
    if most > 1 {
        notes.push(format!("At least 1 in {most} locks and waits is drawn."));
    }
    notes.join(" ")
}

fn name(object: &LockObject) -> String {
    names::object(&object.target, object.id())
}

fn figures(object: &LockObject) -> String {
    format!("{}, {}", counted(object.conflicts, "conflict"), counted(object.alternations, "turn"))
}

/// Where the enlarged part is.
fn bracket(scene: &mut Scene, panel: &Panel<'_>, (lo, hi): (f64, f64)) {
    let middle = f64::midpoint(panel.x(lo), panel.x(hi));
    let half = ((panel.x(hi) - panel.x(lo)) / 2.0).max(2.0);
    let y = panel.area.y1;
    scene.line(
        &[(middle - half, y), (middle - half, y + 4.0), (middle + half, y + 4.0), (middle + half, y)],
        BLACK,
        1.5,
    );
}

/// Left and right end of a bar.
fn sides(panel: &Panel<'_>, bar: &Bar<'_>) -> (f64, f64) {
    let (x0, x1) = (panel.x(bar.time.0), panel.x(bar.time.1));
    (x0.min(panel.area.x1 - 1.0), x1.max(x0 + 1.0).min(panel.area.x1))
}

/// Where the margin begins.
fn margin(panel: &Panel<'_>) -> f64 {
    panel.area.y0 + panel.area.height() * (1.0 - 1.0 / (1.0 + MARGIN))
}

/// What the server granted.
fn granted(scene: &mut Scene, panel: &Panel<'_>, story: &Story<'_>, view: &View, inks: &Inks<'_>) {
    let margin = margin(panel);
    let (holds, _) = thinned(&story.holds, view.time);
    // Neighbours may be of one colour; where they are narrow, lines would be all that is seen.
    let mut widths: Vec<f64> = holds.iter().map(|hold| sides(panel, hold)).map(|(x0, x1)| x1 - x0).collect();
    widths.sort_by(f64::total_cmp);
    let edges = widths.get(widths.len() / 2).is_some_and(|middle| *middle >= 8.0);
    for hold in &holds {
        let (x0, x1) = sides(panel, hold);
        let ink = inks.ink(hold.nid);
        let bottom = panel.y(hold.granted.0);
        let top = panel.y(hold.granted.1.min(1e20)).max(margin).min(bottom - 1.0);
        scene.mark(Item::Rect { area: Area::new(x0, top, x1, bottom), ink: ink.alpha(GRANTED) });
        // Fades out where it goes on to the end of the file.
        if hold.granted.1 > view.bytes.1 {
            let steps = if x1 - x0 >= 8.0 { FADE.0 } else { FADE.1 };
            let step = (margin - panel.area.y0) / f64::from(steps);
            for i in 0..steps {
                let y1 = margin - f64::from(i) * step;
                let alpha = GRANTED * (1.0 - (f64::from(i) + 0.5) / f64::from(steps));
                scene.rect(Area::new(x0, y1 - step, x1, y1), ink.alpha(alpha));
            }
        }
        if edges && x1 - x0 >= 3.0 && hold.time.0 > view.time.0 {
            scene.line(&[(x0, top), (x0, bottom)], ink.alpha(0.7), 1.0);
        }
    }
}

/// What was asked for, of all locks on top of what was granted to others.
fn holds(scene: &mut Scene, panel: &Panel<'_>, story: &Story<'_>, view: &View, inks: &Inks<'_>) {
    for hold in thinned(&story.holds, view.time).0 {
        let area = asked(panel, hold, margin(panel), sides(panel, hold), 3.0);
        scene.push(Item::Rect { area, ink: inks.ink(hold.nid) });
    }
}

/// A wait on the page.
struct Wait {
    area: Area,
    ink: Ink,
}

fn waits(panel: &Panel<'_>, story: &Story<'_>, view: &View, inks: &Inks<'_>) -> Vec<Wait> {
    let margin = margin(panel);
    let (waits, _) = thinned(&story.waits, view.time);
    let held: Vec<Area> = thinned(&story.holds, view.time)
        .0
        .iter()
        .map(|hold| asked(panel, hold, margin, sides(panel, hold), 3.0))
        .collect();
    let area = |wait: &Bar<'_>| {
        let area = asked(panel, wait, margin, sides(panel, wait), 7.0);
        let covers = |held: &Area| {
            let (x, y) = (area.x1.min(held.x1) - area.x0.max(held.x0), area.y1.min(held.y1) - area.y0.max(held.y0));
            x > 1.0 && y > area.height() / 2.0
        };
        let least = 10.0_f64.min(area.height());
        let edge = ((area.height() - least) / 2.0).min(area.height() * EDGE);
        if held.iter().any(covers) { area.shrink(0.0, edge, 0.0, edge) } else { area }
    };
    waits.iter().map(|wait| Wait { area: area(wait), ink: inks.ink(wait.nid) }).collect()
}

impl Wait {
    fn ground(&self, alpha: f64) -> Item {
        Item::Rect { area: self.area, ink: Ink::new(0xff_ffff).alpha(alpha) }
    }
}

fn hatching(scene: &mut Scene, waits: &[Wait]) {
    let lines: f64 = waits.iter().map(|wait| (wait.area.width() + wait.area.height()) / 4.0).sum();
    for wait in waits {
        let &Wait { area, ink } = wait;
        // Too narrow for lines.
        if area.width() < 3.0 {
            scene.push(Item::Rect { area, ink: ink.tint(0.6) });
            continue;
        }
        if lines <= MOST_LINES {
            hatch::fill(scene, &[area], ink);
        } else {
            scene.rect(area, ink.alpha(0.4));
        }
        scene.outline(area, ink, 1.0);
    }
}

fn callbacks(scene: &mut Scene, panel: &Panel<'_>, story: &Story<'_>, view: &View, inks: &Inks<'_>) {
    let (lo, hi) = view.time;
    let mut last = f64::NEG_INFINITY;
    for (time, nid) in story.callbacks.iter().filter(|(time, _)| (lo..=hi).contains(time)) {
        let x = panel.x(*time);
        // Marks on the same pixel hide each other.
        if (x - last).abs() >= 0.5 {
            wedge(scene, (x, panel.area.y0 - 1.0), 4.0, inks.ink(nid));
            last = x;
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
            let part = story.part.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            for bar in story.bars() {
                // Whoever is seen in an enlarged part comes first.
                *sums.entry(bar.nid).or_default() += if bar.within(part) { 1000 } else { 1 };
            }
        }
        let mut order: Vec<(&str, usize)> = sums.into_iter().collect();
        order.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let others = order.split_off(order.len().min(CATEGORIES.len())).len();
        // In the order of their names: the same two clients get the same colours in another plot.
        let mut clients: Vec<&str> = order.into_iter().map(|(nid, _)| nid).collect();
        clients.sort_unstable();
        Self { clients, others }
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
