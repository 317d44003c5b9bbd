//! The join: events of one node to rows, one per RPC.
//!
//! Keys, in the order in which they are trusted:
//!
//! 1. (client NID, xid), with the request pointer where both lines print one: a resent or replayed
//!    request has the same key again.
//! 2. The thread's window: a service thread handles one request at a time, so whatever its pid logs
//!    between `Handling RPC` and `Handled RPC` is about that request (bulk sizes, local locks).
//!
//! Half an RPC is never a row; it is counted.

mod bulk;
mod client_bulk;
mod nrs;
mod processes;
mod several;
mod size;
#[cfg(test)]
mod tests;
mod undecided;

use std::cmp::Reverse;
use std::collections::VecDeque;

use lioprof_model::traffic::counted_service;
use lioprof_model::{
    BulkSpan, ClientEvent, ClientStep, HalfRpc, LockEvent, LockHappening, LockState, LockStep, Mark, OpenRpc, RowSink,
    RpcRow, RpcWindow, SentRpc, SeveralServers, Symbol, Symbols, TargetEvidence, TraceLoss, TraceSummary,
};
use lustre_debuglog::message::{ObjectName, Outcome};
use lustre_debuglog::vocab::LockType;
use lustre_debuglog::{Extent, Opcode, TargetName, Xid};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::decode::event::{Body, Event, LockPhase, ReqInfo, RpcIds, SentIds};
use bulk::{Known, TransferId, Transfers};
use client_bulk::{Built, BulkRequests};
use nrs::{Counting, GapSum, Numbered, SequenceGaps};
use processes::Processes;
use several::Several;
use size::Sizer;
use undecided::Undecided;

/// Requests that were announced but not handled are forgotten after this time. A request waits at most
/// for its deadline, and adaptive timeouts keep that below 600 s (`at_max`).
const FORGET_US: i64 = 1_200_000_000;

/// A handled request's last lines follow at once. Its row does not wait longer than this for its thread to turn to
/// something else: a thread that idles would hold it back.
const LAST_LINES_US: i64 = 1_000_000;

/// Where the join puts what it has made.
pub(crate) struct RowOutput<'a> {
    /// The table that events' symbols belong to.
    pub(crate) symbols: &'a Symbols,
    /// Takes the rows.
    pub(crate) sink: &'a mut dyn RowSink,
}

/// One request between its first and last message.
#[derive(Clone, Debug)]
struct OpenRequest {
    nid: Symbol,
    xid: u64,
    /// Request pointer, 0 while unknown.
    req: u64,
    seen_us: i64,
    handling: Option<RpcIds>,
    handled: Option<(RpcIds, Outcome, i64, u32)>,
    refresh: Option<(TargetName, ObjectName, Option<Extent>)>,
    local_lock: Option<(TargetName, ObjectName, Extent)>,
    prolong: Option<Extent>,
    nrs_ost: Option<u32>,
    tbf_rate: Option<u32>,
    request_len: Option<u32>,
    bulk: Known,
    /// `sending reply` was seen: mask net is on, so a bulk transfer would have been logged.
    net: bool,
    bulk_bytes: Option<u64>,
    resent: bool,
    replay: bool,
    owner: (Option<u32>, Option<u32>, Option<u32>),
    /// Dropped before it was handled.
    dropped: bool,
    /// The row is out; only the thread still refers to this entry.
    out: bool,
    /// The row was handed out in an earlier run over the same log.
    known: bool,
    /// Another request with the same key.
    next_same_key: Option<u32>,
}

impl OpenRequest {
    fn new(nid: Symbol, xid: u64, req: u64, seen_us: i64) -> Self {
        Self {
            nid,
            xid,
            req,
            seen_us,
            handling: None,
            handled: None,
            refresh: None,
            local_lock: None,
            prolong: None,
            nrs_ost: None,
            tbf_rate: None,
            request_len: None,
            net: false,
            bulk_bytes: None,
            bulk: Known::Nothing,
            resent: false,
            replay: false,
            owner: (None, None, None),
            dropped: false,
            out: false,
            known: false,
            next_same_key: None,
        }
    }
}

/// What a service thread is doing.
#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    /// Being handled.
    current: Option<u32>,
    /// Handled, but its last lines may still come.
    last: Option<u32>,
    /// OST index that the scheduler printed for the request to come.
    nrs_ost: Option<u32>,
    /// Rate of the rule that let the request to come through.
    tbf_rate: Option<u32>,
    /// Scheduler's number of the request to come.
    numbered: Option<Numbered>,
    /// It has handled a request before, in this capture.
    known: bool,
    /// It has just dropped a request; `Handled RPC` follows all the same.
    dropped: bool,
    /// No other pid has had its name since.
    has_name: bool,
    /// When it began its last request, microseconds since the epoch.
    last_us: i64,
}

