//! A log in segments, as the capture daemon reads it, gives the same rows as the log in one piece.
#![expect(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, slice};

use lioprof_analysis::{Config, analyze};
use lioprof_model::{LockEvent, Mark, RowSink, RpcRow, RpcSize, SentRpc, Symbols, TraceSummary};
use lioprof_testkit::files::{fixture, folders_in, unpacked};
use lioprof_trace::{LiveTrace, SegmentScan};

/// Everything that a sink was told, as text; symbols of one table are not those of another.
#[derive(Default)]
struct Told(Vec<String>);

/// Replaces `Symbol(12)` by the string it stands for.
fn resolve(debug: &str, symbols: &Symbols) -> String {
    let mut parts = debug.split("Symbol(");
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let (number, rest) = part.split_once(')').unwrap();
        out += &symbols.text(lioprof_model::Symbol(number.parse().unwrap()));
        out += rest;
    }
    out
}

impl RowSink for Told {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.0.push(resolve(&format!("{row:?}"), symbols));
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        self.0.push(resolve(&format!("{event:?}"), symbols));
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        self.0.push(resolve(&format!("{sent:?}"), symbols));
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        self.0.push(resolve(&format!("{mark:?}"), symbols));
    }
}

/// All binary logs of the fixtures, unpacked.
fn logs() -> Vec<(PathBuf, Vec<u8>)> {
    let mut logs = Vec::new();
    for capture in folders_in(fixture("captures")) {
        for server in ["server1", "server2"] {
            let path = capture.join(server).join("rpc.bin.zst");
            if path.exists() {
                logs.push((path.clone(), unpacked(path)));
            }
        }
    }
    assert!(logs.len() >= 10, "the fixtures hold binary logs");
    logs
}

/// Where records end, told by their lengths alone.
fn record_ends(log: &[u8]) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut at = 0;
    while at + 4 <= log.len() {
        at += u32::from_le_bytes(log[at..at + 4].try_into().unwrap()) as usize;
        ends.push(at);
    }
    ends
}

fn whole(path: &Path) -> (Told, lioprof_model::Analysis) {
    let mut told = Told::default();
    let inputs = [path.to_owned()];
    let config = Config { node_rules: vec!["oss1".parse().unwrap()], ..Config::default() };
    let outcome = analyze(&inputs, &config, Some(&mut told)).unwrap();
    (told, outcome.analysis)
}

/// Cuts the log into pieces and reads them one after the other.
fn in_segments(log: &[u8], records: usize, summaries_every: usize) -> (Told, TraceSummary) {
    let dir = tempfile::tempdir().unwrap();
    let mut live = LiveTrace::new("oss1", None).unwrap();
    let (mut told, mut summary) = (Told::default(), TraceSummary::default());
    let (mut from, mut number) = (0, 0);
    let ends = record_ends(log);
    for end in ends.iter().skip(records - 1).step_by(records).chain(ends.last()) {
        let path = dir.path().join(number.to_string());
        fs::write(&path, &log[from..*end]).unwrap();
        live.segment(&path, false, &mut told).unwrap();
        (from, number) = (*end, number + 1);
        if number % 7 == 0 {
            live.forget_symbols();
        }
        if number % summaries_every == 0 {
            summary.merge(&live.take_summary());
        }
    }
    summary.merge(&live.interrupt(&mut told));
    (told, summary)
}

#[test]
fn segments_give_the_rows_of_the_whole() {
    for (path, log) in logs() {
        // A wrapped ring has to be read from its middle: the daemon never lets that happen. Nor does a segment end within a
        // pass, which `enospc` needs: see below.
        if ["ring_wrap", "enospc"].iter().any(|it| path.to_string_lossy().contains(it)) {
            continue;
        }
        let (expected, analysis) = whole(&path);
        for (records, summaries_every) in [(100_000, 1), (997, 3), (61, 1000)] {
            let (told, summary) = in_segments(&log, records, summaries_every);
            let first = told.0.iter().zip(&expected.0).position(|(a, b)| a != b);
            if let Some(at) = first {
                panic!("{}: segments of {records}, item {at}:\n{}\n{}", path.display(), told.0[at], expected.0[at]);
            }
            assert_eq!(told.0.len(), expected.0.len(), "{}: segments of {records}", path.display());
            let input = &analysis.inputs[0];
            assert_eq!(
                (summary.records, summary.bytes, summary.messages),
                (input.records, input.bytes, input.messages)
            );
            assert_eq!(summary.loss.nrs_sequence_seen, analysis.loss.nrs_sequence_seen);
            assert_eq!(summary.loss.nrs_sequence_gaps, analysis.loss.nrs_sequence_gaps);
            assert_eq!(summary.loss.discarded_heads, analysis.loss.discarded_heads);
            assert_eq!(summary.evictions, analysis.totals.evictions);
        }
    }
}

