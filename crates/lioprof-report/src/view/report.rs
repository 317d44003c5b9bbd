//! What the page shows of an analysis.

use lioprof_model::{Analysis, Marker, Node};
use serde::Serialize;

use super::capture::is_server;
use super::names::NameNumbers;
use super::number::IoView;
use super::{
    capture, enqueue_parts, events, findings, flows, latency, locks, quality, rows, sample, series, service_parts,
    sizes, time_account,
};
use crate::object::object;
use crate::verdict::Verdict;

const MAX_MARKERS: usize = 200;

const MAX_WARNINGS: usize = 50;

/// Version of this layout.
const SCHEMA: &str = "lioprof.report/1";

/// The data of a report. `title`: servers and date.
pub(crate) fn report<'a>(analysis: &'a Analysis, title: &'a str, verdict: &'a Verdict) -> impl Serialize + use<'a> {
    let start = analysis.window.start;
    // Whose names come first gets the low numbers.
    let mut names = NameNumbers::default();
    let targets = rows::targets(analysis, &mut names);
    let clients = rows::clients(analysis, &mut names);
    let series = series::series(analysis, &mut names);
    let findings = findings::cards(analysis, &mut names);
    let matrix = flows::matrix(analysis, &mut names);
    let objects = rows::objects(analysis, &mut names);
    let sample = sample::sample(analysis, &mut names);
    let locks = analysis.locks.as_ref().map(|it| locks::locks(analysis, it, &mut names));
    let sent = rows::sent(analysis, &mut names);
    let sizes = sizes::sizes(analysis, &names);
    // Seconds since the start of the window.
    let marker = |it: &'a Marker| object!(Marker { at_s: it.time - start, node: &it.node, text: &it.text });
    object!(Report {
        schema: SCHEMA,
        generator: &analysis.generator,
        title,
        // What was left out by options, in a sentence without an end.
        selected: analysis.selected.sentence(),
        verdict,
        // Unix seconds.
        window: object!(Window { start, duration_s: analysis.window.duration_s }),
        totals: totals(analysis),
        capture: capture::capture(analysis),
        warnings: analysis.warnings.iter().take(MAX_WARNINGS).collect::<Vec<_>>(),
        markers: analysis.markers.iter().take(MAX_MARKERS).map(marker).collect::<Vec<_>>(),
        names: names.into_view(),
        findings,
        checks: &analysis.checks,
        targets,
        clients,
        jobs: rows::jobs(analysis),
        owners: rows::owners(analysis),
        objects,
        operations: rows::operations(analysis),
        sent,
        matrix,
        sizes,
        series,
        latency: latency::heat(analysis),
        service_parts: service_parts::service_parts(analysis),
        enqueue_parts: enqueue_parts::enqueue_parts(analysis),
        // Whether or not their parts are known.
        lock_requests: analysis.enqueue_parts.all.enqueues,
        time_account: time_account::time_account(analysis),
        sample,
        locks,
        events: events::events(analysis),
        quality: quality::quality(analysis),
    })
}

/// `server1, server2`, or how many they are; clients only where there is no server, and whose kernel logs they are where nothing else is.
pub(crate) fn title(analysis: &Analysis) -> String {
    let (servers, clients): (Vec<&Node>, Vec<&Node>) = analysis.nodes.iter().partition(|it| is_server(it));
    let (nodes, what) = if servers.is_empty() { (clients, "clients") } else { (servers, "servers") };
    let mut names: Vec<&str> = nodes.iter().map(|it| it.name.as_str()).collect();
    if names.is_empty() {
        names = analysis.inputs.iter().map(|it| it.node.as_str()).collect();
        names.sort_unstable();
        names.dedup();
    }
    match names.as_slice() {
        [] => "no server".to_owned(),
        few @ ([_] | [_, _] | [_, _, _]) => few.join(", "),
        [first, .., last] => format!("{} {what}, {first} to {last}", names.len()),
    }
}

fn totals(analysis: &Analysis) -> impl Serialize {
    let totals = &analysis.totals;
    let mut osts: Vec<&str> = rows::osts(analysis).map(|it| it.name.as_str()).collect();
    osts.sort_unstable();
    osts.dedup();
    object!(Totals {
        rpcs: totals.rpcs,
        server_rpcs: totals.server_rpcs,
        sent_rpcs: totals.sent_rpcs,
        read: IoView::from(&totals.read),
        write: IoView::from(&totals.write),
        dom_read: IoView::from(&totals.dom_read),
        dom_write: IoView::from(&totals.dom_write),
        unattributed_read: IoView::from(&totals.unattributed.read),
        unattributed_write: IoView::from(&totals.unattributed.write),
        resent_rpcs: totals.resent_rpcs,
        replayed_rpcs: totals.replayed_rpcs,
        dropped_rpcs: totals.dropped_rpcs,
        sent_timed_out: totals.sent_timed_out,
        evictions: totals.evictions,
        // All of them, whatever the page has rows for.
        servers: analysis.nodes.iter().filter(|it| is_server(it)).count(),
        client_logs: analysis.nodes.iter().filter(|it| !is_server(it)).count(),
        osts: osts.len(),
        clients: analysis.clients.iter().filter(|it| !it.server).count(),
    })
}

#[cfg(test)]
mod tests {
    use lioprof_model::NodeRole;

    use super::*;

    fn of(nodes: &[(&str, NodeRole)]) -> Analysis {
        let node =
            |&(name, role): &(&str, NodeRole)| Node { name: name.to_owned(), role: Some(role), ..Node::default() };
        Analysis { nodes: nodes.iter().map(node).collect(), ..Analysis::default() }
    }

    #[test]
    fn clients_are_no_servers() {
        use NodeRole::{Client, MdsOss, Oss};
        let both = of(&[("clientA", Client), ("clientB", Client), ("server1", MdsOss), ("server2", Oss)]);
        assert_eq!(title(&both), "server1, server2");
        let totals = serde_json::to_value(totals(&both)).unwrap();
        assert_eq!((&totals["servers"], &totals["client_logs"]), (&2.into(), &2.into()));
        assert_eq!(title(&of(&[("clientA", Client)])), "clientA");
        let four = ["a", "b", "c", "d"].map(|name| (name, Client));
        assert_eq!(title(&of(&four)), "4 clients, a to d");
        assert_eq!(title(&of(&four.map(|(name, _)| (name, Oss)))), "4 servers, a to d");
        assert_eq!(title(&of(&[])), "no server");
    }
}
