//! Where the time of clients went: over time, and in all for everybody, each client and each job.

use lioprof_model::names::without_file_system;
use lioprof_model::{Accused, Analysis, SpentOn, TimeOf};

use super::plot::{Plot, PlotOptions};
use crate::data::{Covers, cut};
use crate::draw::{
    AFTER_TRANSFER, Align, Area, BODY, GREY, Ink, Item, LINE, PALE, QUEUE, READ, SERVICE, SMALL, Scene, TRANSFER,
    index, widest,
};
use crate::figure::{
    Axis, BELOW, HEAD, Key, Panel, RowLabels, Scale, Steps, Swatch, Tick, Window, duration_us, split, stripes, y_title,
};
use crate::page::Page;

pub(super) const PLOT: Plot = Plot {
    name: "time-account",
    title: "Where the time went",
    how_to_read: "What clients waited for from their first to their last request; every instant counts once, and requests under way at \
        the same time share it. Above all clients together over time, below one bar each for all, the clients and the jobs. One \
        OST that fills a long stretch while others are done is what everybody waits for. Much time in queues means too few service \
        threads or too much at once, waiting for locks that clients fight. Grey is time without a request in any server's log: the \
        clients' own work, the network, a server whose log is missing, or what a log has lost.",
    draw,
};

/// Bars of clients and jobs.
const MOST_ROWS: usize = 14;
const ROW: f64 = 19.0;
const STACK: f64 = 170.0;
/// OSTs with a colour of their own: those that took most of the time.
const MOST_OSTS: usize = 4;

const OST_INKS: [Ink; MOST_OSTS] = [AFTER_TRANSFER, READ, TRANSFER, SERVICE];
const OTHER_OSTS: Ink = Ink::new(0x8f_c9ae);
const SYNCS: Ink = Ink::new(0x7a_5195);
const METADATA: Ink = Ink::new(0xcc_79a7);
const LOCKS: Ink = Ink::new(0xd5_5e00);
const OTHER: Ink = Ink::new(0x9a_7d5f);
const NOTHING: Ink = Ink::new(0xe4_e4e4);

/// A colour and what it stands for.
struct Kind {
    ink: Ink,
    label: String,
    /// An OST with a colour of its own.
    ost: Option<String>,
    on: &'static [SpentOn],
}

/// What there is, from the bottom of a stack to its top. `bars`: clients and jobs, which can have what all together have not: while a
/// client does nothing, others go on.
fn kinds(all: &TimeOf, bars: &[(String, &TimeOf)]) -> Vec<Kind> {
    let osts = all.spent.iter().filter(|spent| spent.on == SpentOn::Bulk);
    let mut osts: Vec<&str> = osts.filter_map(|spent| spent.target.as_deref()).collect();
    let many = osts.len() > MOST_OSTS;
    osts.truncate(MOST_OSTS);
    let short = without_file_system(osts.iter().copied());
    let mut kinds: Vec<Kind> = osts
        .iter()
        .zip(short)
        .zip(OST_INKS)
        .map(|((&ost, short), ink)| Kind {
            ink,
            label: format!("reads, writes of {short}"),
            ost: Some(ost.to_owned()),
            on: &[SpentOn::Bulk],
        })
        .collect();
    let kind = |ink, label: &str, on| Kind { ink, label: label.to_owned(), ost: None, on };
    kinds.extend([
        kind(OTHER_OSTS, if many { "of other OSTs" } else { "of unknown targets, MDTs" }, &[SpentOn::Bulk]),
        kind(SYNCS, SpentOn::Sync.label(), &[SpentOn::Sync]),
        kind(LOCKS, SpentOn::LockWait.label(), &[SpentOn::LockWait]),
        kind(QUEUE, SpentOn::Queue.label(), &[SpentOn::Queue]),
        kind(METADATA, SpentOn::Metadata.label(), &[SpentOn::Metadata]),
        kind(OTHER, SpentOn::Other.label(), &[SpentOn::Other, SpentOn::Unknown]),
        kind(NOTHING, SpentOn::Nothing.label(), &[SpentOn::Nothing]),
    ]);
    let every = || std::iter::once(all).chain(bars.iter().map(|(_, of)| *of)).flat_map(|of| &of.spent);
    kinds.retain(|kind| every().any(|spent| kind.has(spent.on, spent.target.as_deref(), &osts) && spent.us > 0));
    kinds
}

