//! Status and warnings for users.

use std::sync::Arc;
use std::time::Duration;

use lioprof_model::units::{human_bytes, real};
use tokio::sync::watch;

use super::super::clock::now_us;
use crate::budget::usage::Usage;
use crate::metrics::Metrics;
use crate::status::{Rates, State, Status};

pub(super) struct Telling {
    status: watch::Sender<Arc<Status>>,
    pub(super) state: State,
    state_since_us: i64,
    /// Settings that others changed.
    foreign: Vec<String>,
    /// Why Lustre is not traced although it is loaded.
    pub(super) hindrance: Option<String>,
}

impl Telling {
    pub(super) fn new(status: watch::Sender<Arc<Status>>, started_us: i64) -> Self {
        let state = State::Preflight;
        Self { status, state, state_since_us: started_us, foreign: Vec::new(), hindrance: None }
    }

    pub(super) fn set_state(&mut self, state: State) {
        if self.state != state {
            self.state = state;
            self.state_since_us = now_us();
        }
    }

    pub(super) fn foreign(&mut self, text: String) {
        if !self.foreign.contains(&text) {
            self.foreign.push(text);
        }
    }

    /// The state that was last reported.
    fn last(&self) -> Arc<Status> {
        Arc::clone(&self.status.borrow())
    }

    pub(super) fn tell(&self, status: &mut Status) {
        status.state = self.state;
        status.state_since_us = self.state_since_us;
        status.warnings.extend(self.hindrance.iter().chain(&self.foreign).cloned());
    }

    /// Publishes the status of all parts.
    pub(super) fn publish(&self, mut status: Status, own: &Usage, metrics: &Metrics) -> Arc<Status> {
        let last = self.last();
        status.rates = rates(&last, &status);
        let status = Arc::new(status);
        metrics.status(&status);
        metrics.decoded(0, 0, status.totals.lock_events.saturating_sub(last.totals.lock_events));
        metrics.usage(own);
        match status.warnings.first() {
            Some(trouble) => metrics.health.bad(trouble.clone()),
            None => metrics.health.good(),
        }
        self.status.send_replace(Arc::clone(&status));
        status
    }

    /// One status line for the service manager, if it changed.
    pub(super) fn line(&self) -> Option<String> {
        let status = self.last();
        let io = status.totals.read_bytes + status.totals.write_bytes;
        let (rpcs, sent) = (status.totals.rpcs, status.totals.sent_rpcs);
        match status.state {
            State::Preflight => None,
            State::WaitingForLustre => Some(status.state.to_string()),
            state => Some(format!("{state}, {rpcs} RPCs, {} of reads and writes, {sent} RPCs sent", human_bytes(io))),
        }
    }
}

/// Rates, averaged since the last status.
fn rates(last: &Status, status: &Status) -> Rates {
    let passed = Duration::from_micros(u64::try_from(status.now_us - last.now_us).unwrap_or(0)).as_secs_f64();
    if last.now_us == 0 || passed < 0.5 {
        return last.rates;
    }
    let (before, now) = (&last.totals, &status.totals);
    let per_s = |now: u64, before: u64| real(now.saturating_sub(before)) / passed;
    Rates {
        records_per_s: per_s(now.records, before.records),
        rpcs_per_s: per_s(now.rpcs, before.rpcs),
        sent_rpcs_per_s: per_s(now.sent_rpcs, before.sent_rpcs),
        read_bytes_per_s: per_s(now.read_bytes, before.read_bytes),
        write_bytes_per_s: per_s(now.write_bytes, before.write_bytes),
    }
}
