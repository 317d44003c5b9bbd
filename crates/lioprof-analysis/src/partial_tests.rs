//! The sums of nodes, each with symbols of its own, merge to the same analysis in any order and grouping.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;

use lioprof_model::{
    Analysis, BulkSpan, Mark, RpcRow, RpcSize, SentRpc, SizeEvidence, Symbol, Symbols, TargetEvidence, TraceSummary,
};
use lioprof_testkit::fuzz::{Rng, for_each_seed};
use lioprof_testkit::same_every_way;
use lustre_debuglog::message::ObjectName;
use lustre_debuglog::{Extent, Opcode, TargetName, Xid};
use rustc_hash::FxBuildHasher;

use super::*;
use crate::aggregate::finish;
use crate::locks::{Contention, Overlap, some_lock_sums};

const NODES: usize = 3;
const RPCS: usize = 120;

/// The names that rows are made of: few, so that nodes have many in common.
struct Names {
    nids: Vec<Symbol>,
    uuids: Vec<Symbol>,
    jobs: Vec<Symbol>,
    threads: Vec<Symbol>,
    device: Symbol,
}

const NIDS: [&str; 4] = ["10.0.0.1@tcp", "10.0.0.2@tcp", "10.0.0.3@tcp", "10.0.0.9@tcp"];
const UUIDS: [&str; 4] = ["a", "b", "c", "fs-MDT0000-mdtlov_UUID"];
const THREADS: [&str; 5] = ["ll_ost_io00_001", "ll_ost_io00_002", "mdt_io00_000", "ll_ost00_001", "ldlm_cn00_001"];

impl Names {
    fn new(symbols: &mut Symbols) -> Self {
        let mut some = |texts: &[&str]| texts.iter().map(|text| symbols.intern(text.as_bytes())).collect::<Vec<_>>();
        Self {
            nids: some(&NIDS),
            uuids: some(&UUIDS),
            jobs: some(&["run.1", "run.2"]),
            threads: some(&THREADS),
            device: symbols.intern(b"fs-OST0000"),
        }
    }
}

fn pick<T: Copy>(rng: &mut Rng, some: &[T]) -> T {
    some[rng.below(some.len())]
}

fn up_to(rng: &mut Rng, limit: i64) -> i64 {
    i64::try_from(rng.below(usize::try_from(limit).expect("positive"))).expect("it is less")
}

fn row(rng: &mut Rng, names: &Names, node: Symbol, targets: &[TargetName], end_us: i64) -> RpcRow {
    let opcode = pick(
        rng,
        &[
            Opcode::OST_READ,
            Opcode::OST_WRITE,
            Opcode::OST_WRITE,
            Opcode::LDLM_ENQUEUE,
            Opcode::MDS_GETATTR,
            Opcode::OST_CONNECT,
        ],
    );
    let client = rng.below(names.nids.len());
    let service_us = (!rng.one_in(9)).then(|| rng.next() >> (40 + rng.below(20)));
    let bytes = 1 << rng.below(24);
    let first_byte = rng.next() >> 40;
    let target = (!rng.one_in(5)).then(|| pick(rng, targets));
    RpcRow {
        node,
        nid: names.nids[client],
        client_uuid: names.uuids[client],
        xid: Xid(rng.next()),
        job: (!rng.one_in(4)).then(|| pick(rng, &names.jobs)),
        service_us,
        total_us: service_us.map(|us| us + (rng.next() >> 44)),
        rc: if rng.one_in(9) { pick(rng, &[-5, -107, -110]) } else { 0 },
        target,
        target_evidence: target.map_or(TargetEvidence::None, |_| TargetEvidence::RefreshLine),
        object: (!rng.one_in(5)).then(|| ObjectName::Resource(rng.next() % 5, 0)),
        extent: (!rng.one_in(5)).then_some(Extent { start: first_byte, end: first_byte + bytes }),
        size: match rng.below(3) {
            0 => RpcSize::Exact(bytes),
            1 => RpcSize::Bounded { best: bytes, min: bytes / 2, max: 2 * bytes },
            _ => RpcSize::Unknown,
        },
        size_evidence: pick(rng, &[SizeEvidence::Bulk, SizeEvidence::Extent, SizeEvidence::None]),
        bulk: service_us.filter(|us| us % 3 > 0).map(|us| BulkSpan { before_us: us / 5, transfer_us: us / 2 }),
        dropped: rng.one_in(20),
        resent: rng.one_in(20),
        replay: rng.one_in(20),
        uid: rng.one_in(2).then_some(1000),
        ..RpcRow::made_up(pick(rng, &names.threads), opcode, end_us)
    }
}