impl Kind {
    fn has(&self, on: SpentOn, target: Option<&str>, osts: &[&str]) -> bool {
        match &self.ost {
            Some(ost) => on == SpentOn::Bulk && target == Some(ost),
            None => self.on.contains(&on) && !(on == SpentOn::Bulk && target.is_some_and(|name| osts.contains(&name))),
        }
    }
}

fn draw(analysis: &Analysis, options: &PlotOptions) -> Result<Scene, &'static str> {
    let account = &analysis.time_account;
    let all = account.all.as_ref().filter(|all| all.span_us > 0).ok_or("no client sent anything")?;
    let bars = Bars::new(analysis);
    // What no bar can show needs no colour.
    let kinds = kinds(all, &bars.clone().cut(MOST_ROWS).0);
    let osts: Vec<&str> = kinds.iter().filter_map(|kind| kind.ost.as_deref()).collect();
    let what = format!(
        "What the clients waited for, from the first request to the last reply ({}): shares of each instant, and of all.",
        duration_us(all.span_us as f64)
    );
    let mut page = Page::new(options, analysis, PLOT.title, &what, Covers::default());
    page.legend(&kinds.iter().map(|kind| Key::new(Swatch::Fill(kind.ink), kind.label.clone())).collect::<Vec<_>>());
    let stack = (page.free_height() * 0.35).clamp(60.0, STACK);
    let fixed = 2.0 * (HEAD + BELOW) + stack;
    // The bar of all, and a note of two lines that may come.
    let room = page.free_height() - fixed - ROW - 2.0 * SMALL * LINE;
    let most = index(room / ROW).clamp(1, MOST_ROWS);
    let (mut bars, hidden) = bars.cut(most);
    if !hidden.is_empty() {
        page.note(format!("Those with most time in requests are shown; {} of it.", hidden.join(" of it, ")));
    }
    page.explain_mark(bars.iter().map(|(name, _)| name));
    bars.insert(0, ("all clients".to_owned(), all));

    let body = page.body(fixed + bars.len() as f64 * ROW);
    let scene = &mut page.scene;
    let names: Vec<String> = bars.iter().map(|(name, _)| name.clone()).collect();
    let labels = RowLabels::new(&names, ROW, 210.0);
    let left = labels.width();
    let figures: Vec<String> = bars.iter().map(|(_, of)| duration_us(of.span_us as f64)).collect();
    let right = widest(figures.iter().map(String::as_str), SMALL) + 14.0;

    let time = Window::of(analysis).axis(8.0);
    let share = percent_axis("share (%)");
    let area = Area::new(body.x0 + left, body.y0 + HEAD, body.x1 - right, body.y0 + HEAD + stack);
    let panel = Panel { area, x: &time, y: &share };
    over_time(scene, analysis, &panel, &kinds, &osts);
    panel.head(scene, "All clients over time", "");
    panel.x_axis(scene);
    panel.y_ticks(scene);
    y_title(scene, body.x0 + BODY, area, &share.title);

    let shares = percent_axis("share of the time (%)");
    let nothing = Axis::unmarked("");
    let top = area.y1 + BELOW + HEAD;
    let area = Area::new(area.x0, top, area.x1, top + bars.len() as f64 * ROW);
    let panel = Panel { area, x: &shares, y: &nothing };
    let rows = split(area, bars.len());
    stripes(scene, area, &rows);
    labels.draw(scene, area.x0, &rows);
    for (((_, of), figures), &(row_top, row_bottom)) in bars.iter().zip(&figures).zip(&rows) {
        let mut at = 0.0;
        for kind in &kinds {
            let spent = of.spent.iter().filter(|spent| kind.has(spent.on, spent.target.as_deref(), &osts));
            let us: u64 = spent.map(|spent| spent.us).sum();
            let from = panel.x(at);
            at += 100.0 * us as f64 / of.span_us.max(1) as f64;
            scene.mark(Item::Rect {
                area: Area::new(from, row_top + 3.5, panel.x(at), row_bottom - 3.5),
                ink: kind.ink,
            });
        }
        scene.label(area.x1 + 8.0, f64::midpoint(row_top, row_bottom), Align::Start, SMALL, GREY, figures);
    }
    panel.frame(scene);
    panel.head(scene, "In all, by client and job", "");
    panel.x_axis(scene);
    Ok(page.finish())
}

