//! The thread, with records coming in at the same time.

use std::collections::HashMap;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use lioprof_sim::SimRecord;
use lioprof_sim::kernel::{Flush, LustreVersion};
use lioprof_testkit::eventually;
use tempfile::tempdir;

use crate::reader::records;
use crate::{assert_balanced, kernel, log_all, numbered, start, stop};

#[test]
fn rotation_by_rename_loses_nothing_under_load() {
    const RECORDS: usize = 300_000;
    const CPUS: usize = 4;
    let directory = tempdir().unwrap();
    let path = directory.path().join("rpc.bin");
    let kernel = kernel(LustreVersion::V2_17, CPUS as u16, Flush::Thread);
    kernel.set_debug_mb(b"400").unwrap();
    start(&kernel, &path);
    let (done, rotations) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..RECORDS {
                kernel.log(&SimRecord { cpu: (number % CPUS) as u16, ..numbered(number) });
                // A slow machine gets the time that it needs for ten rotations.
                eventually("a rotation", || rotations.load(Ordering::Acquire) >= number / (RECORDS / 11));
            }
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            let number = rotations.load(Ordering::Acquire);
            if fs::rename(&path, directory.path().join(format!("segment.{number}"))).is_ok() {
                rotations.store(number + 1, Ordering::Release);
            }
            // From one rotation to the next.
            thread::sleep(Duration::from_millis(2));
        }
    });
    stop(&kernel);
    assert_eq!(kernel.account().total.lost.total().records, 0);
    assert_balanced(&kernel);

    let rotations = rotations.into_inner();
    assert!(rotations >= 10, "only {rotations} segments");
    let mut segments: Vec<_> =
        (0..rotations).map(|number| directory.path().join(format!("segment.{number}"))).collect();
    segments.push(path);
    let mut next: HashMap<u16, usize> = HashMap::new();
    for segment in segments.iter().filter(|segment| segment.exists()) {
        for record in records(&fs::read(segment).unwrap()) {
            let next = next.entry(record.cpu).or_insert(usize::from(record.cpu));
            assert_eq!(crate::number(&record), *next, "in order, none twice, none missing");
            *next += CPUS;
        }
    }
    assert!((0..CPUS).all(|cpu| next[&(cpu as u16)] == RECORDS + cpu));
}

#[test]
fn the_thread_writes_within_about_a_second_unasked() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("rpc.bin");
    let kernel = kernel(LustreVersion::V2_15, 1, Flush::Thread);
    start(&kernel, &path);
    kernel.log(&numbered(0));
    eventually("records to be written", || fs::metadata(&path).is_ok_and(|metadata| metadata.len() > 0));
    stop(&kernel);
}

#[test]
fn a_stalled_thread_overflows_and_the_account_knows_exactly_what_is_missing() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("rpc.bin");
    let kernel = kernel(LustreVersion::V2_17, 1, Flush::Thread);
    start(&kernel, &path);
    kernel.stall_daemon(true);
    let total = 5 * crate::PROCESS_PAGES * crate::PER_PAGE;
    log_all(&kernel, 0..total);
    kernel.stall_daemon(false);
    stop(&kernel);
    let written = records(&fs::read(&path).unwrap());
    let account = kernel.account();
    assert_eq!(written.len() + usize::try_from(account.total.lost.overflow.records).unwrap(), total);
    assert!(account.losses.events.len() > 10 && account.losses.omitted == 0);
    let by_events: u64 = account.losses.events.iter().map(|event| event.what.records).sum();
    assert_eq!(by_events, account.total.lost.overflow.records);
    assert_balanced(&kernel);
}
