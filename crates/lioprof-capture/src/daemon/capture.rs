//! One capture: from enabling tracing to restoring all settings.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::budget::{Duty, Level};
use crate::config;
use crate::control::SMALLEST_DAEMON_SIZE_MIB;
use crate::control::lustre::LustreVersion;
use crate::control::profile::Profile;
use crate::drain::{Job, Queue, SegmentFile, Spool};
use crate::journal::{Report, Session, SessionError};
use crate::left_out::LeftOut;

use lioprof_model::units::human_bytes;

use super::DaemonError;

/// After tracing is switched off, the kernel may go on writing earlier records for this long: a flush pass is due every
/// second.
const FLUSHED: Duration = Duration::from_secs(3);

/// If a file grew by less than this many bytes before it was renamed, little is being logged.
const CALM_BYTES: u64 = 1 << 20;

/// A file with fewer bytes than this is not worth a segment every second: handling it costs more than decoding its content.
const SMALL_BYTES: u64 = 64 << 10;

/// The records of a small file may wait for this many times `capture.rotate`.
const SMALL_WAITS: u32 = 4;

/// A file system that takes longer than this to rename a file hangs.
const SILENCE: Duration = Duration::from_secs(2);

/// With less free space than this, the kernel may have failed to write all records to its file.
const ROOM_BYTES: u64 = 1 << 20;

/// When a segment is renamed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rotation {
    pub(crate) bytes: u64,
    pub(crate) age: Duration,
    /// How large the kernel lets its file grow before it overwrites the beginning.
    pub(crate) limit_mib: u64,
}

impl Rotation {
    pub(crate) fn new(capture: &config::Capture) -> Self {
        Self {
            bytes: capture.segment_mib() << 20,
            age: capture.rotate.0,
            limit_mib: crate::control::sizing::file_limit_mib(capture),
        }
    }
}

/// A change of what is traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Switched {
    /// Tracing starts or resumes.
    On,
    /// Tracing pauses.
    Off,
    /// Tracing continues with another profile.
    Profile,
}

/// Tracing of a node, in progress.
pub(crate) struct Capture {
    /// The session with the kernel's settings.
    pub(super) session: Session,
    /// The directory that the kernel writes its log to.
    pub(super) spool: Spool,
    queue: Arc<Queue>,
    version: Option<LustreVersion>,
    /// Records that were in the kernel's buffer before the capture.
    pub(super) left_out: LeftOut,
    configured: Profile,
    level: Level,
    rotation: Rotation,
    rotated: Instant,
    /// Rename the kernel's file at the next tick, whatever its age.
    rotate_soon: bool,
    /// The most that was in the kernel's file since it was last renamed, and right before that.
    grown: u64,
    /// Start of the duty cycle.
    cycle_since: Instant,
    /// Time at which the file contains everything that was logged before a pause.
    interrupt_at: Option<Instant>,
    /// Time of the last closed segment, for what is quiet for long.
    closed: Instant,
    /// When the kernel last said that it could not write its file, and in which words: it keeps what it has logged until
    /// it can.
    write_failed: Option<(Instant, String)>,
}

impl Capture {
    /// Makes the kernel trace into the spool.
    pub(crate) fn begin(
        mut session: Session,
        spool: Spool,
        queue: Arc<Queue>,
        profile: Profile,
        version: Option<LustreVersion>,
        buffer_mib: Option<u64>,
        rotation: Rotation,
    ) -> Result<Self, DaemonError> {
        let left_out = leave_out(&mut session, &spool)?;
        if let Some(mib) = buffer_mib {
            session.set_buffer(mib)?;
        }
        session.start_daemon(&spool.current(), rotation.limit_mib)?;
        session.trace(profile, version.as_ref())?;
        let now = Instant::now();
        Ok(Self {
            session,
            spool,
            queue,
            version,
            left_out,
            configured: profile,
            level: Level::Configured,
            rotation,
            rotated: now,
            rotate_soon: false,
            grown: 0,
            cycle_since: now,
            interrupt_at: None,
            closed: now,
            write_failed: None,
        })
    }

    /// The profile that the kernel logs with; `None` during a pause.
    pub(crate) fn tracing(&self) -> Option<Profile> {
        self.session.tracing
    }

    /// Sets the level; [`Self::switch`] applies it.
    pub(crate) fn set_level(&mut self, level: Level, now: Instant) {
        self.level = level;
        self.cycle_since = now;
    }

    /// Does what is due: renames the kernel's file, queues closed segments.
    pub(crate) fn tick(&mut self, now: Instant, now_us: i64) -> Result<(), DaemonError> {
        let vanished = self.spool.vanished();
        if vanished > 0 {
            self.queue.push(Job::Vanished(vanished));
        }
        let age = self.rotation.age * self.level.rotation_factor();
        let bytes = self.spool.current_bytes();
        let waited = now.duration_since(self.rotated);
        // After a pause its last records are wanted soon, and a budget that is short makes its own pace.
        let may_wait = bytes < SMALL_BYTES && self.level == Level::Configured && self.interrupt_at.is_none();
        let is_old = waited >= if may_wait { age * SMALL_WAITS } else { age };
        let is_due = is_old || bytes >= self.rotation.bytes || self.rotate_soon;
        self.grown = self.grown.max(bytes);
        if is_due {
            self.grown = bytes;
            let rotated = self.spool.rotate(now);
            rotated.map_err(|err| not_renamed(&self.spool, err))?;
            self.rotated = now;
            self.rotate_soon = false;
        }
        self.spool.ask(now);
        let closed = self.spool.closed(now);
        if let Some(file) = closed.map_err(|err| not_renamed(&self.spool, err))? {
            self.closed = now;
            queue(&self.queue, file);
        } else if now.duration_since(self.closed) > FLUSHED.max(age * 2)
            && bytes == 0
            && self.cannot_write(now).is_none()
        {
            // Nothing is logged: what was before is complete.
            self.closed = now;
            let flushed_us = i64::try_from(FLUSHED.as_micros()).unwrap_or(i64::MAX);
            self.queue.push(Job::Settle(now_us.saturating_sub(flushed_us)));
        }
        if self.interrupt_at.is_some_and(|at| now >= at) {
            self.interrupt_at = None;
            self.queue.push(Job::Interrupt);
        }
        Ok(())
    }

