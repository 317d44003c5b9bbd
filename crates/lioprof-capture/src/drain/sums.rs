//! What passes on its way to disk, summed up: for metrics, and to be compared with the server's own counters.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use lioprof_model::live::LiveVerdict;
use lioprof_model::traffic::{self, ConflictKind, Party, is_from_server};
use lioprof_model::{
    Direction, Io, LockEvent, LockHappening, LockStep, Mark, ReadWrite, RowSink, RpcRow, RpcSize, SentRpc, Symbols,
    lock,
};
use lustre_debuglog::{Opcode, TargetName};
use rustc_hash::FxHashMap;

use super::DrainError;
use super::keep::{CounterRows, Keep, PartFacts, PartSize, WrittenPart};
use crate::counters::{Count, Edges};
use crate::live::{LiveView, SharedLive};
use crate::metrics::{Callback, Metrics, TargetMetrics};
use crate::status::{Missing, Totals};

/// Why nobody learns what the server does now.
const LIVE_IS_OFF: &str = "the live view is off: `live.window` of the daemon's configuration";
/// Clients and jobs that get sums of their own.
const MAX_KEYS: usize = 50_000;

/// When a sample of the server's counters was taken: they are read one after the other, while they move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SampleTime {
    /// Before the first was read, microseconds since the epoch.
    pub(crate) begun_us: i64,
    /// After the last was read.
    pub(crate) ended_us: i64,
}

impl SampleTime {
    /// Whether an RPC may be in some of its counters only.
    fn meets(&self, start_us: i64, end_us: i64) -> bool {
        start_us <= self.ended_us && self.begun_us <= end_us
    }
}

/// Time between two samples of the server's counters, in which everything was traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The sample at its beginning.
    pub(crate) from: SampleTime,
    /// The sample at its end; `None` while it goes on.
    pub(crate) to: Option<SampleTime>,
}

/// What the counters had counted at a sample, until the trace has come that far.
#[derive(Clone, Debug)]
struct Checkpoint {
    at: SampleTime,
    counted: Count,
    /// What the trace holds of RPCs that had begun by then.
    traced: Io,
}

impl Checkpoint {
    /// What the trace lacks, if it has handed on everything but so many RPCs.
    fn missing(&self, unfinished: u64) -> Missing {
        let rpcs = self.counted.rpcs.saturating_sub(self.traced.rpcs);
        let bytes = self.counted.bytes.saturating_sub(self.traced.bytes);
        let missing = rpcs.saturating_sub(unfinished);
        // Which of them are unfinished is not known, so all count as equally large: as the missing ones, or, where the trace does not show
        // how much of the bytes it holds, as all that were counted.
        let (bytes, of) =
            if self.traced.unsized_rpcs == 0 { (bytes, rpcs) } else { (self.counted.bytes, self.counted.rpcs) };
        let share = u128::from(bytes) * u128::from(missing) / u128::from(of.max(1));
        Missing {
            time_us: self.at.begun_us,
            counted_rpcs: self.counted.rpcs,
            rpcs: missing,
            bytes: u64::try_from(share).unwrap_or(bytes),
        }
    }
}

/// Samples that wait for the trace to come that far.
const MAX_CHECKPOINTS: usize = 32;

/// Sums over stretches between samples of the server's counters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interval {
    /// From sample to sample; the last stretch may be open.
    pub(crate) stretches: Vec<Stretch>,
    /// OST reads and writes.
    pub(crate) total: ReadWrite,
    /// Those of unknown OST.
    pub(crate) unattributed: ReadWrite,
    /// Sums of each OST.
    pub(crate) targets: BTreeMap<TargetName, ReadWrite>,
    /// Sums of each client, by the bytes of its NID.
    pub(crate) clients: FxHashMap<Box<[u8]>, ReadWrite>,
    /// Sums of each job, by the bytes of its id.
    pub(crate) jobs: FxHashMap<Box<[u8]>, ReadWrite>,
    /// A row named a job.
    pub(crate) jobs_known: bool,
    /// Reads and writes that were in service while one of the samples was taken.
    pub(crate) edges: Edges,
}

/// What the thread that sums up shares with those who look.
#[derive(Debug, Default)]
pub(crate) struct SharedSums {
    totals: Mutex<Totals>,
    stretches: Mutex<Vec<Stretch>>,
    interval: Mutex<Option<Interval>>,
    /// Checkpoints that the summing thread has not seen yet.
    checkpoints: Mutex<Vec<(SampleTime, Count)>>,
    missing: Mutex<Option<Missing>>,
    /// What the server does now.
    pub(crate) live: SharedLive,
}

impl SharedSums {
    /// The sums since the daemon started; how many records that took is not among them.
    pub(crate) fn totals(&self) -> Totals {
        *lock(&self.totals)
    }

    /// The counters were sampled at this time, and everything is traced from now on.
    pub(crate) fn begin_stretch(&self, from: SampleTime) {
        lock(&self.stretches).push(Stretch { from, to: None });
    }

    /// The counters were sampled at this time, and everything was traced until now.
    pub(crate) fn end_stretch(&self, to: SampleTime) {
        if let Some(stretch) = lock(&self.stretches).last_mut() {
            stretch.to.get_or_insert(to);
        }
    }

    /// The counters were sampled at this time, and have counted so much in all stretches together.
    pub(crate) fn check(&self, at: SampleTime, counted: Count) {
        lock(&self.checkpoints).push((at, counted));
    }

