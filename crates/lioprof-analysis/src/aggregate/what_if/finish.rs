//! Requests that are kept, with numbers for names that are the same in every run.

use std::collections::BTreeSet;

use lioprof_model::parts::sums::ReplayFacts;
use lioprof_model::{Symbol, Symbols};
use lustre_debuglog::{TargetKind, TargetName};
use rustc_hash::FxHashMap;

use super::super::entries::TargetKey;
use super::record::Record;
use crate::what_if::{Kind, LockWait, Place, Request, Run};

/// What was kept, to be replayed. `known`: targets of which the logs tell, whether anybody used them or not.
pub(crate) fn finish(mut record: Record, known: &BTreeSet<(String, TargetName)>, symbols: &Symbols) -> Run {
    record.limit();
    let place = |key: &TargetKey| Place {
        node: symbols.text(key.node),
        target: key.name.map(|name| name.to_string()),
        is_ost: key.kind == TargetKind::Ost,
    };
    let mut places: Vec<Place> = record.places.iter().map(place).collect();
    let named = known.iter().map(|(node, name)| Place {
        node: node.clone(),
        target: Some(name.to_string()),
        is_ost: name.kind() == TargetKind::Ost,
    });
    let of_kept = places.clone();
    places.extend(named);
    places.sort_unstable();
    places.dedup();
    let number = |place: &Place| places.binary_search(place).expect("each place is in the list");
    let numbers: Vec<usize> = of_kept.iter().map(number).collect();

    let mut of_clients: FxHashMap<Symbol, usize> = FxHashMap::default();
    of_clients.extend(record.kept.iter().map(|kept| (kept.client, 0)));
    let mut clients: Vec<String> = of_clients.keys().map(|&client| symbols.text(client)).collect();
    clients.sort_unstable();
    for (client, number) in &mut of_clients {
        *number = clients.binary_search(&symbols.text(*client)).expect("each client is in the list");
    }

    let ReplayFacts { requests: all_requests, last_us, last_bulk_us, .. } = record.facts;
    let mut run = Run { clients, places, all_requests, last_us, last_bulk_us, ..Run::default() };
    for kept in &record.kept {
        let (client, place) = (of_clients[&kept.client], numbers[usize::from(kept.place)]);
        let arrival_us = kept.end_us.saturating_sub(i64::from(kept.total_us));
        if kept.kind == Kind::Wait {
            run.waits.push(LockWait { client, place, from_us: arrival_us, to_us: kept.end_us });
            continue;
        }
        run.first_us = Some(run.first_us.map_or(arrival_us, |first_us| first_us.min(arrival_us)));
        run.requests.push(Request {
            arrival_us,
            start_us: kept.end_us.saturating_sub(i64::from(kept.service_us)),
            end_us: kept.end_us,
            client,
            place,
            kind: kept.kind,
            bytes: kept.bytes,
            object: kept.object,
            gapped: kept.gapped,
            parts: kept.parts(),
        });
    }
    run
}