/// The join of one node.
pub(crate) struct Join {
    node: Symbol,
    requests: Vec<OpenRequest>,
    free: Vec<u32>,
    by_key: FxHashMap<(Symbol, u64), u32>,
    threads: FxHashMap<u32, Thread>,
    /// Handled requests that wait for their last lines: when they were handled, and by which thread.
    waiting: VecDeque<(i64, u32)>,
    sent: FxHashMap<(Symbol, u64), (i64, SentIds)>,
    sizer: Sizer,
    transfers: Transfers,
    bulk_requests: BulkRequests,
    undecided: Undecided,
    /// What was found besides rows since it was last told.
    counts: TraceSummary,
    /// Rows of requests that are handled now were handed out in an earlier run over the same log ..
    pub(crate) repeats: bool,
    /// .. but for these, which waited for their last lines then.
    pub(crate) unfinished_before: FxHashSet<(Symbol, u64)>,
    pub(crate) gaps: SequenceGaps,
    several: Several,
    processes: Processes,
    sweep_at: usize,
    /// Time of the last event.
    last_us: i64,
    /// What began up to this time was of a capture before: whether it ended is not known.
    captured_us: i64,
}

impl Join {
    pub(crate) fn new(node: Symbol) -> Self {
        Self {
            node,
            requests: Vec::new(),
            free: Vec::new(),
            by_key: FxHashMap::default(),
            threads: FxHashMap::default(),
            waiting: VecDeque::new(),
            sent: FxHashMap::default(),
            sizer: Sizer::default(),
            transfers: Transfers::default(),
            bulk_requests: BulkRequests::default(),
            undecided: Undecided::default(),
            counts: TraceSummary::default(),
            repeats: false,
            unfinished_before: FxHashSet::default(),
            gaps: SequenceGaps::default(),
            several: Several::default(),
            processes: Processes::default(),
            sweep_at: 1 << 16,
            last_us: i64::MIN,
            captured_us: i64::MIN,
        }
    }

    /// The log goes on with another capture.
    pub(crate) fn another_capture(&mut self) {
        self.gaps.begin_anew();
        self.captured_us = self.last_us;
        for thread in self.threads.values_mut() {
            // What it took, began or ended between the captures was not traced, and is not lost.
            (thread.nrs_ost, thread.tbf_rate, thread.numbered, thread.known) = (None, None, None, false);
        }
    }

