//! Verdicts, case by case.

use std::collections::BTreeMap;
use std::sync::Arc;

use lioprof_model::counters::{Count, OfTarget, SampleTime};
use lioprof_model::{CounterSnapshot, ReadWrite, RpcRow, RpcSize, Symbols};
use lustre_debuglog::{Opcode, TargetName};

use super::*;

fn io(sizes: &[RpcSize]) -> Io {
    let mut io = Io::default();
    for &size in sizes {
        io.add(size, false);
    }
    io
}

fn count(rpcs: u64, bytes: u64) -> Count {
    Count { rpcs, bytes }
}

#[test]
fn verdicts() {
    let exact = io(&[RpcSize::Exact(4096), RpcSize::Exact(1 << 20)]);
    let bounded = io(&[RpcSize::Exact(4096), RpcSize::Bounded { best: 8192, min: 2, max: 1 << 20 }]);
    let unsized_ = io(&[RpcSize::Exact(4096), RpcSize::Unknown]);
    let none = Io::default();
    let edge = io(&[RpcSize::Exact(4096)]);
    let both = (2, 4096 + (1 << 20));
    let unsized_edge = io(&[RpcSize::Unknown]);
    let differs = |rpcs, bytes| Verdict::Differs { rpcs, bytes, unsized_rpcs: 0 };
    let about = |rpcs, bytes, unsized_rpcs| Verdict::Differs { rpcs, bytes, unsized_rpcs };
    let many = (2, 4096 + (60 << 20));
    let within = Verdict::WithinBounds;

    // Counted; certainly counted by the trace; perhaps counted: at an edge, or of unknown OST.
    type Case<'a> = (&'a str, (u64, u64), &'a Io, &'a Io, Verdict);
    let cases: &[Case<'_>] = &[
        ("same", both, &exact, &none, Verdict::Equal),
        ("trace lost one", (3, both.1 + 100), &exact, &none, differs(1, 100)),
        ("trace has too much", (1, 4096), &exact, &none, differs(-1, -(1 << 20))),
        ("same RPCs, other bytes", (2, both.1 - 1), &exact, &none, differs(0, -1)),
        ("lower bound", (2, 4098), &bounded, &none, within),
        ("below the lower bound", (2, 4097), &bounded, &none, differs(0, -1)),
        ("bounded, RPCs are missing", (3, both.1), &bounded, &none, differs(1, (1 << 20) - 8192)),
        ("upper bound", both, &bounded, &none, within),
        ("above the upper bound", (2, both.1 + 1), &bounded, &none, differs(0, 1)),
        ("unknown size", many, &unsized_, &none, within),
        (
            "unknown size, more than an RPC can move",
            (2, 1 << 40),
            &unsized_,
            &none,
            about(0, (1 << 40) - 4096 - MAX_RPC_BYTES.cast_signed(), 1),
        ),
        ("unknown size, too few bytes", (2, 100), &unsized_, &none, about(0, 100 - 4096, 1)),
        // A real overload, see the test below: the bytes of a thousand RPCs are not in one of unknown size.
        ("unknown size, RPCs are missing", (3, many.1), &unsized_, &none, about(1, 60 << 20, 1)),
        ("perhaps, unknown size", (4, many.1), &exact, &unsized_edge, about(1, 59 << 20, 1)),
        ("unknown size at the edge", (3, both.1 + (60 << 20)), &exact, &unsized_edge, within),
        ("perhaps, all of it", (4, 2 * both.1), &exact, &exact, within),
        ("perhaps, too many", (5, 2 * both.1), &exact, &exact, differs(1, 0)),
        ("at the edge, counted", (3, both.1 + 4096), &exact, &edge, within),
        ("at the edge, not counted", both, &exact, &edge, within),
        ("at the edge, less than is certain", (1, 1 << 20), &exact, &edge, differs(-1, -4096)),
        ("beyond the edge", (4, both.1 + 4097), &exact, &edge, differs(1, 1)),
    ];
    for (what, (rpcs, bytes), inside, perhaps, expected) in cases {
        assert_eq!(verdict(count(*rpcs, *bytes), inside, perhaps), *expected, "{what}");
    }
}