    /// How far the trace was behind the counters at the last sample that it has reached; `None` before the first.
    pub(crate) fn missing(&self) -> Option<Missing> {
        *lock(&self.missing)
    }

    /// Microseconds between two times in which everything was traced.
    fn traced_us(&self, from_us: i64, to_us: i64) -> i64 {
        let inside = |stretch: &Stretch| {
            let end_us = stretch.to.map_or(to_us, |to| to.begun_us.min(to_us));
            (end_us - stretch.from.ended_us.max(from_us)).max(0)
        };
        lock(&self.stretches).iter().map(inside).sum()
    }

    /// The sums over the interval, once everything has been written.
    pub(crate) fn take_interval(&self) -> Option<Interval> {
        lock(&self.interval).take()
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
    interval: Interval,
    /// Reads and writes that the counters may hold: of the interval, and those in service at its edges.
    countable: Io,
    checkpoints: VecDeque<Checkpoint>,
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
            interval: Interval::default(),
            countable: Io::default(),
            checkpoints: VecDeque::new(),
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
        self.interval.stretches.clone_from(&lock(&self.shared.stretches));
        for (at, counted) in lock(&self.shared.checkpoints).drain(..) {
            // The oldest is reached first: a newer one can be done without.
            if self.checkpoints.len() < MAX_CHECKPOINTS {
                // All rows up to now are of segments that were closed before the sample was taken.
                self.checkpoints.push_back(Checkpoint { at, counted, traced: self.countable.clone() });
            }
        }
    }

    /// Enters an OST read or write.
    fn io(&mut self, row: &RpcRow, direction: Direction, symbols: &Symbols) {
        if !self.interval.add(row, direction, symbols) || row.failed() {
            return;
        }
        self.countable.add(row.size, false);
        let start_us = row.start_us().unwrap_or(row.end_us);
        for checkpoint in self.checkpoints.iter_mut().filter(|checkpoint| start_us <= checkpoint.at.ended_us) {
            checkpoint.traced.add(row.size, false);
        }
    }
}

impl Interval {
    /// Enters a read or write; whether the counters may hold it.
    fn add(&mut self, row: &RpcRow, direction: Direction, symbols: &Symbols) -> bool {
        let start_us = row.start_us().unwrap_or(row.end_us);
        let in_service_at = |sample: SampleTime| sample.meets(start_us, row.end_us);
        // The latest stretches are the likely ones; an RPC of an earlier one is over.
        let (mut inside, mut at_edge) = (false, false);
        let over = |stretch: &Stretch| stretch.to.is_some_and(|to| to.ended_us < start_us);
        for stretch in self.stretches.iter().rev().take_while(|stretch| !over(stretch)) {
            inside |= stretch.from.begun_us <= row.end_us && stretch.to.is_none_or(|to| row.end_us <= to.begun_us);
            if in_service_at(stretch.from) || stretch.to.is_some_and(in_service_at) {
                at_edge = true;
                self.edges.rpcs += 1;
                match row.size {
                    RpcSize::Exact(bytes) | RpcSize::Bounded { max: bytes, .. } => self.edges.bytes += bytes,
                    RpcSize::Unknown => self.edges.unsized_rpcs += 1,
                }
            }
        }
        if !inside {
            return at_edge;
        }
        self.total.add(row, direction);
        match row.target {
            Some(target) => self.targets.entry(target).or_default().add(row, direction),
            None => self.unattributed.add(row, direction),
        }
        add_to(&mut self.clients, symbols.bytes(row.nid), direction, row);
        if let Some(job) = row.job.map(|job| symbols.bytes(job)) {
            self.jobs_known = true;
            if !job.is_empty() {
                add_to(&mut self.jobs, job, direction, row);
            }
        }
        true
    }
}

/// Adds to the sum of `key`, if there is room for it.
fn add_to(sums: &mut FxHashMap<Box<[u8]>, ReadWrite>, key: &[u8], direction: Direction, row: &RpcRow) {
    if let Some(io) = sums.get_mut(key) {
        io.add(row, direction);
    } else if sums.len() < MAX_KEYS {
        sums.entry(key.into()).or_default().add(row, direction);
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
            // Data-on-MDT has other counters.
            if let Some(direction) = row.direction()
                && !traffic::row_is_on_mdt(row, symbols)
            {
                self.io(row, direction, symbols);
            }
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
        *lock(&self.shared.interval) = Some(self.interval.clone());
        let part = self.inner.close(facts)?;
        self.in_part = 0;
        Ok(part)
    }

    fn discard(&mut self) {
        self.repeated += std::mem::take(&mut self.in_part);
        self.inner.discard();
    }

    fn counters(&mut self, rows: &CounterRows) {
        self.inner.counters(rows);
    }

    fn begin_segment(&mut self) {
        self.publish();
        self.inner.begin_segment();
    }

    fn complete(&mut self, before_us: i64, unfinished: u64, surely: bool) {
        // There may be no other segment for long.
        self.publish();
        let is_reached = |checkpoint: &mut Checkpoint| {
            checkpoint.at.ended_us < before_us && (surely || checkpoint.missing(unfinished).rpcs == 0)
        };
        while let Some(checkpoint) = self.checkpoints.pop_front_if(is_reached) {
            *lock(&self.shared.missing) = Some(checkpoint.missing(unfinished));
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
            let mut live = live.look(&|from_us, to_us| self.shared.traced_us(from_us, to_us), symbols);
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
