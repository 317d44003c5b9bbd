//! The daemon's file: its size limit, the position that survives, a disk that is full, a file that cannot be opened.

use std::fs;

use lioprof_sim::SimRecord;
use lioprof_sim::kernel::{Flush, LustreVersion};
use tempfile::tempdir;

use crate::reader::{record, records};
use crate::{PER_PAGE, RECORD_BYTES, assert_balanced, kernel, log_all, numbered, start, stop};

const V: LustreVersion = LustreVersion::V2_17;
const PAGE: usize = PER_PAGE * RECORD_BYTES;

fn numbers(bytes: &[u8]) -> Vec<usize> {
    records(bytes).iter().map(crate::number).collect()
}

#[test]
fn at_the_limit_the_file_is_overwritten_from_its_beginning_and_a_record_is_torn() {
    const LIMIT: usize = 10 << 20;
    let directory = tempdir().unwrap();
    let path = directory.path().join("rpc.bin");
    let kernel = kernel(V, 1, Flush::Simulated { period_us: 1_000_000, latency_us: 0 });
    kernel.daemon_command(b"size=10").unwrap();
    start(&kernel, &path);
    // Lengths differ, so that the new records do not end where old ones do.
    let last = 150_000;
    for number in 0..last {
        let text = format!("record {number:0>width$}\n", width = 8 + number % 37);
        kernel.log(&SimRecord { text: text.into_bytes(), ..numbered(number) });
    }
    stop(&kernel);
    let bytes = fs::read(&path).unwrap();
    assert!((LIMIT..LIMIT + 4096).contains(&bytes.len()), "{}", bytes.len());
    let file = kernel.account().file;
    assert_eq!(file.wraps, 1);
    let seam = usize::try_from(file.bytes).unwrap() - bytes.len();
    assert_eq!(file.overwritten_bytes, seam as u64);

    let newest = numbers(&bytes[..seam]);
    assert_eq!((newest[newest.len() - 1], newest.len()), (last - 1, last - newest[0]));
    // The record at the seam has lost its beginning: the oldest whole one follows within a page.
    let old = (seam..).find(|&at| looks_like_a_record(&bytes[at..])).unwrap();
    assert!(old > seam && old - seam < 4096);
    let oldest = numbers(&bytes[old..]);
    assert_eq!(oldest[oldest.len() - 1] + 1, newest[0], "what was written before the position went back");
}

fn looks_like_a_record(bytes: &[u8]) -> bool {
    bytes.get(48..52) == Some(b"a.c\0") && bytes[8..12] == [0, 1, 0, 0] && record(bytes).text.starts_with("record")
}

#[test]
fn the_position_survives_a_stop_and_a_change_of_the_file() {
    let directory = tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let kernel = kernel(V, 1, Flush::Manual);
    let write = |name: &str, range: std::ops::Range<usize>| {
        start(&kernel, &path(name));
        log_all(&kernel, range);
        stop(&kernel);
        fs::read(path(name)).unwrap()
    };
    assert_eq!(numbers(&write("a", 0..3)), [0, 1, 2]);
    assert_eq!(numbers(&write("a", 3..5)), [0, 1, 2, 3, 4], "an existing file is continued");

    // A longer file is overwritten in its middle, at the old position.
    let position = 5 * RECORD_BYTES;
    fs::write(path("long"), vec![b'.'; position + RECORD_BYTES + 100]).unwrap();
    let long = write("long", 5..6);
    assert!(long[..position].iter().all(|&byte| byte == b'.'));
    assert_eq!(crate::number(&record(&long[position..])), 5);
    assert_eq!(&long[position + RECORD_BYTES..], [b'.'; 100]);

    // A shorter one is continued at its end.
    fs::write(path("short"), b"....").unwrap();
    let short = write("short", 6..7);
    assert_eq!((&short[..4], numbers(&short[4..])), (&b"...."[..], vec![6]));
    assert_eq!(numbers(&write("fresh", 7..8)), [7], "a new file begins at 0");
}

