//! The current capture and its settings, and the outcome of earlier ones.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use super::super::DaemonError;
use super::super::capture::{Capture, Rotation};
use super::super::clock::now_us;
use super::super::facts::NodeFacts;
use super::super::record;
use super::common::Common;
use super::kernel::first_buffer;
use crate::config::Config;
use crate::control::Control;
use crate::control::lustre::LustreVersion;
use crate::drain::{Spool, session_name};
use crate::journal::{Foreign, JournalFile, Report, Session};
use crate::left_out::LeftOut;
use crate::status::Status;

/// Tracing stops after this many failed looks at the settings in a row.
const MAX_FAILED_LOOKS: u32 = 5;

#[derive(Default)]
pub(super) struct Captures {
    pub(super) current: Option<Capture>,
    left_out: LeftOut,
    /// How restoring the settings of the last capture went.
    pub(super) restored: Option<Report>,
    pub(super) failed_looks: u32,
    ends_at: Option<Instant>,
}

impl Captures {
    /// Starts tracing. `measured` is the rate at which the busiest CPU logged, if known.
    pub(super) fn begin(
        &mut self,
        common: &Common,
        control: Control,
        measured: Option<f64>,
    ) -> Result<(), DaemonError> {
        let config = &common.config;
        let store = Box::new(JournalFile::new(&config.journal_path()));
        let session = Session::begin(control, store)?;
        let rotation = Rotation::new(&config.capture);
        let spool = Spool::new(config.capture.spool_dir(), &session_name(now_us()), rotation.limit_mib)
            .map_err(DaemonError::Runtime)?;
        let buffer = first_buffer(config, &session.control, measured);
        let version = common.facts.lock().lustre_version.as_deref().and_then(LustreVersion::parse);
        let (profile, queue) = (config.capture.profile.first(), Arc::clone(&common.queue));
        let capture = Capture::begin(session, spool, queue, profile, version, buffer, rotation)?;
        self.left_out.add(capture.left_out);
        self.current = Some(capture);
        common.facts.lock().left_out = self.left_out;
        let until = config.capture.until.get().and_then(|at| at.0.duration_since(SystemTime::now()).ok());
        let ends = config.capture.duration.get().map(|span| span.0).into_iter().chain(until).min();
        self.ends_at = self.ends_at.or(ends.map(|span| Instant::now() + span));
        Ok(())
    }

    pub(super) fn traces(&self) -> bool {
        self.current.as_ref().is_some_and(|capture| capture.tracing().is_some())
    }

    /// Whether the requested time is over.
    pub(super) fn is_over(&self, config: &Config, now: Instant) -> bool {
        match self.ends_at {
            Some(at) => now >= at,
            None => config.capture.until.get().is_some_and(|at| at.0 <= SystemTime::now()),
        }
    }

    /// Settings of lioprof's that others changed.
    pub(super) fn look(&mut self, common: &Common) -> Result<Vec<Foreign>, DaemonError> {
        let Some(capture) = &mut self.current else { return Ok(Vec::new()) };
        match capture.session.look() {
            Ok(foreign) => {
                self.failed_looks = 0;
                Ok(foreign)
            }
            Err(_) if common.is_unloaded() => Err(DaemonError::Unloaded),
            Err(err) => {
                self.failed_looks += 1;
                tracing::warn!("{err}");
                if self.failed_looks >= MAX_FAILED_LOOKS { Err(err.into()) } else { Ok(Vec::new()) }
            }
        }
    }

    /// Records what is traced now, also in a file for the daemon that decodes the segments if this one is killed.
    pub(super) fn note(&self, config: &Config, facts: &mut NodeFacts) {
        let Some(capture) = &self.current else { return };
        facts.settings.refresh(&capture.session.control);
        if let Some(profile) = capture.tracing() {
            facts.profile = profile.to_string();
        }
        let spool = &capture.spool;
        facts.file_limit_mib = Some(spool.limit_mib());
        // Whoever reads it may work elsewhere. JSON takes no other bytes than text.
        facts.keep_dir = std::path::absolute(&config.keep.dir).ok().filter(|dir| dir.to_str().is_some());
        let (record, dir, session) = (record::of(facts), spool.dir.to_owned(), spool.session.to_owned());
        spool.run(move || {
            if let Err(err) = record.and_then(|record| record::write(&record, &dir, &session)) {
                tracing::warn!(
                    dir = %dir.display(),
                    error = %err,
                    "failed to record beside the segments how they are captured: parts that are recovered after a crash \
                     will not say it"
                );
            }
        });
    }

    /// Deletes the records of sessions whose segments are gone.
    pub(super) fn remove_records(&self, config: &Config) {
        let dir = config.capture.spool_dir().to_owned();
        let remove = move |current: Option<&str>| {
            if let Err(err) = record::remove(&dir, current) {
                tracing::warn!(dir = %dir.display(), error = %err, "failed to delete unneeded files from the spool");
            }
        };
        match self.current.as_ref().map(|capture| &capture.spool) {
            Some(spool) => {
                let session = spool.session.to_owned();
                spool.run(move || remove(Some(&session)));
            }
            None => remove(None),
        }
    }

    /// Restores the settings, if a capture is running.
    pub(super) fn end(&mut self) -> Result<(), DaemonError> {
        let Some(capture) = self.current.take() else { return Ok(()) };
        let report = capture.end()?;
        tracing::info!(%report, "restored the kernel's settings");
        self.restored = Some(report);
        Ok(())
    }

    pub(super) fn tell(&self, status: &mut Status) {
        status.left_out = self.left_out;
        if let Some(capture) = &self.current {
            let now = Instant::now();
            status.kernel_log.cannot_write = capture.cannot_write(now);
            status.warnings.extend(capture.hangs(now));
            status.warnings.extend(status.kernel_log.cannot_write.clone());
        }
    }
}
