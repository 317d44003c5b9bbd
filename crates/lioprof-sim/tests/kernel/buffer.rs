//! Masks, packing, pages, the ring without a daemon, the F flag.

use std::fs;

use lioprof_sim::kernel::{Flush, LustreVersion, Mask, Outcome};
use tempfile::tempdir;

use crate::reader::records;
use crate::{PER_PAGE, PROCESS_PAGES, START_US, assert_balanced, handled, kernel, numbered};

const V: LustreVersion = LustreVersion::V2_17;

fn dump(kernel: &lioprof_sim::kernel::Kernel) -> Vec<u8> {
    let directory = tempdir().unwrap();
    let path = directory.path().join("dump");
    kernel.dump(path.to_str().unwrap().as_bytes()).unwrap();
    fs::read(path).unwrap()
}

#[test]
fn a_record_has_the_bytes_of_ptldebug_header() {
    let kernel = kernel(V, 4, Flush::Manual);
    let mut record = numbered(0);
    (record.cpu, record.context, record.pid, record.line) = (3, 2, 0x0102_0304, 653);
    record.time_us = 0x6553_f100 * 1_000_000 + 0x0001_0203;
    record.text = b"peer\n".to_vec();
    kernel.log(&record);
    let expected: [&[u8]; 15] = [
        &[59, 0, 0, 0],            // length: 48 + 4 + 2 + 5
        &[1, 0, 0, 0],             // first
        &[0, 1, 0, 0],             // rpc
        &[0, 0, 0x10, 0],          // rpctrace
        &[3, 0],                   // CPU
        &[2, 0],                   // hard irq
        &[0x00, 0xf1, 0x53, 0x65], // seconds
        &[3, 2, 1, 0, 0, 0, 0, 0], // microseconds
        &[0, 0, 0, 0],             // stack
        &[4, 3, 2, 1],             // pid
        &[0, 0, 0, 0],             // extern pid
        &[0x8d, 2, 0, 0],          // line
        b"a.c\0",
        b"f\0",
        b"peer\n",
    ];
    assert_eq!(dump(&kernel), expected.concat());
}

#[test]
fn masks_decide_but_for_errors_warnings_and_the_console() {
    let kernel = kernel(V, 1, Flush::Manual);
    kernel.write_mask(Mask::Debug, b"+rpctrace").unwrap();
    kernel.set_mask(Mask::Debug, 0x10_0000);
    kernel.set_mask(Mask::SubsystemDebug, 0x100);
    let log = |subsystem, mask| {
        let mut record = numbered(1);
        (record.subsystem, record.mask) = (subsystem, mask);
        kernel.log(&record)
    };
    assert_eq!(log(0x100, 0x10_0000), Outcome::Logged);
    assert_eq!(log(0x100, 0x1_0000), Outcome::Masked, "dlmtrace is off");
    assert_eq!(log(0x2000, 0x10_0000), Outcome::Masked, "subsystem filter is off");
    assert_eq!(log(0x100, 0x10_0400), Outcome::Logged);
    for always in [0x400, 0x2_0000, 0x4_0000, 0x200_0000] {
        assert_eq!(log(0x2000, always), Outcome::Logged, "{always:#x} cannot be switched off");
    }
    assert_eq!(kernel.account().masked_records, 2);
    assert_eq!(records(&dump(&kernel)).len(), 6);
}

#[test]
fn a_full_ring_keeps_the_newest_pages_and_loses_its_first_record() {
    let kernel = kernel(V, 1, Flush::Manual);
    let ring = PROCESS_PAGES * PER_PAGE;
    for number in 0..3 * ring {
        kernel.log(&numbered(number));
    }
    assert_balanced(&kernel);
    assert_eq!(kernel.account().total.lost.ring_reused.records, 2 * ring as u64);
    let kept = records(&dump(&kernel));
    assert_eq!(kept.len(), ring);
    assert!(kept.iter().all(|record| !record.first), "the record with F is gone");
    assert!(kept.iter().map(crate::number).eq(2 * ring..3 * ring));
    assert!(kernel.kernel_log().texts().iter().all(|line| !line.contains("overflow")), "the ring is reused silently");
}

#[test]
fn one_more_record_costs_the_oldest_page() {
    let kernel = kernel(V, 1, Flush::Manual);
    let ring = PROCESS_PAGES * PER_PAGE;
    for number in 0..=ring {
        kernel.log(&numbered(number));
    }
    let kept = records(&dump(&kernel));
    assert!(kept.iter().map(crate::number).eq(PER_PAGE..=ring));
}

#[test]
fn contexts_have_80_10_and_10_percent() {
    for (context, pages) in [(0, 204), (1, 25), (2, 25)] {
        let kernel = kernel(V, 1, Flush::Manual);
        for number in 0..300 * PER_PAGE {
            kernel.log(&lioprof_sim::SimRecord { context, ..numbered(number) });
        }
        assert_eq!(records(&dump(&kernel)).len(), pages * PER_PAGE, "context {context}");
    }
}

