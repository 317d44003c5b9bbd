//! Text and binary logs.

use std::fs;
use std::path::{Path, PathBuf};

use lioprof_analysis::{AnalyzeError, Config, analyze};

use lioprof_testkit::fuzz::{
    Rng, binary_records, change_binary_header, change_text_header, for_each_seed, join, text_records, wound,
};

const TEXT: [&[u8]; 4] = [
    include_bytes!("../../../lustre-debuglog/tests/data/rpctrace-2.17.txt"),
    include_bytes!("../../../lustre-debuglog/tests/data/dlmtrace-2.17.txt"),
    include_bytes!("../../../../fixtures/wordings/2.5.3/rpc.txt"),
    include_bytes!("../../../../fixtures/wordings/2.15.8/rpc.txt"),
];
const BINARY: [&[u8]; 2] = [
    include_bytes!("../../../lustre-debuglog/tests/data/rpctrace-2.17.bin"),
    include_bytes!("../../../lustre-debuglog/tests/data/dlmtrace-2.17.bin"),
];

/// RPCs and all figures; `None` if the input is no log any more.
fn figures(path: &Path, threads: usize, chunk_bytes: usize) -> Option<(u64, serde_json::Value)> {
    let config = Config { threads, chunk_bytes, ..Config::default() };
    match analyze(&[path.to_owned()], &config, None) {
        Ok(outcome) => {
            let analysis = outcome.analysis;
            Some((analysis.totals.rpcs, serde_json::to_value(&analysis).unwrap()))
        }
        Err(AnalyzeError::NoInput { .. }) => None,
        Err(err) => panic!("{err}"),
    }
}

fn check(rng: &mut Rng, path: &Path, log: &[u8]) {
    fs::write(path, log).unwrap();
    let want = figures(path, 1, 1 << 20);
    if let Some((rpcs, _)) = want {
        // A break within the words, or a byte that is no character, may be repaired.
        let letters: Vec<u8> = log.iter().copied().filter(u8::is_ascii_graphic).collect();
        let handled = letters.windows(10).filter(|window| window == b"HandledRPC").count();
        assert!(rpcs <= handled as u64, "{rpcs} RPCs from {handled} lines");
    }
    let threads = 1 + rng.below(2);
    let chunk_bytes = rng.pick(&[64, 1000, 4096, 65_536]);
    let got = figures(path, threads, chunk_bytes);
    assert!(got == want, "threads {threads}, chunks of {chunk_bytes} bytes: {}", first_difference(got, want));
}

fn first_difference(got: Option<(u64, serde_json::Value)>, want: Option<(u64, serde_json::Value)>) -> String {
    let (Some((_, got)), Some((_, want))) = (&got, &want) else { return "one is no log".to_owned() };
    let (got, want) = (got.as_object().unwrap(), want.as_object().unwrap());
    let (key, got) = got.iter().find(|(key, value)| want[*key] != **value).unwrap();
    format!("{key}: {got}\nexpected: {}", want[key])
}

/// A file of its own for each test.
fn file(dir: &tempfile::TempDir) -> PathBuf {
    dir.path().join("rpc.log")
}

#[test]
fn damaged_text() {
    let dir = tempfile::tempdir().unwrap();
    for_each_seed(3, |rng| {
        let records = text_records(rng.pick(&TEXT));
        let (log, _) = join(&wound(rng, &records, change_text_header));
        check(rng, &file(&dir), &log);
    });
}

#[test]
fn damaged_binary() {
    let dir = tempfile::tempdir().unwrap();
    for_each_seed(3, |rng| {
        let records = binary_records(rng.pick(&BINARY));
        let mut pieces = Vec::new();
        for _ in 0..=rng.below(3) {
            pieces.extend(wound(rng, &records, change_binary_header));
        }
        pieces.retain(|piece| piece.intact || !rng.one_in(4));
        check(rng, &file(&dir), &join(&pieces).0);
    });
}

/// Long enough that events are released while the log is still being read; some parts stand there again.
#[test]
fn damaged_binary_in_many_passes() {
    let dir = tempfile::tempdir().unwrap();
    for_each_seed(40, |rng| {
        let records = binary_records(rng.pick(&BINARY));
        let mut log: Vec<u8> = Vec::new();
        let mut seconds = 0_u32;
        for _ in 0..200 {
            seconds += u32::try_from(rng.below(3)).unwrap();
            let later: Vec<Vec<u8>> = records.iter().map(|record| later(record, seconds)).collect();
            let later: Vec<&[u8]> = later.iter().map(Vec::as_slice).collect();
            if rng.one_in(20) {
                log.extend(join(&wound(rng, &later, change_binary_header)).0);
            } else {
                log.extend(later.concat());
            }
        }
        check(rng, &file(&dir), &log);
    });
}

/// The same record some seconds later.
fn later(record: &[u8], seconds: u32) -> Vec<u8> {
    let mut record = record.to_vec();
    let time = u32::from_le_bytes(record[20..24].try_into().unwrap()) + seconds;
    record[20..24].copy_from_slice(&time.to_le_bytes());
    record
}
