//! Clients' operations as a trace.
//!
//! ```text
//! client1                    process
//!   633                      group: a thread
//!     operations             lanes, mostly one
//!     RPCs                   lanes, with arrows to ..
//! oss1                       process
//!   RPCs of operations       .. lanes: queue and service of each
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use lioprof_model::{OperationRow, OperationRpc, Operations, Part, ServedRpc};

use crate::lanes::Lanes;
use crate::packets::{Argument, Label, TraceFile, Track, Value, ns};
use crate::{PerfettoError, create};

/// A thread of a client.
#[derive(Default)]
struct Thread {
    operations: Lanes,
    rpcs: Lanes,
    group: u64,
}

/// Writes all operations into one file, which replaces one of that name; its size in bytes.
///
/// # Errors
/// If the file cannot be written.
pub fn write_operations(path: &Path, operations: &Operations) -> Result<u64, PerfettoError> {
    let mut file = create(path)?;
    let mut trace = OperationsTrace::default();
    for row in &operations.rows {
        trace.operation(row, &mut file);
    }
    trace.servers(&mut file);
    file.finish().map_err(|source| PerfettoError { path: path.to_owned(), source })
}

#[derive(Default)]
struct OperationsTrace<'a> {
    processes: BTreeMap<&'a str, u64>,
    threads: BTreeMap<(&'a str, u32), Thread>,
    /// What servers did, by server: the RPC, its flow and what its times need.
    served: BTreeMap<&'a str, Vec<(&'a OperationRpc, &'a ServedRpc, u64, i64)>>,
    flows: u64,
}

impl<'a> OperationsTrace<'a> {
    fn process(&mut self, node: &'a str, file: &mut TraceFile) -> u64 {
        let number = i32::try_from(self.processes.len() + 1).unwrap_or(i32::MAX);
        let track = Track { name: node, rank: number, process: Some(number), ..Track::default() };
        *self.processes.entry(node).or_insert_with(|| file.track(&track))
    }

    fn operation(&mut self, row: &'a OperationRow, file: &mut TraceFile) {
        let process = self.process(&row.node, file);
        let name = row.pid.to_string();
        let group = || Track { parent: Some(process), name: &name, ..Track::default() };
        let thread = self
            .threads
            .entry((&row.node, row.pid))
            .or_insert_with(|| Thread { group: file.track(&group()), ..Thread::default() });
        let parent = Some(thread.group);
        let name = match &row.name {
            Some(name) => format!("{} {name}", row.asked),
            None => row.asked.to_string(),
        };
        let arguments = arguments(row);
        let label = Label { category: "operation", name: &name, arguments: &arguments, ..Label::default() };
        let (begin_us, end_us) = (row.begin_us, row.end_us());
        let track = Track { parent, name: "operations", rank: 0, ..Track::default() };
        let lane = thread.operations.place(begin_us, end_us, || file.track(&track));
        draw(lane, (begin_us, end_us), row.axis_us, &label, file);
        let mut sent: Vec<&OperationRpc> = row.sent.iter().collect();
        sent.sort_by_key(|rpc| (rpc.answered_us, rpc.sent_us));
        for rpc in sent {
            let track = Track { parent, name: "RPCs", rank: 1, ..Track::default() };
            let lane = thread.rpcs.place(rpc.sent_us, rpc.answered_us, || file.track(&track));
            let mut flows = Vec::new();
            if let Some(served) = &rpc.served {
                self.flows += 1;
                flows.push(self.flows);
                self.served.entry(&served.node).or_default().push((rpc, served, self.flows, row.axis_us));
            }
            let name = rpc.opcode.to_string();
            let label = Label { category: "rpc", name: &name, flows: &flows, ..Label::default() };
            draw(lane, (rpc.sent_us, rpc.answered_us), row.axis_us, &label, file);
        }
    }

