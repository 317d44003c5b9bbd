//! The thread that turns segments into rows on disk.
//!
//! A segment is deleted once every row that needs it is durable. If a part cannot be written (disk full), its rows are
//! made anew from the segments, which are still there: the same path as after a crash.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lioprof_model::TraceSummary;
use lioprof_trace::{CLOCK_STEP_US, HandedOn, LiveTrace, Segment, SegmentScan};

use super::DrainError;
use super::keep::{GivenUp, Keep, PartFacts, WhyGivenUp, WrittenPart};
use super::queue::{Job, Queue};
use super::raw::RawKeep;
use super::spool::SegmentFile;

/// Pause before a part that could not be written is tried again.
const RETRY: Duration = Duration::from_secs(10);
/// Longest time that an open request may delay the deletion of segments; after it a crash loses the request's first
/// half.
const HOLD_US: i64 = 30_000_000;
/// Longest wait for a job.
const NOTHING_TO_DO: Duration = Duration::from_secs(60);
/// Strings that may be pending before the tables are made anew.
const MAX_SYMBOLS: usize = 400_000;

/// When a part is closed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartLimits {
    /// Age of the part.
    pub(crate) age: Duration,
    /// Size of the part on disk, bytes.
    pub(crate) bytes: u64,
    /// Bytes of segments that wait for it to be closed.
    pub(crate) segment_bytes: u64,
}

/// An event of the decoding thread.
#[derive(Debug)]
pub(crate) enum Progress {
    /// A segment was decoded.
    Decoded {
        /// Size of the segment, bytes.
        bytes: u64,
        /// Number of records in it.
        records: u64,
        /// Bytes per second that the busiest CPU logged; `None` if it is too short to tell.
        busiest_cpu_bytes_per_s: Option<f64>,
        /// Time of its last record.
        last_us: Option<i64>,
    },
    /// A segment was deleted unread.
    GivenUp(GivenUp),
    /// A part is safe on disk.
    Closed {
        /// The part.
        part: WrittenPart,
        /// What the log of this part pending.
        summary: Box<TraceSummary>,
    },
    /// Something could not be read or written; it will be tried again, or is counted as lost.
    Failed(DrainError),
    /// No failed write is pending any more.
    AllSafe,
    /// Everything is done.
    Finished,
}

/// A decoded segment whose rows are not all safe yet.
#[derive(Debug)]
struct PendingSegment {
    file: SegmentFile,
    last_us: Option<i64>,
    /// Tracing was interrupted after it.
    last_of_stretch: bool,
    /// What it holds has been counted in a part that is safe.
    counted: bool,
    /// A copy of it is kept.
    copied: bool,
    /// Its number among those that the trace has read.
    number: u32,
    /// The clock was set back after it: its times say nothing about what comes later.
    outdated: bool,
}

/// Turns segments into rows on disk.
pub(crate) struct Worker<K> {
    node: String,
    queue: Arc<Queue>,
    keep: K,
    raw: Option<RawKeep>,
    limits: PartLimits,
    progress: Box<dyn FnMut(Progress) + Send>,
    live: LiveTrace,
    pending: Vec<PendingSegment>,
    /// What is safe.
    safe: Option<HandedOn>,
    part_since: Instant,
    summary: TraceSummary,
    given_up: Vec<GivenUp>,
    overflows: u64,
    /// Tracing was interrupted, and nothing was decoded since.
    interrupted: bool,
    retry_at: Option<Instant>,
    /// Time of the last record of the last segment.
    decoded_us: Option<i64>,
}

impl<K: Keep> Worker<K> {
    /// For the log of `node`, of which some is kept already.
    /// Fails if a thread cannot be started.
    pub(crate) fn new(
        node: &str,
        safe: Option<HandedOn>,
        queue: Arc<Queue>,
        keep: K,
        raw: Option<RawKeep>,
        limits: PartLimits,
        progress: impl FnMut(Progress) + Send + 'static,
    ) -> Result<Self, DrainError> {
        Ok(Self {
            node: node.to_owned(),
            queue,
            keep,
            raw,
            limits,
            progress: Box::new(progress),
            live: LiveTrace::new(node, safe.clone()).map_err(DrainError::Thread)?,
            pending: Vec::new(),
            safe,
            part_since: Instant::now(),
            summary: TraceSummary::default(),
            given_up: Vec::new(),
            overflows: 0,
            interrupted: false,
            retry_at: None,
            decoded_us: None,
        })
    }

