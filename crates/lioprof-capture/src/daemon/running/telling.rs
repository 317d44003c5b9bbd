//! Status and warnings for users.

use std::sync::Arc;

use lioprof_model::units::human_bytes;
use tokio::sync::watch;

use super::super::clock::now_us;
use super::rates::RateMeter;
use crate::budget::usage::Usage;
use crate::journal::Foreign;
use crate::metrics::Metrics;
use crate::status::{State, Status};

pub(super) struct Telling {
    status: watch::Sender<Arc<Status>>,
    pub(super) state: State,
    state_since_us: i64,
    /// Settings that others changed.
    foreign: Vec<Foreign>,
    rates: RateMeter,
    /// Why Lustre is not traced although it is loaded.
    pub(super) hindrance: Option<String>,
}

impl Telling {
    pub(super) fn new(status: watch::Sender<Arc<Status>>, started_us: i64) -> Self {
        let state = State::Preflight;
        Self {
            status,
            state,
            state_since_us: started_us,
            foreign: Vec::new(),
            rates: RateMeter::default(),
            hindrance: None,
        }
    }

    pub(super) fn set_state(&mut self, state: State) {
        if self.state != state {
            self.state = state;
            self.state_since_us = now_us();
        }
    }

    /// Notes what others changed. A mask that is as the trace needs it again is no longer worth a warning.
    pub(super) fn foreign(&mut self, change: Foreign) {
        if let Foreign::Mask { param, hurts: false, .. } = change {
            let before = self.foreign.len();
            self.foreign.retain(|it| !matches!(it, Foreign::Mask { param: of, hurts: true, .. } if *of == param));
            if self.foreign.len() < before {
                return;
            }
        }
        if !self.foreign.contains(&change) {
            self.foreign.push(change);
        }
    }

    /// The state that was last reported.
    fn last(&self) -> Arc<Status> {
        Arc::clone(&self.status.borrow())
    }

    pub(super) fn tell(&self, status: &mut Status) {
        status.state = self.state;
        status.state_since_us = self.state_since_us;
        status.warnings.extend(self.hindrance.iter().cloned().chain(self.foreign.iter().map(Foreign::to_string)));
    }

    /// Publishes the status of all parts.
    pub(super) fn publish(
        &mut self,
        mut status: Status,
        decoded_us: Option<i64>,
        own: &Usage,
        metrics: &Metrics,
    ) -> Arc<Status> {
        let last = self.last();
        status.rates = self.rates.measure(&status, decoded_us);
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
