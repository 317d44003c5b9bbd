//! Converts rows to another clock.

use lioprof_model::parts::clock_line::ClockLine;
use lioprof_model::{ClientEvent, HalfRpc, LockEvent, Mark, RowSink, RpcRow, SentRpc, Symbols, TraceSummary};

/// Passes on rows with their times on another clock. Durations stay: clock rates differ by less than one part in a thousand.
pub(crate) struct Shifted<'a> {
    pub(crate) to: ClockLine,
    pub(crate) sink: &'a mut (dyn RowSink + Send),
}

impl RowSink for Shifted<'_> {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.sink.rpc(&RpcRow { end_us: self.to.there_us(row.end_us), ..row.clone() }, symbols);
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        self.sink.lock_event(&LockEvent { time_us: self.to.there_us(event.time_us), ..event.clone() }, symbols);
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        self.sink.sent_rpc(&SentRpc { time_us: self.to.there_us(sent.time_us), ..sent.clone() }, symbols);
    }

    fn client_event(&mut self, event: &ClientEvent, symbols: &Symbols) {
        self.sink.client_event(&ClientEvent { time_us: self.to.there_us(event.time_us), ..*event }, symbols);
    }

    fn half_rpc(&mut self, half: &HalfRpc, symbols: &Symbols) {
        let (from_us, until_us) = (self.to.there_us(half.from_us), half.until_us.map(|us| self.to.there_us(us)));
        self.sink.half_rpc(&HalfRpc { from_us, until_us, ..*half }, symbols);
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        self.sink.mark(&Mark { time_us: self.to.there_us(mark.time_us), ..*mark }, symbols);
    }
}

/// A log's summary with its times on another clock.
pub(crate) fn shifted(summary: &TraceSummary, to: &ClockLine) -> TraceSummary {
    TraceSummary {
        first_us: summary.first_us.map(|us| to.there_us(us)),
        last_us: summary.last_us.map(|us| to.there_us(us)),
        events: summary.events.on_clock(|us| to.there_us(us)),
        under_way: summary.under_way.on_clock(|us| to.there_us(us)),
        traced_us: summary.traced_us.iter().map(|span| span.map(|us| to.there_us(us))).collect(),
        ..summary.clone()
    }
}
