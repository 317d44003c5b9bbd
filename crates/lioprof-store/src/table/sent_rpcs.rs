//! Table `sent_rpcs`: one row per RPC that the node sent, and one per answer.

use lioprof_model::latency::latency_bucket;
use lioprof_model::{RowSink, SentRpc, Symbol, Symbols};
use lustre_debuglog::{Opcode, Xid};

use super::table;
use super::texts::{Text, Texts};
use super::view::{BadColumn, NodeRows, View};
use super::window::read_window;

table! {
    // By xid, the node's own counter: an answer stands beside its request.
    /// Sent RPCs as columns.
    SentRpcColumns, SentRpcView, "sent_rpcs", by |rows, row| rows.xid.stored()[row];

    push(seq: i64, sent: &SentRpc, texts: &mut Texts, symbols: &Symbols) {
        let window = sent.window.as_ref();
    }

    seq: i64 = Split bounds => seq,
    time_us: i64 = Split bounds => sent.time_us,
    round_trip_us: Option<u64> = Split => sent.round_trip_us,
    opcode: u32 = Dictionary => sent.opcode.0,
    device: Text<Symbol> = Dictionary => texts.symbol(sent.device, symbols),
    nid: Text<Symbol> = Dictionary => texts.symbol(sent.nid, symbols),
    xid: u64 = Split => sent.xid.0,
    pid: u32 = Dictionary => sent.pid,
    window_nid: Option<Text<Symbol>> = Dictionary => window.map(|it| texts.symbol(it.nid, symbols)),
    window_client_uuid: Option<Text<Symbol>> = Dictionary => window.map(|it| texts.symbol(it.client_uuid, symbols)),
    window_xid: Option<u64> = Split => window.map(|it| it.xid.0),
    window_opcode: Option<u32> = Dictionary => window.map(|it| it.opcode.0),
    window_job: Option<Text<Symbol>> = Dictionary => window.and_then(|it| it.job).map(|job| texts.symbol(job, symbols)),
    ; derived:
    round_trip_bucket: Option<u16> = Split => sent.round_trip_us.map(latency_bucket),
    opcode_name: Text<str> = Dictionary => texts.opcode(sent.opcode),
    window_opcode_name: Option<Text<str>> = Dictionary => window.map(|it| texts.opcode(it.opcode)),
}

impl NodeRows for SentRpcView {
    fn give(&self, at: usize, node: Symbol, symbols: &Symbols, sink: &mut dyn RowSink) -> Result<(), BadColumn> {
        let row = SentRpc {
            node,
            time_us: self.time_us.get(at),
            pid: self.pid.get(at),
            opcode: Opcode(self.opcode.get(at)),
            device: self.device.get(at),
            nid: self.nid.get(at),
            xid: Xid(self.xid.get(at)),
            window: read_window!(self, at),
            round_trip_us: self.round_trip_us.get(at),
        };
        sink.sent_rpc(&row, symbols);
        Ok(())
    }
}
