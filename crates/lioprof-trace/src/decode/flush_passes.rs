//! Where the flush passes of a binary log begin, and up to which time all records have been seen.

use rustc_hash::{FxHashMap, FxHashSet};

use super::chunk::StreamRun;

/// A stream that logged something this long ago may still have pages to come in a pass that failed writes have delayed.
const MAY_LAG_US: i64 = 60_000_000;

/// A pass does not bring more than the kernel's buffer; beyond this much nothing is held back for streams that may lag.
const LAG_BYTES: u64 = 64 << 20;

/// Follows the flush passes of a binary log.
#[derive(Debug)]
pub(crate) struct FlushPasses {
    /// Streams that the current pass has brought.
    streams: FxHashSet<u32>,
    /// Bytes of the current pass.
    bytes: u64,
    /// The current pass has brought runs that may have been passes of their own.
    doubtful: bool,
    /// Streams of the whole file, and the time of the last record of each.
    known: FxHashMap<u32, i64>,
    /// Stream of the last run.
    current: Option<u32>,
    /// Latest time up to the end of the pass before the current one.
    previous_us: i64,
    /// Latest time so far.
    latest_us: i64,
    /// Everything before this time has been seen.
    pub(crate) settled_us: i64,
}

impl Default for FlushPasses {
    fn default() -> Self {
        Self {
            streams: FxHashSet::default(),
            bytes: 0,
            doubtful: false,
            known: FxHashMap::default(),
            current: None,
            previous_us: i64::MIN,
            latest_us: i64::MIN,
            settled_us: i64::MIN,
        }
    }
}

impl FlushPasses {
    /// Takes a run; returns whether it starts a new pass.
    ///
    /// A run that starts without the `F` flag has lost its head: the kernel empties each list in each
    /// pass, so the first record after it carries the flag, unless the list overflowed and its oldest
    /// pages were discarded. Where the file itself has a gap this says nothing.
    pub(crate) fn add(&mut self, run: &StreamRun, after_gap: bool, discarded_heads: &mut u64) -> bool {
        let mut starts_pass = false;
        if !self.continues(run) {
            if !self.streams.insert(run.stream) {
                // A stream follows on itself where only one CPU logs, or where pages were put back.
                let may_be_put_back = self.current == Some(run.stream) && self.another_lags(run);
                self.doubtful |= may_be_put_back;
                starts_pass = !may_be_put_back;
            }
            if starts_pass {
                self.start(Some(run.stream));
                // The rest of this stream is still to come, however old it is.
                self.settled_us = self.settled_us.min(run.first_us);
            }
            // The first run of a stream in the file may have begun before the file.
            if self.known.contains_key(&run.stream) && !run.first_flag && !after_gap {
                *discarded_heads += 1;
            }
        }
        self.bytes += run.bytes;
        self.current = Some(run.stream);
        self.known.insert(run.stream, run.end_us);
        self.latest_us = self.latest_us.max(run.last_us);
        starts_pass
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
        self.known.get(&run.stream).is_some_and(|&end_us| run.first_us < end_us)
    }

    /// The latest time of all records so far.
    pub(crate) fn latest_us(&self) -> Option<i64> {
        (self.latest_us != i64::MIN).then_some(self.latest_us)
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
        self.settled_us = self.previous_us;
        self.previous_us = self.latest_us;
    }

    /// Whether another stream, which the current pass has not brought yet, may still bring records older than this run.
    fn another_lags(&self, run: &StreamRun) -> bool {
        let recent_us = run.first_us.saturating_sub(MAY_LAG_US);
        self.bytes < LAG_BYTES
            && self.known.iter().any(|(stream, &end_us)| end_us >= recent_us && !self.streams.contains(stream))
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
            passes.settled_us
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
        let before = passes.settled_us;
        passes.segment_ends();
        assert!(passes.settled_us > before, "{before}");
    }
}
