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
    assert_eq!(interval.edge_bytes, interval.edge_rpcs * BYTES);
    (interval.total.read.rpcs, interval.edge_rpcs)
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
