//! Made-up runs whose answers are known, and garbage.

use lioprof_model::{Change, Prediction, Replays, WhatIf};
use proptest::prelude::*;

use super::model::models;
use super::plan::Plan;
use super::predict::RUNS_DIFFER;
use super::replay::{count_links, replay};
use super::*;

const REQUESTS: &[Kind] = &[Kind::Read, Kind::Write, Kind::LockRequest, Kind::Cancel, Kind::Sync, Kind::Other];

const MS: i64 = 1_000;
const CLIENTS: [&str; 2] = ["10.0.0.1@tcp", "10.0.0.2@tcp"];

fn place(number: usize) -> Place {
    Place { node: format!("oss{number}"), target: Some(format!("a-OST000{number}")), is_ost: true }
}

fn write(client: usize, place: usize, arrival_us: i64, service_us: i64) -> Request {
    Request {
        arrival_us,
        start_us: arrival_us,
        end_us: arrival_us + service_us,
        client,
        place,
        kind: Kind::Write,
        bytes: 1 << 20,
        object: 1,
        gapped: false,
        parts: Some((0, 0)),
    }
}

fn run(mut requests: Vec<Request>, waits: Vec<LockWait>) -> Run {
    requests.sort_unstable();
    let ends = || requests.iter().map(|request| request.end_us);
    Run {
        clients: CLIENTS.map(str::to_owned).to_vec(),
        places: (0..4).map(place).collect(),
        all_requests: requests.len() as u64,
        last_us: ends().max(),
        last_bulk_us: ends().max(),
        first_us: requests.first().map(|request| request.arrival_us),
        requests,
        waits,
        ..Run::default()
    }
}

/// One after the other, with a pause after each.
fn one_by_one(client: usize, place: usize, count: i64, service_us: i64, pause_us: i64) -> Vec<Request> {
    (0..count).map(|n| write(client, place, n * (service_us + pause_us), service_us)).collect()
}

fn predict(run: &Run, change: Change) -> WhatIf {
    Replay::new(run.clone()).predict(&[vec![change]])
}

fn saves(run: &Run, change: Change) -> Option<Prediction> {
    predict(run, change.clone()).of(std::slice::from_ref(&change)).cloned()
}

fn close(seconds: f64, expected: f64) {
    assert!((seconds - expected).abs() < 0.0015, "{seconds} s, expected {expected} s");
}

#[test]
fn without_a_change_it_takes_as_long_as_it_took() {
    let mut requests = one_by_one(0, 0, 20, 100 * MS, 10 * MS);
    requests.extend(one_by_one(1, 1, 50, 30 * MS, 7 * MS));
    // Several in flight, at the same OST.
    requests.extend((0..30).map(|n| write(1, 0, 3 * MS + n * 40 * MS, 90 * MS)));
    for request in &mut requests {
        request.parts = Some((5_000, 11_000));
    }
    let run = run(requests, Vec::new());
    for model in models(true) {
        let mut plan = works::by(&Plan::of(&run), &run, model);
        count_links(&mut plan);
        let us = replay(&plan, model.transfer);
        assert!((us - run.elapsed_us()).abs() < 1.0, "{model:?}: {us} µs, expected {}", run.elapsed_us());
    }
}

#[test]
fn each_request_of_a_closed_loop_is_shorter() {
    // The last pause is after the last request.
    let mut requests = one_by_one(0, 0, 10, 100 * MS, 10 * MS);
    requests.extend(one_by_one(1, 1, 10, 40 * MS, 10 * MS));
    let run = run(requests, Vec::new());
    let change = Change::TargetAsPeers { target: "a-OST0000".to_owned() };
    let prediction = saves(&run, change).unwrap();
    close(prediction.saves_s, 0.600);
    close(prediction.elapsed_s, 0.490);
    let twice = saves(&run, Change::TargetFaster { target: "a-OST0000".to_owned(), factor: 2.0 }).unwrap();
    close(twice.saves_s, 0.500);
}

#[test]
fn who_shares_a_disk_is_faster_alone() {
    // Two at the same disk at the same time, each with half of it.
    let run = run(vec![write(0, 0, 0, 200 * MS), write(1, 0, 0, 200 * MS)], Vec::new());
    close(saves(&run, Change::SpreadEvenly).unwrap().saves_s, 0.100);
}

#[test]
fn a_disk_that_takes_turns_is_told_by_its_requests() {
    // Sixteen reads at once, each 100 ms of the disk, one after the other: the last ones would look dear if all had shared it.
    let read = |n: i64| Request {
        kind: Kind::Read,
        parts: Some((u32::try_from((n + 1) * 100 * MS).unwrap(), 0)),
        ..write(0, 0, 0, (n + 1) * 100 * MS)
    };
    let run = run((0..16).map(read).collect(), Vec::new());
    close(saves(&run, Change::SpreadEvenly).unwrap().elapsed_s, 0.400);
}

