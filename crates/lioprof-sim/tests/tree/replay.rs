//! Captures of real servers through the simulated kernel and back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use lioprof_sim::kernel::{Flush, Kernel, KernelConfig, LustreVersion, Mask};
use lioprof_sim::replay::{Player, RecordedLog, Speed};
use lioprof_sim::tree::Director;
use lioprof_sim::{SimRecord, Stamp, Workload};
use lioprof_testkit::eventually;
use lioprof_testkit::files::{capture, unpacked};
use tempfile::tempdir;

use crate::reader::{Raw, records};
use crate::write_once;

/// As `lctl debug_file` prints it, but for the F flag.
fn line(record: &Raw) -> String {
    format!(
        "{:08x}:{:08x}:{}.{}:{}.{:06}:0:{}:0:({}:{}:{}()) {}",
        record.subsystem,
        record.mask,
        record.cpu,
        record.context,
        record.time_us / 1_000_000,
        record.time_us % 1_000_000,
        record.pid,
        record.file,
        record.line,
        record.function,
        record.text
    )
}

/// In the order of time; at equal times streams keep their own order.
fn sorted_lines(mut records: Vec<Raw>) -> Vec<String> {
    records.sort_by_key(|record| (record.time_us, record.cpu, record.context));
    records.iter().map(line).collect()
}

/// Plays a log into a file that is renamed every few milliseconds, as a capture daemon does; returns the segments.
fn play_and_rotate(input: &Path, directory: &Path) -> Vec<PathBuf> {
    let mut log = RecordedLog::read(&[input.to_owned()]).unwrap();
    let kernel = Kernel::new(KernelConfig { cpus: log.cpus(), flush: Flush::Thread, ..KernelConfig::default() });
    kernel.write_mask(Mask::Debug, b"-1").unwrap();
    kernel.set_debug_mb(b"100").unwrap();
    let file = directory.join("rpc.bin");
    kernel.daemon_command(file.to_str().unwrap().as_bytes()).unwrap();
    let (director, stop, done) = (Director::default(), AtomicBool::new(false), AtomicBool::new(false));
    let mut segments = Vec::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            let player = Player { kernel: &kernel, director: &director, stop: &stop };
            // The capture took 19 s; the time that this takes does not matter.
            let played = player.play(&mut log, Speed::Times(20.0), Stamp::Original);
            assert_eq!(played.logged, played.records);
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            let segment = directory.join(format!("{:06}", segments.len()));
            if fs::rename(&file, &segment).is_ok() {
                segments.push(segment);
            }
            thread::sleep(Duration::from_millis(3));
        }
    });
    kernel.daemon_command(b"stop").unwrap();
    assert_eq!(kernel.account().total.lost.total().records, 0);
    segments.extend(file.exists().then_some(file));
    segments
}

#[test]
fn a_replayed_capture_holds_the_same_records_however_it_is_rotated() {
    let input = capture("masks/server1/rpc.bin.zst");
    let directory = tempdir().unwrap();
    let segments = play_and_rotate(&input, directory.path());
    assert!(segments.len() > 1, "{} segments", segments.len());
    let drained: Vec<Raw> = segments.iter().flat_map(|segment| records(&fs::read(segment).unwrap())).collect();

    let original = records(&unpacked(&input));
    let lines = sorted_lines(drained.clone());
    assert_eq!(lines.len(), original.len());
    assert_eq!(lines, sorted_lines(original));

    // Against the text that a real `lctl` made on that server.
    let text = String::from_utf8(unpacked(capture("masks/server1/rpc.txt.zst"))).unwrap();
    let mut expected: Vec<String> = text
        .split_inclusive('\n')
        .filter(|line| !line.starts_with("Debug log: "))
        .map(|line| {
            let (head, rest) = line.split_once("F:").unwrap_or((line, ""));
            let flagged = head.len() < 30 && !rest.is_empty();
            if flagged { format!("{head}:{rest}") } else { line.to_owned() }
        })
        .collect();
    let mut lines = lines;
    expected.sort();
    lines.sort();
    assert_eq!(lines, expected);

    // Passes leave every stream empty: a run begins with F, and only a run does.
    for segment in &segments {
        let mut last = None;
        for record in records(&fs::read(segment).unwrap()) {
            let stream = (record.cpu, record.context);
            assert!(record.first || last == Some(stream), "a run without F, but nothing was lost");
            last = Some(stream);
        }
    }
}

