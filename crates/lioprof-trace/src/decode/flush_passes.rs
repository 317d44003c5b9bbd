//! Where the flush passes of a binary log begin, where its clock was set back, and up to which moment all records have been seen.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::chunk::{CLOCK_STEP_US, StreamRun};
use super::moment::Moment;

/// A stream that logged something this long ago may still have pages to come in a pass that failed writes have delayed.
const MAY_LAG_US: i64 = 60_000_000;

/// A pass does not bring more than the kernel's buffer; beyond this much nothing is held back for streams that may lag.
const LAG_BYTES: u64 = 64 << 20;

/// Of so many runs of a stream it is known where they began: one comes in each pass, or each second while the disk is full.
const KNOWN_STARTS: usize = 1024;

/// What a run added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Added {
    /// It starts a new pass.
    pub(crate) starts_pass: bool,
    /// The epoch of its [`Moment`]s.
    pub(crate) epoch: u32,
}

/// What is known of a stream.
#[derive(Debug, Default)]
struct KnownStream {
    /// The epoch of its last run.
    epoch: u32,
    /// Times of the first records of its last runs.
    starts_us: VecDeque<i64>,
    /// Time of its last record.
    end_us: i64,
}

impl KnownStream {
    /// Whether the clock was set back before this run. A page that is written again after an error, alone or with all pages of its pass,
    /// begins where a run began, or within the last one.
    fn is_set_back(&self, run: &StreamRun) -> bool {
        self.starts_us.back().is_some_and(|last_us| run.first_us < last_us.saturating_sub(CLOCK_STEP_US))
            && !self.starts_us.contains(&run.first_us)
    }

    fn begin(&mut self, run: &StreamRun) {
        if self.starts_us.len() == KNOWN_STARTS {
            self.starts_us.pop_front();
        }
        self.starts_us.push_back(run.first_us);
    }
}

/// Follows the flush passes of a binary log.
#[derive(Debug)]
pub(crate) struct FlushPasses {
    /// Streams that the current pass has brought.
    streams: FxHashSet<u32>,
    /// Bytes of the current pass.
    bytes: u64,
    /// The current pass has brought runs that may have been passes of their own.
    doubtful: bool,
    /// Streams of the whole file.
    known: FxHashMap<u32, KnownStream>,
    /// Stream of the last run.
    current: Option<u32>,
    /// Latest moment up to the end of the pass before the current one.
    previous: Moment,
    /// Latest moment so far.
    latest: Moment,
    /// Latest moment of the epoch before that one.
    before_step: Moment,
    /// Everything before this moment has been seen.
    pub(crate) settled: Moment,
}

impl Default for FlushPasses {
    fn default() -> Self {
        Self {
            streams: FxHashSet::default(),
            bytes: 0,
            doubtful: false,
            known: FxHashMap::default(),
            current: None,
            previous: Moment::MIN,
            latest: Moment::MIN,
            before_step: Moment::MIN,
            settled: Moment::MIN,
        }
    }
}

impl FlushPasses {
    /// Takes a run.
    ///
    /// A run that starts without the `F` flag has lost its head: the kernel empties each list in each
    /// pass, so the first record after it carries the flag, unless the list overflowed and its oldest
    /// pages were discarded. Where the file itself has a gap this says nothing.
    pub(crate) fn add(&mut self, run: &StreamRun, after_gap: bool, discarded_heads: &mut u64) -> Added {
        let mut starts_pass = false;
        let continues = self.continues(run);
        let epoch = self.epoch_of(run, continues, after_gap);
        if !continues {
            if !self.streams.insert(run.stream) {
                // A stream follows on itself where only one CPU logs, or where pages were put back.
                let may_be_put_back = self.current == Some(run.stream) && self.another_lags(run);
                self.doubtful |= may_be_put_back;
                starts_pass = !may_be_put_back;
            }
            if starts_pass {
                self.start(Some(run.stream));
                // The rest of this stream is still to come, however old it is.
                self.settled = self.settled.min(Moment { epoch, time_us: run.first_us });
            }
            // The first run of a stream in the file may have begun before the file.
            if self.known.contains_key(&run.stream) && !run.first_flag && !after_gap {
                *discarded_heads += 1;
            }
        }
        self.bytes += run.bytes;
        self.current = Some(run.stream);
        let known = self.known.entry(run.stream).or_default();
        if !continues || epoch != known.epoch {
            known.begin(run);
        }
        (known.epoch, known.end_us) = (epoch, run.end_us);
        if epoch > self.latest.epoch {
            self.before_step = self.latest;
        }
        self.latest = self.latest.max(Moment { epoch, time_us: run.last_us });
        Added { starts_pass, epoch }
    }