#[test]
fn a_long_text_takes_what_is_left_of_a_page_or_a_new_one() {
    // 254 bytes each; 16 of them need 4064 bytes and the last one a byte for the NUL.
    let kernel = kernel(V, 1, Flush::Manual);
    let long =
        |number: usize| lioprof_sim::SimRecord { text: format!("{number:0>199}\n").into_bytes(), ..numbered(number) };
    for number in 0..(PROCESS_PAGES + 1) * 16 {
        kernel.log(&long(number));
    }
    assert_eq!(kernel.account().total.lost.ring_reused.records, 16);
}

#[test]
fn longer_than_a_page_is_refused() {
    let kernel = kernel(V, 1, Flush::Manual);
    let text = |bytes: usize| lioprof_sim::SimRecord { text: vec![b'x'; bytes], ..numbered(0) };
    assert_eq!(kernel.log(&text(4096 - 54)), Outcome::Refused);
    assert_eq!(kernel.log(&text(4096 - 54 - 1)), Outcome::Logged);
    let lines = kernel.kernel_log().texts();
    assert!(lines.contains(&"LustreError: cowardly refusing to write 4097 bytes in a page".to_owned()), "{lines:?}");
    assert!(lines.contains(&"Lustre: format at a.c:1:f doesn't end in newline".to_owned()), "{lines:?}");
    assert_eq!(kernel.account().total.refused_records, 1);
    let kept = records(&dump(&kernel));
    assert_eq!((kept.len(), kept[0].len), (1, 4095));
}

#[test]
fn first_records_are_those_after_the_start_a_dump_and_a_clear() {
    let kernel = kernel(V, 2, Flush::Manual);
    let log = |number, cpu| {
        kernel.log(&lioprof_sim::SimRecord { cpu, ..numbered(number) });
    };
    let flags =
        || records(&dump(&kernel)).iter().map(|record| (crate::number(record), record.first)).collect::<Vec<_>>();
    (0..3).for_each(|number| log(number, 0));
    (3..5).for_each(|number| log(number, 1));
    assert_eq!(flags(), [(3, true), (4, false), (0, true), (1, false), (2, false)]);
    log(5, 0);
    kernel.clear();
    log(6, 0);
    log(7, 0);
    assert_eq!(flags(), [(6, true), (7, false)]);
    assert_eq!(kernel.account().total.lost.cleared.records, 1);
    assert_eq!(kernel.account().total.lost.dumped.records, 7);
    assert_balanced(&kernel);
}

#[test]
fn overflow_discards_a_tenth_and_counts_what_was_in_it() {
    for (version, prefix) in [(V, "Lustre: "), (LustreVersion::V2_10, "")] {
        let directory = tempdir().unwrap();
        let path = directory.path().join("rpc.bin");
        let kernel = kernel(version, 1, Flush::Manual);
        crate::start(&kernel, &path);
        let full = PROCESS_PAGES * PER_PAGE;
        for number in 0..full {
            kernel.log(&if number % 10 == 0 { handled(number) } else { numbered(number) });
        }
        assert_eq!(kernel.account().total.lost.total().records, 0);
        kernel.log(&numbered(full));

        // A tenth of the pages, and the oldest one left, which is used for the new record.
        let gone = (PROCESS_PAGES / 10 + 1) * PER_PAGE;
        let account = kernel.account();
        let lost = account.total.lost.overflow;
        assert_eq!((lost.records, lost.handled_rpcs), (gone as u64, gone.div_ceil(10) as u64));
        assert_eq!((lost.first_us, lost.last_us), (Some(START_US), Some(START_US + gone as i64 - 1)));
        assert_eq!((account.losses.events.len(), account.losses.events[0].what), (1, lost));
        let line = format!("{prefix}debug daemon buffer overflowed; discarding 10% of pages (21 of 204)");
        assert!(kernel.kernel_log().texts().contains(&line), "{:?}", kernel.kernel_log().texts());

        crate::stop(&kernel);
        let written = records(&fs::read(&path).unwrap());
        assert!(written.iter().map(crate::number).eq(gone..=full));
        assert!(!written[0].first, "a run that begins without F tells of the loss");
        assert_balanced(&kernel);
    }
}

#[test]
fn the_clock_can_step() {
    let kernel = kernel(V, 1, Flush::Manual);
    kernel.log(&numbered(0));
    kernel.step_clock(-5_000_000);
    kernel.log(&numbered(1));
    kernel.mark(b"after the step", 1);
    let kept = records(&dump(&kernel));
    assert_eq!(kept[0].time_us - kept[1].time_us, 4_999_999);
    assert!(kept[2..].iter().all(|record| record.time_us == kept[1].time_us), "the marker has the same clock");
}
