//! Several sentences about the same event.

use lustre_debuglog::vocab::EventKind;
use rustc_hash::FxHashMap;

use super::pool::Told;

/// Sentences about the same event follow on each other within this time: a syslog tells whole seconds.
const SAME_EVENT_US: i64 = 2_000_000;

/// Joins sentences, which are in order, that tell of the same event: of an eviction Lustre tells for people and for programmers, and once
/// for each lock of the client; of a bulk transfer what went wrong, and what follows from it.
pub(super) fn joined(sentences: Vec<Told>) -> Vec<Told> {
    let mut events: Vec<Told> = Vec::with_capacity(sentences.len());
    // The last event of each kind, client and target.
    let mut last: FxHashMap<(EventKind, String, Option<String>), usize> = FxHashMap::default();
    for told in sentences {
        let client =
            told.event.client.clone().filter(|_| matches!(told.kind, EventKind::Eviction | EventKind::BulkError));
        let Some(client) = client else {
            events.push(told);
            continue;
        };
        let target = told.event.target.clone();
        // What a request's own sentence tells has no target.
        let mut before = [target.clone(), None].into_iter().filter_map(|of| last.get(&(told.kind, client.clone(), of)));
        let before = before.find(|at| is_same(&events[**at], &told)).copied();
        let at = before.unwrap_or(events.len());
        last.insert((told.kind, client, target), at);
        match before {
            Some(before) => join(&mut events[before], told),
            None => events.push(told),
        }
    }
    events
}

fn is_same(a: &Told, b: &Told) -> bool {
    let near = match (a.time_us, b.time_us) {
        (Some(a), Some(b)) => b - a <= SAME_EVENT_US,
        // Without times an echo tells it.
        (None, None) => true,
        _ => false,
    };
    // Two bulk transfers may fail at the same time; a client is thrown out once.
    let once = a.kind == EventKind::Eviction && a.time_us.is_some();
    near && (a.event.is_echo || b.event.is_echo || once)
}

fn join(mine: &mut Told, other: Told) {
    let Told { event, source, .. } = other;
    mine.event.target = mine.event.target.take().or(event.target);
    if mine.event.is_echo && !event.is_echo {
        // What led to it was told first.
        mine.event.reason = format!("{}; {}", mine.event.reason, event.reason);
        mine.event.is_echo = false;
    }
    if mine.source != source {
        mine.source = lioprof_model::EventSource::Both;
    }
}
