//! Events of all nodes, as rows of the analysis.

use std::collections::BTreeMap;

use lioprof_model::units::seconds;
use lioprof_model::{Analysis, Event, EventSource, MAX_EVENTS, OtherRows};
use lustre_debuglog::TargetName;
use lustre_debuglog::vocab::EventKind;

use super::pool::{Pool, Told};
use super::same::joined;
use crate::config::Selection;
use crate::node::NodeAccount;

/// Fills in the events of the nodes' logs.
pub(crate) fn tell(nodes: &[NodeAccount], selection: &Selection, analysis: &mut Analysis) {
    let mut events: Vec<(String, Told)> = Vec::new();
    let mut unlisted: BTreeMap<EventKind, u64> = BTreeMap::new();
    for node in nodes {
        let mut pool = Pool::default();
        pool.add_log(of_debug_log(node));
        let of_node = joined(pool.in_order()).into_iter().filter(|told| is_selected(told, selection));
        events.extend(of_node.map(|told| (node.name.clone(), told)));
        for kind in EventKind::ALL.into_iter().filter(|_| !node.interval.is_limited()) {
            *unlisted.entry(kind).or_default() += node.summary.events.unlisted(kind);
        }
    }
    // Stable: those of one node stay in order.
    events.sort_by_key(|(_, told)| (told.time_us.is_none(), told.time_us));
    let mut listed: BTreeMap<EventKind, u64> = BTreeMap::new();
    events.retain(|(_, told)| {
        let listed = listed.entry(told.kind).or_default();
        let is_listed = *listed < MAX_EVENTS as u64;
        if is_listed {
            *listed += 1
        } else {
            *unlisted.entry(told.kind).or_default() += 1
        }
        is_listed
    });
    for (kind, rows) in unlisted.into_iter().filter(|(_, rows)| *rows > 0) {
        let kept = listed.get(&kind).copied().unwrap_or(0);
        let rest = OtherRows { kept, by: "time".to_owned(), rows, ..OtherRows::default() };
        analysis.others.insert(Event::rest_of(kind), rest);
    }
    analysis.events = events.into_iter().map(row).collect();
}

fn row((node, told): (String, Told)) -> Event {
    let Told { kind, time_us, event, source } = told;
    Event {
        time: time_us.map(seconds),
        node,
        kind,
        target: event.target,
        client: event.client,
        reason: event.reason,
        source,
    }
}

/// What a node's debug log tells within `--from` and `--to`.
fn of_debug_log(node: &NodeAccount) -> impl Iterator<Item = Told> {
    let in_time = node.summary.events.listed().filter(|(_, event)| node.interval.contains(event.time_us));
    in_time.map(|(kind, event)| Told {
        kind,
        time_us: Some(event.time_us),
        event: event.clone(),
        source: EventSource::DebugLog,
    })
}

/// Whether an event is of the clients and targets that were selected, or names none.
fn is_selected(told: &Told, selection: &Selection) -> bool {
    let client = told.event.client.as_ref().is_none_or(|nid| selection.takes_nid(nid));
    let target = told.event.target.as_ref().and_then(|name| TargetName::parse_bytes(name.as_bytes()));
    client && target.is_none_or(|target| selection.targets.is_empty() || selection.targets.contains(&target))
}
