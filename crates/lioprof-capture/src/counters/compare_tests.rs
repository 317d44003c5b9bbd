//! Verdicts, case by case.

use lioprof_model::RpcSize;

use super::super::totals::{Reading, Totals};
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
    let mut failed = exact.clone();
    failed.add(RpcSize::Exact(0), true);
    let none = Io::default();
    let edge = Edges { rpcs: 1, bytes: 4096, ..Edges::default() };
    let no_edge = Edges::default();
    let both = (2, 4096 + (1 << 20));
    let unsized_edge = Edges { unsized_rpcs: 1, ..edge };
    let differs = |rpcs, bytes| Verdict::Differs { rpcs, bytes, unsized_rpcs: 0 };
    let about = |rpcs, bytes, unsized_rpcs| Verdict::Differs { rpcs, bytes, unsized_rpcs };
    let many = (2, 4096 + (60 << 20));
    let within = Verdict::WithinBounds;

    type Case<'a> = (&'a str, (u64, u64), Option<Doubt>, &'a Io, &'a Io, Edges, Verdict);
    let cases: &[Case<'_>] = &[
        ("same", both, None, &exact, &none, no_edge, Verdict::Equal),
        ("failed RPCs move nothing", both, None, &failed, &none, no_edge, Verdict::Equal),
        ("trace lost one", (3, both.1 + 100), None, &exact, &none, no_edge, differs(1, 100)),
        ("trace has too much", (1, 4096), None, &exact, &none, no_edge, differs(-1, -(1 << 20))),
        ("same RPCs, other bytes", (2, both.1 - 1), None, &exact, &none, no_edge, differs(0, -1)),
        ("lower bound", (2, 4098), None, &bounded, &none, no_edge, within),
        ("below the lower bound", (2, 4097), None, &bounded, &none, no_edge, differs(0, -1)),
        ("bounded, RPCs are missing", (3, both.1), None, &bounded, &none, no_edge, differs(1, (1 << 20) - 8192)),
        ("upper bound", both, None, &bounded, &none, no_edge, within),
        ("above the upper bound", (2, both.1 + 1), None, &bounded, &none, no_edge, differs(0, 1)),
        ("unknown size", many, None, &unsized_, &none, no_edge, within),
        (
            "unknown size, more than an RPC can move",
            (2, 1 << 40),
            None,
            &unsized_,
            &none,
            no_edge,
            about(0, (1 << 40) - 4096 - MAX_RPC_BYTES.cast_signed(), 1),
        ),
        ("unknown size, too few bytes", (2, 100), None, &unsized_, &none, no_edge, about(0, 100 - 4096, 1)),
        // A real overload, see the test below: the bytes of a thousand RPCs are not in one of unknown size.
        ("unknown size, RPCs are missing", (3, many.1), None, &unsized_, &none, no_edge, about(1, 60 << 20, 1)),
        (
            "OST unknown and unknown size",
            (4, many.1),
            None,
            &exact,
            &io(&[RpcSize::Unknown]),
            no_edge,
            about(1, 59 << 20, 1),
        ),
        ("unknown size at the edge", (3, both.1 + (60 << 20)), None, &exact, &none, unsized_edge, within),
        (
            "unknown size at the edge, RPCs are missing",
            (4, both.1 + (2 << 20)),
            None,
            &exact,
            &none,
            unsized_edge,
            about(1, (2 << 20) - 4096, 1),
        ),
        ("OST unknown", (4, 2 * both.1), None, &exact, &exact, no_edge, within),
        ("OST unknown, too many", (5, 2 * both.1), None, &exact, &exact, no_edge, differs(1, 0)),
        ("at the edge", (3, both.1 + 4096), None, &exact, &none, edge, within),
        ("at the edge, missing", (1, 1 << 20), None, &exact, &none, edge, within),
        ("beyond the edge", (4, both.1 + 4097), None, &exact, &none, edge, differs(1, 1)),
        ("cleared", (1, 4096), Some(Doubt::Reset), &exact, &none, no_edge, within),
        ("cleared, yet more than traced", (3, both.1), Some(Doubt::Reset), &exact, &none, no_edge, differs(1, 0)),
        ("counters vanished, never equal", both, Some(Doubt::Vanished), &exact, &none, no_edge, within),
    ];
    for (what, (rpcs, bytes), doubt, traced, unknown, edges, expected) in cases {
        assert_eq!(verdict(count(*rpcs, *bytes), *doubt, traced, unknown, *edges), *expected, "{what}");
    }
}

