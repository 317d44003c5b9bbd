//! One input as a stream of events in time order.
//!
//! Text is sorted already (`lctl` sorts it). A binary log is a sequence of *flush passes*; a pass is a
//! sequence of runs, one per CPU and context, each in time order (`tracefile.c`). A record of a later
//! pass was logged after the lists of the pass before had been detached, so once a pass is complete,
//! everything older than the newest record of the pass *before it* can be released.
//!
//! When the disk is full the kernel puts pages back and writes them again, so one pass may bring what many passes
//! collected: all pages of one CPU, each of which starts with the `F` flag, then all of the next CPU, seconds
//! older. [`FlushPasses`] therefore waits for the other CPUs, within bounds, before it takes a second run of the same
//! stream for a new pass.
//!
//! Records of different streams with the same time are put in the order of their streams, so that the
//! result does not depend on how the input happened to order them.

use std::collections::VecDeque;
use std::io;
use std::mem;

use lioprof_model::{Symbol, Symbols, TraceSummary};
use lustre_debuglog::frame::{HeaderLayout, SkipReason};
use rustc_hash::FxHashMap;

use super::chunk::{Counts, Decoded, decode_binary, decode_text};
use super::chunk_store::{ChunkStore, EventKey};
use super::chunk_tasks::{ChunkTask, ChunkTasks};
use super::event::Event;
use super::flush_passes::{Added, FlushPasses};
use super::moment::Moment;
use super::reader::{BinaryReader, Gap, RawChunk, TextReader};
use crate::envelope::repair;

/// Events that wait for their order before it is worth sorting them.
const SORT_AT_LEAST: usize = 4096;

/// Where chunks come from.
pub(crate) enum Chunks {
    /// A text log.
    Text(TextReader),
    /// A binary log.
    Binary(BinaryReader),
}

impl Chunks {
    /// The next chunk, `None` at the end.
    pub(crate) fn next_chunk(&mut self) -> io::Result<Option<RawChunk>> {
        match self {
            Self::Text(reader) => reader.next_chunk(),
            Self::Binary(reader) => reader.next_chunk(),
        }
    }

    /// Layout of a binary log.
    pub(crate) fn layout(&self) -> Option<HeaderLayout> {
        match self {
            Self::Text(_) => None,
            Self::Binary(reader) => Some(reader.layout()),
        }
    }
}

/// What was seen of an input once it has been read.
#[derive(Debug, Default)]
pub(crate) struct InputFacts {
    pub(crate) counts: Counts,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) error: Option<io::Error>,
    /// A text that ends inside a line.
    pub(crate) is_cut: bool,
}

impl InputFacts {
    /// What of it a summary tells.
    pub(crate) fn summary(&self) -> TraceSummary {
        let mut summary = self.counts.summary.clone();
        summary.loss.bad_records = self.gaps.len() as u64;
        summary.loss.skipped_bytes = self.gaps.iter().map(|gap| gap.len).sum();
        summary
    }
}

/// One input as a stream of events in time order.
pub(crate) struct Source {
    /// `None` before the first segment of a log that comes in segments.
    chunks: Option<Chunks>,
    tasks: ChunkTasks<Decoded>,
    chunks_in_flight: usize,
    /// Names of files are kept.
    names: bool,
    exhausted: bool,
    /// More segments may come: what is not settled waits for them.
    live: bool,
    /// Time of the first and last record of the current segment.
    span: (Option<i64>, Option<i64>),
    /// Records of the current segment.
    records: u64,
    /// Bytes of the current segment by CPU.
    cpu_bytes: FxHashMap<u32, u64>,
    /// Number of the current segment.
    segment: u32,
    /// Time of the last record of the current segment, in the order of the file.
    at_us: Option<i64>,
    store: ChunkStore<Event>,
    /// Events whose order is not certain yet.
    pending: Vec<EventKey>,
    /// So many make it worth sorting them again.
    sort_at: usize,
    /// Events in order.
    ready: VecDeque<EventKey>,
    /// When the last event released was logged.
    released: Moment,
    /// Events of a binary log released with that moment.
    latest: Vec<Event>,
    passes: FlushPasses,
    /// Something was skipped, or time went back in a stream: records may be there twice.
    damaged: bool,
    seen: InputFacts,
}