#[test]
fn work_is_dealt_out_evenly_and_not_the_number_of_requests() {
    // Every second one takes three times as long: in turn, one of two clients would get all of those.
    let requests = (0..8).map(|n| Request { parts: Some((0, 0)), ..write(0, 0, n, 800 * MS) });
    let mut requests: Vec<Request> = requests.collect();
    for (n, request) in requests.iter_mut().enumerate() {
        let service_us = if n % 2 == 0 { 200 * MS } else { 800 * MS };
        request.end_us = request.arrival_us + service_us;
        request.parts = Some((0, u32::try_from(service_us).unwrap()));
    }
    let run = run(requests, Vec::new());
    let change = Change::Writers { client: CLIENTS[0].to_owned(), writers: 2 };
    let prediction = saves(&run, change).unwrap();
    // Of 800 ms of the link each has half.
    assert!((prediction.elapsed_s - 0.4).abs() < 0.05, "{prediction:?}");
}

#[test]
fn who_reads_over_a_slow_link_has_the_data_later_than_the_log_shows() {
    let mut requests = one_by_one(0, 0, 10, 100 * MS, 400 * MS);
    requests.extend(one_by_one(1, 1, 10, 100 * MS, 50 * MS));
    requests.iter_mut().for_each(|request| request.kind = Kind::Read);
    let run = run(requests, Vec::new());
    let prediction = saves(&run, Change::NodeAsPeers { node: "oss0".to_owned() }).unwrap();
    close(prediction.elapsed_s, 10.0 * 0.100 + 9.0 * 0.050);
    // A disk that is slow does not hold them back.
    let prediction = saves(&run, Change::TargetAsPeers { target: "a-OST0000".to_owned() }).unwrap();
    close(prediction.elapsed_s, 10.0 * 0.100 + 9.0 * 0.400);
}

#[test]
fn pauses_for_locks_go_and_pauses_of_programs_stay() {
    let requests = one_by_one(0, 0, 10, 10 * MS, 50 * MS);
    let wait = |n: i64| LockWait { client: 0, place: 0, from_us: n * 60 * MS + 20 * MS, to_us: n * 60 * MS + 50 * MS };
    let run = run(requests, (0..9).map(wait).collect());
    // Nine pauses of 50 ms of which 30 ms were for locks.
    close(saves(&run, Change::NoLockWaits).unwrap().saves_s, 0.270);
}

#[test]
fn small_requests_and_their_pauses_go() {
    let mut requests = Vec::new();
    for n in 0..10 {
        let mut small = write(0, 0, n * 100 * MS, 20 * MS);
        small.bytes = 4096;
        requests.push(small);
        requests.push(write(0, 0, n * 100 * MS + 30 * MS, 60 * MS));
    }
    let run = run(requests, Vec::new());
    // Of each round stay the pause before the large request, 10 ms, and itself.
    close(saves(&run, Change::NoSmall).unwrap().elapsed_s, 0.700);
}

#[test]
fn large_reads_are_whole_without_small_ones() {
    let mut requests = Vec::new();
    for n in 0..10 {
        let small = Request { kind: Kind::Read, bytes: 4096, ..write(0, 0, n * 1000 * MS, 20 * MS) };
        // What the small ones had read is left out of all but the first; each piece takes the disk 100 ms.
        let pieces = if n == 0 { 1 } else { 8 };
        let service_us = pieces * 100 * MS;
        let parts = Some((u32::try_from(service_us).unwrap(), 0));
        let large =
            Request { kind: Kind::Read, gapped: n > 0, parts, ..write(0, 0, n * 1000 * MS + 30 * MS, service_us) };
        requests.extend([small, large]);
    }
    let run = run(requests, Vec::new());
    let whole = saves(&run, Change::NoSmall).unwrap();
    // What stays are ten times 100 ms, pauses, and at most what is read ahead.
    assert!(whole.elapsed_s > 1.0 && whole.elapsed_s < 4.0, "{whole:?}");
}

