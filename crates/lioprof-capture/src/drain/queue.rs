//! Segments that wait to be decoded, within a budget.
//!
//! When decoding falls behind, the oldest segments are given up, never the newest: what is happening now matters
//! most, and a hole at a known place is better than a full disk. So the newest is kept however large it is: after the kernel could
//! not write for a while, all that it held back comes as one segment.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lioprof_model::lock;

use super::keep::{GivenUp, Traced, WhyGivenUp};
use super::spool::SegmentFile;
use crate::counters::Sample;

/// A job of the decoding thread.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Job {
    /// Decode a segment.
    Segment {
        /// The segment.
        file: SegmentFile,
        /// Its content is already counted in a part on disk, by a daemon that was killed afterwards.
        counted: bool,
    },
    /// A segment was given up: delete it unread.
    GiveUp(SegmentFile, WhyGivenUp),
    /// This many bytes of the log vanished before their segment was closed.
    Vanished(u64),
    /// Part of the log was lost before it was read.
    Lost(GivenUp),
    /// Number of times that the kernel reported an overflow of its buffer.
    Overflows(u64),
    /// Keep a sample of counters, and compare the trace with it.
    Counters(Box<Sample>, Traced),
    /// Everything logged before this time has been decoded or given up: hand it on.
    Settle(i64),
    /// Tracing was interrupted: what comes next stands on its own.
    Interrupt,
    /// Nothing was traced for a while until this time: numbers that are missing there are no loss.
    TracedFrom(i64),
    /// Close the part that is being written, so that everything up to now can be read.
    Flush,
    /// Lustre's modules were unloaded: what comes next is of another load.
    NextLoad,
    /// Answer those who ask what the server does now.
    Look,
    /// End.
    Finish,
}

/// The amount of log that waits to be decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Number of segments.
    pub(crate) segments: u64,
    /// Bytes in them.
    pub(crate) bytes: u64,
}

#[derive(Debug, Default)]
struct Jobs {
    jobs: VecDeque<Job>,
    /// When the segments among them that wait were queued.
    queued: VecDeque<Instant>,
    waiting: Waiting,
    /// Nothing is taken because rows cannot be written.
    stalled: bool,
}

/// Jobs for the decoding thread, in order.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    state: Mutex<Jobs>,
    more: Condvar,
}

impl Queue {
    /// Adds a job.
    pub(crate) fn push(&self, job: Job) {
        let mut state = lock(&self.state);
        if let Job::Segment { file, .. } = &job {
            state.waiting.segments += 1;
            state.waiting.bytes += file.bytes;
            state.queued.push_back(Instant::now());
        }
        state.jobs.push_back(job);
        self.more.notify_one();
    }

    /// Adds [`Job::Look`] before all others: it is about what was decoded until now.
    pub(crate) fn look(&self) {
        lock(&self.state).jobs.push_front(Job::Look);
        self.more.notify_one();
    }

    /// Whether nothing is taken because rows cannot be written.
    pub(crate) fn is_stalled(&self) -> bool {
        lock(&self.state).stalled
    }

    /// Tells whether segments wait only because rows cannot be written: if some are given up, that is why.
    pub(crate) fn set_stalled(&self, stalled: bool) {
        lock(&self.state).stalled = stalled;
    }

    /// Gives up the oldest segments until no more than `budget` bytes wait, or only one segment; returns what was given up.
    pub(crate) fn give_up_above(&self, budget: u64) -> Waiting {
        let mut state = lock(&self.state);
        let Jobs { jobs, queued, waiting, stalled } = &mut *state;
        let why = if *stalled { WhyGivenUp::Unwritten } else { WhyGivenUp::Behind };
        let mut given_up = Waiting::default();
        for job in jobs.iter_mut() {
            if waiting.bytes <= budget || waiting.segments <= 1 {
                break;
            }
            if let Job::Segment { file, .. } = job {
                waiting.segments -= 1;
                waiting.bytes -= file.bytes;
                queued.pop_front();
                given_up.segments += 1;
                given_up.bytes += file.bytes;
                *job = Job::GiveUp(file.clone(), why);
            }
        }
        given_up
    }

