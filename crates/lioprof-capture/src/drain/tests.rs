//! Segments to parts: nothing is lost or repeated, whatever fails in between.

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::drain::{
    DrainError, Job, Keep, PartFacts, PartLimits, PartSize, Progress, Queue, SegmentFile, Worker, WrittenPart,
};
use lioprof_analysis::{Config, analyze};
use lioprof_model::{LockEvent, Mark, RowSink, RpcRow, SentRpc, Symbols, TraceSummary};
use lioprof_testkit::files::{self, unpacked};

/// Rows of a part, and what its log held.
type Part = (Vec<String>, TraceSummary);

/// What is safe, and what may become so.
#[derive(Default)]
struct Memory {
    safe: Arc<Mutex<Vec<Part>>>,
    open: Vec<String>,
    closes: u32,
    /// Which attempts to close a part fail.
    fails: Option<fn(u32) -> bool>,
}

impl RowSink for Memory {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.open.push(format!("rpc {} {} {} {:?}", symbols.text(row.nid), row.xid, row.end_us, row.size));
    }

    fn lock_event(&mut self, event: &LockEvent, _: &Symbols) {
        self.open.push(format!("lock {} {}", event.time_us, event.pid));
    }

    fn sent_rpc(&mut self, sent: &SentRpc, _: &Symbols) {
        self.open.push(format!("sent {} {} {:?}", sent.time_us, sent.xid, sent.round_trip_us));
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        self.open.push(format!("mark {}", symbols.text(mark.text)));
    }
}

impl Keep for Memory {
    fn part(&mut self) -> PartSize {
        PartSize { rows: self.open.len() as u64, bytes: 20 * self.open.len() as u64 }
    }

    fn close(&mut self, facts: PartFacts) -> Result<WrittenPart, DrainError> {
        self.closes += 1;
        if self.fails.is_some_and(|fails| fails(self.closes)) {
            return Err(DrainError::Part("no space left on device".to_owned()));
        }
        self.safe.lock().unwrap().push((std::mem::take(&mut self.open), facts.summary));
        Ok(WrittenPart::default())
    }

    fn discard(&mut self) {
        self.open.clear();
    }
}

fn capture() -> Vec<u8> {
    unpacked(files::capture("lock_pingpong_dlm/server1/rpc.bin.zst"))
}

/// The log cut between records, about so many bytes each.
fn cut(log: &[u8], bytes: usize) -> Vec<&[u8]> {
    let (mut pieces, mut from, mut at) = (Vec::new(), 0, 0);
    while at < log.len() {
        at += u32::from_le_bytes(log[at..at + 4].try_into().unwrap()) as usize;
        if at - from >= bytes || at == log.len() {
            pieces.push(&log[from..at]);
            from = at;
        }
    }
    pieces
}

struct Run {
    dir: tempfile::TempDir,
    parts: Vec<Part>,
    failures: Vec<String>,
}

impl Run {
    fn rows(&self) -> Vec<String> {
        self.parts.iter().flat_map(|(rows, _)| rows.clone()).collect()
    }

    fn summary(&self) -> TraceSummary {
        let mut summary = TraceSummary::default();
        self.parts.iter().for_each(|(_, part)| summary.merge(part));
        summary
    }

    fn bytes_left(&self) -> u64 {
        fs::read_dir(self.dir.path()).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
    }
}

/// Cuts the capture into segments, queues them, lets `before` interfere, and works until the end.
fn run(fails: Option<fn(u32) -> bool>, before: impl FnOnce(&Path, &Queue)) -> Run {
    let limits = PartLimits { age: Duration::from_secs(3600), bytes: u64::MAX, segment_bytes: 150_000 };
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory { fails, ..Memory::default() };
    let safe = Arc::clone(&memory.safe);
    let queue = Arc::new(Queue::default());
    let number = Cell::new(0);
    for piece in cut(&capture(), 60_000) {
        let path = dir.path().join(format!("{:08}.seg", number.replace(number.get() + 1)));
        fs::write(&path, piece).unwrap();
        queue.push(Job::Segment {
            file: SegmentFile { path, bytes: piece.len() as u64, limit_bytes: u64::MAX },
            counted: false,
        });
    }
    before(dir.path(), &queue);
    queue.push(Job::Finish);
    let failures = Arc::new(Mutex::new(Vec::new()));
    let failed = Arc::clone(&failures);
    let progress = move |progress: Progress| {
        if let Progress::Failed(err) = progress {
            failed.lock().unwrap().push(err.to_string());
        }
    };
    Worker::new("oss1", None, queue, memory, None, limits, progress).unwrap().run();
    let parts = std::mem::take(&mut *safe.lock().unwrap());
    let failures = std::mem::take(&mut *failures.lock().unwrap());
    Run { dir, parts, failures }
}

