//! Table `sent_rpcs`: one row per RPC that the node sent, and one per answer.

use lioprof_model::latency::latency_bucket;
use lioprof_model::{SentRpc, Symbol, Symbols};
use lustre_debuglog::{Opcode, Xid};

use super::table;
use super::texts::{Text, Texts};
use super::view::Meanings;
use super::window::{Windows, push_window, windows};
use crate::text;

table! {
    // By xid, the node's own counter: an answer stands beside its request.
    /// Sent RPCs as columns.
    SentRpcColumns, SentRpcView, "sent_rpcs", by |rows, row| rows.xid.stored()[row];
    seq: i64 = Split bounds,
    time_us: i64 = Split bounds,
    round_trip_us: Option<u64> = Split,
    opcode: u32 = Dictionary,
    device: Text = Dictionary,
    nid: Text = Dictionary,
    xid: u64 = Split,
    pid: u32 = Dictionary,
    window_nid: Option<Text> = Dictionary,
    window_client_uuid: Option<Text> = Dictionary,
    window_xid: Option<u64> = Split,
    window_opcode: Option<u32> = Dictionary,
    window_job: Option<Text> = Dictionary,
    ; derived:
    round_trip_bucket: Option<u16> = Split,
    opcode_name: Text = Dictionary,
    window_opcode_name: Option<Text> = Dictionary,
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

/// Sent RPCs of a row group.
pub(crate) struct SentRpcs {
    node: Symbol,
    view: SentRpcView,
    windows: Windows,
    device: Meanings<Symbol>,
    nid: Meanings<Symbol>,
}

impl SentRpcs {
    pub(crate) fn new(view: SentRpcView, node: Symbol, symbols: &mut Symbols) -> Self {
        let windows = windows!(view, symbols);
        let mut symbol = |text: &str| symbols.intern(&text::decode(text));
        Self { node, windows, device: view.device.map(&mut symbol), nid: view.nid.map(&mut symbol), view }
    }

    pub(crate) fn seqs(&self) -> &[i64] {
        self.view.seq.values()
    }

    pub(crate) fn row(&self, at: usize) -> SentRpc {
        SentRpc {
            node: self.node,
            time_us: self.view.time_us.get(at),
            pid: self.view.pid.get(at),
            opcode: Opcode(self.view.opcode.get(at)),
            device: self.device.get(at),
            nid: self.nid.get(at),
            xid: Xid(self.view.xid.get(at)),
            window: self.windows.get(at),
            round_trip_us: self.view.round_trip_us.get(at),
        }
    }
}
