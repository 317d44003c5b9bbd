//! One chunk of an input: framed, parsed, reduced to events and counts.
//!
//! Hot: runs on every byte, on any thread. The result depends on the chunk's bytes alone.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use lioprof_model::{
    ClientStep, FileName, LockState, LockStep, LoggedEvent, LoggedEvents, Symbol, Symbols, TraceSummary,
};
use lustre_debuglog::frame::Skipped;
use lustre_debuglog::frame::binary::FramedRecords;
use lustre_debuglog::frame::text::{TextItem, TextRecords};
use lustre_debuglog::message::{
    ClientRpc, ConsoleEvent, Contention, DebugReq, Handling, LdlmEvent, LdlmMessage, LnetEvent, LockTail, NrsAction,
    NrsPolicy, ReqEvent, Voice,
};
use lustre_debuglog::record::mask;
use lustre_debuglog::vocab::{KernelJob, OperationKind};
use lustre_debuglog::{Message, Record, TargetName};
use rustc_hash::{FxHashMap, FxHashSet};

use super::client;
use super::event::{Body, BulkStep, Event, LockPhase, ReqInfo, RpcIds, SentIds};
use super::handlings::Handlings;
use crate::envelope::kinds::Repairs;
use crate::envelope::repair::Logged;
use crate::envelope::{characters, cut, repair};

/// A stream whose times go back further than this, µs, has lived through a step of the clock.
pub const CLOCK_STEP_US: i64 = 5_000_000;

/// Streams with a higher number (more than 8192 CPUs) are damage, not streams.
const MAX_STREAMS: usize = 4 * 8192;

/// A stretch of records of one stream in the order of the file, within which no time goes back by more than [`CLOCK_STEP_US`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamRun {
    /// The stream.
    pub(crate) stream: u32,
    /// The `F` flag of its first record.
    pub(crate) first_flag: bool,
    /// Index of the first in the chunk of what is made of its records.
    pub(crate) from: usize,
    /// Time of its first record.
    pub(crate) first_us: i64,
    /// Time of its last record.
    pub(crate) end_us: i64,
    /// Latest time in it.
    pub(crate) last_us: i64,
    /// Times that time went back in it.
    pub(crate) clock_steps: u64,
    /// Bytes of its records.
    pub(crate) bytes: u64,
}

impl StreamRun {
    /// Takes the next record of a chunk, of which the one numbered `next` will be made: it belongs to the last of
    /// `runs`, or to a new one.
    #[inline]
    pub(crate) fn follow(runs: &mut Vec<Self>, record: &Record<'_>, next: usize) {
        let stream = record.stream();
        let bytes = record.binary_len() as u64;
        match runs.last_mut() {
            Some(run) if run.stream == stream && !record.first && record.time_us >= run.end_us - CLOCK_STEP_US => {
                run.bytes += bytes;
                run.clock_steps += u64::from(record.time_us < run.end_us);
                run.end_us = record.time_us;
                run.last_us = run.last_us.max(record.time_us);
            }
            _ => runs.push(Self {
                stream,
                first_flag: record.first,
                from: next,
                first_us: record.time_us,
                end_us: record.time_us,
                last_us: record.time_us,
                clock_steps: 0,
                bytes,
            }),
        }
    }
}

/// What a chunk holds.
#[derive(Debug, Default)]
pub(crate) struct Decoded {
    /// Its events, in file order; their symbols belong to `symbols`.
    pub(crate) events: Vec<Event>,
    /// Strings of this chunk.
    pub(crate) symbols: Symbols,
    /// Runs, for binary inputs only.
    pub(crate) runs: Vec<StreamRun>,
    /// Counts.
    pub(crate) counts: Counts,
    /// Targets of this node that its messages name.
    pub(crate) targets: FxHashSet<TargetName>,
    /// Those of them whose pings to the first MDT are in the log.
    pub(crate) pinging: FxHashSet<TargetName>,
    /// Stretches that are no records; offsets within the chunk.
    pub(crate) skipped: Vec<Skipped>,
    /// The text ends inside a line.
    pub(crate) is_cut: bool,
}

/// Name of a C file.
pub(crate) type SourceName = Box<[u8]>;
/// Name of a C function.
pub(crate) type FunctionName = Box<[u8]>;