/// All rows of the capture, and how many records it has.
fn expected() -> (Vec<String>, u64) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rpc.bin");
    fs::write(&path, capture()).unwrap();
    let mut memory = Memory::default();
    let outcome = analyze(&[path], &Config::default(), Some(&mut memory)).unwrap();
    (memory.open, outcome.analysis.inputs[0].records)
}

#[test]
fn every_row_is_in_one_part_and_every_segment_is_deleted() {
    let run = run(None, |_, _| {});
    let (rows, records) = expected();
    assert!(run.parts.len() > 5, "{} parts", run.parts.len());
    assert_eq!(run.rows(), rows);
    assert_eq!(run.summary().records, records);
    assert_eq!(run.failures, Vec::<String>::new());
    assert_eq!(run.bytes_left(), 0);
}

#[test]
fn a_part_that_cannot_be_written_is_made_anew_from_its_segments() {
    // It is tried again after a pause, or at the end, whichever comes first.
    let run = run(Some(|attempt| attempt == 3), |_, _| {});
    let (rows, records) = expected();
    assert_eq!(run.rows(), rows);
    assert_eq!(run.summary().records, records);
    assert_eq!(run.failures.len(), 1, "{:?}", run.failures);
    assert_eq!(run.bytes_left(), 0);
}

#[test]
fn what_never_could_be_written_stays_in_its_segments() {
    let run = run(Some(|_| true), |_, _| {});
    assert!(run.parts.is_empty() && !run.failures.is_empty());
    assert_eq!(run.bytes_left(), capture().len() as u64);
}

#[test]
fn segments_that_are_given_up_are_counted_with_their_bytes_and_rpcs() {
    // Only the newest 200 kB may wait.
    let run = run(None, |_, queue| assert!(queue.give_up_above(200_000).segments > 0));
    let (rows, records) = expected();
    assert!(!run.rows().is_empty() && run.rows().len() < rows.len());
    let summary = run.summary();
    assert_eq!(summary.loss.dropped_segment_bytes + summary.bytes, capture().len() as u64);
    assert!(summary.loss.dropped_segments > 0 && summary.records < records);
    let rpcs = |rows: &[String]| rows.iter().filter(|row| row.starts_with("rpc ")).count() as u64;
    assert_eq!(rpcs(&run.rows()) + summary.loss.dropped_segment_rpcs, rpcs(&rows));
    assert_eq!(run.bytes_left(), 0);
}

#[test]
fn what_was_lost_is_counted_though_its_part_could_not_be_written() {
    let run = run(Some(|attempt| attempt == 1), |_, queue| {
        assert!(queue.give_up_above(200_000).segments > 0);
        queue.push(Job::Vanished(4711));
        queue.push(Job::Overflows(3));
    });
    let loss = run.summary().loss;
    assert_eq!(loss.dropped_segment_bytes + run.summary().bytes, capture().len() as u64 + 4711);
    assert_eq!(loss.kernel_overflows, 3);
    assert_eq!(run.failures.len(), 1, "{:?}", run.failures);
}

#[test]
fn a_segment_that_vanished_is_told_and_does_not_stop_the_others() {
    let run = run(None, |dir, _| fs::remove_file(dir.join("00000003.seg")).unwrap());
    assert_eq!(run.failures.len(), 1);
    assert!(run.failures[0].contains("00000003.seg"), "{}", run.failures[0]);
    let summary = run.summary();
    assert_eq!(summary.loss.dropped_segments, 1);
    assert_eq!(summary.loss.dropped_segment_bytes + summary.bytes, capture().len() as u64);
}
