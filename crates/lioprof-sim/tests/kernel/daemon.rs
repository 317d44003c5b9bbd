//! Flush passes: when, in which order, what is in them; dumps beside them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use lioprof_sim::SimRecord;
use lioprof_sim::kernel::{Flush, LustreVersion};
use tempfile::tempdir;

use crate::reader::records;
use crate::{PER_PAGE, assert_balanced, kernel, log_all, numbered, start, stop};

const V: LustreVersion = LustreVersion::V2_17;

#[test]
fn a_pass_goes_from_the_highest_cpu_down_and_from_irq_to_process() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("rpc.bin");
    let kernel = kernel(V, 3, Flush::Manual);
    start(&kernel, &path);
    for round in 0..2 {
        for cpu in 0..3 {
            for context in 0..3 {
                kernel.log(&SimRecord { cpu, context, ..numbered(round) });
                kernel.log(&SimRecord { cpu, context, ..numbered(round + 10) });
            }
        }
        kernel.flush_pass();
    }
    let order: Vec<_> = records(&fs::read(&path).unwrap())
        .iter()
        .map(|record| (record.cpu, record.context, crate::number(record), record.first))
        .collect();
    let mut expected = Vec::new();
    for round in 0..2 {
        for cpu in [2, 1, 0] {
            for context in [2, 1, 0] {
                expected.push((cpu, context, round, true));
                expected.push((cpu, context, round + 10, false));
            }
        }
    }
    assert_eq!(order, expected);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    assert_eq!(kernel.account().file.passes, 2);
}

#[test]
fn more_than_eight_pages_wake_the_thread() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("rpc.bin");
    let kernel = kernel(V, 1, Flush::Simulated { period_us: i64::MAX / 2, latency_us: 0 });
    start(&kernel, &path);
    log_all(&kernel, 0..=8 * PER_PAGE);
    assert!(!path.exists(), "the ninth page has only just begun");
    kernel.log(&numbered(8 * PER_PAGE + 1));
    let written = records(&fs::read(&path).unwrap());
    assert_eq!(written.len(), 8 * PER_PAGE + 1);
    stop(&kernel);
    let written = records(&fs::read(&path).unwrap());
    assert!(written.iter().map(crate::number).eq(0..8 * PER_PAGE + 2));
    assert!(written[8 * PER_PAGE + 1].first, "the pass has left the stream empty");
}

#[test]
fn a_pass_at_least_every_second() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("rpc.bin");
    let kernel = kernel(V, 1, Flush::Simulated { period_us: 1_000_000, latency_us: 0 });
    start(&kernel, &path);
    kernel.log(&numbered(0));
    kernel.log(&numbered(999_999));
    assert!(!path.exists());
    kernel.log(&numbered(1_000_000));
    assert_eq!(records(&fs::read(&path).unwrap()).len(), 2);
}

#[test]
fn simulated_time_gives_the_same_file_each_time() {
    let run = || {
        let directory = tempdir().unwrap();
        let path = directory.path().join("rpc.bin");
        let kernel = kernel(V, 2, Flush::Simulated { period_us: 1_000_000, latency_us: 300 });
        start(&kernel, &path);
        for number in 0..50_000 {
            kernel.log(&SimRecord {
                cpu: (number % 7 / 4) as u16,
                context: (number % 11 / 10) as u16,
                ..numbered(number)
            });
        }
        stop(&kernel);
        assert_balanced(&kernel);
        (fs::read(path).unwrap(), kernel.account())
    };
    let (bytes, account) = run();
    assert!(account.file.passes > 10);
    assert_eq!(run(), (bytes, account));
}

#[test]
fn a_new_path_is_used_from_the_next_pass_on_and_a_renamed_file_is_left_alone() {
    let directory = tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let kernel = kernel(V, 1, Flush::Manual);
    start(&kernel, &path("a"));
    let pass = |number| {
        kernel.log(&numbered(number));
        kernel.flush_pass();
    };
    pass(0);
    fs::rename(path("a"), path("a.1")).unwrap();
    pass(1);
    start(&kernel, &path("b"));
    pass(2);
    fs::remove_file(path("b")).unwrap();
    pass(3);
    stop(&kernel);
    let numbers = |name: &str| records(&fs::read(path(name)).unwrap()).iter().map(crate::number).collect::<Vec<_>>();
    assert_eq!((numbers("a.1"), numbers("a"), numbers("b")), (vec![0], vec![1], vec![3]));
}

#[test]
fn stopping_writes_everything_and_forgets_the_path() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("rpc.bin");
    for flush in [Flush::Thread, Flush::Manual] {
        let kernel = kernel(V, 2, flush);
        start(&kernel, &path);
        assert_eq!(kernel.daemon_file(), path.to_str().unwrap().as_bytes());
        log_all(&kernel, 0..3);
        stop(&kernel);
        assert_eq!(records(&fs::read(&path).unwrap()).len(), 3, "{flush:?}");
        assert!(kernel.daemon_file().is_empty() && !kernel.daemon_runs());
        let lines = kernel.kernel_log().texts();
        let shown = path.display();
        assert!(
            lines.contains(&format!("Lustre: debug daemon will attempt to start writing to {shown} (102400kB max)"))
        );
        assert!(lines.contains(&"Lustre: shutting down debug daemon thread...".to_owned()));
        stop(&kernel);
        assert_eq!(kernel.kernel_log().texts().len(), lines.len(), "stopping twice is no error and says nothing");
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_dump_beside_the_daemon_takes_what_is_new_and_repeats_what_is_old() {
    for (version, expected) in [(V, [3, 4, 0, 1, 2]), (LustreVersion::V2_10, [0, 1, 2, 3, 4])] {
        let directory = tempdir().unwrap();
        let (path, dump) = (directory.path().join("rpc.bin"), directory.path().join("dump"));
        let kernel = kernel(version, 1, Flush::Manual);
        start(&kernel, &path);
        log_all(&kernel, 0..3);
        kernel.flush_pass();
        log_all(&kernel, 3..5);
        kernel.dump(dump.to_str().unwrap().as_bytes()).unwrap();
        kernel.log(&numbered(5));
        stop(&kernel);
        let numbers = |path| records(&fs::read(path).unwrap()).iter().map(crate::number).collect::<Vec<_>>();
        assert_eq!(numbers(&dump), expected, "{version}");
        assert_eq!(numbers(&path), [0, 1, 2, 5], "{version}");
        assert_eq!(kernel.account().total.lost.dumped.records, 2);
        assert_balanced(&kernel);
    }
}

#[test]
fn unloading_ends_everything_and_loading_begins_anew() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("rpc.bin");
    let kernel = kernel(V, 1, Flush::Manual);
    start(&kernel, &path);
    kernel.log(&numbered(0));
    kernel.unload().unwrap();
    assert_eq!(records(&fs::read(&path).unwrap()).len(), 1, "the last pass");
    assert_eq!(kernel.log(&numbered(1)), lioprof_sim::kernel::Outcome::Unloaded);
    assert_eq!(kernel.unload(), Err(rustix::io::Errno::NOENT));
    kernel.load().unwrap();
    assert_eq!(kernel.load(), Err(rustix::io::Errno::EXIST));
    assert_eq!(kernel.debug_mb(), 6, "5 MiB per CPU and one");
    assert_eq!(kernel.log(&numbered(2)), lioprof_sim::kernel::Outcome::Masked, "masks are at their defaults");
    assert!(kernel.daemon_file().is_empty());
}