    /// Takes the next event in time order.
    #[inline(never)] // `scripts/check-instructions` counts it
    pub(crate) fn event(&mut self, event: &Event, out: &mut RowOutput<'_>) {
        self.last_us = event.time_us;
        while let Some(&(handled_us, pid)) = self.waiting.front()
            && event.time_us - handled_us > LAST_LINES_US
        {
            self.waiting.pop_front();
            self.waited_long_enough(pid, handled_us, out);
        }
        if !matches!(event.body, Body::Transferring { .. } | Body::BulkEvent { .. }) {
            self.transfers.line(event.pid, event.time_us);
        }
        match event.body {
            Body::Handling(mut rpc) => {
                self.processes.note(&rpc);
                self.processes.settle_job(&mut rpc);
                self.handling(event, rpc, out);
            }
            Body::Handled(mut rpc, outcome) => {
                self.processes.settle_job(&mut rpc);
                self.handled(event, rpc, outcome, out);
            }
            Body::Refresh { target, object, extent, req } => {
                if let Some(at) = self.described(event, &req) {
                    let pending = &mut self.requests[at as usize];
                    pending.refresh.get_or_insert((target, object, extent));
                }
            }
            Body::SendingReply(req) => {
                if let Some(at) = self.described(event, &req) {
                    self.requests[at as usize].net = true;
                }
            }
            Body::Prolong { xid, extent } => {
                let thread = self.threads.get(&event.pid).copied().unwrap_or_default();
                if let Some(at) = thread.current.or(thread.last)
                    && self.requests[at as usize].xid == xid
                {
                    self.requests[at as usize].prolong = Some(extent);
                }
            }
            Body::NrsStart { number, policy, ost_index } => {
                self.settle(event.pid, out);
                let numbered = |(number, counting)| Numbered { number, counting, time_us: event.time_us };
                let thread = self.threads.entry(event.pid).or_default();
                thread.numbered = number.zip(Counting::of(policy)).map(numbered);
                (thread.nrs_ost, thread.tbf_rate) = (ost_index, None);
            }
            Body::TbfDequeue { rate } => {
                self.settle(event.pid, out);
                let thread = self.threads.entry(event.pid).or_default();
                (thread.nrs_ost, thread.tbf_rate, thread.numbered) = (None, Some(rate.unwrap_or(0)), None);
            }
            Body::NrsStopTbf { sequence } => {
                if let Some(last) = self.threads.get(&event.pid).and_then(|thread| thread.last)
                    && let Some((rpc, ..)) = &self.requests[last as usize].handled
                {
                    let it = Numbered { number: sequence, counting: Counting::SinceStart, time_us: event.time_us };
                    self.gaps.add(out.symbols.bytes(rpc.thread), rpc.opcode, it);
                }
            }
            Body::NrsStopDelay => self.gaps.add_unnumbered(),
            Body::Sending(sent) => {
                self.sent.insert((sent.nid, sent.xid), (event.time_us, sent));
                if sent.by_kernel && asks_for_itself(sent.opcode) {
                    self.client_event(event, ClientStep::IsKernelThread, out);
                }
                self.sent_rpc(event, &sent, None, out);
                if let Some(Built { fid, is_write, built_us, built_by }) =
                    self.bulk_requests.sent(sent.req, sent.opcode)
                {
                    let xid = Xid(sent.xid);
                    self.client_event(event, ClientStep::BulkSent { xid, fid, is_write, built_us, built_by }, out);
                }
            }
            Body::Completed(sent) => {
                if let Some((start_us, _)) = self.sent.remove(&(sent.nid, sent.xid))
                    && let Ok(round_trip_us) = u64::try_from(event.time_us - start_us)
                {
                    self.sent_rpc(event, &sent, Some(round_trip_us), out);
                } else {
                    let SentIds { device, xid, opcode, .. } = sent;
                    self.client_event(event, ClientStep::OrphanReply { device, xid: Xid(xid), opcode }, out);
                }
            }
            Body::Client(step) => self.client_event(event, step, out),
            Body::BulkRequest { req, start } => self.bulk_requests.request(event.pid, req, start, event.time_us),
            Body::BulkBuilt { fid, is_write, start_page } => {
                let built = Built { fid, is_write, built_us: event.time_us, built_by: event.pid };
                self.bulk_requests.built(start_page, built);
            }
            Body::Transferring { nid, bytes, match_bits } => {
                self.transfers.transferring(event.pid, match_bits, event.time_us);
                let window = self.threads.get(&event.pid).and_then(|thread| thread.current);
                if let Some(at) = window.or_else(|| self.by_key.get(&(nid, match_bits.0)).copied()) {
                    let moved = self.requests[at as usize].bulk_bytes.get_or_insert(0);
                    *moved += bytes;
                }
            }
            Body::BulkEvent { desc, step } => self.transfers.event(desc, step, event.time_us),
            Body::Lock(step, lock) => {
                self.lock_event(event, LockHappening::Lock(step, lock), out);
                match step {
                    LockStep::LocalCreated => self.local_lock(event.pid, &lock),
                    LockStep::Evicted => self.counts.evictions += 1,
                    _ => {}
                }
            }
            Body::LockPhase(LockPhase::EnqueueStart) => self.lock_event(event, LockHappening::EnqueueStart, out),
            Body::LockPhase(LockPhase::EnqueueEnd) => self.lock_event(event, LockHappening::EnqueueEnd, out),
            Body::KernelContention { resource, added, window } => {
                self.lock_event(event, LockHappening::KernelContention { resource, added, window }, out);
            }
            Body::Evicted { nid, target } => {
                self.counts.evictions += 1;
                self.lock_event(event, LockHappening::SilentEvicted { nid, target }, out);
            }
            Body::Marker(text) => {
                out.sink.mark(&Mark { node: self.node, time_us: event.time_us, text }, out.symbols);
            }
            Body::Dropped => {
                self.counts.dropped_rpcs += 1;
                self.threads.entry(event.pid).or_default().dropped = true;
            }
            Body::SentTimedOut { opcode, target } => {
                self.counts.sent_timed_out += 1;
                if let (Some(opcode), Some(target)) = (opcode.filter(|&opcode| is_callback(opcode)), target) {
                    self.lock_event(event, LockHappening::CallbackTimedOut { opcode, target }, out);
                }
            }
        }
        while let Some((id, bulk)) = self.transfers.decided() {
            if !self.undecided.decided(id, bulk) {
                self.known_early(id, bulk);
            }
        }
        while let Some(row) = self.undecided.next(event.time_us) {
            out.sink.rpc(&row, out.symbols);
        }
        if self.by_key.len() + self.sent.len() > self.sweep_at {
            self.sweep(event.time_us);
        }
    }

