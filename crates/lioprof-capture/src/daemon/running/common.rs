//! State that all parts of the main loop read. They change only what is shared with the decoding thread.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::clock::now_us;
use super::super::facts::SharedFacts;
use crate::config::Config;
use crate::control::{Control, ControlError};
use crate::drain::{Queue, SharedSums};
use crate::metrics::Metrics;
use crate::status::{SpoolState, Status};
use crate::system;

pub(super) struct Common {
    pub(super) config: Config,
    pub(super) node: String,
    pub(super) facts: SharedFacts,
    pub(super) queue: Arc<Queue>,
    pub(super) sums: Arc<SharedSums>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) started: Instant,
    pub(super) started_us: i64,
}

impl Common {
    pub(super) fn new(config: &Config, node: &str) -> Self {
        let facts = SharedFacts::default();
        facts.lock().kernel = system::host::kernel_release(&config.control.root);
        Self {
            config: config.clone(),
            node: node.to_owned(),
            facts,
            queue: Arc::default(),
            sums: Arc::default(),
            metrics: Arc::default(),
            started: Instant::now(),
            started_us: now_us(),
        }
    }

    /// Whether the daemon keeps running while Lustre is unloaded.
    pub(super) fn waits(&self) -> bool {
        self.config.capture.waits_for_lustre()
    }

    /// Whether the modules with the debug log were unloaded.
    pub(super) fn is_unloaded(&self) -> bool {
        system::modules::debug_log_loaded(&self.config.control.root) == Some(false)
    }

    /// Lustre's settings.
    pub(super) fn open_control(&self) -> Result<Control, ControlError> {
        let config = &self.config.control;
        Control::open(&config.root, config.access, &config.lctl)
    }

    /// How far decoding is behind if everything up to this time is decoded.
    pub(super) fn lag_s(&self, now_us: i64, decoded_us: Option<i64>) -> f64 {
        let Some(waits) = self.queue.oldest_waits(Instant::now()) else { return 0.0 };
        let behind_us = now_us - decoded_us.unwrap_or(self.started_us);
        // Before a segment that waits there may have been nothing to decode for long.
        waits.min(Duration::from_micros(u64::try_from(behind_us).unwrap_or(0))).as_secs_f64()
    }

    /// Facts of the node, and the sums of the trace.
    pub(super) fn status(&self, now_us: i64) -> Status {
        let facts = self.facts.lock();
        let capture = &self.config.capture;
        let mut status = Status {
            pid: std::process::id(),
            node: self.node.clone(),
            lustre_version: facts.lustre_version.clone(),
            targets: facts.target_names(),
            since_us: self.started_us,
            now_us,
            profile: facts.profile.clone(),
            masks: facts.settings.clone().or_blank(),
            spool: SpoolState {
                directory: capture.spool_dir().display().to_string(),
                limit_bytes: capture.spool_limit_mib() << 20,
                segment_bytes: capture.segment_mib() << 20,
            },
            totals: self.sums.totals(),
            ..Status::unknown()
        };
        status.loss.counters = self.sums.missing();
        status
    }
}
