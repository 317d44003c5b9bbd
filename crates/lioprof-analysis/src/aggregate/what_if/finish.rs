//! Requests that are kept, with numbers for names that are the same in every run.

use std::collections::BTreeSet;

use lioprof_model::parts::rollup::ReplayFacts;
use lioprof_model::{Change, Symbols, WhatIf};
use lustre_debuglog::{TargetKind, TargetName};

use super::super::cells::TargetKey;
use super::record::Record;
use crate::what_if::{Kind, LockWait, Place, Request, Run, predict};

/// Replays what was kept. `known`: targets of which the logs tell, whether anybody used them or not.
pub(crate) fn finish(
    mut record: Record,
    known: &BTreeSet<(String, TargetName)>,
    asked: &[Change],
    symbols: &Symbols,
) -> WhatIf {
    record.limit();
    let run = run(&record, known, symbols);
    predict(&run, asked)
}

fn run(record: &Record, known: &BTreeSet<(String, TargetName)>, symbols: &Symbols) -> Run {
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

    let mut symbols_of_clients: Vec<_> = record.kept.iter().map(|kept| kept.client).collect();
    symbols_of_clients.sort_unstable();
    symbols_of_clients.dedup();
    let mut clients: Vec<String> = symbols_of_clients.iter().map(|&client| symbols.text(client)).collect();
    clients.sort_unstable();
    let client_numbers: Vec<usize> = symbols_of_clients
        .iter()
        .map(|&client| clients.binary_search(&symbols.text(client)).expect("each client is in the list"))
        .collect();
    let client_of =
        |client| client_numbers[symbols_of_clients.binary_search(&client).expect("each client is in the list")];

    let ReplayFacts { requests: all_requests, last_us, last_bulk_us, .. } = record.facts();
    let mut run = Run { clients, places, all_requests, last_us, last_bulk_us, ..Run::default() };
    for kept in &record.kept {
        let (client, place) = (client_of(kept.client), numbers[usize::from(kept.place)]);
        let arrival_us = kept.end_us.saturating_sub(i64::from(kept.total_us));
        if kept.kind == Kind::Wait {
            run.waits.push(LockWait { client, place, from_us: arrival_us, to_us: kept.end_us });
            continue;
        }
        run.requests.push(Request {
            arrival_us,
            start_us: kept.end_us.saturating_sub(i64::from(kept.service_us)),
            end_us: kept.end_us,
            client,
            place,
            kind: kept.kind,
            bytes: kept.bytes,
            object: kept.object,
            parts: kept.parts(),
        });
    }
    run.requests.sort_unstable();
    run.waits.sort_unstable();
    run
}