#[test]
fn small_requests_are_put_together() {
    let mut requests = one_by_one(0, 0, 160, 10 * MS, 5 * MS);
    requests.iter_mut().for_each(|request| request.bytes = 65_536);
    let run = run(requests, Vec::new());
    let prediction = saves(&run, Change::FullSize).unwrap();
    // Ten of 16: as long as one of them if bytes cost nothing, as long as all of them if they cost everything.
    let runs_differ_s = RUNS_DIFFER * prediction.elapsed_s;
    let elapsed_s = |saves_s: f64| prediction.elapsed_s + prediction.saves_s - saves_s;
    close(elapsed_s(prediction.saves_s_max) + runs_differ_s, 10.0 * 0.010 + 9.0 * 0.005);
    close(elapsed_s(prediction.saves_s_min) - runs_differ_s, 160.0 * 0.010 + 9.0 * 0.005);
}

#[test]
fn two_links_move_twice_as_much() {
    // Eight at once over one link.
    let mut requests: Vec<Request> = (0..8).map(|n| write(0, n % 4, 0, 800 * MS)).collect();
    requests.iter_mut().for_each(|request| request.parts = Some((0, 800_000)));
    requests.push(Request { kind: Kind::Other, bytes: 0, parts: None, ..write(1, 0, 0, MS) });
    let run = run(requests, Vec::new());
    let change = Change::Writers { client: CLIENTS[0].to_owned(), writers: 2 };
    close(saves(&run, change).unwrap().saves_s, 0.400);
}

#[test]
fn who_waits_for_all_goes_on_when_all_are_faster() {
    // In each round both write, and go on 10 ms after the slower one.
    let mut requests = Vec::new();
    for n in 0..10 {
        requests.push(write(0, 0, n * 110 * MS, (20 + 3 * (n % 5)) * MS));
        requests.push(write(1, 1, n * 110 * MS, 100 * MS));
    }
    let run = run(requests, Vec::new());
    let prediction = saves(&run, Change::TargetFaster { target: "a-OST0001".to_owned(), factor: 2.0 }).unwrap();
    close(prediction.saves_s, 0.500);
}

#[test]
fn nothing_is_said_of_what_is_not_there() {
    let run = run(one_by_one(0, 0, 10, 10 * MS, MS), Vec::new());
    let client = || "10.0.0.9@tcp".to_owned();
    for change in [
        Change::TargetAsPeers { target: "a-OST0000".to_owned() },
        Change::ClientAsPeers { client: client() },
        Change::Writers { client: client(), writers: 2 },
    ] {
        assert_eq!(saves(&run, change.clone()), None, "{change:?}");
    }
    for change in [Change::NoLockWaits, Change::NoSmall] {
        close(saves(&run, change).unwrap().saves_s, 0.0);
    }
    assert_eq!(predict(&Run::default(), Change::SpreadEvenly).elapsed_s, None);
}

fn garbage() -> impl Strategy<Value = Run> {
    let time = -1_000i64..2_000_000;
    let parts = proptest::option::of((0u32..3_000_000, 0u32..3_000_000));
    let bytes = prop_oneof![Just(0u32), 1u32..100_000, Just(u32::MAX)];
    let one =
        (time.clone(), time.clone(), time, 0usize..2, 0usize..4, prop::sample::select(REQUESTS), bytes, 0u32..3, parts);
    let request = one.prop_map(|(arrival_us, start_us, end_us, client, place, kind, bytes, object, parts)| Request {
        gapped: object % 2 == 1,
        arrival_us,
        start_us,
        end_us,
        client,
        place,
        kind,
        bytes,
        object,
        parts,
    });
    let wait = (0usize..2, 0usize..4, 0i64..2_000_000, 0i64..2_000_000)
        .prop_map(|(client, place, from_us, to_us)| LockWait { client, place, from_us, to_us });
    let requests = proptest::collection::vec(request, 0..60);
    (requests, proptest::collection::vec(wait, 0..10)).prop_map(|(requests, waits)| run(requests, waits))
}

proptest! {
    #[test]
    fn garbage_is_no_reason_to_panic_nor_to_save_more_than_there_is(run in garbage(), kind in 0usize..9) {
        let [target, node, client] = ["a-OST0001", "oss1", CLIENTS[1]].map(str::to_owned);
        let change = match kind {
            0 => Change::TargetAsPeers { target },
            1 => Change::TargetFaster { target, factor: 0.5 },
            2 => Change::NodeAsPeers { node },
            3 => Change::ClientAsPeers { client },
            4 => Change::SpreadEvenly,
            5 => Change::NoLockWaits,
            6 => Change::FullSize,
            7 => Change::NoSmall,
            _ => Change::Writers { client, writers: 3 },
        };
        for prediction in predict(&run, change).predictions {
            prop_assert!(prediction.elapsed_s >= 0.0, "{prediction:?}");
            prop_assert!(prediction.saves_s_min <= prediction.saves_s, "{prediction:?}");
            prop_assert!(prediction.saves_s <= prediction.saves_s_max, "{prediction:?}");
        }
    }
}
