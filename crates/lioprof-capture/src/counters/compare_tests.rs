//! Verdicts, case by case.

use lioprof_model::RpcSize;

use super::super::totals::{Reading, Rw, Totals};
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
    let edge = Edges { rpcs: 1, bytes: 4096 };
    let no_edge = Edges::default();
    let both = (2, 4096 + (1 << 20));
    let differs = |rpcs, bytes| Verdict::Differs { rpcs, bytes };
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
        ("upper bound", both, None, &bounded, &none, no_edge, within),
        ("above the upper bound", (2, both.1 + 1), None, &bounded, &none, no_edge, differs(0, 1)),
        ("unknown size", (2, 1 << 40), None, &unsized_, &none, no_edge, within),
        ("unknown size, too few bytes", (2, 100), None, &unsized_, &none, no_edge, differs(0, 100 - 4096)),
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
    let reading = |read| Reading { rw: Rw { read, ..Rw::default() }, ..Reading::default() };
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