#[test]
fn a_full_disk_tears_a_page_and_it_is_written_again() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("rpc.bin");
    let kernel = kernel(V, 1, Flush::Manual);
    start(&kernel, &path);
    log_all(&kernel, 0..4 * PER_PAGE);
    // The disk is full in the third page, after 10 records and a bit.
    let part = 10 * RECORD_BYTES + 20;
    kernel.limit_disk(Some((2 * PAGE + part) as u64));
    kernel.flush_pass();
    kernel.flush_pass();
    kernel.limit_disk(None);
    log_all(&kernel, 4 * PER_PAGE..4 * PER_PAGE + 5);
    stop(&kernel);

    let lines = kernel.kernel_log().texts();
    let said = |wrote: &str| lines.contains(&format!("Lustre: wanted to write {PAGE} but wrote {wrote}"));
    assert!(said(&part.to_string()) && said("-28"), "{lines:?}");

    let bytes = fs::read(&path).unwrap();
    assert_eq!(numbers(&bytes[..2 * PAGE]), (0..2 * PER_PAGE).collect::<Vec<_>>());
    let torn = &bytes[2 * PAGE..2 * PAGE + part];
    assert_eq!(numbers(&torn[..10 * RECORD_BYTES]), (2 * PER_PAGE..2 * PER_PAGE + 10).collect::<Vec<_>>());
    let again = records(&bytes[2 * PAGE + part..]);
    assert!(again.iter().map(crate::number).eq(2 * PER_PAGE..4 * PER_PAGE + 5), "the page again, then the rest");
    assert!(again.iter().all(|record| !record.first), "the stream was never empty");
    let account = kernel.account();
    assert_eq!((account.file.torn_bytes, account.total.repeated.records), (part as u64, 0));
    assert_eq!(account.total.lost.total().records, 0);
    assert_balanced(&kernel);
}

#[test]
fn before_2_14_56_the_whole_pass_is_written_again() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("rpc.bin");
    let kernel = kernel(LustreVersion::V2_10, 1, Flush::Manual);
    start(&kernel, &path);
    log_all(&kernel, 0..4 * PER_PAGE);
    kernel.limit_disk(Some((2 * PAGE) as u64));
    kernel.flush_pass();
    kernel.limit_disk(None);
    stop(&kernel);
    let expected: Vec<usize> = (0..2 * PER_PAGE).chain(0..4 * PER_PAGE).collect();
    assert_eq!(numbers(&fs::read(&path).unwrap()), expected);
    let total = kernel.account().total;
    assert_eq!((total.written.records, total.repeated.records), (4 * PER_PAGE as u64, 2 * PER_PAGE as u64));
    assert_balanced(&kernel);
}

#[test]
fn pages_put_back_count_against_the_buffer() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("rpc.bin");
    let kernel = kernel(V, 1, Flush::Manual);
    start(&kernel, &path);
    let full = crate::PROCESS_PAGES * PER_PAGE;
    kernel.limit_disk(Some(0));
    log_all(&kernel, 0..full);
    kernel.flush_pass();
    kernel.log(&numbered(full));
    assert_eq!(kernel.account().total.lost.overflow.records, (21 * PER_PAGE) as u64);
    kernel.limit_disk(None);
    stop(&kernel);
    assert_eq!(numbers(&fs::read(&path).unwrap()), (21 * PER_PAGE..=full).collect::<Vec<_>>());
    assert_balanced(&kernel);
}

#[test]
fn a_file_that_cannot_be_opened_costs_the_records_of_the_pass() {
    for (version, line) in [
        (V, "Lustre: couldn't open /no/such/directory: rc = -2"),
        (LustreVersion::V2_10, "couldn't open /no/such/directory: -2"),
    ] {
        let kernel = kernel(version, 1, Flush::Manual);
        kernel.daemon_command(b"/no/such/directory\n").unwrap();
        log_all(&kernel, 0..5);
        kernel.flush_pass();
        kernel.log(&numbered(5));
        assert_eq!(kernel.account().total.lost.open_failed.records, 5);
        assert_eq!(kernel.account().total.pending.records, 1);
        assert!(kernel.kernel_log().texts().contains(&line.to_owned()), "{:?}", kernel.kernel_log().texts());
        assert_balanced(&kernel);
    }
}