/// What the kernel collects while the disk is full comes in one pass, one CPU after the other; a segment ends with a pass.
#[test]
fn segments_of_a_full_disk_give_the_rows_of_the_whole() {
    /// Where that pass begins, and where it ends.
    const PASS: [usize; 2] = [1_761_123, 3_817_607];
    let (path, log) = logs().into_iter().find(|(path, _)| path.to_string_lossy().contains("enospc")).unwrap();
    let (expected, _) = whole(&path);
    let dir = tempfile::tempdir().unwrap();
    let mut live = LiveTrace::new("oss1", None).unwrap();
    let mut told = Told::default();
    for (number, part) in [&log[..PASS[0]], &log[PASS[0]..PASS[1]], &log[PASS[1]..]].into_iter().enumerate() {
        let path = dir.path().join(number.to_string());
        fs::write(&path, part).unwrap();
        live.segment(&path, false, &mut told).unwrap();
    }
    let loss = live.interrupt(&mut told).loss;
    assert_eq!((loss.missing_handled, loss.missing_handling, loss.clock_steps), (0, 0, 0));
    assert!(told.0 == expected.0, "{} rows and other items, expected {}", told.0.len(), expected.0.len());
}

/// The log, had its clock been set back by an hour at that time.
fn set_back(log: &[u8], from_us: i64) -> Vec<u8> {
    let mut log = log.to_vec();
    let mut from = 0;
    for end in record_ends(&log) {
        let record = &mut log[from..end];
        let sec = u32::from_le_bytes(record[20..24].try_into().unwrap());
        let usec = u64::from_le_bytes(record[24..32].try_into().unwrap());
        if i64::from(sec) * 1_000_000 + i64::try_from(usec).unwrap() >= from_us {
            record[20..24].copy_from_slice(&(sec - 3600).to_le_bytes());
        }
        from = end;
    }
    log
}

/// What moved how many bytes, and when.
#[derive(Default)]
struct Sizes {
    sizes: BTreeMap<(Vec<u8>, u64), (u32, RpcSize)>,
    middles_us: Vec<i64>,
}

impl RowSink for Sizes {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.sizes.insert((symbols.bytes(row.nid).to_vec(), row.xid.0), (row.opcode.0, row.size));
        self.middles_us.extend(row.service_us.map(|us| row.end_us.saturating_sub_unsigned(us / 2)));
    }
}

#[test]
fn a_clock_that_is_set_back_tears_no_request_apart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let read = |log: &[u8]| {
        fs::write(&path, log).unwrap();
        let mut sizes = Sizes::default();
        let loss = analyze(slice::from_ref(&path), &Config::default(), Some(&mut sizes)).unwrap().analysis.loss;
        (sizes, loss)
    };
    let mut read_logs = 0;
    for (name, log) in logs() {
        // Not the damaged ones; and longer ones look like files that the kernel wrote around.
        if record_ends(&log).last() != Some(&log.len()) || log.len() >= 10 << 20 {
            continue;
        }
        let (expected, complete) = read(&log);
        let moments = expected.middles_us.len();
        read_logs += 1;
        for moment in (0..moments).step_by(moments.div_ceil(8)) {
            let (sizes, loss) = read(&set_back(&log, expected.middles_us[moment]));
            assert!(loss.clock_steps > 0, "{name:?} {moment}");
            assert_eq!(
                (loss.missing_handled, loss.missing_handling),
                (complete.missing_handled, complete.missing_handling),
                "{name:?} {moment}"
            );
            assert!(sizes.sizes == expected.sizes, "{name:?} {moment}");
        }
    }
    assert!(read_logs >= 5, "{read_logs}");
}

#[test]
fn a_clock_that_was_set_back_hides_no_new_segment() {
    let (_, log) = logs().into_iter().find(|(path, _)| path.to_string_lossy().contains("lock_pingpong_dlm")).unwrap();
    let ends = record_ends(&log);
    let dir = tempfile::tempdir().unwrap();
    let middle = ends[ends.len() / 2];
    let segment = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let (before, after) = (segment("a", &log[..middle]), segment("b", &set_back(&log[middle..], i64::MIN)));
    let mut told = Told::default();
    let mut live = LiveTrace::new("oss1", None).unwrap();
    live.segment(&before, false, &mut told).unwrap();
    live.segment(&after, false, &mut told).unwrap();
    assert!(live.clock_is_behind());
    assert!(live.take_summary().loss.clock_steps > 0);
    live.interrupt(&mut told);
    let all = told.0.len();

    // The first segment is safe, then comes the second one, of an earlier time.
    let mut told = Told::default();
    let mut live = LiveTrace::new("oss1", None).unwrap();
    live.segment(&before, false, &mut told).unwrap();
    let mut next = LiveTrace::new("oss1", live.known()).unwrap();
    next.segment(&before, false, &mut told).unwrap();
    next.only_new_from_now();
    next.segment(&after, false, &mut told).unwrap();
    next.interrupt(&mut told);
    assert_eq!(told.0.len(), all);
}