#[test]
fn text_and_binary_play_the_same() {
    for name in ["masks/server1", "v215_file_per_process/server2"] {
        let collect = |file: &str| {
            let mut log = RecordedLog::read(&[capture(name).join(file)]).unwrap();
            let mut counts: BTreeMap<(i64, Vec<u8>), u32> = BTreeMap::new();
            let mut record = SimRecord::default();
            let mut latest = i64::MIN;
            while log.next(&mut record) {
                assert!(record.time_us >= latest, "in time order");
                latest = record.time_us;
                let whole = format!("{record:?}").into_bytes();
                *counts.entry((record.time_us, whole)).or_default() += 1;
            }
            counts
        };
        assert!(collect("rpc.bin.zst") == collect("rpc.txt.zst"), "{name}");
    }
}

#[test]
fn a_log_played_twice_goes_on_in_time() {
    let mut log = RecordedLog::read(&[capture("lock_pingpong/server2")]).unwrap();
    let once = log.len();
    log.set_rounds(2);
    let mut times = Vec::new();
    let mut record = SimRecord::default();
    while log.next(&mut record) {
        times.push(record.time_us);
    }
    assert_eq!(times.len(), 2 * once);
    assert!(times.is_sorted());
    assert!(times[once] > times[once - 1]);
    assert_eq!(times[once + 1] - times[once], times[1] - times[0]);
}

#[test]
fn present_day_stamps_keep_the_distances() {
    let mut log = RecordedLog::read(&[capture("lock_pingpong/server2/rpc.bin.zst")]).unwrap();
    let kernel = Kernel::new(KernelConfig { cpus: 2, flush: Flush::Manual, ..KernelConfig::default() });
    kernel.write_mask(Mask::Debug, b"-1").unwrap();
    let (director, stop) = (Director::default(), AtomicBool::new(false));
    let before = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_micros() as u64;
    let player = Player { kernel: &kernel, director: &director, stop: &stop };
    player.play(&mut log, Speed::Times(1e4), Stamp::Now);
    let directory = tempdir().unwrap();
    let dump = directory.path().join("dump");
    kernel.dump(dump.to_str().unwrap().as_bytes()).unwrap();
    let mut now = records(&fs::read(dump).unwrap());
    let mut then = records(&unpacked(capture("lock_pingpong/server2/rpc.bin.zst")));
    now.sort_by_key(|record| record.time_us);
    then.sort_by_key(|record| record.time_us);
    assert!(now[0].time_us >= before && now[0].time_us < before + 120_000_000);
    let span = |records: &[Raw]| records[records.len() - 1].time_us - records[0].time_us;
    assert!(span(&now).abs_diff(span(&then) / 10_000) <= 1);
}

#[test]
fn inputs_that_cannot_be_played_are_refused() {
    let fails = |inputs: &[PathBuf], text: &str| {
        let message = RecordedLog::read(inputs).unwrap_err().to_string();
        assert!(message.contains(text), "{message}");
    };
    fails(&[capture("masks")], "several servers");
    fails(&[capture("no such capture")], "no such capture");
    fails(&[capture("masks/server1/truth.txt")], "truth.txt");
}

/// The command, ended when dropped.
struct Simulator(Child);

impl Drop for Simulator {
    fn drop(&mut self) {
        self.0.kill().unwrap_or_default();
        self.0.wait().map(drop).unwrap_or_default();
    }
}

