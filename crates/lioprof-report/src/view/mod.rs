//! What the page of an analysis shows. Field names are those that `web/report/*.js` reads; units as in the analysis.
//!
//! Order of work: whoever has a row of its own comes first and gets the low numbers, then whoever else is named.

mod bins;
mod findings;
mod flows;
mod latency;
mod locks;
mod names;
pub(crate) mod number;
mod quality;
mod rows;
mod sample;
mod series;
mod sizes;

use lioprof_model::{Analysis, Generator};
use serde::Serialize;

use crate::verdict::{Verdict, verdict};
use names::{Names, NamesView};
use number::IoView;

/// Rows of a table; what is beyond is one row of others.
const MAX_TARGETS: usize = 2_000;
const MAX_CLIENTS: usize = 400;
const MAX_JOBS: usize = 200;
const MAX_OWNERS: usize = 200;
const MAX_OBJECTS: usize = 200;
const MAX_OPERATIONS: usize = 300;
const MAX_SENT: usize = 100;
const MAX_INPUTS: usize = 200;
const MAX_MARKERS: usize = 200;
const MAX_WARNINGS: usize = 50;
const MAX_FINDINGS: usize = 60;
/// Rows and columns of the matrix.
const MATRIX: (usize, usize) = (64, 64);
/// Time bins of a row of its own: more cannot be seen on a wall.
const MAX_BINS: usize = 400;
/// OSTs with rows of their own in full resolution.
const MAX_LANES: usize = 24;
/// Cells of the heat map of all OSTs, for reads and for writes each.
const MAX_HEAT_CELLS: usize = 90_000;
/// Time bins of the latency heat map.
const MAX_LATENCY_BINS: usize = 240;
/// Single RPCs.
const MAX_SAMPLE: usize = 8_000;
/// Objects with their locks over time, and locks and waits of each.
const MAX_TIMELINES: usize = 5;
const MAX_HOLDS: usize = 1_000;
const MAX_LOCK_TARGETS: usize = 200;
const MAX_LOCK_OBJECTS: usize = 100;
const MAX_PAIRS: usize = 300;

/// Version of this layout.
const SCHEMA: &str = "lioprof.report/1";

/// The data of a report.
#[derive(Debug, Serialize)]
pub(crate) struct Report<'a> {
    schema: &'static str,
    generator: &'a Generator,
    /// Servers and date.
    pub(crate) title: String,
    pub(crate) verdict: Verdict,
    window: Window,
    totals: Totals,
    warnings: Vec<&'a str>,
    markers: Vec<Marker<'a>>,
    names: NamesView<'a>,
    findings: Vec<findings::Card<'a>>,
    checks: &'a [lioprof_model::Check],
    targets: rows::Rows<rows::TargetRow<'a>>,
    clients: rows::Rows<rows::ClientRow>,
    jobs: rows::Rows<rows::JobRow<'a>>,
    owners: rows::Rows<rows::OwnerRow>,
    objects: rows::Rows<rows::ObjectRow>,
    operations: rows::Rows<rows::OperationRow<'a>>,
    sent: rows::Rows<rows::SentRow<'a>>,
    matrix: flows::Matrix,
    sizes: sizes::Sizes,
    series: series::SeriesView<'a>,
    latency: Vec<latency::Heat>,
    sample: sample::SampleView,
    locks: Option<locks::LocksView<'a>>,
    quality: quality::Quality<'a>,
}

/// The time that was looked at.
#[derive(Debug, Serialize)]
struct Window {
    /// Unix seconds.
    start: f64,
    duration_s: f64,
}

/// Sums.
#[derive(Debug, Serialize)]
struct Totals {
    rpcs: u64,
    server_rpcs: u64,
    sent_rpcs: u64,
    read: IoView,
    write: IoView,
    dom_read: IoView,
    dom_write: IoView,
    unattributed_read: IoView,
    unattributed_write: IoView,
    resent_rpcs: u64,
    replayed_rpcs: u64,
    dropped_rpcs: u64,
    sent_timed_out: u64,
    evictions: u64,
    /// All of them, whatever the page has rows for.
    nodes: usize,
    osts: usize,
    clients: usize,
}

/// An `lctl mark`.
#[derive(Debug, Serialize)]
struct Marker<'a> {
    /// Seconds since the start of the window.
    at_s: f64,
    node: &'a str,
    text: &'a str,
}

impl<'a> Report<'a> {
    pub(crate) fn new(analysis: &'a Analysis) -> Self {
        let mut names = Names::default();
        let targets = rows::targets(analysis, &mut names);
        let clients = rows::clients(analysis, &mut names);
        let series = series::series(analysis, &mut names);
        let findings = findings::cards(analysis, &mut names);
        let matrix = flows::matrix(analysis, &mut names);
        let objects = rows::objects(analysis, &mut names);
        let sample = sample::sample(analysis, &mut names);
        let locks = analysis.locks.as_ref().map(|it| locks::locks(analysis, it, &mut names));
        let since_start = |time: f64| time - analysis.window.start;
        let marker =
            |it: &'a lioprof_model::Marker| Marker { at_s: since_start(it.time), node: &it.node, text: &it.text };
        Self {
            schema: SCHEMA,
            generator: &analysis.generator,
            title: title(analysis),
            verdict: verdict(analysis),
            window: Window { start: analysis.window.start, duration_s: analysis.window.duration_s },
            totals: totals(analysis),
            warnings: analysis.warnings.iter().take(MAX_WARNINGS).map(String::as_str).collect(),
            markers: analysis.markers.iter().take(MAX_MARKERS).map(marker).collect(),
            findings,
            checks: &analysis.checks,
            targets,
            clients,
            jobs: rows::jobs(analysis),
            owners: rows::owners(analysis),
            objects,
            operations: rows::operations(analysis),
            sent: rows::sent(analysis, &mut names),
            matrix,
            sizes: sizes::sizes(analysis, &names),
            series,
            latency: latency::heat(analysis),
            sample,
            locks,
            quality: quality::quality(analysis),
            names: names.into_view(),
        }
    }
}

/// `server1, server2`, or how many they are.
fn title(analysis: &Analysis) -> String {
    let nodes: Vec<&str> = analysis.nodes.iter().map(|it| it.name.as_str()).collect();
    match nodes.as_slice() {
        [] => "no server".to_owned(),
        few @ ([_] | [_, _] | [_, _, _]) => few.join(", "),
        [first, .., last] => format!("{} servers, {first} to {last}", nodes.len()),
    }
}

fn totals(analysis: &Analysis) -> Totals {
    let totals = &analysis.totals;
    let mut osts: Vec<&str> = rows::osts(analysis).map(|it| it.name.as_str()).collect();
    osts.sort_unstable();
    osts.dedup();
    Totals {
        rpcs: totals.rpcs,
        server_rpcs: totals.server_rpcs,
        sent_rpcs: totals.sent_rpcs,
        read: (&totals.read).into(),
        write: (&totals.write).into(),
        dom_read: (&totals.dom_read).into(),
        dom_write: (&totals.dom_write).into(),
        unattributed_read: (&totals.unattributed.read).into(),
        unattributed_write: (&totals.unattributed.write).into(),
        resent_rpcs: totals.resent_rpcs,
        replayed_rpcs: totals.replayed_rpcs,
        dropped_rpcs: totals.dropped_rpcs,
        sent_timed_out: totals.sent_timed_out,
        evictions: totals.evictions,
        nodes: analysis.nodes.len(),
        osts: osts.len(),
        clients: analysis.clients.iter().filter(|it| !it.server).count(),
    }
}