    /// Whether so little is logged that two ticks per second are enough.
    pub(crate) fn is_calm(&self) -> bool {
        self.grown < CALM_BYTES && self.level.duty().is_none()
    }

    /// Records that the kernel reported that it could not write its file.
    pub(crate) fn write_failed(&mut self, now: Instant, words: String) {
        self.write_failed = Some((now, words));
    }

    /// Why the kernel cannot write its file now, if so: then an empty file does not mean that nothing was logged.
    pub(crate) fn cannot_write(&self, now: Instant) -> Option<String> {
        let dir = &self.spool.dir;
        let free = super::keep::free_bytes(dir);
        // It says so in every pass, once a second.
        let said = self.write_failed.as_ref().filter(|(at, _)| now.duration_since(*at) < 2 * FLUSHED);
        let is_full = free.is_some_and(|free| free < ROOM_BYTES);
        let why = match said {
            Some((_, words)) => format!(" (\"{words}\")"),
            None if is_full => String::new(),
            None => return None,
        };
        Some(format!(
            "the kernel cannot write its log{why}: {} free in `{}`; what it logs is lost once its buffer is full. Free some \
             space there, or lower capture.spool_limit_mib",
            human_bytes(free.unwrap_or(0)),
            dir.display(),
        ))
    }

    /// The warning that the spool's file system has not answered for a while, if so.
    pub(crate) fn hangs(&self, now: Instant) -> Option<String> {
        let silence = self.spool.unanswered_for(now).filter(|silence| *silence >= SILENCE)?;
        Some(format!(
            "the file system of `{}` has not answered for {} s (frozen, or a disk that hangs): the kernel cannot write there either, \
             and what it logs is lost once its buffer is full",
            self.spool.dir.display(),
            silence.as_secs(),
        ))
    }

    /// Makes the next tick rename the kernel's file, whatever its age.
    pub(crate) fn rotate_soon(&mut self) {
        self.rotate_soon = true;
    }

    /// Restores the kernel's settings and queues what the kernel has written until then.
    pub(crate) fn end(mut self) -> Result<Report, DaemonError> {
        let report = self.session.end();
        let now = Instant::now();
        let stopped = self.spool.stopped(now);
        for file in stopped.map_err(|err| not_renamed(&self.spool, err))? {
            queue(&self.queue, file);
        }
        Ok(report)
    }

    /// What the next [`Self::switch`] will change.
    pub(crate) fn due(&self, now: Instant) -> Option<Switched> {
        match (self.session.tracing, self.wanted(now)) {
            (None, Some(_)) => Some(Switched::On),
            (Some(_), None) => Some(Switched::Off),
            (Some(is), Some(wanted)) if is != wanted => Some(Switched::Profile),
            _ => None,
        }
    }

    /// Starts, pauses or changes tracing as level and duty cycle require.
    pub(crate) fn switch(&mut self, now: Instant) -> Result<(), SessionError> {
        match self.wanted(now) {
            Some(profile) => {
                self.interrupt_at = None;
                self.session.trace(profile, self.version.as_ref())
            }
            None => {
                self.interrupt_at = Some(now + FLUSHED);
                self.session.pause()
            }
        }
    }

    fn wanted(&self, now: Instant) -> Option<Profile> {
        let profile = if self.level.light() { Profile::Light } else { self.configured };
        let since = now.duration_since(self.cycle_since);
        let on = self.level != Level::Stopped && self.level.duty().is_none_or(|duty: Duty| duty.is_on(since));
        on.then_some(profile)
    }
}

fn not_renamed(spool: &Spool, source: std::io::Error) -> DaemonError {
    DaemonError::Io { doing: "rename the kernel's file", path: spool.current(), source }
}

/// Empties the kernel's buffer of records that were logged before the capture.
fn leave_out(session: &mut Session, spool: &Spool) -> Result<LeftOut, DaemonError> {
    let path = spool.left_out();
    session.empty_buffer(&path)?;
    let left_out = LeftOut::of(&path, SMALLEST_DAEMON_SIZE_MIB << 20).unwrap_or_else(|err| {
        tracing::warn!(path = %path.display(), error = %err, "failed to count the records from before the capture");
        LeftOut::default()
    });
    if left_out != LeftOut::default() {
        tracing::info!(
            records = left_out.records,
            bytes = left_out.bytes,
            first_us = left_out.first_us,
            "skipped records that the kernel had logged before this capture"
        );
    }
    remove(&path);
    Ok(left_out)
}

fn queue(queue: &Queue, file: SegmentFile) {
    if file.bytes > 0 {
        queue.push(Job::Segment { file, counted: false });
    } else {
        remove(&file.path);
    }
}

fn remove(path: &Path) {
    if let Err(err) = std::fs::remove_file(path)
        && err.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(path = %path.display(), error = %err, "failed to delete a file that is no longer needed");
    }
}
