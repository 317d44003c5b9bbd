//! Which RPCs count for the comparison with the server's counters.

use lioprof_model::{SizeEvidence, TargetEvidence};
use lustre_debuglog::Xid;

use super::*;

const BYTES: u64 = 4096;

fn sample(begun_us: i64, ended_us: i64) -> SampleTime {
    SampleTime { begun_us, ended_us }
}

/// A read that was in service from `start_us` to `end_us`.
fn read(symbols: &mut Symbols, start_us: i64, end_us: i64) -> RpcRow {
    let name = symbols.intern(b"10.10.0.11@tcp");
    RpcRow {
        node: name,
        opcode: Opcode::OST_READ,
        nid: name,
        client_uuid: name,
        xid: Xid(1),
        job: None,
        thread: name,
        pid: 1,
        end_us,
        service_us: u64::try_from(end_us - start_us).ok(),
        total_us: None,
        rc: 0,
        reply_rc: 0,
        transno: 0,
        target: None,
        target_evidence: TargetEvidence::None,
        object: None,
        extent: None,
        size: RpcSize::Exact(BYTES),
        size_evidence: SizeEvidence::None,
        dropped: false,
        resent: false,
        replay: false,
        uid: None,
        gid: None,
        projid: None,
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

#[test]
fn what_is_missing_at_a_sample_is_neither_unfinished_nor_too_late() {
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
        fn close(&mut self, _: PartFacts) -> Result<KeptPart, DrainError> {
            Ok(KeptPart::default())
        }
        fn discard(&mut self) {}
    }
    let shared = Arc::new(SharedSums::default());
    let mut summed = Summed::new(Nowhere, Arc::clone(&shared), Arc::new(Metrics::default()));
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
