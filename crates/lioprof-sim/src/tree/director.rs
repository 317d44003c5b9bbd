//! The simulator's own commands, for tests that drive it from another process: `sim/ctl`.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use rustix::io::Errno;
use serde::Serialize;

use crate::SimRecord;
use crate::bits::{mask, subsystem};
use crate::kernel::Kernel;

/// What a player does, and what others want it to do.
#[derive(Debug, Default)]
pub struct Director {
    /// Playing halts while this is set.
    pub paused: AtomicBool,
    /// Playing begins although no debug daemon runs.
    pub go: AtomicBool,
    /// The player shall end.
    pub quit: AtomicBool,
    /// Playing has begun.
    pub playing: AtomicBool,
    /// All records were played.
    pub played: AtomicBool,
    /// Records given to the kernel so far.
    pub records: AtomicU64,
}

/// `sim/ctl` as it reads.
#[derive(Debug, Serialize)]
struct DirectorState {
    phase: &'static str,
    paused: bool,
    records: u64,
    modules_loaded: bool,
    lustre_loaded: bool,
    daemon_runs: bool,
}

impl Director {
    /// The state as JSON.
    pub(super) fn state(&self, kernel: &Kernel) -> Vec<u8> {
        let phase = match (self.playing.load(Relaxed), self.played.load(Relaxed)) {
            (_, true) => "played",
            (true, false) => "playing",
            (false, false) => "waiting",
        };
        let state = DirectorState {
            phase,
            paused: self.paused.load(Relaxed),
            records: self.records.load(Relaxed),
            modules_loaded: kernel.is_loaded(),
            lustre_loaded: kernel.has_lustre(),
            daemon_runs: kernel.daemon_runs(),
        };
        let mut json = serde_json::to_vec(&state).unwrap_or_default();
        json.push(b'\n');
        json
    }

    /// Runs one command.
    pub(super) fn command(&self, kernel: &Kernel, text: &[u8]) -> Result<(), Errno> {
        let text = std::str::from_utf8(text).map_err(|_| Errno::INVAL)?.trim();
        let (verb, argument) = text.split_once(' ').map_or((text, ""), |(verb, argument)| (verb, argument.trim()));
        let flag = || match argument {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(Errno::INVAL),
        };
        match verb {
            "unload" => kernel.unload()?,
            "load" if argument == "lnet" => kernel.load_lnet()?,
            "load" => kernel.load()?,
            "stall" => kernel.stall_daemon(flag()?),
            "enospc" if argument == "off" => kernel.limit_disk(None),
            "enospc" => kernel.limit_disk(Some(argument.parse().map_err(|_| Errno::INVAL)?)),
            "clockstep" => kernel.step_clock(argument.parse().map_err(|_| Errno::INVAL)?),
            "old" => old(kernel, argument.parse().map_err(|_| Errno::INVAL)?),
            "burst" => burst(kernel, argument.parse().map_err(|_| Errno::INVAL)?),
            // Before 2.15.62 these two are ioctls of `lctl`; here they are commands.
            "mark" => kernel.mark(argument.as_bytes(), 0),
            "clear" => kernel.clear(),
            "pause" => self.paused.store(true, Relaxed),
            "resume" => self.paused.store(false, Relaxed),
            "start" => self.go.store(true, Relaxed),
            "quit" => self.quit.store(true, Relaxed),
            _ => return Err(Errno::INVAL),
        }
        Ok(())
    }
}

/// Logs what a server says with its default masks, so many records on all CPUs, evenly over the hour before now: a kernel's buffer
/// holds such records back to the boot until somebody empties it.
fn old(kernel: &Kernel, count: u64) {
    const HOUR_US: i64 = 3_600_000_000;
    const CLIENT: &str = "lustre-OST0000: connection from 5d3c1f60-8f4f-4c0e-9c6e-7b8d1f0a2c11@10.10.0.11@tcp";
    let mut record = SimRecord {
        subsystem: subsystem::LDLM,
        mask: mask::HA,
        pid: 2,
        file: b"ldlm_lib.c".to_vec(),
        line: 1237,
        function: b"target_handle_connect".to_vec(),
        ..SimRecord::default()
    };
    let (now_us, cpus) = (kernel.now_us(), u64::from(kernel.config.cpus));
    for number in 0..count {
        let share = i64::try_from(u128::from(number) * HOUR_US.unsigned_abs() as u128 / u128::from(count)).unwrap_or(0);
        record.time_us = now_us.saturating_add(share - HOUR_US);
        record.cpu = u16::try_from(number % cpus).unwrap_or(0);
        record.text = format!("{CLIENT} t0 exp 0000000000000000 cur {number} last 0\n").into_bytes();
        kernel.log(&record);
    }
}

/// Logs so many small messages of mask rpctrace at once on CPU 0.
fn burst(kernel: &Kernel, count: u64) {
    let mut record = SimRecord {
        subsystem: subsystem::RPC,
        mask: mask::RPCTRACE,
        pid: 1,
        file: b"events.c".to_vec(),
        line: 339,
        function: b"request_in_callback".to_vec(),
        text: b"peer: 12345-10.10.0.11@tcp (source: 12345-10.10.0.11@tcp)\n".to_vec(),
        ..SimRecord::default()
    };
    let start_us = kernel.now_us();
    for number in 0..count {
        record.time_us = start_us.saturating_add(i64::try_from(number).unwrap_or(0));
        kernel.log(&record);
    }
}
