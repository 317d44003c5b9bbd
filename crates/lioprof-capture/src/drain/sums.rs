//! What passes on its way to disk, summed up: for metrics, and to be compared with the server's own counters.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use lioprof_model::counted::ledger::{IoAccount, add, counts_as_io};
use lioprof_model::counters::SampleTime;
use lioprof_model::live::LiveVerdict;
use lioprof_model::traffic::{ConflictKind, Party, is_from_server};
use lioprof_model::{
    Direction, Ledger, LockEvent, LockHappening, LockStep, Mark, RowSink, RpcRow, SentRpc, Symbols, lock,
};
use lustre_debuglog::{Opcode, TargetName};
use rustc_hash::FxHashMap;

use super::DrainError;
use super::keep::{Keep, PartFacts, PartSize, Traced, WrittenPart};
use crate::counters::{Comparison, Sample, missing};
use crate::live::{LiveView, SharedLive};
use crate::metrics::{Callback, Metrics, TargetMetrics};
use crate::status::{Missing, Totals};

/// Why nobody learns what the server does now.
const LIVE_IS_OFF: &str = "the live view is off: `live.window` of the daemon's configuration";
/// Samples that wait for the trace to come that far.
const MAX_WAITING: usize = 32;

/// A sample that waits until the trace has come that far: the node's account up to it, to which late requests are added.
#[derive(Debug)]
struct Waiting {
    at: SampleTime,
    node: IoAccount,
}

/// What the thread that sums up shares with those who look.
#[derive(Debug, Default)]
pub(crate) struct SharedSums {
    totals: Mutex<Totals>,
    missing: Mutex<Option<Missing>>,
    comparison: Mutex<Option<Comparison>>,
    /// What the server does now.
    pub(crate) live: SharedLive,
}

impl SharedSums {
    /// The sums since the daemon started; how many records that took is not among them.
    pub(crate) fn totals(&self) -> Totals {
        *lock(&self.totals)
    }

    /// How far the trace was behind the counters at the last sample that it has reached; `None` before the first.
    pub(crate) fn missing(&self) -> Option<Missing> {
        *lock(&self.missing)
    }

    /// The comparison with the counters, once everything has been written.
    pub(crate) fn take_comparison(&self) -> Option<Comparison> {
        lock(&self.comparison).take()
    }
}

/// A [`Keep`] that sums up what goes into it.
pub(crate) struct Summed<K> {
    inner: K,
    shared: Arc<SharedSums>,
    live: Option<Box<dyn LiveView>>,
    metrics: Arc<Metrics>,
    /// The metrics of targets, looked up once each.
    targets: FxHashMap<Option<TargetName>, TargetMetrics>,
    totals: Totals,
    ledger: Ledger,
    waiting: VecDeque<Waiting>,
    /// Items of the part that is being written.
    in_part: u64,
    /// Items that come again because their part could not be written: they are summed up already.
    repeated: u64,
}

impl<K: Keep> Summed<K> {
    /// Sums up what goes into `inner`, and hands it to `live` as well.
    pub(crate) fn new(
        inner: K,
        shared: Arc<SharedSums>,
        metrics: Arc<Metrics>,
        live: Option<Box<dyn LiveView>>,
    ) -> Self {
        Self {
            inner,
            shared,
            live,
            metrics,
            targets: FxHashMap::default(),
            totals: Totals::default(),
            ledger: Ledger::default(),
            waiting: VecDeque::new(),
            in_part: 0,
            repeated: 0,
        }
    }

    fn target(&mut self, target: Option<TargetName>) -> &TargetMetrics {
        let Self { targets, metrics, .. } = self;
        targets.entry(target).or_insert_with(|| metrics.target(target.map(|target| target.to_string()).as_deref()))
    }

    /// Whether an item is new.
    fn is_new(&mut self) -> bool {
        self.in_part += 1;
        let is_new = self.repeated == 0;
        self.repeated = self.repeated.saturating_sub(1);
        is_new
    }

    fn publish(&mut self) {
        *lock(&self.shared.totals) = self.totals;
    }

    /// Compares a request with the counters.
    fn compare(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.ledger.rpc(row, symbols);
        // Mostly none waits.
        if !self.waiting.is_empty() && counts_as_io(row, symbols) {
            let start_us = row.start_us().unwrap_or(row.end_us);
            let sums = self.waiting.iter_mut().filter_map(|waiting| waiting.node.request(start_us, row.end_us));
            sums.for_each(|sum| add(sum, row));
        }
    }
}