/// What was seen in a part of an input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) summary: TraceSummary,
    pub(crate) malformed: BTreeMap<&'static str, u64>,
    /// Records of other kinds, by file, then function.
    pub(crate) other: Others,
    /// Streams seen, by number: whether the first record of each carried the `F` flag.
    pub(crate) stream_heads: Vec<Head>,
    /// Lines that did not arrive as they were logged.
    pub(crate) repairs: Repairs,
    /// The beginning or the end of a request was read.
    pub(crate) has_rpcs: bool,
    /// A line was read that a request logs on its way, on a server; and one that each logs when a thread takes it from the network.
    pub(crate) has_requests: bool,
    pub(crate) has_arrivals: bool,
    /// The first text that should be one of these and does not parse, and where that shows.
    pub(crate) unread: Option<(Box<[u8]>, usize)>,
}

/// The function that logs the beginning and the end of each request (`ptlrpc/service.c`, all versions).
const HANDLES_REQUESTS: &[u8] = b"ptlrpc_server_handle_request";

/// Adds the streams of a later part: those seen before keep their head.
pub(crate) fn merge_heads(mine: &mut Vec<Head>, later: &[Head]) {
    if mine.len() < later.len() {
        mine.resize(later.len(), Head::Unseen);
    }
    for (mine, later) in mine.iter_mut().zip(later) {
        if *mine == Head::Unseen {
            *mine = *later;
        }
    }
}

/// How a stream begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Head {
    /// The stream has no record.
    #[default]
    Unseen,
    /// With the `F` flag: nothing is missing before it.
    Complete,
    /// Without: what was logged before it is gone.
    Missing,
}

impl Counts {
    /// Adds what a later part counted.
    pub(crate) fn merge(&mut self, other: Self) {
        self.summary.merge(&other.summary);
        for (kind, n) in other.malformed {
            *self.malformed.entry(kind).or_default() += n;
        }
        for (file, functions) in other.other {
            let known = self.other.entry(file).or_default();
            for (function, n) in functions {
                *known.entry(function).or_default() += n;
            }
        }
        merge_heads(&mut self.stream_heads, &other.stream_heads);
        self.repairs.merge(other.repairs);
        self.has_rpcs |= other.has_rpcs;
        self.has_requests |= other.has_requests;
        self.has_arrivals |= other.has_arrivals;
        self.unread = self.unread.take().or(other.unread);
    }
}

/// Decodes a piece of text that holds whole records, into a buffer that is empty; with `names`, names of files are kept. `is_last`: the
/// text ends here.
#[inline(never)] // `scripts/check-instructions` counts it
pub(crate) fn decode_text(data: &[u8], is_last: bool, names: bool, events: Vec<Event>) -> Decoded {
    let mut decoder = Decoder::new(data.len(), names, events);
    decoder.repairable = true;
    let mut changed = decoder.text(data);
    // The messages fit with such names; of names there are few.
    let symbols = &decoder.reducer.out.symbols;
    if characters::is_disguised(symbols.all()) && symbols.iter().any(|(_, name)| characters::is_disguised(name)) {
        decoder = Decoder::new(0, names, Vec::new());
        changed = Some(0);
    }
    let mut out = decoder.finish();
    if let Some(from) = changed {
        out = repaired_from(data, from, names, out);
    }
    out.is_cut = is_last && cut::is_cut(data);
    out
}

/// Goes on from `from` on, where a text is not as it was logged.
#[cold]
fn repaired_from(data: &[u8], from: usize, names: bool, out: Decoded) -> Decoded {
    let mut reducer = Reducer { out, recent: Recent::default(), names };
    let repaired = repair::repaired(data, from, |logged| reducer.logged(logged));
    let mut out = reducer.out;
    out.skipped.extend(repaired.skipped);
    out.counts.repairs.merge(repaired.repairs);
    out
}

/// Decodes records of a binary log, into a buffer that is empty; with `names`, names of files are kept.
#[inline(never)] // `scripts/check-instructions` counts it
pub(crate) fn decode_binary(mut records: FramedRecords<'_>, names: bool, events: Vec<Event>) -> Decoded {
    let mut decoder = Decoder::new(records.rest().len(), names, events);
    for record in &mut records {
        StreamRun::follow(&mut decoder.reducer.out.runs, &record, decoder.reducer.out.events.len());
        decoder.record(&record, false);
    }
    debug_assert!(records.rest().is_empty(), "the reader frames all that it hands out");
    decoder.finish()
}

