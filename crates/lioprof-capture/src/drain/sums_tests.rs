//! Which RPCs count for the comparison with the server's counters.

use lioprof_model::counters::{Count, Reading};
use lioprof_model::{CounterSnapshot, LockState, ReadWrite, RpcSize, RpcWindow};
use lustre_debuglog::{LockMode, ResourceId, Xid};

use super::*;

const BYTES: u64 = 4096;

/// A read that was in service from `start_us` to `end_us`.
fn read(symbols: &mut Symbols, start_us: i64, end_us: i64) -> RpcRow {
    let name = symbols.intern(b"10.10.0.11@tcp");
    RpcRow {
        service_us: u64::try_from(end_us - start_us).ok(),
        size: RpcSize::Exact(BYTES),
        ..RpcRow::made_up(name, Opcode::OST_READ, end_us)
    }
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

/// A sample of a stretch, with so many reads of one OST.
fn counters(stretch: u64, begun_us: i64, ended_us: i64, rpcs: u64) -> Sample {
    let rw = ReadWrite { read: Count { rpcs, bytes: rpcs * BYTES }, ..ReadWrite::default() };
    let at = SampleTime { begun_us, ended_us };
    let targets = [("lustre-OST0000".into(), Reading { rw, ..Reading::default() })].into();
    Sample { totals: CounterSnapshot { stretch, at, targets, ..CounterSnapshot::default() }, ..Sample::default() }
}

fn summed(shared: &Arc<SharedSums>) -> Summed<Nowhere> {
    let mut summed = Summed::new(Nowhere, Arc::clone(shared), Arc::new(Metrics::default()), None);
    summed.counters(&counters(1, 100, 110, 0), Traced::GoesOn);
    summed
}

#[test]
fn what_is_missing_at_a_sample_is_neither_unfinished_nor_too_late() {
    let shared = Arc::new(SharedSums::default());
    let mut summed = summed(&shared);
    let mut symbols = Symbols::default();
    for end_us in [120, 150, 180] {
        let row = read(&mut symbols, end_us - 5, end_us);
        summed.rpc(&row, &symbols);
    }
    // Ten were counted; the fourth row was in service at the sample, the fifth began later.
    summed.counters(&counters(1, 200, 210, 10), Traced::GoesOn);
    for (start_us, end_us) in [(205, 400), (211, 300)] {
        let row = read(&mut symbols, start_us, end_us);
        summed.rpc(&row, &symbols);
    }
    summed.complete(210, 0, true);
    assert_eq!(shared.missing(), None, "the trace has not come that far");
    summed.complete(211, 2, false);
    assert_eq!(shared.missing(), None, "the kernel may only be late");
    summed.complete(211, 2, true);
    // Seven have no row; three may have been counted or not.
    let expected = Missing { time_us: 200, counted_rpcs: 10, rpcs: 6, bytes: 6 * BYTES };
    assert_eq!(shared.missing(), Some(expected));
    // These explain all that has no row.
    summed.counters(&counters(1, 500, 500, 10), Traced::GoesOn);
    summed.complete(600, 5, false);
    assert_eq!(shared.missing().map(|missing| (missing.rpcs, missing.bytes)), Some((0, 0)));
    // The trace is far behind the samples: the oldest that wait are not forgotten for newer ones.
    for at_us in (700..).take(MAX_WAITING + 5) {
        summed.counters(&counters(1, at_us, at_us, 12), Traced::GoesOn);
    }
    summed.complete(702, 0, true);
    assert_eq!(shared.missing().map(|missing| (missing.time_us, missing.rpcs)), Some((701, 7)));
}

#[test]
fn missing_bytes_are_no_more_than_those_of_the_missing() {
    let shared = Arc::new(SharedSums::default());
    let mut summed = summed(&shared);
    let mut symbols = Symbols::default();
    // Direct I/O in a light capture: sizes are unknown.
    for end_us in 120..128 {
        let row = RpcRow { size: RpcSize::Unknown, ..read(&mut symbols, end_us - 5, end_us) };
        summed.rpc(&row, &symbols);
    }
    summed.counters(&counters(1, 200, 210, 10), Traced::GoesOn);
    summed.complete(211, 0, true);
    assert_eq!(shared.missing().map(|missing| (missing.rpcs, missing.bytes)), Some((2, 2 * BYTES)));
}

#[test]
fn stretches_of_tracing_are_added_up() {
    let shared = Arc::new(SharedSums::default());
    let mut summed = summed(&shared);
    let mut symbols = Symbols::default();
    // The last sample of a stretch is entered before the rows of its last segment.
    summed.counters(&counters(1, 200, 210, 2), Traced::Ends);
    let mut enter = |summed: &mut Summed<Nowhere>, start_us, end_us| {
        let row = read(&mut symbols, start_us, end_us);
        summed.rpc(&row, &symbols);
    };
    enter(&mut summed, 120, 130);
    enter(&mut summed, 230, 240);
    // What the counters count while nothing is traced is nothing to compare with.
    summed.counters(&counters(1, 250, 251, 50), Traced::Nothing);
    summed.counters(&counters(2, 300, 310, 90), Traced::GoesOn);
    enter(&mut summed, 320, 330);
    summed.counters(&counters(2, 400, 410, 91), Traced::Ends);
    assert_eq!((summed.ledger.traced_us(0, 1000), summed.ledger.traced_us(150, 350)), (90 + 90, 50 + 40));
    summed.finish();
    let comparison = shared.take_comparison().unwrap();
    let missing = Missing { time_us: 400, counted_rpcs: 3, rpcs: 1, bytes: BYTES };
    assert_eq!(comparison.missing, Some(missing), "{comparison}");
}

/// What goes through, what of it is compared with the counters, and what the metrics count.
fn summed_up(into: impl FnOnce(&mut Summed<Nowhere>, &mut Symbols)) -> (Ledger, String) {
    let (shared, metrics) = (Arc::new(SharedSums::default()), Arc::new(Metrics::default()));
    let mut summed = Summed::new(Nowhere, Arc::clone(&shared), Arc::clone(&metrics), None);
    summed.counters(&counters(1, 100, 110, 0), Traced::GoesOn);
    into(&mut summed, &mut Symbols::default());
    summed.counters(&counters(1, 200, 210, 0), Traced::Ends);
    (summed.ledger, metrics.open_metrics().unwrap())
}

#[test]
fn what_the_counters_of_osts_do_not_count_is_not_compared_with_them() {
    let (ledger, _) = summed_up(|summed, symbols| {
        let row = read(symbols, 120, 130);
        let [mdt_io, ost_io] = [&b"mdt_io00_001"[..], b"ll_ost_io00_001"].map(|name| symbols.intern(name));
        // Data-on-MDT of unknown target; a read that failed; one of unknown OST.
        summed.rpc(&RpcRow { thread: mdt_io, ..row.clone() }, symbols);
        summed.rpc(&RpcRow { thread: ost_io, rc: -5, ..row.clone() }, symbols);
        summed.rpc(&RpcRow { thread: ost_io, ..row }, symbols);
    });
    assert_eq!((ledger.node.inside.read.rpcs, ledger.unattributed.inside.read.rpcs), (1, 1));
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