fn simulator(arguments: &[&str], mount: &Path) -> Simulator {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lioprof-sim"));
    command.arg("replay").args(arguments).arg("--to").arg(mount).stderr(Stdio::null());
    Simulator(command.spawn().unwrap())
}

#[test]
fn the_command_waits_for_a_daemon_plays_and_ends_with_it() {
    let input = capture("v215_masks/server2/rpc.bin.zst");
    let directory = tempdir().unwrap();
    let (mount, file) = (directory.path().join("root"), directory.path().join("rpc.bin"));
    let options = ["--speed", "max", "--version", "2.15", "--wait-daemon", "--exit-when-stopped"];
    let mut simulator = simulator(&[&[input.to_str().unwrap()], &options[..]].concat(), &mount);
    let lnet = mount.join("sys/kernel/debug/lnet");
    eventually("the files", || lnet.join("debug").exists());
    write_once(&lnet.join("debug_mb"), b"100").unwrap();
    write_once(&lnet.join("daemon_file"), file.to_str().unwrap().as_bytes()).unwrap();
    assert!(fs::read_to_string(mount.join("sim/ctl")).unwrap().contains("\"waiting\""), "rpctrace is still off");
    write_once(&lnet.join("debug"), b"-1").unwrap();
    eventually("everything to be played", || fs::read_to_string(mount.join("sim/ctl")).unwrap().contains("\"played\""));
    assert!(mount.join("proc/fs/lustre/obdfilter/lustre-OST0002/stats").exists(), "from truth.txt beside the log");
    write_once(&lnet.join("daemon_file"), b"stop").unwrap();
    assert!(simulator.0.wait().unwrap().success());
    assert_eq!(fs::read_dir(&mount).unwrap().count(), 0, "unmounted");
    assert_eq!(sorted_lines(records(&fs::read(&file).unwrap())), sorted_lines(records(&unpacked(&input))));
}

#[test]
fn a_signal_unmounts_and_a_killed_one_does_not_block_the_next() {
    let input = capture("lock_pingpong/server2/rpc.bin.zst");
    let directory = tempdir().unwrap();
    let mount = directory.path().join("root");
    let options = [input.to_str().unwrap(), "--wait-daemon"];
    let mounted = |mount: &Path| mount.join("sim/ctl").exists();

    let mut first = simulator(&options, &mount);
    eventually("the first one", || mounted(&mount));
    first.0.kill().unwrap();
    first.0.wait().unwrap();
    assert!(!mounted(&mount));

    let mut second = simulator(&options, &mount);
    eventually("the second one", || mounted(&mount));
    let pid = rustix::process::Pid::from_child(&second.0);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(second.0.wait().unwrap().success());
    assert_eq!(fs::read_dir(&mount).unwrap().count(), 0);
}

#[test]
fn a_paused_player_halts() {
    let input = [capture("masks/server2/rpc.bin.zst")];
    let mut log = RecordedLog::read(&input).unwrap();
    let total = log.len() as u64;
    let kernel =
        Kernel::new(KernelConfig { version: LustreVersion::V2_17, flush: Flush::Manual, ..KernelConfig::default() });
    let (director, stop) = (Arc::new(Director::default()), AtomicBool::new(false));
    director.paused.store(true, Ordering::Relaxed);
    thread::scope(|scope| {
        scope.spawn(|| {
            let player = Player { kernel: &kernel, director: &director, stop: &stop };
            assert_eq!(player.play(&mut log, Speed::Max, Stamp::Original).records, total);
        });
        eventually("it to begin", || director.playing.load(Ordering::Relaxed));
        // The time that another one takes for all of it.
        let other = Player { kernel: &kernel, director: &Director::default(), stop: &stop };
        other.play(&mut RecordedLog::read(&input).unwrap(), Speed::Max, Stamp::Original);
        assert!(!director.played.load(Ordering::Relaxed));
        director.paused.store(false, Ordering::Relaxed);
    });
    assert!(director.played.load(Ordering::Relaxed));
}