/// Bytes of a log per event, in a log that holds many of them.
const BYTES_PER_EVENT: usize = 256;

/// Decodes records that stay where they are while it does.
struct Decoder<'a> {
    reducer: Reducer,
    seen: Seen<'a>,
    /// What is not as it was logged may be repaired: then it is not counted.
    repairable: bool,
}

/// What records said before, in their own bytes: the next ones repeat it.
#[derive(Default)]
struct Seen<'a> {
    handlings: Handlings<'a>,
    sites: Sites<'a>,
}

/// Makes events and counts of records.
struct Reducer {
    out: Decoded,
    recent: Recent,
    names: bool,
}

impl<'a> Decoder<'a> {
    /// A decoder of so many bytes.
    fn new(bytes: usize, names: bool, mut events: Vec<Event>) -> Self {
        // What is not needed is never touched.
        events.reserve(bytes / BYTES_PER_EVENT);
        Self {
            reducer: Reducer { out: Decoded { events, ..Decoded::default() }, recent: Recent::default(), names },
            seen: Seen::default(),
            repairable: false,
        }
    }

    /// What the records held.
    fn finish(&mut self) -> Decoded {
        self.seen.sites.flush(&mut self.reducer.out.counts.other);
        std::mem::take(&mut self.reducer.out)
    }

    /// Takes the records of a text, up to the first one that may be repaired: where it begins.
    fn text(&mut self, data: &'a [u8]) -> Option<usize> {
        // Nothing here is as it was logged: to look for the first header of the usual kind may take longer than to repair it all.
        if self.repairable && repair::begins_elsewhere(data) {
            return Some(0);
        }
        let mut records = TextRecords::new(data);
        loop {
            // By reference: items are large.
            match &records.next() {
                Some(TextItem::Record(record, at)) => {
                    let is_continued = records.is_continued();
                    if self.repairable && repair::is_behind_prefix(record, is_continued)
                        || !self.record(record, is_continued)
                    {
                        return Some(*at);
                    }
                }
                Some(TextItem::Skipped(skipped)) => {
                    let bytes = &data[skipped.offset..skipped.offset + skipped.len];
                    if self.repairable && repair::may_hold_record(bytes) {
                        return Some(skipped.offset);
                    }
                    self.reducer.out.skipped.push(*skipped);
                }
                Some(TextItem::Summary(..)) => {}
                None => return None,
            }
        }
    }

    /// Takes a record. Returns whether it did: one that may be repaired is left.
    fn record(&mut self, record: &Record<'a>, is_continued: bool) -> bool {
        self.reducer.count(record);
        if let Some(event) = self.seen.handlings.repeated(record) {
            let counts = &mut self.reducer.out.counts;
            counts.summary.messages += 1;
            // As where it is parsed: what is recognised depends on where chunks end.
            if record.mask & mask::FOR_PEOPLE != 0 {
                for_people(record, &mut counts.summary.events);
            }
            if let Some(body) = event {
                self.reducer.event(record, body);
            }
            return true;
        }
        let message = Message::parse(record);
        if self.repairable && repair::may_be_changed(&message, record, is_continued) {
            return self.reducer.leave(record);
        }
        self.reducer.message(record, &message, Some(&mut self.seen));
        true
    }
}

impl Reducer {
    /// Takes a record that was repaired.
    fn logged(&mut self, logged: &Logged<'_>) {
        if !logged.may_hold_others() {
            self.count(&logged.record);
            self.message(&logged.record, logged.message, None);
            return;
        }
        let mut text = Vec::new();
        logged.append(&mut text);
        for item in TextRecords::new(&text) {
            match item {
                TextItem::Record(record, _) => {
                    self.count(&record);
                    self.message(&record, &Message::parse(&record), None);
                }
                TextItem::Skipped(skipped) => self.out.skipped.push(skipped),
                TextItem::Summary(..) => {}
            }
        }
    }

    #[inline(always)]
    fn count(&mut self, record: &Record<'_>) {
        let counts = &mut self.out.counts;
        let summary = &mut counts.summary;
        summary.records += 1;
        summary.rpctrace_records += u64::from(record.mask & mask::RPCTRACE != 0);
        if summary.first_us.is_none_or(|first_us| record.time_us < first_us) {
            summary.first_us = Some(record.time_us);
        }
        if summary.last_us.is_none_or(|last_us| record.time_us > last_us) {
            summary.last_us = Some(record.time_us);
        }
        let stream = record.stream() as usize;
        if stream < MAX_STREAMS {
            if counts.stream_heads.len() <= stream {
                counts.stream_heads.resize(stream + 1, Head::Unseen);
            }
            let head = &mut counts.stream_heads[stream];
            if *head == Head::Unseen {
                *head = if record.first { Head::Complete } else { Head::Missing };
            }
        }
    }

