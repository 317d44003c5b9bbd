//! One capture: from switching tracing on to putting everything back.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::budget::{Duty, Level};
use crate::config::{self, Auto};
use crate::control::lustre::LustreVersion;
use crate::control::profile::Profile;
use crate::control::{KERNELS_DAEMON_SIZE_MIB, LARGEST_DAEMON_SIZE_MIB};
use crate::drain::{Job, Queue, SegmentFile, Spool};
use crate::journal::{Foreign, Report, Session, SessionError};

use super::DaemonError;

/// How long after tracing was switched off the kernel may still be writing what was logged before: a flush pass is due
/// every second.
const FLUSHED: Duration = Duration::from_secs(3);

/// With less room than this, what the kernel has logged may not be in its file.
const ROOM_BYTES: u64 = 1 << 20;

/// When a segment is renamed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rotation {
    pub(crate) bytes: u64,
    pub(crate) age: Duration,
    /// How large the kernel lets its file grow before it overwrites the beginning.
    limit_mib: u64,
}

impl Rotation {
    /// A file is renamed long before its limit. But the kernel writes all of a full buffer in one pass, also into a file that
    /// was renamed meanwhile, so the file must be able to take that on top of what it may hold.
    pub(crate) fn new(capture: &config::Capture) -> Self {
        let limit_mib = capture.spool_limit_mib.saturating_add(match capture.buffer_mib {
            Auto::Is(mib) => mib,
            Auto::Auto => capture.buffer_limit_mib,
        });
        Self {
            bytes: capture.segment_mib << 20,
            age: capture.rotate.0,
            limit_mib: limit_mib.clamp(KERNELS_DAEMON_SIZE_MIB, LARGEST_DAEMON_SIZE_MIB),
        }
    }
}

/// What changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Switched {
    /// Tracing goes on (again) from now.
    On,
    /// Tracing pauses from now.
    Off,
    /// Tracing goes on with another profile.
    Profile,
}

/// Tracing of a node, in progress.
pub(crate) struct Capture {
    session: Session,
    spool: Spool,
    queue: Arc<Queue>,
    version: Option<LustreVersion>,
    configured: Profile,
    level: Level,
    rotation: Rotation,
    rotated: Instant,
    /// Begin of the duty cycle.
    cycle_since: Instant,
    /// Everything that was logged before a pause is in the file by then.
    interrupt_at: Option<Instant>,
    /// Time of the last closed segment, for what is quiet for long.
    closed: Instant,
    /// When the kernel last said that it could not write its file: it keeps what it has logged until it can.
    write_failed: Option<Instant>,
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
            configured: profile,
            level: Level::Configured,
            rotation,
            rotated: now,
            cycle_since: now,
            interrupt_at: None,
            closed: now,
            write_failed: None,
        })
    }

    /// What the kernel is asked to log; `None` during a pause.
    pub(crate) fn tracing(&self) -> Option<Profile> {
        self.session.tracing()
    }

    /// The session with the kernel's settings.
    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// A larger debug buffer.
    pub(crate) fn set_buffer(&mut self, mib: u64) -> Result<u64, SessionError> {
        self.session.set_buffer(mib)
    }

    /// What others have changed since the last look.
    pub(crate) fn look(&mut self) -> Result<Vec<Foreign>, SessionError> {
        self.session.look()
    }

    /// Puts a mark into the log.
    pub(crate) fn mark(&self, text: &str) -> Result<(), SessionError> {
        Ok(self.session.control().mark(text)?)
    }

    /// Traces as much as this level allows, from the next switch on.
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
        let is_due = now.duration_since(self.rotated) >= age || self.spool.current_bytes() >= self.rotation.bytes;
        if is_due {
            let path = self.spool.current();
            let rename = |err| DaemonError::Rename { path, err };
            self.spool.rotate(now).map_err(rename)?;
            self.rotated = now;
        }
        if let Some(file) = self.spool.closed(now) {
            self.closed = now;
            self.queue(file);
        } else if now.duration_since(self.closed) > FLUSHED.max(age * 2)
            && self.spool.current_bytes() == 0
            && self.kernel_can_write(now)
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

    /// The kernel said that it could not write its file.
    pub(crate) fn write_failed(&mut self, now: Instant) {
        self.write_failed = Some(now);
    }

    /// Whether an empty file means that nothing was logged.
    fn kernel_can_write(&self, now: Instant) -> bool {
        let said = self.write_failed.is_some_and(|at| now.duration_since(at) < 2 * FLUSHED);
        let room = super::keep::free_bytes(self.spool.dir()).is_none_or(|bytes| bytes >= ROOM_BYTES);
        !said && room
    }

    /// Renames the kernel's file with the next tick, however young it is.
    pub(crate) fn rotate_soon(&mut self, now: Instant) {
        self.rotated = now.checked_sub(self.rotation.age * 8).unwrap_or(now);
    }

    /// Puts the kernel's settings back and queues what it has written until then.
    pub(crate) fn end(mut self) -> Result<Report, DaemonError> {
        let report = self.session.end();
        let now = Instant::now();
        let path = self.spool.current();
        let rename = |err| DaemonError::Rename { path, err };
        for file in self.spool.stopped(now).map_err(rename)? {
            queue(&self.queue, file);
        }
        Ok(report)
    }

    fn queue(&self, file: SegmentFile) {
        queue(&self.queue, file);
    }

    /// What the next [`Self::switch`] will change.
    pub(crate) fn due(&self, now: Instant) -> Option<Switched> {
        match (self.session.tracing(), self.wanted(now)) {
            (None, Some(_)) => Some(Switched::On),
            (Some(_), None) => Some(Switched::Off),
            (Some(is), Some(wanted)) if is != wanted => Some(Switched::Profile),
            _ => None,
        }
    }

    /// Switches tracing on, off or over, as level and duty cycle want it.
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

fn queue(queue: &Queue, file: SegmentFile) {
    if file.bytes > 0 {
        queue.push(Job::Segment { file, counted: false });
    } else {
        remove_empty(&file.path);
    }
}

fn remove_empty(path: &Path) {
    if let Err(err) = std::fs::remove_file(path)
        && err.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(path = %path.display(), error = %err, "an empty segment could not be deleted");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit_mib(spool_limit_mib: u64, buffer_mib: Auto<u64>) -> u64 {
        Rotation::new(&config::Capture { spool_limit_mib, buffer_mib, ..config::Capture::default() }).limit_mib
    }

    #[test]
    fn a_full_buffer_fits_into_the_kernels_file() {
        let buffer_limit_mib = config::Capture::default().buffer_limit_mib;
        assert_eq!(limit_mib(1024, Auto::Auto), 1024 + buffer_limit_mib);
        assert_eq!(limit_mib(1024, Auto::Is(5000)), 6024);
        assert_eq!(limit_mib(64, Auto::Is(16)), KERNELS_DAEMON_SIZE_MIB);
        assert_eq!(limit_mib(u64::MAX, Auto::Is(1)), LARGEST_DAEMON_SIZE_MIB);
    }
}
