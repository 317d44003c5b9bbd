//! Writes down the calls of a sink, so that two sequences of calls can be compared.

use lioprof_model::{LockEvent, Mark, RowSink, RpcRow, RpcWindow, SentRpc, Symbol, Symbols};

/// A call of a [`RowSink`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Call {
    Rpc(RpcRow),
    LockEvent(LockEvent),
    SentRpc(SentRpc),
    Mark(Mark),
}

impl Call {
    /// Makes the call.
    pub(crate) fn make(&self, sink: &mut dyn RowSink, symbols: &Symbols) {
        match self {
            Self::Rpc(row) => sink.rpc(row, symbols),
            Self::LockEvent(event) => sink.lock_event(event, symbols),
            Self::SentRpc(sent) => sink.sent_rpc(sent, symbols),
            Self::Mark(mark) => sink.mark(mark, symbols),
        }
    }
}

/// Keeps calls, their symbols in a table of its own: what is equal is so by text.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) symbols: Symbols,
    pub(crate) calls: Vec<Call>,
}

impl Recorder {
    fn own(&mut self, symbol: Symbol, symbols: &Symbols) -> Symbol {
        self.symbols.intern(symbols.bytes(symbol))
    }

    fn window(&mut self, window: Option<RpcWindow>, symbols: &Symbols) -> Option<RpcWindow> {
        window.map(|window| RpcWindow {
            nid: self.own(window.nid, symbols),
            client_uuid: self.own(window.client_uuid, symbols),
            job: window.job.map(|job| self.own(job, symbols)),
            ..window
        })
    }
}

impl RowSink for Recorder {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        let row = RpcRow {
            node: self.own(row.node, symbols),
            nid: self.own(row.nid, symbols),
            client_uuid: self.own(row.client_uuid, symbols),
            job: row.job.map(|job| self.own(job, symbols)),
            thread: self.own(row.thread, symbols),
            ..row.clone()
        };
        self.calls.push(Call::Rpc(row));
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        let mut event = LockEvent {
            node: self.own(event.node, symbols),
            window: self.window(event.window, symbols),
            ..event.clone()
        };
        event.happening.symbols(&mut |nid| *nid = self.own(*nid, symbols));
        self.calls.push(Call::LockEvent(event));
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        let sent = SentRpc {
            node: self.own(sent.node, symbols),
            device: self.own(sent.device, symbols),
            nid: self.own(sent.nid, symbols),
            window: self.window(sent.window, symbols),
            ..sent.clone()
        };
        self.calls.push(Call::SentRpc(sent));
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        let mark = Mark { node: self.own(mark.node, symbols), text: self.own(mark.text, symbols), ..*mark };
        self.calls.push(Call::Mark(mark));
    }
}