/// A sample that shows these counters, as many on each OST, a second after the one before.
fn sample(second: i64, osts: &[&str], rw: ReadWrite<Count>, many: Option<(&str, &str)>) -> CounterSnapshot {
    let at_us = second * 1_000_000;
    let reading = Reading { rw, ..Reading::default() };
    let of = |name: &str| -> BTreeMap<OfTarget, Reading> {
        osts.iter().map(|&ost| ((Arc::from(ost), Arc::from(name)), reading)).collect()
    };
    CounterSnapshot {
        at: SampleTime { begun_us: at_us, ended_us: at_us + 5 },
        targets: osts.iter().map(|&ost| (Arc::from(ost), reading)).collect(),
        clients: Some(many.map(|(nid, _)| of(nid)).unwrap_or_default()),
        jobs: Some(many.map(|(_, job)| of(job)).unwrap_or_default()),
        ..CounterSnapshot::default()
    }
}

/// Enters a request in the second that began with the last sample.
fn enter(ledger: &mut Ledger, opcode: Opcode, ost: Option<&str>, size: RpcSize, job: Option<&str>) {
    let mut symbols = Symbols::default();
    let nid = symbols.intern(b"10.0.0.2@o2ib");
    let (_, last_us) = ledger.interval_us.unwrap();
    let row = RpcRow {
        service_us: Some(100),
        target: ost.and_then(|ost| TargetName::parse_bytes(ost.as_bytes())),
        size,
        job: job.map(|job| symbols.intern(job.as_bytes())),
        ..RpcRow::made_up(nid, opcode, last_us + 500_000)
    };
    ledger.rpc(&row, &symbols);
}

fn compared(mut ledger: Ledger) -> Comparison {
    ledger.end();
    Comparison::new(&ledger)
}

#[test]
fn both_sides_keys_are_rows_and_the_text_fits() {
    let ost = "fs-OST0000";
    let shown = |rpcs| ReadWrite { read: count(rpcs, rpcs * 4096), ..ReadWrite::default() };
    let mut ledger = Ledger::default();
    ledger.sample(&sample(1, &[ost], shown(1), Some(("10.0.0.1@o2ib", "cp\n.0"))));
    for _ in 0..2 {
        enter(&mut ledger, Opcode::OST_READ, Some(ost), RpcSize::Exact(4096), Some("cp\n.0"));
    }
    ledger.sample(&sample(2, &[ost], shown(3), Some(("10.0.0.1@o2ib", "cp\n.0"))));
    let text = compared(ledger).to_string();
    let expected = "\
trace against counters: 3 equal, 0 within bounds, 2 differ
                                          RPCs           bytes  result
node read                                    2            8192  equal
OST fs-OST0000 read                          2            8192  equal
client 10.0.0.1@o2ib read                    2            8192  differs by +2 RPCs, +8192 bytes
client 10.0.0.2@o2ib read                    0               0  differs by -2 RPCs, -8192 bytes
job cp?.0 read                               2            8192  equal
";
    assert_eq!(text, expected);
}

/// A server with Lustre 2.17.57 whose debug buffer overflowed 29 times: 1,306 of 4,000 writes are not in the trace, and three
/// of those that are there lost the lines that tell their size.
#[test]
fn what_an_overload_lost_is_told_in_bytes() {
    const SIZE: u64 = 16_384;
    let osts = ["lustre-OST0002", "lustre-OST0003"];
    let shown = |rpcs: u64| ReadWrite { write: count(rpcs, rpcs * SIZE), ..ReadWrite::default() };
    let mut ledger = Ledger::default();
    ledger.sample(&sample(1, &osts, shown(0), None));
    let part = RpcSize::Bounded { best: SIZE, min: SIZE - 256, max: SIZE };
    for (ost, size, writes) in [
        (Some(osts[0]), RpcSize::Exact(SIZE), 1341),
        (Some(osts[1]), RpcSize::Exact(SIZE), 1344),
        (None, part, 6),
        (None, RpcSize::Unknown, 3),
    ] {
        for _ in 0..writes {
            enter(&mut ledger, Opcode::OST_WRITE, ost, size, None);
        }
    }
    ledger.sample(&sample(2, &osts, shown(2000), None));
    let comparison = compared(ledger);
    let text = comparison.to_string();
    for line in [
        "node write                                4000        65536000  differs by +1306 RPCs, +21446656 bytes (less what the 3 traced ones of unknown size moved)\n",
        "OST lustre-OST0002 write                  2000        32768000  differs by +650 RPCs, +10698752 bytes (less ",
        "OST lustre-OST0003 write                  2000        32768000  differs by +647 RPCs, +10649600 bytes (less ",
    ] {
        assert!(text.contains(line), "expected {line:?} in\n{text}");
    }
    let missing = comparison.missing.unwrap();
    assert_eq!((missing.counted_rpcs, missing.rpcs), (4000, 1306));
}