    /// Takes the message of a record that is counted. `seen`: what it may repeat is remembered there.
    #[inline(always)]
    fn message<'b>(&mut self, record: &Record<'b>, message: &Message<'b>, seen: Option<&mut Seen<'b>>) {
        let counts = &mut self.out.counts;
        if record.mask & mask::FOR_PEOPLE != 0 {
            for_people(record, &mut counts.summary.events);
        }
        counts.summary.messages += u64::from(!matches!(message, Message::Other | Message::Malformed(_)));
        if let Some(body) = self.body(message, record, seen) {
            self.event(record, body);
        }
    }

    /// Remembers the first text that does not parse though it is logged where requests are handled; `offset`: where it does not.
    #[inline(always)]
    fn unread(&mut self, record: &Record<'_>, offset: usize) {
        let counts = &mut self.out.counts;
        if counts.has_rpcs || counts.unread.is_some() {
            return;
        }
        if record.mask & mask::RPCTRACE != 0 && record.function == HANDLES_REQUESTS {
            counts.unread = Some((record.message().into(), offset));
        }
    }

    /// Takes back that a record was counted. Its time and its stream will be seen again.
    #[cold]
    fn leave(&mut self, record: &Record<'_>) -> bool {
        let summary = &mut self.out.counts.summary;
        summary.records -= 1;
        summary.rpctrace_records -= u64::from(record.mask & mask::RPCTRACE != 0);
        false
    }

    #[inline]
    fn event(&mut self, record: &Record<'_>, body: Body) {
        let (time_us, pid, stream) = (record.time_us, record.pid, record.stream());
        self.out.events.push(Event { time_us, pid, stream, segment: 0, body });
    }

    /// The event of a message, if the analysis uses it.
    #[inline(always)] // For it is large, and whoever calls it keeps it.
    fn body<'b>(&mut self, message: &Message<'b>, record: &Record<'b>, seen: Option<&mut Seen<'b>>) -> Option<Body> {
        let function = record.function;
        Some(match message {
            Message::Other => {
                self.unread(record, 0);
                match seen {
                    Some(seen) => seen.sites.count(record, &mut self.out.counts.other),
                    None => add(&mut self.out.counts.other, record.file, record.function, 1),
                }
                if !client::is_of_data(record) {
                    return None;
                }
                Body::Client(ClientStep::MovedData)
            }
            Message::Malformed(malformed) => {
                *self.out.counts.malformed.entry(malformed.kind).or_default() += 1;
                self.unread(record, malformed.offset);
                return None;
            }
            Message::Handling(rpc) => {
                self.out.counts.has_rpcs = true;
                self.out.counts.summary.begun.add(record.time_us);
                let ids = self.rpc(rpc);
                if let Some(seen) = seen {
                    seen.handlings.started(record, rpc, ids);
                }
                Body::Handling(ids)
            }
            Message::Handled(handled) => {
                self.out.counts.has_rpcs = true;
                Body::Handled(self.rpc(&handled.rpc), handled.outcome)
            }
            Message::RefreshRwLocks(refresh) => {
                self.out.counts.has_requests = true;
                self.out.targets.insert(refresh.target);
                Body::Refresh {
                    target: refresh.target,
                    object: refresh.object,
                    extent: refresh.extent,
                    req: self.req(refresh.req.as_ref()?),
                }
            }
            Message::ProlongLocks(prolong) => Body::Prolong { xid: prolong.xid.0, extent: prolong.extent? },
            Message::Nrs(nrs) => match (nrs.action, nrs.policy) {
                // The tbf policy numbers its stop lines in all versions, its start lines in old ones, too.
                (NrsAction::Start, NrsPolicy::Tbf) => Body::TbfDequeue { rate: nrs.rate },
                (NrsAction::Start, policy) => {
                    if let Some(seen) = seen {
                        seen.handlings.scheduled(record);
                    }
                    Body::NrsStart { number: nrs.sequence.or(nrs.round), policy, ost_index: nrs.ost_index }
                }
                (NrsAction::Stop, NrsPolicy::Tbf) => Body::NrsStopTbf { sequence: nrs.sequence? },
                (NrsAction::Stop, NrsPolicy::Delay) => Body::NrsStopDelay,
                _ => return None,
            },
            Message::Sending(sent) => {
                // Lock callbacks name the target that sends them. Every target keeps a light-weight connection to
                // the first MDT and pings it: its device tells that the target is on this node.
                self.out.targets.extend(TargetName::parse_bytes(sent.device_uuid));
                if let Some(target) = lwp_target(sent.device_uuid) {
                    self.out.targets.insert(target);
                    self.out.pinging.insert(target);
                }
                Body::Sending(self.sent(sent))
            }
            Message::Completed(sent) => Body::Completed(self.sent(sent)),
            Message::Transferring(bulk) => {
                Body::Transferring { nid: self.intern(bulk.nid), bytes: bulk.bytes, match_bits: bulk.match_bits }
            }
            // What the node's own requests move is no part of its service.
            Message::BulkEvent(event) if function == b"server_bulk_callback" => {
                let step = match event.kind {
                    LnetEvent::Send => Some(BulkStep::Sent),
                    LnetEvent::Reply => Some(BulkStep::Received),
                    LnetEvent::Ack => Some(BulkStep::Acknowledged),
                    LnetEvent::Unlink | LnetEvent::Other(_) => None,
                };
                Body::BulkEvent { desc: event.desc, step: step.filter(|_| event.status == 0) }
            }
            Message::Req(message) => match message.event {
                ReqEvent::SendingReply => Body::SendingReply(self.req(&message.req)),
                ReqEvent::DroppedTimedOut { .. } | ReqEvent::DroppedOldConnection => Body::Dropped,
                ReqEvent::SentTimedOut => {
                    Body::SentTimedOut { opcode: message.req.opcode, target: TargetName::parse_bytes(message.req.peer) }
                }
                ReqEvent::Intent { op: intent, .. } => {
                    Body::Client(ClientStep::Answered { xid: message.req.xid, intent })
                }
                _ => return None,
            },
            Message::Ldlm(message) => return self.ldlm(message, record.message()),
            Message::Contention(Contention::Window { added, resource, window: (a, b), .. }) => {
                Body::KernelContention { resource: *resource, added: *added, window: a.saturating_add(*b) }
            }
            Message::Operation(line) => {
                let name = line.name.map(|name| self.file_name(name));
                Body::Client(client::operation(line, name, function)?)
            }
            Message::Vfs(line) => match OperationKind::of_vfs_function(function) {
                Some(kind) => {
                    let name = line.name.map(|name| self.file_name(name));
                    Body::Client(ClientStep::Called { kind, fid: line.fid, name })
                }
                None => Body::Client(client::step(line, function)),
            },
            Message::BrwRpc(rpc) => Body::BulkRequest { req: rpc.req, start: rpc.start },
            Message::BulkBuilt(built) => {
                Body::BulkBuilt { fid: built.fid, is_write: built.is_write, start_page: built.start_page }
            }
            Message::PingEviction(eviction) => {
                Body::Evicted { nid: self.intern(eviction.nid), target: TargetName::parse_bytes(eviction.target) }
            }
            Message::Marker(text) => Body::Marker(self.intern(text)),
            Message::GotReq(_) => {
                self.out.counts.has_arrivals = true;
                return None;
            }
            Message::Peer(_) => {
                self.out.counts.summary.arrivals.add(record.time_us);
                return None;
            }
            _ => return None,
        })
    }

    fn intern(&mut self, text: &[u8]) -> Symbol {
        self.recent.intern(text, &mut self.out.symbols)
    }

    fn file_name(&mut self, name: &[u8]) -> FileName {
        FileName { hash: client::hash(name), text: self.names.then(|| self.out.symbols.intern(name)) }
    }

    fn rpc(&mut self, rpc: &Handling<'_>) -> RpcIds {
        // One job for all threads of a kind, whatever the client's version.
        let by_kernel = rpc.job.and_then(KernelJob::of);
        let process = match &by_kernel {
            Some(it) => it.process,
            None => u32::try_from(rpc.client_pid).ok(),
        };
        RpcIds {
            req: rpc.req.unwrap_or(0),
            xid: rpc.xid.0,
            nid: self.intern(rpc.nid),
            thread: self.intern(rpc.thread),
            client_uuid: self.intern(rpc.client_uuid),
            job: match &by_kernel {
                Some(it) if it.has_number => Some(self.intern(&it.name())),
                _ => rpc.job.map(|job| self.intern(job)),
            },
            opcode: rpc.opcode,
            process: process.and_then(NonZeroU32::new),
            by_kernel: by_kernel.is_some(),
        }
    }

    fn req(&mut self, req: &DebugReq<'_>) -> ReqInfo {
        ReqInfo {
            req: req.req,
            xid: req.xid.0,
            nid: self.intern(req.nid),
            opcode: req.opcode,
            request_len: req.request_len,
            complete: req.phase == b"Complete",
            resent: req.is_resent(),
            replay: req.is_replay(),
            uid: req.uid,
            gid: req.gid,
            projid: req.projid,
        }
    }

    fn sent(&mut self, sent: &ClientRpc<'_>) -> SentIds {
        SentIds {
            xid: sent.xid.0,
            nid: self.intern(sent.nid),
            device: self.intern(sent.device_uuid),
            opcode: sent.opcode,
            req: sent.req.unwrap_or(0),
            by_kernel: client::is_kernel_thread(sent.thread),
        }
    }

    /// The event of a lock line.
    fn ldlm(&mut self, message: &LdlmMessage<'_>, text: &[u8]) -> Option<Body> {
        let step = match message.event {
            LdlmEvent::EnqueueStart => return Some(Body::LockPhase(LockPhase::EnqueueStart)),
            LdlmEvent::EnqueueEnd { .. } => return Some(Body::LockPhase(LockPhase::EnqueueEnd)),
            LdlmEvent::Created => LockStep::Created,
            LdlmEvent::LocalCreated => LockStep::LocalCreated,
            LdlmEvent::Incompatible => LockStep::Incompatible,
            LdlmEvent::AboutToAdd | LdlmEvent::AboutToAddGranted | LdlmEvent::AboutToInsert => LockStep::Queued,
            LdlmEvent::SendingReply { .. } => LockStep::Reply,
            LdlmEvent::PreparingBlockingAst => LockStep::BlockingAst,
            LdlmEvent::GrantedSendingCompletionAst => LockStep::Granted,
            LdlmEvent::CancelsBlocked { .. } | LdlmEvent::ConvertStart => LockStep::Released,
            LdlmEvent::CallbackTimerExpired { .. } | LdlmEvent::AstFailedEvicting { .. } => LockStep::Evicted,
            LdlmEvent::FinalPut => LockStep::Freed,
            // Other lines still name a target.
            event => {
                let lock = message.lock.as_ref()?;
                self.out.targets.extend(TargetName::from_namespace(lock.namespace));
                return client::enqueue(event, lock, text).map(Body::Client);
            }
        };
        let lock = message.lock.as_ref()?;
        let target = TargetName::from_namespace(lock.namespace)?;
        self.out.targets.insert(target);
        let nid = match lock.tail {
            LockTail::Export { nid, .. } if nid != b"local" => Some(self.intern(nid)),
            _ => None,
        };
        let info = LockState {
            cookie: lock.cookie.0,
            target,
            resource: lock.resource?,
            lock_type: lock.lock_type,
            granted_mode: lock.granted_mode,
            requested_mode: lock.requested_mode,
            granted: lock.granted_extent,
            requested: lock.requested_extent,
            nid,
        };
        Some(Body::Lock(step, info))
    }
}