impl<K: Keep> RowSink for Summed<K> {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        if self.is_new() {
            self.totals.rpcs += 1;
            match row.direction() {
                Some(Direction::Read) => self.totals.read_bytes += row.size.best_bytes().unwrap_or(0),
                Some(Direction::Write) => self.totals.write_bytes += row.size.best_bytes().unwrap_or(0),
                None => {}
            }
            let metrics = self.target(row.target);
            metrics.rpc(row.failed(), row.queue_us(), row.service_us);
            if let Some(direction) = row.direction() {
                metrics.io(direction, row.size);
            }
            self.compare(row, symbols);
            if let Some(live) = &mut self.live {
                live.rpc(row, symbols);
            }
        }
        self.inner.rpc(row, symbols);
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        if self.is_new() {
            self.totals.lock_events += 1;
            if let LockHappening::Lock(LockStep::Incompatible, lock) = event.happening {
                let waiter = Party::behind(event.window, |uuid| is_from_server(symbols.bytes(uuid)));
                let holder = lock.nid.map_or(Party::Unknown, Party::Client);
                if let ConflictKind::Client { .. } = ConflictKind::new(holder, waiter) {
                    self.target(Some(lock.target)).conflicts(1);
                }
            }
            if let Some(live) = &mut self.live {
                live.lock_event(event, symbols);
            }
        }
        self.inner.lock_event(event, symbols);
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        let is_new = self.is_new();
        if is_new && let Some(live) = &mut self.live {
            live.sent_rpc(sent, symbols);
        }
        if is_new && sent.round_trip_us.is_none() {
            self.totals.sent_rpcs += 1;
            self.totals.sent_reads += u64::from(sent.opcode == Opcode::OST_READ);
            self.totals.sent_writes += u64::from(sent.opcode == Opcode::OST_WRITE);
            let kind = match sent.opcode {
                Opcode::LDLM_BL_CALLBACK => Some(Callback::Blocking),
                Opcode::LDLM_CP_CALLBACK => Some(Callback::Completion),
                Opcode::LDLM_GL_CALLBACK => Some(Callback::Glimpse),
                _ => None,
            };
            if let (Some(kind), Some(target)) = (kind, TargetName::parse_bytes(symbols.bytes(sent.device))) {
                self.target(Some(target)).callbacks(kind, 1);
            }
        }
        self.inner.sent_rpc(sent, symbols);
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        if self.is_new()
            && let Some(live) = &mut self.live
        {
            live.mark(mark, symbols);
        }
        self.inner.mark(mark, symbols);
    }
}

impl<K: Keep> Keep for Summed<K> {
    fn part(&mut self) -> PartSize {
        self.inner.part()
    }

    fn close(&mut self, facts: PartFacts) -> Result<WrittenPart, DrainError> {
        self.publish();
        let part = self.inner.close(facts)?;
        self.in_part = 0;
        Ok(part)
    }

    fn discard(&mut self) {
        self.repeated += std::mem::take(&mut self.in_part);
        self.inner.discard();
    }

    fn counters(&mut self, sample: &Sample, traced: Traced) {
        if traced != Traced::Nothing {
            // All rows up to now are of segments that were closed before the sample was complete.
            self.ledger.sample(&sample.totals);
            // The oldest is reached first: a newer one can be done without.
            if traced == Traced::GoesOn && self.waiting.len() < MAX_WAITING {
                let mut node = self.ledger.node.clone();
                node.end();
                if node.is_compared() {
                    self.waiting.push_back(Waiting { at: sample.totals.at, node });
                }
            }
        }
        if traced == Traced::Ends {
            self.ledger.end();
        }
        self.inner.counters(sample, traced);
    }

    fn finish(&mut self) {
        self.ledger.end();
        *lock(&self.shared.comparison) = Some(Comparison::new(&self.ledger));
        self.inner.finish();
    }

    fn begin_segment(&mut self) {
        self.publish();
        self.inner.begin_segment();
    }

    fn complete(&mut self, before_us: i64, unfinished: u64, surely: bool) {
        // There may be no other segment for long.
        self.publish();
        while let Some(Waiting { at, node }) = self.waiting.front() {
            let missing = missing(node, at.begun_us, unfinished);
            if at.ended_us >= before_us || !surely && missing.rpcs > 0 {
                break;
            }
            *lock(&self.shared.missing) = Some(missing);
            self.waiting.pop_front();
        }
        self.inner.complete(before_us, unfinished, surely);
    }

    fn handed_on(&mut self, through_us: i64, symbols: &Symbols) {
        if let Some(live) = &mut self.live
            && let Some(verdict) = live.handed_on(through_us, symbols)
        {
            self.shared.live.set_verdict(verdict);
        }
        self.inner.handed_on(through_us, symbols);
    }

    fn look(&mut self, symbols: &Symbols) {
        let live = self.live.as_mut().map(|live| {
            let mut live = live.look(&|from_us, to_us| self.ledger.traced_us(from_us, to_us), symbols);
            for server in &mut live.servers {
                server.verdict = self.shared.live.verdict().map(|verdict| LiveVerdict::clone(&verdict));
            }
            live
        });
        self.shared.live.answer(live.ok_or_else(|| LIVE_IS_OFF.to_owned()));
    }

    fn next_load(&mut self) {
        self.inner.next_load();
    }

    fn forget_symbols(&mut self) {
        if let Some(live) = &mut self.live {
            live.forget_symbols();
        }
        self.inner.forget_symbols();
    }

    fn has_failed(&self) -> bool {
        self.inner.has_failed()
    }
}

#[cfg(test)]
#[path = "sums_tests.rs"]
mod tests;