impl Source {
    /// A source that keeps up to so many chunks in flight, and names of files if `names` says so.
    pub(crate) fn new(chunks: Chunks, chunks_in_flight: usize, names: bool) -> Self {
        Self { chunks: Some(chunks), exhausted: false, live: false, names, ..Self::empty(chunks_in_flight) }
    }

    /// A source of segments that are still to come, which one thread reads.
    pub(crate) fn live() -> Self {
        Self::empty(1)
    }

    fn empty(chunks_in_flight: usize) -> Self {
        Self {
            chunks: None,
            tasks: ChunkTasks::default(),
            chunks_in_flight,
            names: false,
            exhausted: true,
            live: true,
            span: (None, None),
            records: 0,
            cpu_bytes: FxHashMap::default(),
            segment: 0,
            at_us: None,
            store: ChunkStore::default(),
            pending: Vec::new(),
            sort_at: SORT_AT_LEAST,
            ready: VecDeque::new(),
            released: Moment::MIN,
            latest: Vec::new(),
            passes: FlushPasses::default(),
            damaged: false,
            seen: InputFacts::default(),
        }
    }

    /// The next event in time order. Its symbols belong to `symbols`.
    ///
    /// Must be called on a thread of the pool that decodes.
    pub(crate) fn next(&mut self, symbols: &mut Symbols) -> Option<&Event> {
        self.peek(symbols)?;
        self.ready.pop_front().map(|key| self.store.take(key))
    }

    /// Time and stream of the event that [`Self::next`] will return.
    pub(crate) fn peek(&mut self, symbols: &mut Symbols) -> Option<&EventKey> {
        while self.ready.is_empty() {
            match self.next_decoded() {
                Some((decoded, after_gap)) => self.take(decoded, after_gap, symbols),
                None if self.pending.is_empty() || self.live => return None,
                // The end: nothing will come that belongs in between. Of a text this is one time only.
                None => self.release(Moment::MAX),
            }
        }
        self.ready.front()
    }

    /// The event that [`Self::next`] will return.
    pub(crate) fn peek_event(&mut self, symbols: &mut Symbols) -> Option<&Event> {
        self.peek(symbols)?;
        self.ready.front().map(|&key| self.store.get(key))
    }

    /// What was seen of the input; complete once [`Self::next`] has returned `None`.
    pub(crate) fn finish(mut self) -> InputFacts {
        self.take_gaps();
        self.seen
    }

    /// The next segment of a log that comes in segments. The one before it must have been read to its end.
    pub(crate) fn feed(&mut self, chunks: Chunks, segment: u32) {
        self.take_gaps();
        self.chunks = Some(chunks);
        self.exhausted = false;
        self.span = (None, None);
        self.records = 0;
        self.cpu_bytes.clear();
        self.segment = segment;
    }

    /// A segment that holds no records.
    pub(crate) fn skip_input(&mut self, bytes: u64) {
        self.seen.counts.summary.bytes += bytes;
        self.seen.gaps.push(Gap { offset: 0, len: bytes, why: SkipReason::NoHeader });
    }

    /// Time of the first and last record of the current segment.
    pub(crate) fn input_span(&self) -> (Option<i64>, Option<i64>) {
        self.span
    }

    /// The first segment of which events wait for their order.
    pub(crate) fn waiting_segment(&self) -> Option<u32> {
        self.pending.iter().map(|&key| self.store.get(key).segment).min()
    }

    /// Time of the last record in the order of the file: the clock may have been earlier, or later, before.
    pub(crate) fn at_us(&self) -> Option<i64> {
        self.at_us
    }

    /// Latest time of all records since the clock was last set back.
    pub(crate) fn last_us(&self) -> Option<i64> {
        self.passes.latest_us()
    }

    /// Records of the current segment.
    pub(crate) fn input_records(&self) -> u64 {
        self.records
    }

    /// Bytes that the busiest CPU logged in the current segment.
    pub(crate) fn busiest_cpu_bytes(&self) -> u64 {
        self.cpu_bytes.values().copied().max().unwrap_or(0)
    }

    /// What stopped the reading of the current segment.
    pub(crate) fn take_error(&mut self) -> Option<io::Error> {
        self.seen.error.take()
    }