    fn lock_event(&self, event: &Event, happening: LockHappening, out: &mut RowOutput<'_>) {
        let Event { time_us, pid, .. } = *event;
        let lock_event = LockEvent { node: self.node, time_us, pid, window: self.window(pid), happening };
        out.sink.lock_event(&lock_event, out.symbols);
    }

    fn half_rpc(&self, at: u32, pid: u32, until_us: Option<i64>, out: &mut RowOutput<'_>) {
        let OpenRequest { handling: Some(rpc), seen_us, .. } = self.requests[at as usize] else { return };
        let RpcIds { client_uuid, xid, opcode, .. } = rpc;
        let half = HalfRpc { node: self.node, pid, client_uuid, xid: Xid(xid), opcode, from_us: seen_us, until_us };
        out.sink.half_rpc(&half, out.symbols);
    }

    /// Notes a request that has begun and not ended.
    fn under_way(&mut self, at: u32, pid: u32, symbols: &Symbols) {
        let OpenRequest { handling: Some(rpc), seen_us, refresh, local_lock, .. } = self.requests[at as usize] else {
            return;
        };
        let start_us = self.threads.get(&pid).map_or(seen_us, |thread| thread.last_us);
        if start_us <= self.captured_us {
            return;
        }
        let locked = || local_lock.map(|(target, object, _)| (target, object));
        let place = refresh.map(|(target, object, _)| (target, object)).or_else(locked);
        let object = |object: ObjectName| match object {
            ObjectName::Fid(fid) => fid.to_string(),
            ObjectName::Resource(first, second) => format!("{first}/{second}"),
        };
        let rpc = OpenRpc {
            age_us: Reverse(self.last_us.saturating_sub(start_us)),
            start_us,
            pid,
            thread: symbols.text(rpc.thread),
            opcode: rpc.opcode.0,
            nid: symbols.text(rpc.nid),
            xid: rpc.xid,
            job: rpc.job.map(|job| symbols.text(job)),
            target: place.map(|(target, _)| target.to_string()),
            object: place.map(|(_, named)| object(named)),
        };
        self.counts.under_way.add(rpc);
    }

    fn client_event(&self, event: &Event, step: ClientStep, out: &mut RowOutput<'_>) {
        let Event { time_us, pid, .. } = *event;
        out.sink.client_event(&ClientEvent { node: self.node, time_us, pid, step }, out.symbols);
    }

    fn sent_rpc(&self, event: &Event, sent: &SentIds, round_trip_us: Option<u64>, out: &mut RowOutput<'_>) {
        let row = SentRpc {
            node: self.node,
            time_us: event.time_us,
            pid: event.pid,
            opcode: sent.opcode,
            device: sent.device,
            nid: sent.nid,
            xid: Xid(sent.xid),
            window: self.window(event.pid),
            round_trip_us,
        };
        out.sink.sent_rpc(&row, out.symbols);
    }

    /// The request that a thread is handling, if it is.
    fn window(&self, pid: u32) -> Option<RpcWindow> {
        let thread = self.threads.get(&pid)?;
        let rpc = self.requests[thread.current? as usize].handling?;
        let RpcIds { nid, client_uuid, xid, opcode, job, .. } = rpc;
        Some(RpcWindow { nid, client_uuid, xid: Xid(xid), opcode, job })
    }

    /// A lock that the handling thread took itself: server-side locking of direct I/O.
    fn local_lock(&mut self, pid: u32, lock: &LockState) {
        if let Some(at) = self.threads.get(&pid).and_then(|thread| thread.current)
            && let (None, Some(LockType::Extent), Some(extent)) = (lock.nid, lock.lock_type, lock.requested)
        {
            let object = ObjectName::Fid(lock.resource.to_ost_fid(lock.target.index()));
            self.requests[at as usize].local_lock.get_or_insert((lock.target, object, extent));
        }
    }

    /// Ends the join: what is still open is counted.
    pub(crate) fn finish(&mut self, out: &mut RowOutput<'_>) {
        let mut pids: Vec<u32> = self.threads.keys().copied().collect();
        pids.sort_unstable();
        for pid in pids {
            self.settle(pid, out);
            if let Some(at) = self.threads.get(&pid).and_then(|thread| thread.current) {
                self.half_rpc(at, pid, None, out);
                self.under_way(at, pid, out.symbols);
            }
        }
        while let Some(row) = self.undecided.next(i64::MAX) {
            out.sink.rpc(&row, out.symbols);
        }
        for &first in self.by_key.values() {
            let mut at = Some(first);
            while let Some(i) = at {
                let pending = &self.requests[i as usize];
                match pending.handling {
                    Some(rpc) => {
                        self.counts.loss.missing_handled += 1;
                        if let Some(service) = counted_service(out.symbols.bytes(rpc.thread)) {
                            *self.counts.loss.open_at_end.entry(service.to_owned()).or_default() += 1;
                        }
                    }
                    None => self.counts.loss.never_handled += 1,
                }
                at = pending.next_same_key;
            }
        }
    }