    /// The file ends here, and another one goes on: no pass is spread over two files, because the kernel opens the file
    /// once in each pass.
    pub(crate) fn segment_ends(&mut self) {
        if self.doubtful {
            self.start(None);
        }
    }

    /// Whether this is the second part of the run before it, cut by a chunk's end.
    pub(crate) fn continues(&self, run: &StreamRun) -> bool {
        self.current == Some(run.stream) && !run.first_flag
    }

    /// Whether the run begins earlier than its stream's last record; each stream is in time order.
    pub(crate) fn goes_back(&self, run: &StreamRun) -> bool {
        self.known.get(&run.stream).is_some_and(|last| run.first_us < last.end_us)
    }

    /// How often the clock was set back so far.
    pub(crate) fn epoch(&self) -> u32 {
        self.latest.epoch
    }

    /// The latest time of all records since then.
    pub(crate) fn latest_us(&self) -> Option<i64> {
        (self.latest != Moment::MIN).then_some(self.latest.time_us)
    }

    /// Whether nothing has been seen yet.
    pub(crate) fn is_new(&self) -> bool {
        self.current.is_none()
    }

    fn start(&mut self, first: Option<u32>) {
        self.streams.clear();
        self.streams.extend(first);
        self.bytes = 0;
        self.doubtful = false;
        self.settled = self.previous;
        self.previous = self.latest;
    }

    /// How often the clock had been set back when the run was logged.
    fn epoch_of(&self, run: &StreamRun, continues: bool, after_gap: bool) -> u32 {
        let last = self.known.get(&run.stream);
        if let Some(last) = last {
            // Where chunks end must make no difference: within a chunk a run ends only where time goes back that far.
            let begins = !continues || run.first_us < last.end_us.saturating_sub(CLOCK_STEP_US);
            if begins && !after_gap && last.is_set_back(run) {
                return last.epoch + 1;
            }
            if continues {
                return last.epoch;
            }
        }
        // Another stream may have told of a step: has this one lived through it, too?
        let own = last.map_or(self.before_step, |last| Moment { epoch: last.epoch, time_us: last.end_us });
        let distance = |from: Moment| run.first_us.abs_diff(from.time_us);
        if distance(own) < distance(self.latest) { own.epoch } else { self.latest.epoch }
    }