    /// The amount of log that waits to be decoded.
    pub(crate) fn waiting(&self) -> Waiting {
        lock(&self.state).waiting
    }

    /// How long the oldest segment has waited.
    pub(crate) fn oldest_waits(&self, now: Instant) -> Option<Duration> {
        lock(&self.state).queued.front().map(|queued| now.saturating_duration_since(*queued))
    }

    /// The next job; waits up to `at_most` for one.
    pub(crate) fn next(&self, at_most: Duration) -> Option<Job> {
        let state = lock(&self.state);
        let (mut state, _) = self
            .more
            .wait_timeout_while(state, at_most, |state| state.jobs.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        let job = state.jobs.pop_front();
        if let Some(Job::Segment { file, .. }) = &job {
            state.waiting.segments -= 1;
            state.waiting.bytes -= file.bytes;
            state.queued.pop_front();
        }
        job
    }

    /// Waits up to `at_most` for [`Job::Finish`] to be queued; returns whether it is.
    pub(crate) fn wait_for_finish(&self, at_most: Duration) -> bool {
        let state = lock(&self.state);
        let (state, _) = self
            .more
            .wait_timeout_while(state, at_most, |state| state.jobs.back() != Some(&Job::Finish))
            .unwrap_or_else(PoisonError::into_inner);
        state.jobs.back() == Some(&Job::Finish)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(name: &str, bytes: u64) -> Job {
        Job::Segment { file: SegmentFile { path: name.into(), bytes, limit_bytes: u64::MAX }, counted: false }
    }

    #[test]
    fn the_oldest_segments_are_given_up_first() {
        let queue = Queue::default();
        for (name, bytes) in [("a", 40), ("b", 40), ("c", 40)] {
            queue.push(segment(name, bytes));
        }
        queue.push(Job::Settle(1));
        assert_eq!(queue.give_up_above(120), Waiting::default());
        assert_eq!(queue.give_up_above(100), Waiting { segments: 1, bytes: 40 });
        assert_eq!(queue.waiting(), Waiting { segments: 2, bytes: 80 });
        assert!(queue.oldest_waits(Instant::now() + Duration::from_secs(9)) >= Some(Duration::from_secs(9)));
        let now = Duration::ZERO;
        assert_eq!(
            queue.next(now),
            Some(Job::GiveUp(SegmentFile { path: "a".into(), bytes: 40, limit_bytes: u64::MAX }, WhyGivenUp::Behind))
        );
        assert_eq!(queue.next(now), Some(segment("b", 40)));
        assert_eq!(queue.next(now), Some(segment("c", 40)));
        assert_eq!(queue.waiting(), Waiting::default());
        assert_eq!(queue.oldest_waits(Instant::now()), None);
        assert_eq!(queue.next(now), Some(Job::Settle(1)));
        assert_eq!(queue.next(now), None);
    }

    #[test]
    fn the_newest_segment_is_never_given_up() {
        let queue = Queue::default();
        queue.push(segment("backlog", 140));
        queue.push(Job::Flush);
        assert_eq!(queue.give_up_above(100), Waiting::default());
        assert_eq!(queue.waiting(), Waiting { segments: 1, bytes: 140 });
        // Of several it is the oldest, and why is told.
        queue.push(segment("next", 130));
        queue.set_stalled(true);
        assert_eq!(queue.give_up_above(100), Waiting { segments: 1, bytes: 140 });
        let now = Duration::ZERO;
        let why = match queue.next(now) {
            Some(Job::GiveUp(file, why)) => (file.bytes, why),
            other => panic!("{other:?}"),
        };
        assert_eq!(why, (140, WhyGivenUp::Unwritten));
        assert_eq!(queue.next(now), Some(Job::Flush));
        assert_eq!(queue.next(now), Some(segment("next", 130)));
    }
}