/// Clients and jobs, those that findings name first.
#[derive(Clone)]
struct Bars<'a> {
    clients: Vec<(String, &'a TimeOf)>,
    jobs: Vec<(String, &'a TimeOf)>,
}

impl<'a> Bars<'a> {
    fn new(analysis: &'a Analysis) -> Self {
        let account = &analysis.time_account;
        let (clients, jobs) = (Accused::clients(analysis), Accused::jobs(analysis));
        let bars = |of: &'a [TimeOf], accused: &Accused<'_>, what: &str| {
            let mut of: Vec<&TimeOf> = of.iter().collect();
            of.sort_by_key(|it| accused.first(&it.name));
            of.into_iter().map(|it| (accused.mark(&it.name, &format!("{what}{}", it.name)), it)).collect()
        };
        Self { clients: bars(&account.clients, &clients, ""), jobs: bars(&account.jobs, &jobs, "job ") }
    }

    /// At most so many, of jobs at least half if there are as many; and what the others have, in words.
    fn cut(mut self, most: usize) -> (Vec<(String, &'a TimeOf)>, Vec<String>) {
        let of_jobs = self.jobs.len().min((most / 2).max(most.saturating_sub(self.clients.len())));
        let weight = |(_, of): &(String, &TimeOf)| of.covered_us() as f64;
        let hidden = [
            cut(&mut self.clients, most - of_jobs, weight).map(|hidden| hidden.have("client")),
            cut(&mut self.jobs, of_jobs, weight).map(|hidden| hidden.have("job")),
        ];
        self.clients.append(&mut self.jobs);
        (self.clients, hidden.into_iter().flatten().collect())
    }
}

/// From 0 to 100 %, and no room beyond.
fn percent_axis(title: &str) -> Axis {
    let ticks = [0.0, 25.0, 50.0, 75.0, 100.0].map(|at| Tick::new(at, format!("{at}")));
    Axis { scale: Scale::Linear { lo: 0.0, hi: 100.0 }, ticks: ticks.into(), title: title.to_owned() }
}

/// Stacked shares of each bin of the account.
fn over_time(scene: &mut Scene, analysis: &Analysis, panel: &Panel<'_>, kinds: &[Kind], osts: &[&str]) {
    let series = &analysis.time_account.series;
    let window = Window::of(analysis);
    let edges: Vec<f64> = (0..=series.bins).map(|bin| window.since(series.start + bin as f64 * series.bin_s)).collect();
    let at = |of: &[u64], bin: usize| of.get(bin).copied().unwrap_or(0) as f64;
    let all: Vec<f64> = (0..series.bins).map(|bin| series.spent.iter().map(|spent| at(&spent.us, bin)).sum()).collect();
    let steps = Steps { panel, edges: &edges };
    let mut low = vec![0.0; series.bins];
    scene.mark(Item::Rect { area: panel.area, ink: PALE });
    for kind in kinds {
        let mut high = low.clone();
        for spent in series.spent.iter().filter(|spent| kind.has(spent.on, spent.target.as_deref(), osts)) {
            for (bin, high) in high.iter_mut().enumerate().filter(|(bin, _)| all[*bin] > 0.0) {
                *high += 100.0 * at(&spent.us, bin) / all[bin];
            }
        }
        steps.between(scene, &low, &high, kind.ink);
        low = high;
    }
    panel.frame(scene);
}