/// Looks for a sentence that is for people, too.
#[cold]
fn for_people(record: &Record<'_>, events: &mut LoggedEvents) {
    let text = record.message();
    if let Some(event) = ConsoleEvent::parse(text, Voice::of(record)) {
        events.add(event.kind, record.time_us, event.is_echo, || LoggedEvent::new(record.time_us, text, &event));
    }
}

/// Records of other kinds, by source file, then function.
type Others = FxHashMap<SourceName, FxHashMap<FunctionName, u64>>;

/// Where records of other kinds were logged lately: in a log with many masks they are most of it, and come from the same few places.
struct Sites<'a>(Box<[Site<'a>; SITES]>);

/// Places that are remembered.
const SITES: usize = 64;

/// A place, and how many records it has logged that are not in the counts yet.
#[derive(Clone, Copy, Default)]
struct Site<'a> {
    file: &'a [u8],
    function: &'a [u8],
    records: u64,
}

impl Default for Sites<'_> {
    fn default() -> Self {
        Self(Box::new([Site::default(); SITES]))
    }
}

impl<'a> Sites<'a> {
    /// Counts a record.
    #[inline]
    fn count(&mut self, record: &Record<'a>, others: &mut Others) {
        let Record { file, function, .. } = *record;
        let first = function.first().copied().unwrap_or(0);
        let last = function.last().copied().unwrap_or(0);
        let key = function.len() + usize::from(first) * 3 + usize::from(last) * 7 + file.len() * 5;
        let site = &mut self.0[key % SITES];
        if site.function != function || site.file != file {
            site.flush(others);
            *site = Site { file, function, records: 0 };
        }
        site.records += 1;
    }