#[test]
fn jobs_that_are_not_compared_say_the_true_reason() {
    let why = |traced: bool| {
        let mut ledger = Ledger::default();
        ledger.sample(&sample(1, &[], ReadWrite::default(), None));
        if traced {
            enter(&mut ledger, Opcode::OST_READ, None, RpcSize::Exact(4096), None);
        }
        compared(ledger).not_compared
    };
    assert_eq!(why(false), ["jobs: no read or write was traced, so none names its job"]);
    assert_eq!(why(true), ["jobs: this Lustre version does not log them"]);
}

/// Clients are read once a minute: Lustre may be unloaded before the counters of a new one were ever seen.
#[test]
fn clients_whose_counters_went_unseen_with_their_target_do_not_differ() {
    let ost = "fs-OST0000";
    let mut ledger = Ledger::default();
    ledger.sample(&sample(1, &[ost], ReadWrite::default(), None));
    enter(&mut ledger, Opcode::OST_WRITE, Some(ost), RpcSize::Exact(4096), Some("fio.0"));
    let shown = ReadWrite { write: count(1, 4096), ..ReadWrite::default() };
    ledger.sample(&CounterSnapshot { clients: None, jobs: None, ..sample(2, &[ost], shown, None) });
    ledger.sample(&sample(3, &[], ReadWrite::default(), None));
    let comparison = compared(ledger);
    let text = comparison.to_string();
    assert_eq!(comparison.differing().count(), 0, "{text}");
    for line in [
        "node write                                   1            4096  equal (counters vanished)\n",
        "not compared: client: 1 whose counters vanished",
        "not compared: job: 1 whose counters vanished",
    ] {
        assert!(text.contains(line), "expected {line:?} in\n{text}");
    }
}

/// Two clients were to be compared, too many to read, or none when tracing began.
#[test]
fn clients_that_were_not_all_read_are_not_compared() {
    let all = sample(1, &["fs-OST0000"], ReadWrite::default(), None);
    let cut = CounterSnapshot { clients_cut: true, ..all.clone() };
    let unread = CounterSnapshot { clients: None, ..all.clone() };
    for first in [cut, unread] {
        let mut ledger = Ledger::default();
        ledger.sample(&first);
        enter(&mut ledger, Opcode::OST_READ, None, RpcSize::Exact(4096), Some("cp.0"));
        ledger.sample(&CounterSnapshot { at: SampleTime { begun_us: 9_000_000, ended_us: 9_000_005 }, ..all.clone() });
        let comparison = compared(ledger);
        assert_eq!(comparison.not_compared, ["clients: the counters of not all of them were read"]);
        assert!(comparison.rows.iter().any(|row| row.scope == Scope::Job), "{comparison}");
    }
}

/// The counter was cleared when 3 of 10 writes were missing: the later ones do not hide that.
#[test]
fn what_was_lost_before_a_counter_was_cleared_stays_lost() {
    let ost = "fs-OST0000";
    let shown = |rpcs| ReadWrite { write: count(rpcs, rpcs * 4096), ..ReadWrite::default() };
    let mut ledger = Ledger::default();
    ledger.sample(&sample(1, &[ost], shown(100), None));
    for (traced, second, shows) in [(7, 2, 110), (40, 3, 5), (2, 4, 7)] {
        for _ in 0..traced {
            enter(&mut ledger, Opcode::OST_WRITE, Some(ost), RpcSize::Exact(4096), None);
        }
        ledger.sample(&sample(second, &[ost], shown(shows), None));
    }
    let text = compared(ledger).to_string();
    let line = "OST fs-OST0000 write                        12           49152  differs by +3 RPCs, +12288 bytes (counters were cleared)\n";
    assert!(text.contains(line), "expected {line:?} in\n{text}");
}