    /// Works until [`Job::Finish`]. What cannot be written by then stays in its segments, for the next start.
    pub(crate) fn run(mut self) {
        loop {
            if let Some(at) = self.retry_at {
                // New segments stay in the queue, where they can be given up if there are too many.
                let finishing = self.queue.wait_for_finish(at.saturating_duration_since(Instant::now()));
                self.close();
                self.queue.set_stalled(self.retry_at.is_some());
                if finishing && self.retry_at.is_some() {
                    break;
                }
                continue;
            }
            let at_most = self.part_is_due_in();
            match self.queue.next(at_most) {
                Some(Job::Finish) => {
                    self.interrupt();
                    self.close();
                    if self.retry_at.is_some() {
                        self.close();
                    }
                    break;
                }
                Some(job) => self.job(job),
                None => {}
            }
            if self.part_is_due() {
                self.close();
            }
        }
        self.keep.finish();
        (self.progress)(Progress::Finished);
    }

    fn job(&mut self, job: Job) {
        match job {
            Job::Segment { file, counted } => self.segment(file, counted),
            Job::GiveUp(file, why) => self.give_up(&file, why),
            Job::Vanished(bytes) => self.missing(bytes, WhyGivenUp::Vanished),
            Job::Lost(lost) => {
                self.live.missing_segment();
                self.lost(lost);
            }
            Job::Overflows(count) => self.overflows += count,
            Job::Counters(sample, traced) => self.keep.counters(&sample, traced),
            Job::Settle(before_us) => {
                self.live.settle(before_us, &mut self.keep);
                // A kernel that is frozen writes nothing either.
                let surely = self.decoded_us.is_none_or(|decoded_us| before_us - decoded_us >= HOLD_US);
                self.tell_complete(Some(before_us), surely);
            }
            Job::Interrupt => self.interrupt(),
            Job::TracedFrom(us) => self.live.traced_from(us),
            Job::Flush => self.close(),
            Job::NextLoad => self.keep.next_load(),
            Job::Look => self.keep.look(self.live.symbols()),
            Job::Finish => unreachable!("`run` ends before it hands this on"),
        }
    }

    fn segment(&mut self, file: SegmentFile, counted: bool) {
        let mut pending = PendingSegment {
            file,
            last_us: None,
            last_of_stretch: false,
            counted,
            copied: false,
            number: 0,
            outdated: false,
        };
        match self.decode(&mut pending) {
            Ok(segment) => {
                if counted {
                    self.live.take_summary();
                }
                (self.progress)(Progress::Decoded {
                    bytes: segment.bytes,
                    records: segment.records,
                    busiest_cpu_bytes_per_s: cpu_rate(&segment),
                    last_us: segment.last_us,
                });
                self.keep_until_safe(pending);
                self.decoded_us = segment.last_us.or(self.decoded_us);
                self.tell_complete(self.live.through_us(), true);
            }
            Err(err) => self.unreadable(pending, err),
        }
    }

    /// The log has been handed on up to `through_us`, so the RPCs are up to the oldest that is not over. One whose end was
    /// lost is not waited for.
    fn tell_complete(&mut self, through_us: Option<i64>, surely: bool) {
        if let Some(through_us) = through_us {
            let open_us = self.live.oldest_open_us().unwrap_or(i64::MAX).max(through_us - HOLD_US);
            let unfinished = self.live.known().map_or(0, |known| known.unfinished.len() as u64);
            self.keep.complete(open_us.min(through_us), unfinished, surely);
            self.keep.handed_on(through_us, self.live.symbols());
        }
    }

    /// Counts a pending segment as lost, except for what was already read.
    fn unreadable(&mut self, pending: PendingSegment, source: std::io::Error) {
        let vanished = source.kind() == std::io::ErrorKind::NotFound;
        self.missing(pending.file.bytes, if vanished { WhyGivenUp::Vanished } else { WhyGivenUp::Unreadable });
        (self.progress)(Progress::Failed(DrainError::Segment { path: pending.file.path, source }));
    }

