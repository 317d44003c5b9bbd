//! What the page shows of an analysis.

use lioprof_model::{Analysis, Generator};
use serde::Serialize;

use super::findings;
use super::flows;
use super::latency;
use super::locks;
use super::names::{Names, NamesView};
use super::number::IoView;
use super::quality;
use super::rows;
use super::sample;
use super::series;
use super::sizes;
use crate::verdict::{Verdict, verdict};

pub(super) const MAX_MARKERS: usize = 200;

pub(super) const MAX_WARNINGS: usize = 50;

/// Version of this layout.
pub(super) const SCHEMA: &str = "lioprof.report/1";

/// The data of a report.
#[derive(Debug, Serialize)]
pub(crate) struct Report<'a> {
    pub(super) schema: &'static str,
    pub(super) generator: &'a Generator,
    /// Servers and date.
    pub(crate) title: String,
    pub(crate) verdict: Verdict,
    pub(super) window: Window,
    pub(super) totals: Totals,
    pub(super) warnings: Vec<&'a str>,
    pub(super) markers: Vec<Marker<'a>>,
    pub(super) names: NamesView<'a>,
    pub(super) findings: Vec<findings::Card<'a>>,
    pub(super) checks: &'a [lioprof_model::Check],
    pub(super) targets: rows::Rows<rows::TargetRow<'a>>,
    pub(super) clients: rows::Rows<rows::ClientRow>,
    pub(super) jobs: rows::Rows<rows::JobRow<'a>>,
    pub(super) owners: rows::Rows<rows::OwnerRow>,
    pub(super) objects: rows::Rows<rows::ObjectRow>,
    pub(super) operations: rows::Rows<rows::OperationRow<'a>>,
    pub(super) sent: rows::Rows<rows::SentRow<'a>>,
    pub(super) matrix: flows::Matrix,
    pub(super) sizes: sizes::Sizes,
    pub(super) series: series::SeriesView<'a>,
    pub(super) latency: Vec<latency::Heat>,
    pub(super) sample: sample::SampleView,
    pub(super) locks: Option<locks::LocksView<'a>>,
    pub(super) quality: quality::Quality<'a>,
}

/// The time that was looked at.
#[derive(Debug, Serialize)]
pub(super) struct Window {
    /// Unix seconds.
    pub(super) start: f64,
    pub(super) duration_s: f64,
}

/// Sums.
#[derive(Debug, Serialize)]
pub(super) struct Totals {
    pub(super) rpcs: u64,
    pub(super) server_rpcs: u64,
    pub(super) sent_rpcs: u64,
    pub(super) read: IoView,
    pub(super) write: IoView,
    pub(super) dom_read: IoView,
    pub(super) dom_write: IoView,
    pub(super) unattributed_read: IoView,
    pub(super) unattributed_write: IoView,
    pub(super) resent_rpcs: u64,
    pub(super) replayed_rpcs: u64,
    pub(super) dropped_rpcs: u64,
    pub(super) sent_timed_out: u64,
    pub(super) evictions: u64,
    /// All of them, whatever the page has rows for.
    pub(super) nodes: usize,
    pub(super) osts: usize,
    pub(super) clients: usize,
}

/// An `lctl mark`.
#[derive(Debug, Serialize)]
pub(super) struct Marker<'a> {
    /// Seconds since the start of the window.
    pub(super) at_s: f64,
    pub(super) node: &'a str,
    pub(super) text: &'a str,
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
pub(super) fn title(analysis: &Analysis) -> String {
    let nodes: Vec<&str> = analysis.nodes.iter().map(|it| it.name.as_str()).collect();
    match nodes.as_slice() {
        [] => "no server".to_owned(),
        few @ ([_] | [_, _] | [_, _, _]) => few.join(", "),
        [first, .., last] => format!("{} servers, {first} to {last}", nodes.len()),
    }
}

pub(super) fn totals(analysis: &Analysis) -> Totals {
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
