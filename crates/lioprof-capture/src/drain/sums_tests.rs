//! Which RPCs count for the comparison with the server's counters.

use lioprof_model::{LockState, RpcWindow};
use lustre_debuglog::{LockMode, ResourceId, Xid};

use super::*;

const BYTES: u64 = 4096;

fn sample(begun_us: i64, ended_us: i64) -> SampleTime {
    SampleTime { begun_us, ended_us }
}

/// A read that was in service from `start_us` to `end_us`.
fn read(symbols: &mut Symbols, start_us: i64, end_us: i64) -> RpcRow {
    let name = symbols.intern(b"10.10.0.11@tcp");
    RpcRow {
        service_us: u64::try_from(end_us - start_us).ok(),
        size: RpcSize::Exact(BYTES),
        ..RpcRow::made_up(name, Opcode::OST_READ, end_us)
    }
}

/// RPCs counted, and those that the counters may or may not hold.
fn counted(stretches: &[Stretch], start_us: i64, end_us: i64) -> (u64, u64) {
    let mut interval = Interval { stretches: stretches.to_vec(), ..Interval::default() };
    let mut symbols = Symbols::default();
    let row = read(&mut symbols, start_us, end_us);
    interval.add(&row, Direction::Read, &symbols);
    assert_eq!(interval.edges.bytes, interval.edges.rpcs * BYTES);
    (interval.total.read.rpcs, interval.edges.rpcs)
}

#[test]
fn an_rpc_counts_between_the_samples_and_is_in_doubt_while_one_is_taken() {
    let first = Stretch { from: sample(100, 110), to: Some(sample(200, 220)) };
    let second = Stretch { from: sample(300, 310), to: None };
    let both = [first, second];
    for (what, start_us, end_us, expected) in [
        ("before", 10, 99, (0, 0)),
        ("ends while the first sample is taken", 90, 105, (1, 1)),
        ("begins and ends while it is taken", 103, 104, (1, 1)),
        ("begins before, ends behind it", 90, 150, (1, 1)),
        ("between", 111, 199, (1, 0)),
        ("begins before the last sample, ends while it is taken", 150, 210, (0, 1)),
        ("begins and ends while the last sample is taken", 201, 219, (0, 1)),
        ("in the pause", 230, 290, (0, 0)),
        ("over the pause", 150, 350, (1, 2)),
        ("in the open stretch", 311, 900, (1, 0)),
    ] {
        assert_eq!(counted(&both, start_us, end_us), expected, "{what}");
    }
    assert_eq!(counted(&[], 1, 2), (0, 0), "no sample yet");
}

#[test]
fn an_rpc_of_unknown_size_at_an_edge_is_counted_apart() {
    let mut interval =
        Interval { stretches: vec![Stretch { from: sample(100, 110), to: None }], ..Interval::default() };
    let mut symbols = Symbols::default();
    let row = RpcRow { size: RpcSize::Unknown, ..read(&mut symbols, 105, 120) };
    interval.add(&row, Direction::Read, &symbols);
    assert_eq!(interval.edges, Edges { rpcs: 1, bytes: 0, unsized_rpcs: 1 });
}

/// Keeps nothing.
struct Nowhere;

impl RowSink for Nowhere {
    fn rpc(&mut self, _: &RpcRow, _: &Symbols) {}
    fn lock_event(&mut self, _: &LockEvent, _: &Symbols) {}
    fn sent_rpc(&mut self, _: &SentRpc, _: &Symbols) {}
    fn mark(&mut self, _: &Mark, _: &Symbols) {}
}

impl Keep for Nowhere {
    fn part(&mut self) -> PartSize {
        PartSize::default()
    }
    fn close(&mut self, _: PartFacts) -> Result<WrittenPart, DrainError> {
        Ok(WrittenPart::default())
    }
    fn discard(&mut self) {}
}

#[test]
fn what_is_missing_at_a_sample_is_neither_unfinished_nor_too_late() {
    let shared = Arc::new(SharedSums::default());
    let mut summed = Summed::new(Nowhere, Arc::clone(&shared), Arc::new(Metrics::default()), None);
    let mut symbols = Symbols::default();
    shared.begin_stretch(sample(100, 110));
    summed.begin_segment();
    for end_us in [120, 150, 180] {
        let row = read(&mut symbols, end_us - 5, end_us);
        summed.rpc(&row, &symbols);
    }
    // Ten were counted; the fourth row was in service at the sample, the fifth began later.
    shared.check(sample(200, 210), Count { rpcs: 10, bytes: 10 * BYTES });
    summed.begin_segment();
    for (start_us, end_us) in [(205, 400), (211, 300)] {
        let row = read(&mut symbols, start_us, end_us);
        summed.rpc(&row, &symbols);
    }
    summed.complete(210, 0, true);
    assert_eq!(shared.missing(), None, "the trace has not come that far");
    summed.complete(211, 2, false);
    assert_eq!(shared.missing(), None, "the kernel may only be late");
    summed.complete(211, 2, true);
    let expected = Missing { time_us: 200, counted_rpcs: 10, rpcs: 4, bytes: 4 * BYTES };
    assert_eq!(shared.missing(), Some(expected));
    shared.check(sample(500, 500), Count { rpcs: 5, bytes: 5 * BYTES });
    summed.begin_segment();
    summed.complete(600, 0, false);
    assert_eq!(shared.missing().map(|missing| (missing.rpcs, missing.bytes)), Some((0, 0)));
    // The trace is far behind the samples: the oldest that wait are not forgotten for newer ones.
    for at_us in (700..).take(MAX_CHECKPOINTS + 5) {
        shared.check(sample(at_us, at_us), Count { rpcs: 7, bytes: 7 * BYTES });
    }
    summed.begin_segment();
    summed.complete(702, 0, true);
    assert_eq!(shared.missing().map(|missing| (missing.time_us, missing.rpcs)), Some((701, 2)));
}