    /// Whether another stream, which the current pass has not brought yet, may still bring records older than this run.
    fn another_lags(&self, run: &StreamRun) -> bool {
        let recent_us = run.first_us.saturating_sub(MAY_LAG_US);
        self.bytes < LAG_BYTES
            && self.known.iter().any(|(stream, last)| last.end_us >= recent_us && !self.streams.contains(stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(stream: u32, first_us: i64, last_us: i64) -> StreamRun {
        StreamRun { stream, first_flag: true, from: 0, first_us, end_us: last_us, last_us, clock_steps: 0, bytes: 4096 }
    }

    /// Adds runs and returns up to where everything was certain after each.
    fn settled(runs: &[StreamRun]) -> Vec<i64> {
        let mut passes = FlushPasses::default();
        let add = |run| {
            passes.add(run, false, &mut 0);
            passes.settled.time_us
        };
        runs.iter().map(add).collect()
    }

    #[test]
    fn a_pass_is_certain_one_pass_later() {
        let runs = [run(4, 10, 20), run(0, 12, 19), run(4, 21, 30), run(0, 20, 31), run(4, 32, 40)];
        assert_eq!(settled(&runs), [i64::MIN, i64::MIN, i64::MIN, i64::MIN, 20]);
    }

    #[test]
    fn one_cpu_alone_need_not_wait_for_others() {
        let runs = [run(4, 10, 20), run(4, 21, 30), run(4, 32, 40)];
        assert_eq!(settled(&runs), [i64::MIN, i64::MIN, 20]);
    }

    #[test]
    fn pages_that_were_put_back_wait_for_the_other_cpu() {
        // What CPU 1 logged while the disk was full, then the same of CPU 0, in one pass.
        let normal = [run(4, 10, 20), run(0, 12, 19), run(4, 21, 30), run(0, 22, 31), run(4, 40, 45), run(0, 42, 46)];
        let put_back = [run(4, 1_000, 2_000), run(4, 2_001, 3_000), run(4, 3_001, 9_000)];
        let other = [run(0, 900, 1_500), run(0, 1_501, 8_000), run(0, 8_001, 8_500)];
        let runs: Vec<StreamRun> = normal.into_iter().chain(put_back).chain(other).collect();
        for (at, settled) in settled(&runs).into_iter().enumerate() {
            let to_come = runs[at..].iter().map(|run| run.first_us).min().unwrap();
            assert!(settled <= to_come, "run {at}: certain up to {settled}, but {to_come} is still to come");
        }
    }

    #[test]
    fn what_was_logged_before_the_clock_was_set_back_comes_first() {
        const BACK_US: i64 = 3_600_000_000;
        let mut passes = FlushPasses::default();
        let mut epoch = |run: StreamRun| passes.add(&run, false, &mut 0).epoch;
        assert_eq!([run(4, 0, 10), run(0, 5, 9)].map(&mut epoch), [0, 0]);
        // In the next pass, and within a page.
        let rest_of_page = StreamRun { first_flag: false, ..run(4, 25 - BACK_US, 30 - BACK_US) };
        assert_eq!([run(4, 11, 20), rest_of_page].map(&mut epoch), [0, 1]);
        // This CPU has logged nothing between the step and the pass, that one nothing before the step.
        assert_eq!([run(0, 12, 19), run(8, 27 - BACK_US, 31 - BACK_US)].map(&mut epoch), [0, 1]);
        assert_eq!([run(4, 31 - BACK_US, 40 - BACK_US), run(0, 32 - BACK_US, 39 - BACK_US)].map(&mut epoch), [1, 1]);
        // A step forward.
        assert_eq!([run(4, 50, 60), run(0, 51, 61)].map(&mut epoch), [1, 1]);
    }

    #[test]
    fn pages_that_are_written_again_are_no_step_of_the_clock() {
        const SECOND_US: i64 = 1_000_000;
        let mut passes = FlushPasses::default();
        // What a minute without room on the disk collected is written, then the disk is full again.
        let pass = (0..60).map(|second| run(4, second * SECOND_US, second * SECOND_US + 9));
        let torn = StreamRun { end_us: 50 * SECOND_US + 4, ..run(4, 50 * SECOND_US, 50 * SECOND_US + 4) };
        // Before 2.14.56 all of the pass comes again; since then, what the failed write began with, which may be the rest of a page.
        let rest = StreamRun { first_flag: false, ..run(4, 59 * SECOND_US + 3, 59 * SECOND_US + 9) };
        for run in pass.clone().take(50).chain([torn]).chain(pass).chain([rest]) {
            assert_eq!(passes.add(&run, false, &mut 0).epoch, 0, "{run:?}");
        }
    }

    #[test]
    fn nothing_waits_for_a_stream_that_has_been_silent_for_long() {
        let mut runs = vec![run(0, 0, 1), run(4, MAY_LAG_US, MAY_LAG_US + 1)];
        runs.extend((2..6).map(|at| run(4, at * MAY_LAG_US, at * MAY_LAG_US + 1)));
        assert_eq!(settled(&runs).last(), Some(&(3 * MAY_LAG_US + 1)));
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut runs = vec![run(0, 0, 1)];
        runs.extend((0..40_000).map(|at| run(4, 2 * at + 2, 2 * at + 3)));
        assert!(*settled(&runs).last().unwrap() > 2);
    }

    #[test]
    fn a_file_ends_a_pass() {
        let mut passes = FlushPasses::default();
        for run in [run(0, 0, 1), run(4, 2, 3), run(0, 4, 5), run(0, 6, 7), run(0, 8, 9)] {
            passes.add(&run, false, &mut 0);
        }
        let before = passes.settled;
        passes.segment_ends();
        assert!(passes.settled > before, "{before:?}");
    }
}
