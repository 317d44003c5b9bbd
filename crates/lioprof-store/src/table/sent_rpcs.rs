//! Table `sent_rpcs`: one row per RPC that the node sent, and one per answer.

use lioprof_model::latency::latency_bucket;
use lioprof_model::{RowSink, SentRpc, Symbol, Symbols};
use lustre_debuglog::{Opcode, Xid};

use super::table;
use super::texts::{Text, Texts};
use super::view::{BadColumn, NodeRows, View};
use super::window::{push_window, read_window};

table! {
    // By xid, the node's own counter: an answer stands beside its request.
    /// Sent RPCs as columns.
    SentRpcColumns, SentRpcView, "sent_rpcs", by |rows, row| rows.xid.stored()[row];
    seq: i64 = Split bounds,
    time_us: i64 = Split bounds,
    round_trip_us: Option<u64> = Split,
    opcode: u32 = Dictionary,
    device: Text<Symbol> = Dictionary,
    nid: Text<Symbol> = Dictionary,
    xid: u64 = Split,
    pid: u32 = Dictionary,
    window_nid: Option<Text<Symbol>> = Dictionary,
    window_client_uuid: Option<Text<Symbol>> = Dictionary,
    window_xid: Option<u64> = Split,
    window_opcode: Option<u32> = Dictionary,
    window_job: Option<Text<Symbol>> = Dictionary,
    ; derived:
    round_trip_bucket: Option<u16> = Split,
    opcode_name: Text<str> = Dictionary,
    window_opcode_name: Option<Text<str>> = Dictionary,
}

impl SentRpcColumns {
    /// Adds an RPC or an answer.
    pub(crate) fn push(&mut self, seq: i64, sent: &SentRpc, texts: &mut Texts, symbols: &Symbols) {
        self.seq.push(seq);
        self.time_us.push(sent.time_us);
        self.round_trip_us.push(sent.round_trip_us);
        self.round_trip_bucket.push(sent.round_trip_us.map(latency_bucket));
        self.opcode.push(sent.opcode.0);
        self.opcode_name.push(texts.opcode(sent.opcode));
        self.device.push(texts.symbol(sent.device, symbols));
        self.nid.push(texts.symbol(sent.nid, symbols));
        self.xid.push(sent.xid.0);
        self.pid.push(sent.pid);
        push_window!(self, sent.window.as_ref(), texts, symbols);
    }
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