/// The sums of a node whose log is of any length, up to some hours.
fn sums(rng: &mut Rng, number: u16) -> Partial {
    let mut own = Symbols::default();
    let symbols = &mut own;
    // The same texts have other symbols in other nodes' sums.
    for _ in 0..rng.below(9) {
        let text = pick(rng, &[NIDS[2], NIDS[3], UUIDS[1], THREADS[2], THREADS[3], "oss2", "oss1", "nobody's"]);
        symbols.intern(text.as_bytes());
    }
    let names = &Names::new(symbols);
    let node = symbols.intern(format!("oss{number}").as_bytes());
    let target = |kind: &str, index: u16| format!("fs-{kind}{index:04x}").parse().expect("a target's name");
    let targets: Vec<TargetName> =
        vec![target("OST", 2 * number), target("OST", 2 * number + 1), target("MDT", number)];
    let mut sums = Aggregate::new(None);
    let length_us = 1 << (10 + rng.below(25));
    let begin_us = 1_795_000_000_000_000 + up_to(rng, 10_000_000);
    let mut ends_us: Vec<i64> = (0..rng.below(RPCS)).map(|_| begin_us + up_to(rng, length_us)).collect();
    ends_us.sort_unstable();
    for &end_us in &ends_us {
        let row = row(rng, names, node, &targets, end_us);
        sums.row(&row, symbols);
        let (target, holder, waiter) = (targets[0], pick(rng, &names.nids), row.nid);
        match rng.below(8) {
            0 => sums.lock(node, end_us, target, Contention::BlockingAst),
            1 => {
                let overlap = pick(rng, &[Overlap::True, Overlap::Expansion, Overlap::Unknown]);
                sums.lock(node, end_us, target, Contention::Conflict { overlap, holder, waiter, resource: None });
            }
            2 => {
                let wait_us = up_to(rng, 5_000_000);
                sums.lock(node, end_us, target, Contention::Wait { wait_us, client: waiter, job: row.job });
                sums.lock_wait(node, target, (waiter, row.job), [end_us - wait_us, end_us], symbols);
            }
            3 => sums.mark(&Mark { node, time_us: end_us, text: names.jobs[0] }),
            4 => sums.sent_rpc(&SentRpc {
                node,
                time_us: end_us,
                pid: 1,
                opcode: pick(rng, &[Opcode::LDLM_BL_CALLBACK, Opcode::OST_WRITE]),
                device: names.device,
                nid: holder,
                xid: row.xid,
                window: None,
                round_trip_us: rng.one_in(2).then(|| rng.next() >> 40),
            }),
            _ => {}
        }
    }
    let log = TraceSummary {
        first_us: ends_us.first().copied(),
        last_us: ends_us.last().copied(),
        traced_us: if rng.one_in(2) { vec![[begin_us, begin_us + length_us / 2]] } else { Vec::new() },
        targets: targets.iter().copied().collect(),
        // If only one pings, all that is of unknown target is its.
        pinging_targets: if rng.one_in(2) { BTreeSet::from([targets[2]]) } else { BTreeSet::new() },
        ..TraceSummary::default()
    };
    sums.locks = (!rng.one_in(5)).then(|| some_lock_sums(rng, node, number.into(), &names.nids));
    sums.node(node, &log, symbols);
    Partial { symbols: own, aggregate: sums }
}

/// What an analysis says, section by section: so much of it that a difference shows where it is, and no more.
fn seen(sums: &Partial) -> BTreeMap<String, u64> {
    let mut analysis = Analysis::default();
    let mut run = finish(sums.aggregate.clone(), &sums.symbols, &mut analysis);
    // Whoever replays them sorts them.
    run.requests.sort_unstable();
    run.waits.sort_unstable();
    let json = serde_json::to_value(&analysis).expect("an analysis");
    let sections = json.as_object().expect("sections").iter().map(|(key, value)| (key.clone(), value.to_string()));
    let sections = sections.chain([("run".to_owned(), format!("{run:?}"))]);
    sections.map(|(key, text)| (key, FxBuildHasher.hash_one(text))).collect()
}

#[test]
fn nodes_merge() {
    for_each_seed(6, |rng| {
        let count = 1 + rng.below(NODES);
        let nodes: Vec<Partial> = (0..count).map(|number| sums(rng, u16::try_from(number).expect("few"))).collect();
        let merge = |mut mine: Partial, theirs: Partial| {
            mine.merge(theirs);
            mine
        };
        let merged = same_every_way(&nodes, &merge, seen);
        assert!(merged.contains_key("run") && merged.contains_key("series"));
    });
}