/// The time from which on the log is still needed: what has not been handed on, and the first line of the oldest request
/// whose row is not out yet.
fn needed_from_us(live: &LiveTrace) -> Option<i64> {
    let after_us = live.through_us()? + 1;
    Some(live.oldest_open_us().map_or(after_us, |open_us| open_us.min(after_us)))
}

#[test]
fn rows_that_are_there_already_are_not_handed_on_again() {
    for (path, log) in logs().into_iter().filter(|(path, _)| path.to_string_lossy().contains("dlm")).take(2) {
        if path.to_string_lossy().contains("ring_wrap") {
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        let ends = record_ends(&log);
        let cuts: Vec<usize> = ends.iter().copied().skip(499).step_by(500).chain(ends.last().copied()).collect();
        let segment = |number: usize| {
            let from = if number == 0 { 0 } else { cuts[number - 1] };
            let path = dir.path().join(number.to_string());
            fs::write(&path, &log[from..cuts[number]]).unwrap();
            path
        };
        let (expected, _) = whole(&path);
        // The daemon dies after any segment; the next one begins where the first still needs the log.
        for dies_after in 0..cuts.len() - 1 {
            let mut told = Told::default();
            let mut live = LiveTrace::new("oss1", None).unwrap();
            let mut last_us = Vec::new();
            for number in 0..=dies_after {
                last_us.push(live.segment(&segment(number), false, &mut told).unwrap().last_us);
            }
            let (known, needed) = (live.known(), needed_from_us(&live));
            let keep = last_us.iter().position(|last| needed.is_none() || *last >= needed).unwrap_or(dies_after + 1);
            let mut next = LiveTrace::new("oss1", known).unwrap();
            for number in keep..cuts.len() {
                next.segment(&segment(number), false, &mut told).unwrap();
            }
            next.interrupt(&mut told);
            let first = told.0.iter().zip(&expected.0).position(|(a, b)| a != b);
            if let Some(at) = first {
                let place = format!("{}: died after segment {dies_after}, item {at}", path.display());
                panic!("{place}:\n{}\n{}", told.0[at], expected.0[at]);
            }
            assert_eq!(told.0.len(), expected.0.len(), "{}: died after segment {dies_after}", path.display());
        }
    }
}

#[test]
fn a_survey_finds_the_time_and_the_rpcs_of_a_segment() {
    let dir = tempfile::tempdir().unwrap();
    // A ring that wrapped has torn records.
    let whole = |log: &[u8]| record_ends(log).last() == Some(&log.len()) && !log.is_empty();
    let logs: Vec<_> =
        logs().into_iter().filter(|(path, log)| !path.to_string_lossy().contains("wrap") && whole(log)).collect();
    assert!(logs.len() >= 8);
    for (path, log) in logs {
        // Several chunks, so that messages lie across their borders.
        let log = log.repeat(3 * (1 << 20) / log.len() + 1);
        let (mut start, mut handled, mut times) = (0, 0, Vec::new());
        for end in record_ends(&log) {
            let record = &log[start..end];
            let text = record[48..].splitn(3, |&byte| byte == 0).nth(2).unwrap();
            handled += u64::from(text.starts_with(b"Handled RPC "));
            let word = |at: usize| i64::from(u32::from_le_bytes(record[at..at + 4].try_into().unwrap()));
            times.push(word(20) * 1_000_000 + word(24));
            start = end;
        }
        let segment = dir.path().join("segment");
        fs::write(&segment, &log).unwrap();
        let scan = SegmentScan::of(&segment, false).unwrap();
        assert_eq!(scan.rpcs, handled, "{}", path.display());
        assert_eq!(scan.first_us, times.first().copied());
        assert!(scan.last_us.is_some_and(|last_us| times.contains(&last_us)));
    }
}

#[test]
fn a_survey_tells_of_a_segment_that_the_kernel_began_to_overwrite() {
    let dir = tempfile::tempdir().unwrap();
    let segment = dir.path().join("segment");
    let mut wrapped = 0;
    for (path, log) in logs() {
        fs::write(&segment, &log).unwrap();
        let scan = SegmentScan::of(&segment, true).unwrap();
        // What decoding it would have found.
        let mut live = LiveTrace::new("oss1", None).unwrap();
        let read = live.segment(&segment, true, &mut Told::default()).unwrap();
        assert_eq!(scan.torn_seams, live.take_summary().loss.torn_seams, "{}", path.display());
        // The first page is not always the oldest one, but of the same flush pass: the debug daemon writes once a second, and a busy
        // node lets it wait (1.02 s in `pair_slow_client_sick`).
        let late_us = scan.first_us.unwrap() - read.first_us.unwrap();
        assert!((0..1_500_000).contains(&late_us), "{}: {late_us}", path.display());
        let is_ring = path.to_string_lossy().contains("wrap");
        assert_eq!(scan.torn_seams > 0, is_ring, "{}", path.display());
        wrapped += u64::from(is_ring);
    }
    assert!(wrapped > 0, "a real one is among them");
}
