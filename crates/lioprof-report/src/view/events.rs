//! Events that the logs tell.

use lioprof_model::{Analysis, Event, EventKind};
use serde::Serialize;

use super::limits::MAX_EVENTS;
use crate::object::object;

/// The events, worst kinds first where there are more than the page has rows for, then in the order of time; and how many are left out.
pub(crate) fn events(analysis: &Analysis) -> impl Serialize {
    let place = |event: &&Event| EventKind::ALL.iter().position(|kind| *kind == event.kind);
    let mut shown: Vec<&Event> = analysis.events.iter().collect();
    let rest = |kind: EventKind| analysis.others.get(&Event::rest_of(kind)).map_or(0, |rest| rest.rows);
    let others = EventKind::ALL.into_iter().map(rest).sum::<u64>() + shown.len().saturating_sub(MAX_EVENTS) as u64;
    shown.sort_by_key(place);
    shown.truncate(MAX_EVENTS);
    shown.sort_by(|a, b| {
        let time = |event: &Event| event.time.unwrap_or(f64::INFINITY);
        time(a).total_cmp(&time(b))
    });
    let row = |it: &'_ &Event| {
        object!(Event {
            // Unix seconds, or unknown.
            time: it.time,
            node: it.node.clone(),
            kind: it.kind,
            target: it.target.clone(),
            client: it.client.clone(),
            reason: it.reason.clone(),
            source: it.source,
        })
    };
    object!(Events { rows: shown.iter().map(row).collect::<Vec<_>>(), others })
}
