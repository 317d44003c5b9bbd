//! The decoding thread, and the totals of its work and its losses.

use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use lioprof_model::units::{human_bytes, plural, real};

use super::super::DaemonError;
use super::super::account::Account;
use super::super::clock::now_us;
use super::super::keep::{self, RowKeep};
use super::common::Common;
use crate::config::Config;
use crate::drain::{LeftLog, Progress, RawKeep, Summed, Worker};
use crate::live::LiveView;
use crate::metrics::Metrics;
use crate::status::{Files, Segments, Status};

pub(super) struct Draining {
    told: mpsc::Sender<Progress>,
    progress: mpsc::Receiver<Progress>,
    /// Started when there is something to decode: what it keeps is named by what is known of Lustre then.
    worker: Option<JoinHandle<()>>,
    /// Until the thread takes it.
    live: Option<Box<dyn LiveView>>,
    pub(super) account: Account,
}

impl Draining {
    pub(super) fn new(live: Option<Box<dyn LiveView>>) -> Self {
        let (told, progress) = mpsc::channel();
        Self { told, progress, worker: None, live, account: Account::default() }
    }

    /// Starts the decoding thread, unless there is one.
    pub(super) fn start(&mut self, common: &Common) -> Result<(), DaemonError> {
        if self.worker.is_some() {
            return Ok(());
        }
        let (config, node) = (&common.config, &*common.node);
        let keep = RowKeep::new(config, node, common.facts.clone(), now_us());
        let live = self.live.take();
        let keep = Summed::new(keep, Arc::clone(&common.sums), Arc::clone(&common.metrics), live);
        let facts = common.facts.clone();
        let fs_name = move || keep::fs_of(&facts.of_log());
        let raw = keep::keeps_raw(config).then(|| RawKeep::named_by(&config.keep.dir, fs_name, node));
        let told = self.told.clone();
        let progress = move |progress| {
            // The main loop ends after this thread does.
            drop(told.send(progress));
        };
        let queue = Arc::clone(&common.queue);
        let worker = Worker::new(node, None, queue, keep, raw, keep::part_limits(config), progress)?;
        let thread = std::thread::Builder::new().name("drain".to_owned());
        self.worker = Some(thread.spawn(move || worker.run()).map_err(DaemonError::Runtime)?);
        Ok(())
    }

    pub(super) fn has_ended(&self) -> bool {
        self.worker.as_ref().is_some_and(JoinHandle::is_finished)
    }

    pub(super) fn is_busy(&self) -> bool {
        self.worker.as_ref().is_some_and(|worker| !worker.is_finished())
    }

    /// Adds the events of the decoding thread to the totals.
    pub(super) fn hear(&mut self, metrics: &Metrics) {
        while let Ok(progress) = self.progress.try_recv() {
            self.account.enter(progress, metrics);
        }
    }

    /// Notes that some segments cannot be drained, and why.
    pub(super) fn left(&mut self, config: &Config, why: &str) {
        let dir = config.capture.spool_dir();
        let left = LeftLog::of(dir);
        self.account.failure(&format!(
            "{why}: {} ({}) stay in `{}`, and the next start of the daemon decodes them",
            plural(left.files as u64, "segment"),
            human_bytes(left.bytes),
            dir.display()
        ));
    }

    /// Receives the last events of the decoding thread.
    pub(super) fn end(&mut self, common: &Common) {
        self.hear(&common.metrics);
        if let Some(worker) = self.worker.take().filter(JoinHandle::is_finished)
            && worker.join().is_err()
        {
            self.left(&common.config, "the decoding thread ended unexpectedly");
        }
    }

    pub(super) fn tell(&self, common: &Common, status: &mut Status) {
        let account = &self.account;
        let (config, waiting) = (&common.config, common.queue.waiting());
        status.segments = Segments {
            queued: waiting.segments,
            queued_bytes: waiting.bytes,
            spool_free_bytes: keep::free_bytes(config.capture.spool_dir()),
            ..account.segments
        };
        status.totals.records = account.records;
        status.lag_s = Some(common.lag_s(status.now_us, account.decoded_us));
        let (loss, told) = (&account.summary.loss, &mut status.loss);
        told.discarded_heads = loss.discarded_heads;
        told.nrs_sequence_gaps = loss.nrs_sequence_gaps;
        told.bad_records = loss.bad_records;
        told.skipped_bytes = loss.skipped_bytes;
        let numbered = loss.nrs_sequence_gaps + loss.nrs_sequence_seen;
        told.estimated_lost_fraction = (numbered > 0).then(|| real(loss.nrs_sequence_gaps) / real(numbered));
        told.dropped_segments = account.segments.dropped;
        told.dropped_segment_bytes = account.segments.dropped_bytes;
        told.dropped_segment_rpcs = account.dropped_rpcs;
        status.files = Files {
            directory: config.keep.dir.display().to_string(),
            written: account.files,
            written_bytes: account.file_bytes,
            kept_bytes: account.file_bytes,
            free_bytes: keep::free_bytes(&config.keep.dir),
        };
        status.warnings.extend(account.unwritten.clone());
        status.warnings.extend(account.failures.iter().rev().take(3).cloned());
    }
}