    fn flush(&mut self, others: &mut Others) {
        self.0.iter_mut().for_each(|site| site.flush(others));
    }
}

impl Site<'_> {
    /// Adds the records to the counts.
    fn flush(&mut self, others: &mut Others) {
        let records = std::mem::take(&mut self.records);
        if records == 0 {
            return;
        }
        add(others, self.file, self.function, records);
    }
}

/// Adds records to those of their kind; allocates only for the first.
fn add(others: &mut Others, file: &[u8], function: &[u8], records: u64) {
    if let Some(n) = others.get_mut(file).and_then(|functions| functions.get_mut(function)) {
        *n += records;
    } else {
        *others.entry(file.into()).or_default().entry(function.into()).or_default() += records;
    }
}

/// Symbols that were asked for lately: the same few clients, threads and jobs come again and again.
struct Recent([Option<Symbol>; Self::PLACES]);

impl Default for Recent {
    fn default() -> Self {
        Self([None; Self::PLACES])
    }
}

impl Recent {
    const PLACES: usize = 256;

    #[inline]
    fn intern(&mut self, text: &[u8], symbols: &mut Symbols) -> Symbol {
        let place = &mut self.0[usize::from(Self::hash(text))];
        match *place {
            Some(symbol) if symbols.bytes(symbol) == text => symbol,
            _ => *place.insert(symbols.intern(text)),
        }
    }

