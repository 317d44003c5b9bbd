//! What is written, decoded with the messages that wrote it. Perfetto's own decoders judge the rest: `scripts/check-perfetto`.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use lioprof_model::{
    BulkSpan, LockEvent, LockHappening, LockState, LockStep, RowSink, RpcRow, RpcSize, SizeEvidence, Symbols,
    TargetEvidence, TraceSummary,
};
use lustre_debuglog::{LockMode, Opcode, ResourceId, TargetName, Xid};
use prost::Message;
use tempfile::TempDir;

use crate::PerfettoWriter;
use crate::proto::{SEQ_INCREMENTAL_STATE_CLEARED, Trace};

const SLICE_BEGIN: i32 = 1;
const SLICE_END: i32 = 2;

/// An event with its texts looked up.
#[derive(Debug)]
struct Event {
    at_us: u64,
    kind: i32,
    track: u64,
    name: String,
    job: Option<String>,
    flows: Vec<u64>,
}

/// The events of a file in the order of time, and how often interned texts were forgotten.
fn events(path: &Path) -> (Vec<Event>, usize) {
    let trace = Trace::decode(&fs::read(path).unwrap()[..]).unwrap();
    let mut texts: HashMap<(u8, u64), String> = HashMap::new();
    let (mut out, mut cleared) = (Vec::new(), 0);
    for packet in trace.packet {
        if packet.sequence_flags.unwrap() & SEQ_INCREMENTAL_STATE_CLEARED != 0 {
            cleared += 1;
            texts.clear();
        }
        let data = packet.interned_data.unwrap_or_default();
        let kinds = [data.event_names, data.debug_annotation_names, data.debug_annotation_string_values];
        for (kind, names) in (0..).zip(kinds) {
            for name in names {
                assert_eq!(texts.insert((kind, name.iid.unwrap()), name.name.unwrap()), None);
            }
        }
        let Some(event) = packet.track_event else { continue };
        let job = event.debug_annotations.iter().find(|it| texts[&(1, it.name_iid.unwrap())] == "job");
        out.push(Event {
            at_us: packet.timestamp.unwrap() / 1000,
            kind: event.r#type.unwrap(),
            track: event.track_uuid.unwrap(),
            name: event.name_iid.map_or_else(String::new, |name| texts[&(0, name)].clone()),
            job: job.map(|it| texts[&(2, it.string_value_iid.unwrap())].clone()),
            flows: [event.flow_ids, event.terminating_flow_ids].concat(),
        });
    }
    out.sort_by_key(|event| event.at_us);
    (out, cleared)
}

fn rpc(symbols: &mut Symbols, job: &str, end_us: i64, total_us: Option<u64>) -> RpcRow {
    RpcRow {
        nid: symbols.intern(b"10.0.0.1@tcp"),
        client_uuid: symbols.intern(b"uuid"),
        xid: Xid(7),
        job: Some(symbols.intern(job.as_bytes())),
        thread: symbols.intern(b"ll_ost_io00_000"),
        pid: 11,
        service_us: total_us.map(|total| total / 2),
        total_us,
        target: "lustre-OST0000".parse().ok(),
        target_evidence: TargetEvidence::RefreshLine,
        size: RpcSize::Exact(4096),
        size_evidence: SizeEvidence::Extent,
        bulk: None,
        ..RpcRow::made_up(symbols.intern(b"oss1"), Opcode::OST_WRITE, end_us)
    }
}

#[test]
fn texts_are_forgotten_and_known_again() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("trace");
    let mut symbols = Symbols::default();
    let mut writer = PerfettoWriter::create(&path, u64::MAX).unwrap();
    let job = |n: i64| format!("{n:0>1000}");
    for n in 0..10_000 {
        let row = rpc(&mut symbols, &job(n), 1_000_000 + 10 * n, Some(8));
        writer.rpc(&row, &symbols);
    }
    writer.node_end("oss1", &TraceSummary::default(), &symbols);
    assert_eq!(writer.finish().unwrap().rpcs, 10_000);
    let (events, cleared) = events(&path);
    // 10 MB of job ids.
    assert_eq!(cleared, 3);
    let jobs: Vec<String> = events.into_iter().filter(|it| it.kind == SLICE_BEGIN).filter_map(|it| it.job).collect();
    // On the target and on the thread.
    let expected = (0..10_000).flat_map(|n| [job(n), job(n)]);
    assert!(jobs.into_iter().eq(expected));
}

#[test]
fn parts_of_the_service_time_lie_within_it() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("trace");
    let mut symbols = Symbols::default();
    let mut writer = PerfettoWriter::create(&path, u64::MAX).unwrap();
    // 500 us in the queue, 500 us of service: 20, 450 and 30.
    let bulk = Some(BulkSpan { before_us: 20, transfer_us: 450 });
    writer.rpc(&RpcRow { bulk, ..rpc(&mut symbols, "job", 2_000_000, Some(1000)) }, &symbols);
    writer.node_end("oss1", &TraceSummary::default(), &symbols);
    writer.finish().unwrap();
    let (events, _) = events(&path);
    for (name, begins_us) in
        [("before the transfer", 1_999_500), ("bulk transfer", 1_999_520), ("after the transfer", 1_999_970)]
    {
        let begins = events.iter().filter(|it| it.kind == SLICE_BEGIN && it.name == name);
        // On the target and on the thread.
        assert_eq!(begins.map(|it| it.at_us).collect::<Vec<_>>(), [begins_us; 2], "{name}");
    }
    let ends = |at_us| events.iter().filter(|it| it.kind == SLICE_END && it.at_us == at_us).count();
    assert_eq!((ends(1_999_520), ends(1_999_970)), (2, 2));
}

