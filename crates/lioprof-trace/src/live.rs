//! A log that is still being written: closed segments go in one after the other, rows come out.

use std::collections::VecDeque;
use std::io;
use std::path::Path;

use lioprof_model::{LockEvent, Mark, RowSink, RpcRow, SentRpc, Symbol, Symbols, TraceSummary};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::decode::chunk::CLOCK_STEP_US;
use crate::decode::reader::BinaryReader;
use crate::decode::ring;
use crate::decode::source::{Chunks, Source};
use crate::join::{Join, RowOutput};
use crate::segment_scan::open_daemon_file;

/// Bytes per chunk: small, since little memory matters more than the last percent of speed.
const CHUNK_BYTES: usize = 256 << 10;

/// What a segment held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Size of the segment, bytes, as far as it was read.
    pub bytes: u64,
    /// Number of records in it.
    pub records: u64,
    /// Bytes that the busiest CPU logged.
    pub busiest_cpu_bytes: u64,
    /// Time of the first record, microseconds since the epoch.
    pub first_us: Option<i64>,
    /// Time of the last record.
    pub last_us: Option<i64>,
}

/// What has been handed on of a log that is read again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandedOn {
    /// Everything up to this time, microseconds since the epoch ...
    pub through_us: i64,
    /// ... but for the rows of these requests (client NID, xid), which were handled before, and whose last lines had not come.
    pub unfinished: Vec<(Vec<u8>, u64)>,
}

/// Makes rows of one node's debug daemon file while it is being written, segment by segment.
///
/// A segment is a binary log that nobody writes to any more, cut between two pages by renaming the daemon's file.
/// The last second or so of a segment stays open until the next one shows what lies in between:
/// everything up to [`Self::through_us`] has been handed on.
pub struct LiveTrace {
    pool: ThreadPool,
    node: Symbol,
    symbols: Symbols,
    source: Source,
    join: Join,
    /// Events up to this time were seen in an earlier run over the same segments ..
    known_us: i64,
    /// .. unless the events are of this segment or a later one.
    new_from_segment: u32,
    /// Segments read.
    segments: u32,
    /// Handed on up to this time.
    through_us: Option<i64>,
    /// The next segment does not follow on the last one.
    after_gap: bool,
    /// Places where the kernel began to overwrite a segment, since the last summary.
    torn_seams: u64,
    /// What the last segment's summary ended with.
    summed_up_us: Option<i64>,
    /// When tracing went on after pauses that are still to come.
    resumed_us: VecDeque<i64>,
}