    /// Of names up to 16 bytes all count, of uuids both ends.
    #[inline]
    fn hash(text: &[u8]) -> u8 {
        let key = match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
            (Some(start), Some(end)) => u64::from_le_bytes(*start).rotate_left(29) ^ u64::from_le_bytes(*end),
            _ => text.iter().fold(0, |key, byte| key << 8 | u64::from(*byte)),
        };
        key.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0]
    }
}

/// The target behind a light-weight connection: `lustre-MDT0000-lwp-OST0003_UUID` is that of `lustre-OST0003`.
fn lwp_target(device: &[u8]) -> Option<TargetName> {
    // Its `w` is the last one: behind it stand kind and index.
    let at = memchr::memrchr(b'w', device)?.checked_sub(2).filter(|&at| device[at..].starts_with(b"-lwp-"))?;
    let contacted = TargetName::parse_bytes(&device[..at])?;
    let own = TargetName::parse_bytes(&[contacted.fsname().as_bytes(), &device[at + 4..]].concat())?;
    Some(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_symbols_are_those_of_the_table() {
        let mut recent = Recent::default();
        let mut symbols = Symbols::default();
        let mut expected = Symbols::default();
        // Four times as many as there are places, each of them twice.
        for round in 0..2 {
            for n in 0..4 * Recent::PLACES {
                for text in [format!("{n}"), format!("10.10.{n}.1@tcp")] {
                    let symbol = recent.intern(text.as_bytes(), &mut symbols);
                    assert_eq!(symbol, expected.intern(text.as_bytes()), "{text} in round {round}");
                    assert_eq!(recent.intern(text.as_bytes(), &mut symbols), symbol);
                }
            }
        }
        assert_eq!(symbols.len(), 8 * Recent::PLACES);
        let empty = recent.intern(b"", &mut symbols);
        assert_eq!(symbols.bytes(empty), b"");
    }

    #[test]
    fn light_weight_connections_name_their_target() {
        let own = lwp_target(b"lustre-MDT0000-lwp-OST0003_UUID").map(|target| target.to_string());
        assert_eq!(own.as_deref(), Some("lustre-OST0003"));
        assert_eq!(lwp_target(b"lustre-MDT0000-mdtlov_UUID"), None);
        assert_eq!(lwp_target(b"lustre-OST0003_UUID"), None);
    }
}