    /// What was seen since the last call.
    pub(crate) fn take_seen(&mut self) -> InputFacts {
        self.take_gaps();
        mem::take(&mut self.seen)
    }

    /// Nothing will come any more that belongs before this time.
    pub(crate) fn settle(&mut self, before_us: i64) {
        self.release(Moment { epoch: self.passes.epoch(), time_us: before_us });
    }

    /// Releases what is in order, however little that is: the next segment may be long in coming.
    pub(crate) fn release_settled(&mut self) {
        self.passes.segment_ends();
        self.release(self.passes.settled);
    }

    /// Whether the last bytes of the current segment, which is so long, hold no records.
    pub(crate) fn ends_in_gap(&self, bytes: u64) -> bool {
        let Some(Chunks::Binary(reader)) = &self.chunks else { return false };
        reader.gaps.last().is_some_and(|gap| gap.offset + gap.len == bytes)
    }

    /// Shows the symbols of all events held to `visit`, which may replace them.
    pub(crate) fn symbols(&mut self, visit: &mut impl FnMut(&mut Symbol)) {
        self.store.symbols(visit);
        for event in &mut self.latest {
            event.symbols(visit);
        }
    }

    fn take_gaps(&mut self) {
        if let Some(Chunks::Binary(reader)) = &mut self.chunks {
            // A page that was torn at the end of a segment comes again in the next one.
            self.damaged |= self.live && !reader.gaps.is_empty();
            self.seen.counts.summary.bytes += reader.gaps.iter().map(|gap| gap.len).sum::<u64>();
            self.seen.gaps.append(&mut reader.gaps);
        }
    }

    /// Keeps the pool busy and waits for the oldest chunk.
    fn next_decoded(&mut self) -> Option<(Decoded, bool)> {
        while self.tasks.len() < self.chunks_in_flight && !self.exhausted {
            match self.chunks.as_mut().map_or(Ok(None), Chunks::next_chunk) {
                Ok(Some(chunk)) => self.launch(chunk),
                Ok(None) => self.exhausted = true,
                Err(err) => {
                    self.exhausted = true;
                    self.seen.error = Some(err);
                }
            }
        }
        let ChunkTask { offset, after_gap, result: mut decoded } = self.tasks.next()?;
        for skipped in mem::take(&mut decoded.skipped) {
            let offset = offset + skipped.offset as u64;
            match self.seen.gaps.last_mut() {
                Some(gap) if gap.offset + gap.len == offset => gap.len += skipped.len as u64,
                _ => self.seen.gaps.push(Gap { offset, len: skipped.len as u64, why: skipped.why }),
            }
        }
        Some((decoded, after_gap))
    }

    fn launch(&mut self, chunk: RawChunk) {
        self.seen.counts.summary.bytes += chunk.bytes.len() as u64;
        let layout = self.chunks.as_ref().and_then(Chunks::layout);
        let buffers = self.store.buffers();
        let names = self.names;
        self.tasks.launch(chunk, move |chunk| {
            let events = buffers.take().unwrap_or_default();
            match layout {
                None => {
                    let mut decoded = decode_text(&chunk.bytes, chunk.is_last, names, events);
                    if chunk.offset == 0 {
                        decoded.skipped.retain(|it| it.offset > 0 || !repair::are_remarks(&chunk.bytes[..it.len]));
                    }
                    decoded
                }
                Some(layout) => decode_binary(chunk.records(layout), names, events),
            }
        });
    }

