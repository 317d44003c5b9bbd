//! What a server does now: the last seconds as rates, the last minute as an analysis.
//!
//! ```text
//! rows ──> slices of a second ──> rates of the last ten (Live)
//!   └────> halves of windows ──> an Analysis of two that follow on each other
//! ```
//!
//! Rows come in from a log that is still being written, a second or more after they happened. Memory depends on the number of clients,
//! targets and objects in use, up to limits, not on the number of RPCs.

mod minute;
mod rates;
mod recent;
mod slice;

use std::time::Duration;

use lioprof_model::{Analysis, Live, LockEvent, Mark, RowSink, RpcRow, SentRpc, Symbols};

use minute::Minutes;
use recent::Recent;

/// If the log goes back or ahead by more than this, the clock was set: what was before says nothing of what comes.
const CLOCK_SET_US: i64 = 600_000_000;

/// Sums up the rows of one server as they come.
pub struct LiveWindow {
    node: String,
    recent: Recent,
    minutes: Minutes,
    /// The log has been handed on up to here.
    through_us: Option<i64>,
}

impl LiveWindow {
    /// For the server `node`; analyses are of windows of this length.
    #[must_use]
    pub fn new(node: &str, window: Duration) -> Self {
        let window_us = i64::try_from(window.as_micros()).unwrap_or(i64::MAX);
        Self { node: node.to_owned(), recent: Recent::default(), minutes: Minutes::new(window_us), through_us: None }
    }

    /// Everything that happened before this time has been passed on. The analysis of a window that is full now, without predictions
    /// and findings.
    pub fn handed_on(&mut self, through_us: i64, symbols: &Symbols) -> Option<Analysis> {
        if self.through_us.is_some_and(|before_us| through_us.abs_diff(before_us) > CLOCK_SET_US.unsigned_abs()) {
            self.forget();
        }
        let through_us = self.through_us.unwrap_or(i64::MIN).max(through_us);
        self.through_us = Some(through_us);
        self.recent.forget_before(through_us);
        self.minutes.full_at(through_us, &self.node, symbols)
    }

    /// The rates of the last seconds. `traced_us` tells how much of a span of time was traced.
    pub fn look(&self, traced_us: &dyn Fn(i64, i64) -> i64, symbols: &Symbols) -> Live {
        self.recent.live(&self.node, self.through_us, traced_us, symbols)
    }

    /// Starts anew, as if there had been nothing; the symbols to come are of another table.
    pub fn forget(&mut self) {
        self.recent = Recent::default();
        self.minutes.forget();
        self.through_us = None;
    }
}

impl RowSink for LiveWindow {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.recent.rpc(row, symbols);
        self.minutes.rpc(row, symbols);
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        let Self { recent, minutes, .. } = self;
        minutes
            .lock_event(event, symbols, |time_us, target, contention| recent.contention(time_us, target, contention));
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        let Self { recent, minutes, .. } = self;
        minutes.sent_rpc(sent, symbols, |time_us, target, contention| recent.contention(time_us, target, contention));
    }

    fn mark(&mut self, mark: &Mark, _: &Symbols) {
        self.minutes.mark(mark);
    }
}