    /// When the oldest request that is not over, handled or sent, was first seen.
    pub(crate) fn oldest_open_us(&self) -> Option<i64> {
        let handled = self.by_key.values().map(|&at| self.requests[at as usize].seen_us);
        handled.chain(self.sent.values().map(|(sent_us, _)| *sent_us)).chain(self.undecided.oldest_us()).min()
    }

    /// Requests that were handled but whose rows are not out: their last lines may still come.
    pub(crate) fn unfinished(&self) -> impl Iterator<Item = (Symbol, u64)> {
        // A thread waits for the last lines of one request at most.
        let waiting = self.threads.values().filter_map(|thread| Some(&self.requests[thread.last? as usize]));
        let waiting = waiting.filter(|pending| !pending.out).map(|pending| (pending.nid, pending.xid));
        waiting.chain(self.undecided.requests())
    }

    /// What was found besides rows.
    pub(crate) fn summary(&self) -> TraceSummary {
        // Numbers of several servers tell nothing of what is lost.
        let sum = if self.several.is_certain() { GapSum::default() } else { self.gaps.sum() };
        let GapSum { seen, missing, likely, doubtful, possible } = sum;
        let loss = TraceLoss {
            nrs_sequence_gaps: missing,
            nrs_sequence_likely: likely,
            // Unknown: there is no upper bound.
            nrs_sequence_doubtful: (!self.gaps.is_switched()).then_some(doubtful),
            nrs_sequence_possible: possible,
            nrs_sequence_seen: seen,
            of_several_servers: u64::from(self.several.is_certain()),
            ..self.counts.loss.clone()
        };
        TraceSummary { loss, ..self.counts.clone() }
    }

    /// The summary up to now has been told.
    pub(crate) fn told(&mut self) {
        self.counts = TraceSummary::default();
        self.gaps.told();
    }

    /// Shows the symbols of everything held to `visit`, which may replace them.
    pub(crate) fn symbols(&mut self, visit: &mut impl FnMut(&mut Symbol)) {
        visit(&mut self.node);
        // Free entries hold symbols of times long past.
        let free: FxHashSet<u32> = self.free.drain(..).collect();
        for (at, pending) in (0u32..).zip(&mut self.requests) {
            if free.contains(&at) {
                *pending = OpenRequest::new(self.node, 0, 0, 0);
                continue;
            }
            visit(&mut pending.nid);
            pending.handling.iter_mut().for_each(|rpc| rpc.symbols(visit));
            pending.handled.iter_mut().for_each(|(rpc, ..)| rpc.symbols(visit));
        }
        self.free.extend(free);
        let mut renamed = |symbol: Symbol| {
            let mut symbol = symbol;
            visit(&mut symbol);
            symbol
        };
        let unfinished = self.unfinished_before.drain();
        self.unfinished_before = unfinished.map(|(nid, xid)| (renamed(nid), xid)).collect();
        self.by_key = self.by_key.drain().map(|((nid, xid), at)| ((renamed(nid), xid), at)).collect();
        self.sent = self.sent.drain().map(|((nid, xid), sent)| ((renamed(nid), xid), sent)).collect();
        self.sizer.symbols(&mut renamed);
        self.several.symbols(&mut renamed);
        self.processes.symbols(&mut renamed);
        self.undecided.symbols(visit);
        for (_, sent) in self.sent.values_mut() {
            sent.symbols(visit);
        }
    }

