//! Gives records to a kernel at their time.

use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use lioprof_model::time::now_us;
use serde::Serialize;

use crate::bits::{mask, subsystem};
use crate::kernel::{Kernel, Outcome};
use crate::tree::Director;
use crate::{SimRecord, Stamp, Workload};

/// Longest sleep before a look at what others want.
const NAP: Duration = Duration::from_millis(20);
/// Sleeps shorter than this are not worth it.
const SHORTEST_SLEEP_US: i64 = 200;
/// A player that is later than this has stood still, on a machine that is busy: it does not catch up, and no record gets a time at
/// which nobody logged anything.
const LATE_US: i64 = 20_000;
/// Records between two looks at what others want.
const LOOK_EVERY: u64 = 256;

/// How fast time goes by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speed {
    /// This many times as fast as recorded.
    Times(f64),
    /// As fast as possible.
    Max,
}

/// Not a valid speed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a valid speed: expected a number above 0, such as 1, 10 or 0.5, or `max`")]
pub struct BadSpeed(String);

impl FromStr for Speed {
    type Err = BadSpeed;

    fn from_str(text: &str) -> Result<Self, BadSpeed> {
        if text == "max" {
            return Ok(Self::Max);
        }
        match text.parse::<f64>() {
            Ok(times) if times.is_finite() && times > 0.0 => Ok(Self::Times(times)),
            _ => Err(BadSpeed(text.to_owned())),
        }
    }
}

/// What became of the records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Played {
    /// Given to the kernel.
    pub records: u64,
    /// Of these, in its buffer.
    pub logged: u64,
    /// Of these, not wanted by the masks.
    pub masked: u64,
}

/// Gives records to a kernel.
#[derive(Debug)]
pub struct Player<'a> {
    /// To whom.
    pub kernel: &'a Kernel,
    /// What others want and may know.
    pub director: &'a Director,
    /// Ends everything, also a wait.
    pub stop: &'a AtomicBool,
}

impl Player<'_> {
    fn ends(&self) -> bool {
        self.stop.load(Relaxed) || self.director.quit.load(Relaxed)
    }

    fn wait_until(&self, condition: impl Fn() -> bool) {
        while !self.ends() && !condition() {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits until the debug daemon runs and the masks let ptlrpc's rpctrace messages pass.
    pub fn wait_for_daemon(&self) {
        let traced = || self.kernel.daemon_runs() && self.kernel.passes(subsystem::RPC, mask::RPCTRACE);
        self.wait_until(|| traced() || self.director.go.load(Relaxed));
    }

    /// Waits until somebody says `start`.
    pub fn wait_for_start(&self) {
        self.wait_until(|| self.director.go.load(Relaxed));
    }

    /// Waits until the debug daemon is stopped.
    pub fn wait_for_stop(&self) {
        self.wait_until(|| !self.kernel.daemon_runs());
    }

    /// Waits until somebody wants an end.
    pub fn wait_for_end(&self) {
        self.wait_until(|| false);
    }

    /// Plays all records.
    pub fn play(&self, workload: &mut dyn Workload, speed: Speed, stamp: Stamp) -> Played {
        let mut played = Played::default();
        let mut record = SimRecord::default();
        let mut pace = None;
        self.director.playing.store(true, Relaxed);
        while workload.next(&mut record) {
            let pace = pace.get_or_insert_with(|| Pace::start(record.time_us, speed));
            if played.records % LOOK_EVERY == 0 {
                self.director.records.store(played.records, Relaxed);
                self.obey(pace);
                pace.look();
            }
            self.sleep_until(pace, record.time_us);
            if self.ends() {
                break;
            }
            if stamp == Stamp::Now {
                // A record that is late was logged with the masks of now.
                record.time_us = pace.present_us(record.time_us).max(self.kernel.masks_set_us());
            }
            played.records += 1;
            match self.kernel.log(&record) {
                Outcome::Logged => played.logged += 1,
                Outcome::Masked => played.masked += 1,
                Outcome::Refused | Outcome::Unloaded => {}
            }
        }
        self.director.records.store(played.records, Relaxed);
        self.director.played.store(true, Relaxed);
        played
    }

    /// Halts while it is wanted; the time of the halt does not count.
    fn obey(&self, pace: &mut Pace) {
        if self.director.paused.load(Relaxed) {
            let began = Instant::now();
            self.wait_until(|| !self.director.paused.load(Relaxed));
            pace.stood_still(began.elapsed());
        }
    }

    fn sleep_until(&self, pace: &mut Pace, time_us: i64) {
        let Some(due_us) = pace.due_us(time_us) else { return };
        while due_us > pace.elapsed_us + SHORTEST_SLEEP_US && !self.ends() {
            pace.look();
            let ahead = u64::try_from(due_us - pace.elapsed_us).unwrap_or(0);
            if ahead > 0 {
                thread::sleep(Duration::from_micros(ahead).min(NAP));
                pace.look();
            }
            self.obey(pace);
        }
        let late_us = pace.elapsed_us - due_us;
        if late_us > LATE_US {
            pace.stood_still(Duration::from_micros(late_us.unsigned_abs()));
        }
    }
}

/// When which record is due.
#[derive(Debug)]
struct Pace {
    speed: Speed,
    began: Instant,
    began_wall_us: i64,
    first_us: i64,
    /// Time since the beginning at the last look at the clock.
    elapsed_us: i64,
}

impl Pace {
    fn start(first_us: i64, speed: Speed) -> Self {
        Self { speed, began: Instant::now(), began_wall_us: now_us(), first_us, elapsed_us: 0 }
    }

    fn look(&mut self) {
        self.elapsed_us = i64::try_from(self.began.elapsed().as_micros()).unwrap_or(i64::MAX);
    }

    /// The time that has passed does not count.
    fn stood_still(&mut self, time: Duration) {
        let us = i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        self.began += time;
        self.began_wall_us = self.began_wall_us.saturating_add(us);
        self.look();
    }

    /// When a record is due, since the beginning; `None`: at once.
    fn due_us(&self, time_us: i64) -> Option<i64> {
        match self.speed {
            Speed::Max => None,
            Speed::Times(times) => {
                let since = Duration::from_micros(u64::try_from(time_us - self.first_us).unwrap_or(0));
                let due = Duration::try_from_secs_f64(since.as_secs_f64() / times).unwrap_or(Duration::MAX);
                Some(i64::try_from(due.as_micros()).unwrap_or(i64::MAX))
            }
        }
    }

    /// The present time for a record.
    fn present_us(&self, time_us: i64) -> i64 {
        match self.speed {
            // Exact distances instead of those that the scheduler happens to make.
            Speed::Times(times) if (times - 1.0).abs() < f64::EPSILON => self.began_wall_us + (time_us - self.first_us),
            Speed::Times(_) => self.began_wall_us + self.due_us(time_us).unwrap_or(0),
            Speed::Max => now_us(),
        }
    }
}