    fn missing(&mut self, bytes: u64, why: WhyGivenUp) {
        self.live.missing_segment();
        self.lost(GivenUp { why, bytes, rpcs: 0, first_us: None, last_us: None });
    }

    fn keep_until_safe(&mut self, pending: PendingSegment) {
        for earlier in &mut self.pending {
            let back = earlier.last_us.zip(pending.last_us).is_some_and(|(then, now)| now < then - CLOCK_STEP_US);
            earlier.outdated |= back;
        }
        self.pending.push(pending);
    }

    fn decode(&mut self, pending: &mut PendingSegment) -> Result<Segment, std::io::Error> {
        self.interrupted = false;
        self.keep.begin_segment();
        if !pending.counted {
            self.live.only_new_from_now();
        }
        pending.number = self.live.segments();
        let segment = self.live.segment(&pending.file.path, pending.file.may_wrap(), &mut self.keep)?;
        pending.last_us = segment.last_us;
        pending.file.bytes = segment.bytes;
        Ok(segment)
    }

    fn give_up(&mut self, file: &SegmentFile, why: WhyGivenUp) {
        self.live.missing_segment();
        // How much is lost costs little to know, next to decoding it.
        let SegmentScan { first_us, last_us, rpcs, torn_seams } =
            SegmentScan::of(&file.path, file.may_wrap()).unwrap_or_default();
        self.summary.loss.torn_seams += torn_seams;
        self.lost(GivenUp { why, bytes: file.bytes, rpcs, first_us, last_us });
        self.delete(&file.path);
    }

    fn lost(&mut self, given_up: GivenUp) {
        self.given_up.push(given_up);
        (self.progress)(Progress::GivenUp(given_up));
    }

    fn interrupt(&mut self) {
        self.interrupted = true;
        let summary = self.live.interrupt(&mut self.keep);
        self.summary.merge(&summary);
        if let Some(last) = self.pending.last_mut() {
            last.last_of_stretch = true;
        }
    }

    /// When to look at the part's age again if nothing comes in; all else that closes a part comes as a job.
    fn part_is_due_in(&mut self) -> Duration {
        let is_empty = self.pending.is_empty() && self.keep.part().rows == 0;
        let left = self.limits.age.saturating_sub(self.part_since.elapsed());
        if is_empty { NOTHING_TO_DO } else { left.clamp(Duration::from_millis(10), NOTHING_TO_DO) }
    }

    fn part_is_due(&mut self) -> bool {
        let part = self.keep.part();
        let pending: u64 = self.pending.iter().map(|pending| pending.file.bytes).sum();
        self.keep.has_failed()
            || part.bytes >= self.limits.bytes
            || pending >= self.limits.segment_bytes
            || (part.rows > 0 || pending > 0) && self.part_since.elapsed() >= self.limits.age
    }

    /// Makes everything that was handed on durable, and deletes the segments that are not needed any more.
    fn close(&mut self) {
        self.part_since = Instant::now();
        if self.retry_at.take().is_some() {
            self.decode_again();
        }
        if self.live.clock_is_behind() {
            // After a crash, times could not tell what of these segments is there already.
            self.live.settle(i64::MAX, &mut self.keep);
        }
        self.summary.merge(&self.live.take_summary());
        let known = self.live.known();
        let mut summary = self.summary.clone();
        // Nobody can read these again: they are counted until a part that says so is safe.
        summary.loss.dropped_segments += self.given_up.len() as u64;
        summary.loss.dropped_segment_bytes += self.given_up.iter().map(|lost| lost.bytes).sum::<u64>();
        summary.loss.dropped_segment_rpcs += self.given_up.iter().map(|lost| lost.rpcs).sum::<u64>();
        summary.loss.kernel_overflows += self.overflows;
        if self.keep.part().rows == 0 && summary == TraceSummary::default() {
            // No record is in them that is not counted.
            self.pending.iter_mut().for_each(|pending| pending.counted = true);
            return self.delete_unneeded();
        }
        let facts = PartFacts {
            summary: summary.clone(),
            known: known.clone(),
            last_segment: self.pending.last().and_then(|pending| file_name(&pending.file.path)),
            given_up: self.given_up.clone(),
            interrupted: self.interrupted,
        };
        match self.keep.close(facts) {
            Ok(part) => {
                self.safe = known;
                self.given_up.clear();
                self.overflows = 0;
                self.summary = TraceSummary::default();
                self.pending.iter_mut().for_each(|pending| pending.counted = true);
                let summary = Box::new(summary);
                (self.progress)(Progress::Closed { part, summary });
                self.delete_unneeded();
                if self.live.symbols().len() > MAX_SYMBOLS {
                    self.live.forget_symbols();
                    self.keep.forget_symbols();
                }
            }
            Err(err) => self.failed(err),
        }
    }