    fn handling(&mut self, event: &Event, rpc: RpcIds, out: &mut RowOutput<'_>) {
        self.transfers.handling(event.pid, rpc.opcode, event.time_us);
        self.settle(event.pid, out);
        let thread = self.threads.entry(event.pid).or_default();
        let (nrs_ost, tbf_rate, numbered) = (thread.nrs_ost.take(), thread.tbf_rate.take(), thread.numbered.take());
        thread.dropped = false;
        let known = std::mem::replace(&mut thread.known, true);
        let lost = thread.current.take();
        thread.last_us = event.time_us;
        if !thread.has_name {
            thread.has_name = true;
            let last_us = |pid| self.threads.get(&pid).map_or(i64::MIN, |thread| thread.last_us);
            let now = (event.pid, event.time_us);
            if let Some((other, is_first)) = self.several.takes_name(now, rpc.thread, out.symbols, last_us) {
                self.threads.entry(other).or_default().has_name = false;
                if is_first {
                    // Of whoever was booted, or is another server, the schedulers count anew.
                    self.gaps.begin_anew();
                }
            }
        }
        if let Some(lost) = lost {
            // The thread has gone on: the end of that request was not logged.
            self.counts.loss.missing_handled += 1;
            self.counts.loss.lost_ends += u64::from(known);
            self.half_rpc(lost, event.pid, Some(event.time_us), out);
            self.unlink(lost);
            self.free.extend(self.several.displace(event.pid, lost, known));
        }
        if let Some(numbered) = numbered {
            self.gaps.add(out.symbols.bytes(rpc.thread), rpc.opcode, numbered);
        }
        let open = self.find(rpc.nid, rpc.xid, |p| p.handling.is_none() && p.handled.is_none() && same(p.req, rpc.req));
        let at = open.unwrap_or_else(|| self.insert(OpenRequest::new(rpc.nid, rpc.xid, rpc.req, event.time_us)));
        let pending = &mut self.requests[at as usize];
        pending.req = rpc.req.max(pending.req);
        pending.handling = Some(rpc);
        (pending.nrs_ost, pending.tbf_rate) = (nrs_ost, tbf_rate);
        self.threads.entry(event.pid).or_default().current = Some(at);
    }

    fn handled(&mut self, event: &Event, rpc: RpcIds, outcome: Outcome, out: &mut RowOutput<'_>) {
        let bulk = self.transfers.handled(event.pid, rpc.opcode);
        let thread = self.threads.entry(event.pid).or_default();
        let current = thread.current.take();
        let dropped = std::mem::take(&mut thread.dropped) && current.is_none();
        let previous = thread.last;
        let known = std::mem::replace(&mut thread.known, true);
        // Without a start line, as when it was dropped, it was taken from its queue all the same.
        let numbered = thread.numbered.take();
        if let Some(numbered) = numbered {
            self.gaps.add(out.symbols.bytes(rpc.thread), rpc.opcode, numbered);
        }
        let is_current =
            |pending: &OpenRequest| pending.nid == rpc.nid && pending.xid == rpc.xid && same(pending.req, rpc.req);
        let at = match current {
            Some(at) if is_current(&self.requests[at as usize]) => {
                // Another server's; else it was settled when this one began.
                if previous.is_some() {
                    self.settle(event.pid, out);
                }
                at
            }
            other => {
                if let Some(displaced) = self.take_up(event, is_current) {
                    // Another server's thread of the same pid goes on with what it does.
                    self.settle(event.pid, out);
                    self.threads.entry(event.pid).or_default().current = other;
                    displaced
                } else {
                    if let Some(other) = other {
                        self.counts.loss.missing_handled += 1;
                        self.counts.loss.lost_ends += u64::from(known);
                        self.half_rpc(other, event.pid, Some(event.time_us), out);
                        self.remove(other);
                    }
                    // A request that was dropped prints no start.
                    self.counts.loss.missing_handling += u64::from(!dropped);
                    // A thread's first request may have begun before the log.
                    self.counts.loss.lost_starts += u64::from(!dropped && known && numbered.is_none());
                    if previous.is_some() {
                        self.settle(event.pid, out);
                    }
                    self.find(rpc.nid, rpc.xid, |p| p.handled.is_none() && p.handling.is_none() && same(p.req, rpc.req))
                        .unwrap_or_else(|| self.insert(OpenRequest::new(rpc.nid, rpc.xid, rpc.req, event.time_us)))
                }
            }
        };
        let pending = &mut self.requests[at as usize];
        pending.handled = Some((rpc, outcome, event.time_us, event.pid));
        pending.known = self.repeats && !self.unfinished_before.remove(&(rpc.nid, rpc.xid));
        pending.dropped = dropped;
        pending.bulk = bulk;
        // Bulk requests log their extent once more after this line.
        self.threads.entry(event.pid).or_default().last = Some(at);
        let bulk = rpc.opcode == Opcode::OST_READ || rpc.opcode == Opcode::OST_WRITE;
        if !bulk || pending.refresh.is_some() {
            self.emit(at, out);
        } else {
            self.waiting.push_back((event.time_us, event.pid));
        }
    }

    /// Why the log is one of several servers, if it is.
    pub(crate) fn several_servers(&self, symbols: &Symbols) -> Option<SeveralServers> {
        self.several.evidence(symbols, |pid| self.threads.get(&pid).map_or(i64::MIN, |thread| thread.last_us))
    }