    /// Takes a decoded chunk over and releases what is in order.
    fn take(&mut self, decoded: Decoded, after_gap: bool, symbols: &mut Symbols) {
        let Decoded { mut events, symbols: local, runs, counts, targets, pinging, is_cut, .. } = decoded;
        self.seen.is_cut |= is_cut;
        self.records += counts.summary.records;
        self.span.0 = self.span.0.or(counts.summary.first_us);
        self.span.1 = self.span.1.max(counts.summary.last_us);
        self.seen.counts.merge(counts);
        let summary = &mut self.seen.counts.summary;
        summary.targets.extend(targets);
        summary.pinging_targets.extend(pinging);
        let map: Vec<Symbol> = local.iter().map(|(_, text)| symbols.intern(text)).collect();
        for event in &mut events {
            event.translate(&map);
            event.segment = self.segment;
        }
        self.at_us = runs.last().map(|run| run.end_us).or(self.at_us);
        let count = events.len();
        let chunk = self.store.push(events, count);
        match &self.chunks {
            Some(Chunks::Text(_)) | None => {
                self.pending.extend(self.store.keys(chunk, 0, count, 0));
                self.release_text();
            }
            Some(Chunks::Binary(_)) => {
                // What was skipped lies before this chunk, unless it is the input's first.
                self.damaged |= after_gap && !self.passes.is_new();
                let mut from = 0;
                for (i, run) in runs.iter().enumerate() {
                    *self.cpu_bytes.entry(run.stream / 4).or_default() += run.bytes;
                    let to = runs.get(i + 1).map_or(count, |next| next.from);
                    // A page that was written again goes back, too; where it does so, bytes are missing.
                    let repeats = after_gap && i == 0 || self.damaged && !self.passes.continues(run);
                    let cut = !repeats && self.passes.goes_back(run);
                    let clock_steps = run.clock_steps + u64::from(cut);
                    self.damaged |= clock_steps > 0;
                    let loss = &mut self.seen.counts.summary.loss;
                    loss.clock_steps += clock_steps;
                    let Added { starts_pass, epoch } =
                        self.passes.add(run, after_gap && i == 0, &mut loss.discarded_heads);
                    if starts_pass && self.pending.len() >= self.sort_at {
                        self.release(self.passes.settled);
                    }
                    self.pending.extend(self.store.keys(chunk, from, to, epoch));
                    from = to;
                }
            }
        }
    }

    /// Releases text in the order of the file, but for events of equal time, which are put in the order of
    /// their streams. Those of the latest time may still get company.
    fn release_text(&mut self) {
        let Some(last) = self.pending.last() else { return };
        let open = self.pending.iter().rev().take_while(|event| event.time_us == last.time_us).count();
        let settled = self.pending.len() - open;
        for group in self.pending[..settled].chunk_by_mut(|a, b| a.time_us == b.time_us) {
            if group.len() > 1 {
                group.sort_by_key(|key| key.stream);
            }
        }
        for key in self.pending.drain(..settled) {
            self.seen.counts.summary.loss.clock_steps += u64::from(key.moment() < self.released);
            self.released = key.moment();
            self.ready.push_back(key);
        }
    }

    /// Sorts what is pending and releases everything before that moment.
    fn release(&mut self, before: Moment) {
        // Stable: records of a stream stay in the order in which they came.
        self.pending.sort_by_key(EventKey::order);
        let count = self.pending.partition_point(|key| key.moment() < before);
        let later = self.pending.split_off(count);
        // What has to wait longer is not sorted again for every page that follows.
        self.sort_at = SORT_AT_LEAST.max(2 * later.len());
        let now = mem::replace(&mut self.pending, later);
        let from = self.ready.len();
        if self.damaged {
            self.release_once(&now);
        } else {
            self.ready.extend(&now);
        }
        let released = self.ready.range(from..);
        self.seen.counts.summary.loss.clock_steps +=
            released.clone().take_while(|key| key.moment() < self.released).count() as u64;
        let Some(last) = released.clone().next_back().filter(|last| last.moment() >= self.released) else { return };
        if last.moment() > self.released {
            self.latest.clear();
        }
        self.released = last.moment();
        let same_time = released.rev().take_while(|key| key.moment() == self.released);
        self.latest.extend(same_time.map(|&key| *self.store.get(key)));
    }

    /// Releases keys in order, but not what is there already: after a failed write the kernel writes the page again
    /// (`tracefile.c`).
    fn release_once(&mut self, now: &[EventKey]) {
        for same_time in now.chunk_by(|a, b| a.moment() == b.moment()) {
            let mut seen: Vec<Event> = Vec::new();
            if same_time[0].moment() == self.released {
                seen.extend_from_slice(&self.latest);
            }
            for &key in same_time {
                let event = self.store.get(key);
                if seen.iter().any(|seen| seen.is_copy_of(event)) {
                    self.store.drop(key);
                } else {
                    seen.push(*event);
                    self.ready.push_back(key);
                }
            }
        }
    }
}
