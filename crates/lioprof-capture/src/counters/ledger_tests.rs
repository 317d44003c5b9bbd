//! Everything that can happen to counters between two samples.

use super::super::totals::Count;
use super::*;

fn reading(bytes: u64, start_us: Option<i64>) -> Reading {
    let count = Count { rpcs: bytes / 10, bytes };
    Reading { rw: ReadWrite { read: count, write: count }, operations: 2 * count.rpcs, start_us }
}

/// What a job's counters show in successive samples (a second apart): bytes and `start_time`, or nothing.
fn jobs(samples: &[Option<(u64, Option<i64>)>]) -> Ledger {
    let mut ledger = Ledger::default();
    for (time_us, sample) in (1_000_000..).step_by(1_000_000).zip(samples) {
        let mut jobs = BTreeMap::new();
        if let Some((bytes, start_us)) = *sample {
            jobs.insert(("t".into(), "job".into()), reading(bytes, start_us));
        }
        let targets = [("t".into(), reading(0, None))].into();
        ledger.observe(&Totals { time_us, targets, jobs: Some(jobs), ..Totals::default() });
    }
    ledger
}

#[test]
fn what_happens_to_counters_is_counted_or_doubted() {
    let old = Some(0);
    let new = |s: i64| Some(s * 1_000_000);
    type Samples<'a> = &'a [Option<(u64, Option<i64>)>];
    let cases: &[(&str, Samples<'_>, u64, Option<Doubt>)] = &[
        ("grows", &[Some((100, old)), Some((150, old)), Some((400, old))], 300, None),
        ("does nothing", &[Some((100, old)), Some((100, old))], 0, None),
        ("appears, old version", &[None, Some((70, None)), Some((90, None))], 90, None),
        ("appears, new version", &[None, Some((70, new(2))), Some((90, new(2)))], 90, None),
        ("seen late", &[None, Some((70, old)), Some((90, old))], 20, Some(Doubt::SeenLate)),
        ("cleared, old version", &[Some((100, None)), Some((30, None)), Some((50, None))], 50, Some(Doubt::Reset)),
        ("cleared, grown above", &[Some((100, old)), Some((130, new(2)))], 130, Some(Doubt::Reset)),
        ("expires", &[Some((100, old)), Some((150, old)), None], 50, Some(Doubt::Vanished)),
        ("expires, comes back", &[Some((100, old)), None, Some((40, new(3)))], 40, Some(Doubt::Vanished)),
    ];
    for (what, samples, bytes, doubt) in cases {
        let counted = jobs(samples).jobs().unwrap()["job"];
        assert_eq!((counted.rw.read.bytes, counted.doubt), (*bytes, *doubt), "{what}");
        assert_eq!(counted.rw.read, counted.rw.write);
    }
}

#[test]
fn a_target_that_fails_over_to_this_node_counts_from_zero() {
    let mut ledger = Ledger::default();
    ledger.observe(&Totals { time_us: 1_000_000, ..Totals::default() });
    let targets = [("t".into(), reading(500, Some(1_500_000)))].into();
    ledger.observe(&Totals { time_us: 2_000_000, targets, ..Totals::default() });
    ledger.observe(&Totals { time_us: 3_000_000, ..Totals::default() });
    let counted = ledger.targets()["t"];
    assert_eq!((counted.rw.read.bytes, counted.doubt), (500, Some(Doubt::Vanished)));
    assert_eq!(ledger.interval_us(), Some((1_000_000, 3_000_000)));
}

#[test]
fn clients_that_are_not_read_in_every_sample() {
    let clients = |bytes| Some([(("t".into(), "nid".into()), reading(bytes, None))].into());
    let mut ledger = Ledger::default();
    for (time_us, clients) in [(1, clients(10)), (2, None), (3, None), (4, clients(50))] {
        ledger.observe(&Totals { time_us, clients, ..Totals::default() });
    }
    assert_eq!(ledger.clients().unwrap()["nid"].rw.read.bytes, 40);
    assert_eq!(ledger.clients().unwrap()["nid"].doubt, None);
}

/// A sample that found neither clients nor jobs.
fn empty() -> Totals {
    Totals { clients: Some(BTreeMap::new()), jobs: Some(BTreeMap::new()), ..Totals::default() }
}

#[test]
fn a_beginning_without_clients_is_no_beginning_for_them() {
    let mut ledger = Ledger::default();
    ledger.observe(&Totals { time_us: 1, ..Totals::default() });
    ledger.observe(&Totals { time_us: 2, ..empty() });
    assert_eq!((ledger.clients(), ledger.jobs()), (None, None));
}

#[test]
fn too_many_clients_are_not_compared() {
    let mut ledger = Ledger::default();
    ledger.observe(&Totals { time_us: 1, clients_cut: ["t".into()].into(), ..empty() });
    assert_eq!(ledger.clients(), None);
    assert!(ledger.jobs().is_some());
}

#[test]
fn what_happens_while_tracing_is_off_does_not_count() {
    let at = |time_us, bytes| Totals {
        time_us,
        targets: [("t".into(), reading(bytes, Some(0)))].into(),
        ..Totals::default()
    };
    let mut ledger = Ledger::default();
    ledger.observe(&at(1, 100));
    ledger.observe(&at(2, 120)); // off
    ledger.resume(&at(3, 500)); // on
    ledger.observe(&at(4, 530));
    let counted = ledger.targets()["t"];
    assert_eq!((counted.rw.read.bytes, counted.doubt), (50, None));
}