    /// The rows of the part are gone, but not the segments that they were made of.
    fn failed(&mut self, err: DrainError) {
        (self.progress)(Progress::Failed(err));
        self.keep.discard();
        self.summary = TraceSummary::default();
        self.retry_at = Some(Instant::now() + RETRY);
        self.queue.set_stalled(true);
    }

    fn decode_again(&mut self) {
        match LiveTrace::new(&self.node, self.safe.clone()) {
            Ok(live) => {
                self.live = live;
                self.keep.forget_symbols();
            }
            Err(err) => return (self.progress)(Progress::Failed(DrainError::Thread(err))),
        }
        for mut pending in std::mem::take(&mut self.pending) {
            match self.decode(&mut pending) {
                Ok(_) => {
                    if pending.counted {
                        // The part that it was counted in is there.
                        self.live.take_summary();
                    }
                    let interrupted = pending.last_of_stretch;
                    self.keep_until_safe(pending);
                    if interrupted {
                        self.interrupt();
                    }
                }
                Err(err) => self.unreadable(pending, err),
            }
        }
    }

    /// Deletes the segments whose rows are all safe. One is still needed if some of its events wait for those to come,
    /// or for the first lines of a request that is not over yet.
    fn delete_unneeded(&mut self) {
        let waiting = self.live.waiting_segment();
        let newest_us = self.pending.last().and_then(|pending| pending.last_us);
        let open_us =
            self.live.oldest_open_us().zip(newest_us).map(|(open_us, newest_us)| open_us.max(newest_us - HOLD_US));
        let is_needed = |pending: &PendingSegment| {
            let waits = waiting.is_some_and(|first| pending.number >= first);
            let is_open = pending.last_us.zip(open_us).is_some_and(|(last_us, open_us)| last_us >= open_us);
            !pending.counted || waits || (is_open && !pending.outdated)
        };
        for mut pending in std::mem::take(&mut self.pending) {
            if is_needed(&pending) || !self.copied(&mut pending) {
                self.pending.push(pending);
            } else {
                self.delete(&pending.file.path);
            }
        }
        if self.pending.is_empty() && self.retry_at.is_none() {
            (self.progress)(Progress::AllSafe);
        }
    }

    /// Keeps a copy of the segment, if that is asked for.
    fn copied(&mut self, pending: &mut PendingSegment) -> bool {
        if let Some(raw) = &mut self.raw
            && !pending.copied
        {
            match raw.add(&pending.file.path) {
                Ok(()) => pending.copied = true,
                Err(err) => {
                    (self.progress)(Progress::Failed(err));
                    return false;
                }
            }
        }
        true
    }

    fn delete(&mut self, path: &Path) {
        match fs::remove_file(path) {
            Ok(()) => {}
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => (self.progress)(Progress::Failed(DrainError::Delete { path: path.to_owned(), source })),
        }
    }
}

fn file_name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_str()?.to_owned())
}

/// Bytes per second that the busiest CPU logged.
fn cpu_rate(segment: &Segment) -> Option<f64> {
    let us = segment.last_us?.checked_sub(segment.first_us?).filter(|&us| us >= 500_000)?;
    #[expect(clippy::cast_precision_loss, reason = "bytes and microseconds of a segment need no 53 bits")]
    Some(segment.busiest_cpu_bytes as f64 * 1e6 / us as f64)
}
