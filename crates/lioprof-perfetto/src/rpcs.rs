//! An RPC as slices: on its target from arrival to end, with queue and service inside, and on its service thread.

use lioprof_model::{RpcRow, RpcSize, Symbols};
use lustre_debuglog::message::ObjectName;

use crate::packets::{Argument, Label, TraceFile, Value, ns};
use crate::tracks::{NodeTracks, On};

/// What became of an RPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drawn {
    Slice,
    /// How long it took is not known.
    Instant,
    /// No lane was free, or its time is none.
    Not,
}

pub(crate) fn draw(row: &RpcRow, symbols: &Symbols, tracks: &mut NodeTracks, file: &mut TraceFile) -> Drawn {
    let opcode = row.opcode.to_string();
    let arguments = arguments(row, symbols);
    draw_on_thread(row, symbols, &opcode, &arguments, tracks, file);
    let Some(end_ns) = ns(row.end_us) else { return Drawn::Not };
    count(row, tracks, file);
    let label = Label { category: "rpc", name: &opcode, arguments: &arguments, ..Label::default() };
    let (Some(arrival_us), Some(arrival_ns)) = (row.arrival_us(), row.arrival_us().and_then(ns)) else {
        let Some(lane) = tracks.target_lane(row.target, On::Rpcs, (row.end_us, row.end_us), file) else {
            return Drawn::Not;
        };
        file.instant(lane, end_ns, &label);
        return Drawn::Instant;
    };
    let Some(lane) = tracks.target_lane(row.target, On::Rpcs, (arrival_us, row.end_us), file) else {
        return Drawn::Not;
    };
    file.begin(lane, arrival_ns, &label);
    // Both or neither: they add up to the whole.
    if let (Some(_), Some(start_ns)) = (row.queue_us(), row.start_us().and_then(ns)) {
        file.slice(lane, arrival_ns, start_ns, &Label { category: "queue", name: "queue", ..Label::default() });
        file.begin(lane, start_ns, &Label { category: "service", name: "service", ..Label::default() });
        draw_parts(row, lane, file);
        file.end(lane, end_ns);
    }
    file.end(lane, end_ns);
    Drawn::Slice
}

fn draw_on_thread(
    row: &RpcRow,
    symbols: &Symbols,
    opcode: &str,
    arguments: &[Argument],
    tracks: &mut NodeTracks,
    file: &mut TraceFile,
) {
    let (Some(start_us), Some(start_ns), Some(end_ns)) = (row.start_us(), row.start_us().and_then(ns), ns(row.end_us))
    else {
        return;
    };
    let thread = symbols.text(row.thread);
    // A thread does one thing at a time; but its clock readings are not those of the log's lines.
    if let Some(lane) = tracks.thread_lane((row.pid, &thread), (start_us, row.end_us), file) {
        file.begin(lane, start_ns, &Label { category: "thread", name: opcode, arguments, ..Label::default() });
        draw_parts(row, lane, file);
        file.end(lane, end_ns);
    }
}

/// Inside the slice of a service time: before, in and after the bulk transfer, as far as the log shows it.
fn draw_parts(row: &RpcRow, lane: u64, file: &mut TraceFile) {
    let (Some(start_us), Some(bulk), Some(after_us)) = (row.start_us(), row.bulk, row.after_bulk_us()) else { return };
    let parts = [
        ("before the transfer", bulk.before_us),
        ("bulk transfer", bulk.transfer_us),
        ("after the transfer", after_us),
    ];
    let mut from_us = start_us;
    for (name, us) in parts {
        let Some(to_us) = from_us.checked_add_unsigned(us) else { return };
        if let (Some(from_ns), Some(to_ns), true) = (ns(from_us), ns(to_us), us > 0) {
            file.slice(lane, from_ns, to_ns, &Label { category: "part", name, ..Label::default() });
        }
        from_us = to_us;
    }
}

fn count(row: &RpcRow, tracks: &mut NodeTracks, file: &mut TraceFile) {
    let series = tracks.series(row.target, file);
    if let Some(arrival_us) = row.arrival_us().filter(|us| ns(*us).is_some()) {
        series.in_flight(arrival_us, row.end_us);
    }
    if let Some((direction, bytes)) = row.direction().zip(row.size.best_bytes()) {
        series.bytes(row.end_us, direction, bytes);
    }
}

fn arguments(row: &RpcRow, symbols: &Symbols) -> Vec<Argument> {
    let mut out = vec![("client", Value::Text(symbols.text(row.nid))), ("xid", Value::Uint(row.xid.0))];
    let mut add = |name, value: Option<Value>| out.extend(value.map(|value| (name, value)));
    add("job", row.job.map(|job| Value::Text(symbols.text(job))));
    add("target", row.target.map(|target| Value::Text(target.to_string())));
    add("object", row.object.map(|object| Value::Text(object_text(object))));
    // Inclusive, as the server prints it.
    add("extent", row.extent.map(|extent| Value::Text(extent.to_string())));
    add("opcode", Some(Value::Uint(row.opcode.0.into())));
    match row.size {
        RpcSize::Exact(bytes) => add("bytes", Some(Value::Uint(bytes))),
        RpcSize::Bounded { best, min, max } => {
            add("bytes", Some(Value::Uint(best)));
            add("bytes_min", Some(Value::Uint(min)));
            add("bytes_max", Some(Value::Uint(max)));
        }
        RpcSize::Unknown => {}
    }
    add("rc", Some(Value::Int(row.rc.into())));
    add("thread", Some(Value::Text(symbols.text(row.thread))));
    for (name, flag) in [("dropped", row.dropped), ("resent", row.resent), ("replay", row.replay)] {
        add(name, flag.then_some(Value::Bool(true)));
    }
    out
}

fn object_text(object: ObjectName) -> String {
    match object {
        ObjectName::Fid(fid) => fid.to_string(),
        ObjectName::Resource(id, seq) => format!("{id}:{seq}"),
    }
}