#[test]
fn missing_bytes_are_no_more_than_those_of_the_missing() {
    let shared = Arc::new(SharedSums::default());
    let mut summed = Summed::new(Nowhere, Arc::clone(&shared), Arc::new(Metrics::default()), None);
    let mut symbols = Symbols::default();
    shared.begin_stretch(sample(100, 110));
    summed.begin_segment();
    // Direct I/O in a light capture: sizes are unknown.
    for end_us in 120..128 {
        let row = RpcRow { size: RpcSize::Unknown, ..read(&mut symbols, end_us - 5, end_us) };
        summed.rpc(&row, &symbols);
    }
    shared.check(sample(200, 210), Count { rpcs: 10, bytes: 10 * BYTES });
    summed.begin_segment();
    summed.complete(211, 0, true);
    assert_eq!(shared.missing().map(|missing| (missing.rpcs, missing.bytes)), Some((2, 2 * BYTES)));
}

/// What goes through, and what of it is compared with the counters and counted in the metrics.
fn summed_up(into: impl FnOnce(&mut Summed<Nowhere>, &mut Symbols)) -> (Interval, String) {
    let (shared, metrics) = (Arc::new(SharedSums::default()), Arc::new(Metrics::default()));
    let mut summed = Summed::new(Nowhere, Arc::clone(&shared), Arc::clone(&metrics), None);
    shared.begin_stretch(sample(100, 110));
    summed.begin_segment();
    into(&mut summed, &mut Symbols::default());
    summed.close(PartFacts::default()).unwrap();
    (shared.take_interval().unwrap(), metrics.open_metrics().unwrap())
}

#[test]
fn data_on_mdt_of_unknown_target_is_not_compared_with_the_counters_of_osts() {
    let (interval, _) = summed_up(|summed, symbols| {
        let row = read(symbols, 120, 130);
        let [mdt_io, ost_io] = [&b"mdt_io00_001"[..], b"ll_ost_io00_001"].map(|name| symbols.intern(name));
        summed.rpc(&RpcRow { thread: mdt_io, ..row.clone() }, symbols);
        summed.rpc(&RpcRow { thread: ost_io, ..row }, symbols);
    });
    assert_eq!((interval.total.read.rpcs, interval.unattributed.read.rpcs), (1, 1));
}

#[test]
fn only_conflicts_between_clients_are_counted_as_such() {
    let (_, metrics) = summed_up(|summed, symbols| {
        let target = TargetName::parse_bytes(b"lustre-OST0001").unwrap();
        let names: [&[u8]; 4] = [b"10.0.0.1@tcp", b"10.0.0.2@tcp", b"5b5a3b0a-uuid", b"lustre-MDT0000-mdtlov_UUID"];
        let [holder, other, client, mds] = names.map(|name| symbols.intern(name));
        let lock = LockState {
            cookie: 1,
            target,
            resource: ResourceId([2, 0, 0, 0]),
            lock_type: None,
            granted_mode: LockMode::Pw,
            requested_mode: LockMode::Pw,
            granted: None,
            requested: None,
            nid: Some(holder),
        };
        let mut conflict = |nid, client_uuid, lock| {
            let window = RpcWindow { nid, client_uuid, xid: Xid(1), opcode: Opcode::LDLM_ENQUEUE, job: None };
            let happening = LockHappening::Lock(LockStep::Incompatible, lock);
            let event = LockEvent { node: holder, time_us: 120, pid: 1, window: Some(window), happening };
            summed.lock_event(&event, symbols);
        };
        conflict(other, client, lock);
        // Its own lock, that of an MDT which unlinks the file, one that a thread of the server holds.
        conflict(holder, client, lock);
        conflict(other, mds, lock);
        conflict(other, client, LockState { nid: None, ..lock });
    });
    assert!(metrics.contains("lock_conflicts_total{target=\"lustre-OST0001\"} 1\n"), "{metrics}");
}