#[test]
fn what_finds_no_lane_and_what_has_no_duration_is_told() {
    let dir = TempDir::new().unwrap();
    let mut symbols = Symbols::default();
    let mut writer = PerfettoWriter::create(&dir.path().join("trace"), u64::MAX).unwrap();
    for n in 0..600 {
        let row = rpc(&mut symbols, "job", 2_000_000 + n, Some(1_000_000));
        writer.rpc(&row, &symbols);
    }
    let row = rpc(&mut symbols, "job", 4_000_000, None);
    writer.rpc(&row, &symbols);
    writer.node_end("oss1", &TraceSummary::default(), &symbols);
    let written = writer.finish().unwrap();
    assert_eq!((written.rpcs, written.rpcs_not_drawn, written.rpcs_without_duration), (513, 88, 1));
}

#[test]
fn times_that_are_none_are_not_drawn() {
    let dir = TempDir::new().unwrap();
    let mut symbols = Symbols::default();
    let mut writer = PerfettoWriter::create(&dir.path().join("trace"), u64::MAX).unwrap();
    for end_us in [-5, i64::MAX, i64::MIN] {
        let row = rpc(&mut symbols, "job", end_us, Some(3));
        writer.rpc(&row, &symbols);
    }
    writer.node_end("oss1", &TraceSummary::default(), &symbols);
    assert_eq!(writer.finish().unwrap().rpcs_not_drawn, 3);
}

/// A line about a lock of a client, by a thread of the server.
fn lock(symbols: &mut Symbols, time_us: i64, pid: u32, step: LockStep, cookie: u64, granted: bool) -> LockEvent {
    let target: TargetName = "lustre-OST0000".parse().unwrap();
    let state = LockState {
        cookie,
        target,
        resource: ResourceId([1, 2, 0, 0]),
        lock_type: None,
        granted_mode: if granted { LockMode::Pw } else { LockMode::None },
        requested_mode: LockMode::Pw,
        granted: None,
        requested: None,
        nid: Some(symbols.intern(format!("10.0.0.{cookie}@tcp").as_bytes())),
    };
    let node = symbols.intern(b"oss1");
    LockEvent { node, time_us, pid, window: None, happening: LockHappening::Lock(step, state) }
}

#[test]
fn arrows_go_from_the_waiter_to_the_callback_and_back() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("trace");
    let mut symbols = Symbols::default();
    let mut writer = PerfettoWriter::create(&path, u64::MAX).unwrap();
    let life = [
        (100, 1, LockStep::Created, 1, false),
        (110, 1, LockStep::Queued, 1, true),
        // Nobody ever wants this one.
        (120, 1, LockStep::Created, 3, false),
        (130, 1, LockStep::Queued, 3, true),
        (200, 2, LockStep::Created, 2, false),
        (210, 2, LockStep::Incompatible, 1, true),
        (220, 2, LockStep::Queued, 2, false),
        (230, 2, LockStep::BlockingAst, 1, true),
        (300, 3, LockStep::Released, 1, true),
        (310, 3, LockStep::Granted, 2, true),
        (320, 3, LockStep::Freed, 1, false),
    ];
    for (time_us, pid, step, cookie, granted) in life {
        let event = lock(&mut symbols, time_us, pid, step, cookie, granted);
        writer.lock_event(&event, &symbols);
    }
    writer.node_end("oss1", &TraceSummary::default(), &symbols);
    let written = writer.finish().unwrap();
    assert_eq!((written.lock_waits, written.lock_holds, written.blocking_asts, written.locks_not_drawn), (1, 2, 1, 0));
    let (events, _) = events(&path);
    let slices = events.iter().filter(|it| it.kind == SLICE_BEGIN || it.kind == SLICE_END);
    let seen: Vec<(u64, &str, &[u64])> = slices.map(|it| (it.at_us, it.name.as_str(), &it.flows[..])).collect();
    let expected: [(u64, &str, &[u64]); 7] = [
        (110, "hold PW", &[]),
        (220, "wait PW", &[1]),
        (230, "blocking AST", &[1]),
        (300, "", &[]),
        (300, "", &[]),
        (310, "", &[]),
        // Still held when the log ends: no end.
        (310, "hold PW", &[1]),
    ];
    assert_eq!(seen, expected);
    let lanes: Vec<u64> = events.iter().filter(|it| it.name.starts_with("hold")).map(|it| it.track).collect();
    assert_ne!(lanes[0], lanes[1]);
}

#[test]
fn a_clock_that_steps_back_makes_no_slice_that_ends_before_it_begins() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("trace");
    let mut symbols = Symbols::default();
    let mut writer = PerfettoWriter::create(&path, u64::MAX).unwrap();
    let life = [
        (500, LockStep::Created, false),
        (510, LockStep::Queued, false),
        (400, LockStep::Granted, true),
        (390, LockStep::BlockingAst, true),
        (380, LockStep::Released, true),
    ];
    for (time_us, step, granted) in life {
        let event = lock(&mut symbols, time_us, 1, step, 1, granted);
        writer.lock_event(&event, &symbols);
    }
    writer.node_end("oss1", &TraceSummary::default(), &symbols);
    writer.finish().unwrap();
    let (events, _) = events(&path);
    assert_eq!(events.iter().filter(|it| it.kind == SLICE_BEGIN || it.kind == SLICE_END).count(), 6);
    let mut depth = 0;
    for event in events {
        assert_eq!(event.at_us, 510);
        depth += i32::from(event.kind == SLICE_BEGIN) - i32::from(event.kind == SLICE_END);
        assert!(depth >= 0);
    }
}