#[test]
fn both_sides_keys_are_rows_and_the_text_fits() {
    let reading = |read| Reading { rw: ReadWrite { read, ..ReadWrite::default() }, ..Reading::default() };
    let at = |time_us, bytes: u64| Totals {
        time_us,
        targets: [("fs-OST0000".into(), reading(count(bytes / 4096, bytes)))].into(),
        clients: Some([(("fs-OST0000".into(), "10.0.0.1@o2ib".into()), reading(count(bytes / 4096, bytes)))].into()),
        jobs: Some([(("fs-OST0000".into(), "cp\n.0".into()), reading(count(bytes / 4096, bytes)))].into()),
        ..Totals::default()
    };
    let mut ledger = Ledger::default();
    ledger.observe(&at(1, 4096));
    ledger.observe(&at(2, 3 * 4096));
    let traced = ReadWrite { read: io(&[RpcSize::Exact(4096); 2]), write: Io::default() };
    let sums = TraceSums {
        total: traced.clone(),
        targets: [("fs-OST0000".to_owned(), traced.clone())].into(),
        clients: [("10.0.0.2@o2ib".to_owned(), traced.clone())].into(),
        jobs: Some([("cp\n.0".to_owned(), traced)].into()),
        ..TraceSums::default()
    };
    let comparison = Comparison::new(&ledger, &sums);
    let text = comparison.to_string();
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
    let json = serde_json::to_string(&comparison).unwrap();
    assert_eq!(serde_json::from_str::<Comparison>(&json).unwrap(), comparison);
}

/// A server with Lustre 2.17.57 whose debug buffer overflowed 29 times: 1,306 of 4,000 writes are not in the trace, and three
/// of those that are there lost the lines that tell their size.
#[test]
fn what_an_overload_lost_is_told_in_bytes() {
    const SIZE: u64 = 16_384;
    let osts = ["lustre-OST0002", "lustre-OST0003"];
    let at = |time_us, rpcs: u64| Totals {
        time_us,
        targets: osts
            .iter()
            .map(|&ost| {
                let rw = ReadWrite { write: count(rpcs, rpcs * SIZE), ..ReadWrite::default() };
                (ost.into(), Reading { rw, ..Reading::default() })
            })
            .collect(),
        ..Totals::default()
    };
    let mut ledger = Ledger::default();
    ledger.observe(&at(1, 0));
    ledger.observe(&at(2, 2000));
    let writes = |exact: usize, bounded: usize, unknown: usize| {
        let one = |size, number| std::iter::repeat_n(size, number);
        let part = RpcSize::Bounded { best: SIZE, min: SIZE - 256, max: SIZE };
        let sizes = one(RpcSize::Exact(SIZE), exact).chain(one(part, bounded)).chain(one(RpcSize::Unknown, unknown));
        ReadWrite { write: io(&sizes.collect::<Vec<_>>()), read: Io::default() }
    };
    let traced = TraceSums {
        total: writes(2685, 6, 3),
        unattributed: writes(0, 6, 3),
        targets: [(osts[0].to_owned(), writes(1341, 0, 0)), (osts[1].to_owned(), writes(1344, 0, 0))].into(),
        ..TraceSums::default()
    };
    let comparison = Comparison::new(&ledger, &traced);
    let text = comparison.to_string();
    for line in [
        "node write                                4000        65536000  differs by +1306 RPCs, +21446656 bytes (less what the 3 traced ones of unknown size moved)\n",
        "OST lustre-OST0002 write                  2000        32768000  differs by +650 RPCs, +10698752 bytes (less ",
        "OST lustre-OST0003 write                  2000        32768000  differs by +647 RPCs, +10649600 bytes (less ",
    ] {
        assert!(text.contains(line), "expected {line:?} in\n{text}");
    }
}

#[test]
fn jobs_that_are_not_compared_say_the_true_reason() {
    let mut ledger = Ledger::default();
    ledger.observe(&Totals { jobs: Some([].into()), clients: Some([].into()), ..Totals::default() });
    let why = |total: ReadWrite| {
        let sums = TraceSums { total, jobs: None, ..TraceSums::default() };
        Comparison::new(&ledger, &sums).not_compared
    };
    assert_eq!(why(ReadWrite::default()), ["jobs: no read or write was traced, so none names its job"]);
    let traced = ReadWrite { read: io(&[RpcSize::Exact(4096)]), write: Io::default() };
    assert_eq!(why(traced), ["jobs: this Lustre version does not log them"]);
}

/// Clients are read once a minute: Lustre may be unloaded before the counters of a new one were ever seen.
#[test]
fn clients_whose_counters_went_unseen_with_their_target_do_not_differ() {
    let mut ledger = Ledger::default();
    let loaded = Totals {
        time_us: 1,
        targets: [("fs-OST0000".into(), Reading::default())].into(),
        clients: Some([].into()),
        jobs: Some([].into()),
        ..Totals::default()
    };
    ledger.observe(&loaded);
    ledger.observe(&Totals { time_us: 2, ..Totals::default() });
    let traced = ReadWrite { write: io(&[RpcSize::Exact(4096)]), read: Io::default() };
    let sums = TraceSums {
        total: traced.clone(),
        targets: [("fs-OST0000".to_owned(), traced.clone())].into(),
        clients: [("10.0.0.2@o2ib".to_owned(), traced.clone())].into(),
        jobs: Some([("fio.0".to_owned(), traced)].into()),
        ..TraceSums::default()
    };
    let comparison = Comparison::new(&ledger, &sums);
    assert_eq!(comparison.differing().count(), 0, "{comparison}");
    assert!(comparison.to_string().contains("client 10.0.0.2@o2ib write"), "{comparison}");
}