impl LiveTrace {
    /// For the log of `node`. What is `known` is not handed on again.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn new(node: &str, known: Option<HandedOn>) -> io::Result<Self> {
        let pool = ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "decode".to_owned()).build();
        let pool = pool.map_err(io::Error::other)?;
        let mut symbols = Symbols::default();
        let node = symbols.intern(node.as_bytes());
        let through_us = known.as_ref().map(|known| known.through_us);
        let mut join = Join::new(node);
        for (nid, xid) in known.into_iter().flat_map(|known| known.unfinished) {
            join.unfinished_before.insert((symbols.intern(&nid), xid));
        }
        Ok(Self {
            pool,
            node,
            symbols,
            source: Source::live(),
            join,
            through_us,
            known_us: through_us.unwrap_or(i64::MIN),
            new_from_segment: u32::MAX,
            segments: 0,
            after_gap: true,
            torn_seams: 0,
            summed_up_us: None,
            resumed_us: VecDeque::new(),
        })
    }

    /// Nothing was traced for a while until this time, which is later than all that was read.
    pub fn traced_from(&mut self, us: i64) {
        self.resumed_us.push_back(us);
    }

    /// The segments to come were not read before: all their rows are new, whatever the clock did.
    pub fn only_new_from_now(&mut self) {
        self.new_from_segment = self.new_from_segment.min(self.segments);
    }

    /// Segments read so far, also those without records.
    #[must_use]
    pub fn segments(&self) -> u32 {
        self.segments
    }

    /// Number, from 0, of the first segment of which not everything has been handed on.
    #[must_use]
    pub fn waiting_segment(&self) -> Option<u32> {
        self.source.waiting_segment()
    }

    /// Whether the clock was set back and has not come again to where it was: times do not tell what was handed on.
    #[must_use]
    pub fn clock_is_behind(&self) -> bool {
        self.source.at_us().zip(self.through_us).is_some_and(|(at, through)| through - at > CLOCK_STEP_US)
    }

    /// Reads a closed segment. `may_wrap`: it reached its size limit, so the kernel may have overwritten its
    /// beginning.
    ///
    /// # Errors
    /// If the file cannot be read; what came before is handed on.
    pub fn segment(&mut self, path: &Path, may_wrap: bool, sink: &mut (dyn RowSink + Send)) -> io::Result<Segment> {
        let (file, _, layout) = open_daemon_file(path)?;
        let bytes = file.len();
        let segment = self.segments;
        self.segments += 1;
        if bytes == 0 {
            return Ok(Segment::default());
        }
        let Some(layout) = layout else {
            self.source.skip_input(bytes);
            self.after_gap = true;
            return Ok(Segment { bytes, ..Segment::default() });
        };
        let stretches = ring::in_order_of_writing(&file, layout, may_wrap)?;
        let torn_seams = stretches.len() as u64 - 1;
        self.torn_seams += torn_seams;
        let mut reader = BinaryReader::new(file, layout, &stretches, CHUNK_BYTES);
        if !std::mem::take(&mut self.after_gap) && torn_seams == 0 {
            reader.continues();
        }
        self.source.feed(Chunks::Binary(reader), segment);
        self.drain(sink);
        self.source.release_settled();
        self.drain(sink);
        self.after_gap = self.source.ends_in_gap(bytes);
        let (first_us, last_us) = self.source.input_span();
        let (records, busiest_cpu_bytes) = (self.source.input_records(), self.source.busiest_cpu_bytes());
        self.source.take_error().map_or(Ok(Segment { bytes, records, busiest_cpu_bytes, first_us, last_us }), Err)
    }

    /// A segment will never come: what follows does not continue what was.
    pub fn missing_segment(&mut self) {
        self.after_gap = true;
    }

    /// Hands on everything before this time, because the kernel has surely written it by now.
    pub fn settle(&mut self, before_us: i64, sink: &mut (dyn RowSink + Send)) {
        self.source.settle(before_us);
        self.drain(sink);
    }

    /// Tracing was stopped: hands on everything. What comes next stands on its own.
    pub fn interrupt(&mut self, sink: &mut (dyn RowSink + Send)) -> TraceSummary {
        self.settle(i64::MAX, sink);
        // Records that are no events count, too: nothing of what was read is needed any more.
        self.through_us = self.through_us.max(self.source.last_us());
        let mut rows = NewRowsOnly { sink, is_new: true };
        self.join.finish(&mut RowOutput { symbols: &self.symbols, sink: &mut rows });
        let summary = self.take_summary();
        self.join = Join::new(self.node);
        self.source = Source::live();
        self.after_gap = true;
        summary
    }

    /// What came in since the last call.
    pub fn take_summary(&mut self) -> TraceSummary {
        let mut summary = self.source.take_seen().summary();
        summary.loss.torn_seams = std::mem::take(&mut self.torn_seams);
        summary.merge(&self.join.summary());
        summary.under_way = summary.under_way.until(summary.last_us.unwrap_or(i64::MIN));
        self.join.told();
        // Parts of one log follow on each other, but for what the kernel could not write in time.
        summary.first_us = summary.first_us.into_iter().chain(self.summed_up_us).min().filter(|_| summary.records > 0);
        self.summed_up_us = summary.last_us.max(self.summed_up_us);
        summary
    }

    /// What has been handed on, for whoever reads the same segments again.
    #[must_use]
    pub fn known(&self) -> Option<HandedOn> {
        let unfinished = self.join.unfinished().map(|(nid, xid)| (self.symbols.bytes(nid).to_vec(), xid)).collect();
        Some(HandedOn { through_us: self.through_us?, unfinished })
    }

    /// Everything up to this time has been handed on.
    #[must_use]
    pub fn through_us(&self) -> Option<i64> {
        self.through_us
    }

    /// When the oldest request that is not over was first seen.
    #[must_use]
    pub fn oldest_open_us(&self) -> Option<i64> {
        self.join.oldest_open_us()
    }

    /// Distinct strings held.
    #[must_use]
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// Forgets all strings that nothing refers to any more: job ids and client uuids keep coming. Symbols that a sink got
    /// before mean something else from now on.
    pub fn forget_symbols(&mut self) {
        let mut kept = Symbols::default();
        let Self { symbols, source, join, node, .. } = self;
        let mut keep = |symbol: &mut Symbol| *symbol = kept.intern(symbols.bytes(*symbol));
        keep(node);
        source.symbols(&mut keep);
        join.symbols(&mut keep);
        self.symbols = kept;
    }

    /// Joins all events whose order is certain.
    fn drain(&mut self, sink: &mut (dyn RowSink + Send)) {
        let Self { pool, symbols, source, join, known_us, new_from_segment, through_us, resumed_us, .. } = self;
        pool.install(|| {
            let mut rows = NewRowsOnly { sink, is_new: false };
            while let Some(event) = source.next(symbols) {
                rows.is_new = event.time_us > *known_us || event.segment >= *new_from_segment;
                join.repeats = !rows.is_new;
                let time_us = event.time_us;
                while resumed_us.pop_front_if(|resumed_us| time_us >= *resumed_us).is_some() {
                    join.another_capture();
                }
                join.event(event, &mut RowOutput { symbols, sink: &mut rows });
                *through_us = (*through_us).max(Some(time_us));
            }
        });
    }
}

/// Hands on what is not known yet.
struct NewRowsOnly<'a> {
    sink: &'a mut (dyn RowSink + Send),
    /// The event at hand is behind what is known.
    is_new: bool,
}

impl RowSink for NewRowsOnly<'_> {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        // The join knows better: a row counts by when it was handled, not by what makes it go out.
        self.sink.rpc(row, symbols);
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        if self.is_new {
            self.sink.lock_event(event, symbols);
        }
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        if self.is_new {
            self.sink.sent_rpc(sent, symbols);
        }
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        if self.is_new {
            self.sink.mark(mark, symbols);
        }
    }
}