    /// The request that ends now although its thread has begun another one meanwhile.
    fn take_up(&mut self, event: &Event, is_it: impl Fn(&OpenRequest) -> bool) -> Option<u32> {
        let (at, known) = self.several.take_up(event.pid, |at| is_it(&self.requests[at as usize]))?;
        // Its end is not lost; but that may have been told already.
        let loss = &mut self.counts.loss;
        loss.missing_handled = loss.missing_handled.saturating_sub(1);
        loss.lost_ends = loss.lost_ends.saturating_sub(u64::from(known));
        let pending = &mut self.requests[at as usize];
        if let Some((rpc, thread)) = pending.handling.zip(self.threads.get(&event.pid)) {
            self.several.at_once(rpc.thread, event.pid, event.time_us - thread.last_us);
        }
        pending.next_same_key = self.by_key.insert((pending.nid, pending.xid), at);
        Some(at)
    }

    /// The request that a thread handled at this time has waited long enough for its last lines.
    fn waited_long_enough(&mut self, pid: u32, handled_us: i64, out: &mut RowOutput<'_>) {
        if let Some(at) = self.threads.get(&pid).and_then(|thread| thread.last)
            && let pending = &self.requests[at as usize]
            && !pending.out
            && pending.handled.is_some_and(|(_, _, end_us, _)| end_us == handled_us)
        {
            self.emit(at, out);
        }
    }

    /// When the data of a request moved has become known while its last lines may still come.
    fn known_early(&mut self, id: TransferId, bulk: Option<BulkSpan>) {
        let pids = self.waiting.iter().map(|(_, pid)| pid);
        let mut last = pids.filter_map(|pid| self.threads.get(pid)?.last);
        if let Some(at) = last.find(|&at| self.requests[at as usize].bulk == Known::Later(id)) {
            self.requests[at as usize].bulk = bulk.map_or(Known::Nothing, Known::Span);
        }
    }

    /// The request that a description is about; on its arrival that may be a new one.
    fn described(&mut self, event: &Event, req: &ReqInfo) -> Option<u32> {
        let open = self.find(req.nid, req.xid, |p| same(p.req, req.req) && (req.complete || p.handled.is_none()));
        let at = match open {
            Some(at) => at,
            // Only an arriving request opens a new entry: the end of one whose row is out must not.
            None if !req.complete && self.described_in_window(event.pid, req).is_none() => {
                self.insert(OpenRequest::new(req.nid, req.xid, req.req, event.time_us))
            }
            None => self.described_in_window(event.pid, req)?,
        };
        let pending = &mut self.requests[at as usize];
        if pending.req == 0 {
            pending.req = req.req;
        }
        pending.request_len.get_or_insert(req.request_len);
        pending.resent |= req.resent;
        pending.replay |= req.replay;
        let (uid, gid, projid) = &mut pending.owner;
        *uid = uid.or(req.uid);
        *gid = gid.or(req.gid);
        *projid = projid.or(req.projid);
        Some(at)
    }

    /// The request in the window of this thread, if it is the one described.
    fn described_in_window(&self, pid: u32, req: &ReqInfo) -> Option<u32> {
        let thread = self.threads.get(&pid)?;
        thread.current.or(thread.last).filter(|&at| self.requests[at as usize].xid == req.xid)
    }

    /// Whatever the thread's last request was still waiting for will not come any more.
    fn settle(&mut self, pid: u32, out: &mut RowOutput<'_>) {
        if let Some(at) = self.threads.get_mut(&pid).and_then(|thread| thread.last.take()) {
            if !self.requests[at as usize].out {
                self.emit(at, out);
            }
            self.free.push(at);
        }
    }

    /// Hands out the row of a handled request.
    fn emit(&mut self, at: u32, out: &mut RowOutput<'_>) {
        let known = self.requests[at as usize].known;
        if let Some(row) = self.row(at).filter(|_| !known) {
            let pending = &self.requests[at as usize];
            let transfer = match pending.bulk {
                Known::Later(id) => Some(id),
                Known::Nothing | Known::Span(_) => None,
            };
            if transfer.is_none() && self.undecided.is_empty() {
                out.sink.rpc(&row, out.symbols);
            } else {
                self.undecided.wait(transfer, row, pending.seen_us);
            }
        }
        self.unlink(at);
        self.requests[at as usize].out = true;
    }

