//! Losing lines makes parts unknown, never wrong.

use std::fs;
use std::path::Path;

use lioprof_model::{OperationRow, Operations, Part};
use lioprof_testkit::files::capture;
use lioprof_trace::{Progress, decode_text};
use lustre_debuglog::Message;
use lustre_debuglog::frame::text::{TextItem, TextRecords};

use super::operations;

const NODES: [&str; 4] = ["clientA", "clientB", "server1", "server2"];
/// A part may grow by this much: times of servers are put on clients' clocks, and other RPCs are kept to compare these by.
const CLOCK_US: u64 = 1_000;

/// The logs as lines; only those that hold a message.
fn logs() -> Vec<Vec<Vec<u8>>> {
    let lines = |node: &&str| {
        let log = capture(format!("op_anatomy/{node}/rpc.bin.zst"));
        let mut text = Vec::new();
        decode_text(&[log], &[], 2, &Progress::default(), &mut text).unwrap();
        let is_known = |line: &[u8]| {
            TextRecords::new(line).any(|item| match item {
                TextItem::Record(record, _) => Message::parse(&record) != Message::Other,
                _ => false,
            })
        };
        text.split_inclusive(|byte| *byte == b'\n').filter(|line| is_known(line)).map(<[u8]>::to_vec).collect()
    };
    NODES.iter().map(lines).collect()
}

/// The operations in what is left of the logs when the lines are removed that `is_lost` names by node and number.
fn left(logs: &[Vec<Vec<u8>>], dir: &Path, mut is_lost: impl FnMut(&[u8]) -> bool) -> Operations {
    for (node, lines) in NODES.iter().zip(logs) {
        let folder = dir.join(node);
        fs::create_dir_all(&folder).unwrap();
        let kept: Vec<&[u8]> = lines.iter().map(Vec::as_slice).filter(|line| !is_lost(line)).collect();
        fs::write(folder.join("rpc.txt"), kept.concat()).unwrap();
    }
    operations(&[dir.to_owned()])
}

/// The same numbers in each run.
struct Random(u64);

impl Random {
    fn one_in(&mut self, n: u64) -> bool {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33).is_multiple_of(n)
    }
}

/// What is wrong in `row`, which was found in a damaged log.
fn wrong(row: &OperationRow, whole: &Operations) -> Option<String> {
    let is_part = |of: &&OperationRow| {
        (&of.node, of.pid, of.asked) == (&row.node, row.pid, row.asked)
            && of.begin_us <= row.begin_us
            && row.end_us() <= of.end_us()
    };
    let Some(of) = whole.rows.iter().find(is_part) else { return Some(format!("no such operation: {row:?}")) };
    if row.parts.sum() != row.duration_us {
        return Some(format!("parts do not add up: {row:?}"));
    }
    // What is unknown in the whole logs may be anything; the rest must not grow. How the network's time is split depends on how well the
    // clocks are known; the sum does not.
    let merged = |row: &OperationRow, part: Part| match part {
        Part::Unknown | Part::NetworkBack => 0,
        Part::NetworkOut => row.parts.get(Part::NetworkOut) + row.parts.get(Part::NetworkBack),
        part => row.parts.get(part),
    };
    let grown: Vec<String> = Part::ALL
        .iter()
        .filter(|part| merged(row, **part) > merged(of, **part) + of.parts.get(Part::Unknown) + CLOCK_US)
        .map(|part| format!("{}: {} -> {}", part.name(), merged(of, *part), merged(row, *part)))
        .collect();
    (!grown.is_empty()).then(|| format!("{} {} {}: {}", row.node, row.asked, row.begin_us, grown.join(", ")))
}

/// How many of the removals are tried: `LIOPROF_FUZZ_ITERATIONS`, or so many.
fn iterations(few: u64) -> u64 {
    std::env::var("LIOPROF_FUZZ_ITERATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

#[test]
fn lines_lost_at_random() {
    let logs = logs();
    let dir = tempfile::tempdir().unwrap();
    let whole = left(&logs, dir.path(), |_| false);
    let mut rows = 0;
    let mut all_wrong = Vec::new();
    for seed in 0..iterations(15) {
        let mut random = Random(seed * 7919);
        let n = [30, 100, 300, 1000, 3000][usize::try_from(seed).unwrap() % 5];
        let found = left(&logs, dir.path(), |_| random.one_in(n));
        rows += found.rows.len();
        let wrong = found.rows.iter().filter_map(|row| wrong(row, &whole));
        all_wrong.extend(wrong.map(|wrong| format!("seed {seed} 1/{n}: {wrong}")));
    }
    assert!(all_wrong.is_empty(), "{} of {rows}:\n{}", all_wrong.len(), all_wrong.join("\n"));
}

/// Lines that are lost so far apart (a few operations) do not meet. With as many removals each line of the capture is lost once.
const APART: u64 = 400;

#[test]
fn single_lines_lost() {
    let logs = logs();
    let dir = tempfile::tempdir().unwrap();
    let whole = left(&logs, dir.path(), |_| false);
    for nth in 0..iterations(5).min(APART) {
        // Spread over all of them, also if not all are tried.
        let from = nth * 79 % APART;
        let mut line = 0;
        let found = left(&logs, dir.path(), |_| {
            line += 1;
            line % APART == from
        });
        let wrong: Vec<String> = found.rows.iter().filter_map(|row| wrong(row, &whole)).collect();
        assert!(wrong.is_empty(), "{from} of {APART}:\n{}", wrong.join("\n"));
    }
}

#[test]
fn all_lines_of_a_kind_lost() {
    let logs = logs();
    let dir = tempfile::tempdir().unwrap();
    let whole = left(&logs, dir.path(), |_| false);
    for words in [
        "Sending RPC ",
        "Completed RPC ",
        "Handling RPC ",
        "Handled RPC ",
        "brw rpc ",
        " pages, start ",
        "client-side enqueue START",
        "client-side enqueue END",
        "Transferring ",
        "lock granted; sending completion AST",
        "VFS Op:",
        ") START ",
        ") COMPLETED ",
    ] {
        let is_one = |line: &[u8]| line.windows(words.len()).any(|window| window == words.as_bytes());
        let found = left(&logs, dir.path(), is_one);
        let wrong: Vec<String> =
            found.rows.iter().filter(|_| found.from_clients).filter_map(|row| wrong(row, &whole)).collect();
        assert!(wrong.is_empty(), "without `{words}`, {} of {}:\n{}", wrong.len(), found.rows.len(), wrong.join("\n"));
    }
}