    fn servers(&mut self, file: &mut TraceFile) {
        for (node, mut served) in std::mem::take(&mut self.served) {
            let parent = Some(self.process(node, file));
            // Lanes want them in the order of their ends.
            served.sort_by_key(|(_, served, flow, axis_us)| (served.end_us + axis_us, *flow));
            let mut lanes = Lanes::default();
            for (rpc, served, flow, axis_us) in served {
                let &ServedRpc { arrival_us, start_us, end_us, .. } = served;
                let track = Track { parent, name: "RPCs of operations", ..Track::default() };
                let Some(lane) = lanes.place(arrival_us + axis_us, end_us + axis_us, || file.track(&track)) else {
                    continue;
                };
                let name = rpc.opcode.to_string();
                let whole = Label { category: "rpc", name: &name, terminating_flows: &[flow], ..Label::default() };
                let (Some(arrival_ns), Some(end_ns)) = (ns(arrival_us + axis_us), ns(end_us + axis_us)) else {
                    continue;
                };
                file.begin(lane, arrival_ns, &whole);
                for (name, from_us, to_us) in [("queue", arrival_us, start_us), ("service", start_us, end_us)] {
                    let label = Label { category: name, name, ..Label::default() };
                    draw(Some(lane), (from_us, to_us), axis_us, &label, file);
                }
                file.end(lane, end_ns);
            }
        }
    }
}

/// A slice, if there is a lane and its time can be drawn.
fn draw(lane: Option<u64>, (from_us, to_us): (i64, i64), axis_us: i64, label: &Label<'_>, file: &mut TraceFile) {
    if let (Some(lane), Some(from_ns), Some(to_ns)) = (lane, ns(from_us + axis_us), ns(to_us + axis_us)) {
        file.slice(lane, from_ns, to_ns, label);
    }
}

fn arguments(row: &OperationRow) -> Vec<Argument> {
    let mut arguments: Vec<Argument> = Vec::new();
    arguments.extend(row.fid.map(|fid| ("fid", Value::Text(fid.to_string()))));
    arguments.extend(row.result.map(|result| ("result", Value::Int(result))));
    let parts = Part::ALL.into_iter().filter_map(|part| row.part_us(part).map(|us| (part.name_us(), Value::Uint(us))));
    arguments.extend(parts.filter(|(_, us)| *us != Value::Uint(0)));
    arguments
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lioprof_model::{Asked, BeginEvidence, Parts};
    use lustre_debuglog::Opcode;
    use lustre_debuglog::vocab::OperationKind;
    use prost::Message;

    use super::*;
    use crate::proto::Trace;

    #[test]
    fn arrows_lead_from_rpcs_to_servers() -> std::io::Result<()> {
        let served =
            ServedRpc { node: Arc::from("oss1"), target: None, arrival_us: 1_020, start_us: 1_030, end_us: 1_050 };
        let rpc = |served| OperationRpc {
            opcode: Opcode::OST_SYNC,
            sent_us: 1_010,
            answered_us: 1_060,
            stretches: Vec::new(),
            served,
        };
        let row = OperationRow {
            node: Arc::from("client1"),
            pid: 633,
            asked: Asked::Operation(OperationKind::Fsync),
            fid: None,
            name: Some(Arc::from("a file")),
            begin_us: 1_000,
            duration_us: 100,
            begin_evidence: BeginEvidence::FirstLine,
            evidence: lioprof_model::Evidence::Logged,
            result: Some(0),
            rpcs: 2,
            joined_rpcs: 1,
            parts: Parts::default(),
            stretches: Vec::new(),
            sent: vec![rpc(Some(served)), rpc(None)],
            axis_us: -7,
        };
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("operations.pftrace");
        let operations = Operations { rows: vec![row], ..Operations::default() };
        let bytes = write_operations(&path, &operations).map_err(|err| err.source)?;
        let written = std::fs::read(&path)?;
        assert_eq!(written.len() as u64, bytes);
        let trace = Trace::decode(&written[..]).map_err(std::io::Error::other)?;
        let events: Vec<_> =
            trace.packet.iter().filter_map(|packet| Some((packet.timestamp?, packet.track_event.as_ref()?))).collect();
        let flows = |at_us: u64| -> Vec<(usize, usize)> {
            let at = events.iter().filter(|(at, _)| *at == at_us * 1000);
            at.map(|(_, event)| (event.flow_ids.len(), event.terminating_flow_ids.len())).collect()
        };
        let interned = trace.packet.iter().filter_map(|packet| packet.interned_data.as_ref());
        let mut names = interned.flat_map(|data| &data.event_names).filter_map(|name| name.name.as_deref());
        assert!(names.any(|name| name == "fsync a file"));
        // Operation, two RPCs on two lanes, the server's RPC with queue and service: begins and ends.
        assert_eq!(events.len(), 12);
        assert_eq!(flows(993), [(0, 0)]);
        assert_eq!(flows(1_003), [(1, 0), (0, 0)]);
        assert_eq!(flows(1_013), [(0, 1), (0, 0)]);
        Ok(())
    }
}