    fn row(&mut self, at: u32) -> Option<RpcRow> {
        let pending = &self.requests[at as usize];
        let (rpc, outcome, end_us, pid) = pending.handled?;
        let (target, target_evidence, object, extent) = match (pending.refresh, pending.local_lock, pending.nrs_ost) {
            (Some((target, object, extent)), ..) => {
                (Some(target), TargetEvidence::RefreshLine, Some(object), extent.or(pending.prolong))
            }
            (None, Some((target, object, extent)), _) => {
                (Some(target), TargetEvidence::LocalLock, Some(object), Some(extent))
            }
            (None, None, Some(index)) => {
                let target = self.sizer.ost(index);
                let evidence = if target.is_some() { TargetEvidence::Nrs } else { TargetEvidence::None };
                (target, evidence, None, pending.prolong)
            }
            (None, None, None) => (None, TargetEvidence::None, None, pending.prolong),
        };
        let clues = size::SizeClues {
            opcode: rpc.opcode,
            nid: rpc.nid,
            target,
            failed: outcome.rc < 0 || pending.dropped,
            rc: outcome.rc,
            extent,
            request_len: pending.request_len,
            net: pending.net,
            bulk_bytes: pending.bulk_bytes,
        };
        let (size, size_evidence) = self.sizer.size(&clues);
        let (uid, gid, projid) = pending.owner;
        let service_us = u64::try_from(outcome.service_us).ok();
        Some(RpcRow {
            node: self.node,
            opcode: rpc.opcode,
            nid: rpc.nid,
            client_uuid: rpc.client_uuid,
            xid: Xid(rpc.xid),
            job: rpc.job,
            thread: rpc.thread,
            pid,
            end_us,
            service_us,
            total_us: u64::try_from(outcome.total_us).ok(),
            rc: outcome.rc,
            reply_rc: outcome.reply_rc,
            transno: outcome.transno,
            target,
            target_evidence,
            object,
            extent,
            size,
            size_evidence,
            bulk: match pending.bulk {
                Known::Span(bulk) => Some(bulk).filter(|bulk| bulk.is_within(service_us)),
                Known::Nothing | Known::Later(_) => None,
            },
            dropped: pending.dropped,
            resent: pending.resent,
            replay: pending.replay,
            uid,
            gid,
            projid,
            tbf_rate: pending.tbf_rate,
        })
    }

    /// Forgets a request that will never be a row.
    fn remove(&mut self, at: u32) {
        self.unlink(at);
        self.free.push(at);
    }

    /// The first open request of this key that `fits`.
    fn find(&self, nid: Symbol, xid: u64, fits: impl Fn(&OpenRequest) -> bool) -> Option<u32> {
        let mut at = self.by_key.get(&(nid, xid)).copied();
        while let Some(i) = at {
            let pending = &self.requests[i as usize];
            if fits(pending) {
                break;
            }
            at = pending.next_same_key;
        }
        at
    }

    fn insert(&mut self, mut pending: OpenRequest) -> u32 {
        let at = self.free.pop().unwrap_or_else(|| {
            u32::try_from(self.requests.len()).expect("fewer than 2^32 requests are open at a time")
        });
        pending.next_same_key = self.by_key.insert((pending.nid, pending.xid), at);
        match self.requests.get_mut(at as usize) {
            Some(slot) => *slot = pending,
            None => self.requests.push(pending),
        }
        at
    }

    /// Takes a request out of the list of its key.
    fn unlink(&mut self, at: u32) {
        let pending = &self.requests[at as usize];
        let (key, next) = ((pending.nid, pending.xid), pending.next_same_key);
        let Some(&head) = self.by_key.get(&key) else { return };
        if head == at {
            match next {
                Some(next) => self.by_key.insert(key, next),
                None => self.by_key.remove(&key),
            };
            return;
        }
        let mut before = head;
        while let Some(i) = self.requests[before as usize].next_same_key {
            if i == at {
                self.requests[before as usize].next_same_key = next;
                return;
            }
            before = i;
        }
    }

    /// Forgets what will not be answered any more, so that memory does not grow with the log.
    fn sweep(&mut self, now_us: i64) {
        let oldest = now_us - FORGET_US;
        self.sent.retain(|_, (time_us, _)| *time_us >= oldest);
        let stale: Vec<u32> = self
            .by_key
            .values()
            .copied()
            .filter(|&at| {
                let pending = &self.requests[at as usize];
                pending.handling.is_none() && pending.handled.is_none() && pending.seen_us < oldest
            })
            .collect();
        self.counts.loss.never_handled += stale.len() as u64;
        for at in stale {
            self.remove(at);
        }
        self.sweep_at = 2 * (self.by_key.len() + self.sent.len()) + (1 << 16);
    }
}

/// Whether a program's thread sends requests of this kind itself, so that it matters that a thread is none.
fn asks_for_itself(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::LDLM_ENQUEUE | Opcode::MDS_CLOSE | Opcode::MDS_READPAGE | Opcode::MDS_SYNC)
}

fn is_callback(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::LDLM_BL_CALLBACK | Opcode::LDLM_CP_CALLBACK | Opcode::LDLM_GL_CALLBACK)
}

/// Whether two request pointers can be the same; 0 is unknown.
fn same(a: u64, b: u64) -> bool {
    a == 0 || b == 0 || a == b
}
