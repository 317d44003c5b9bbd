//! What the daemon has done and lost up to now.

use lioprof_model::TraceSummary;

use crate::drain::{DrainError, Progress};

/// Failures listed; the rest is counted.
const MAX_FAILURES: usize = 20;

/// Totals since the start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Account {
    /// Segments decoded.
    pub(crate) segments: u64,
    /// Records in them.
    pub(crate) records: u64,
    /// Bytes in them.
    pub(crate) bytes: u64,
    /// Time of the last record decoded.
    pub(crate) decoded_us: Option<i64>,
    /// The highest rate at which one CPU logged, bytes per second.
    pub(crate) busiest_cpu_bytes_per_s: Option<f64>,
    /// CPU time that decoding took.
    pub(crate) decode_cpu: std::time::Duration,
    /// Segments given up.
    pub(crate) given_up: u64,
    /// Bytes in them.
    pub(crate) given_up_bytes: u64,
    /// RPCs whose end is in them.
    pub(crate) given_up_rpcs: u64,
    /// Time of the first record given up.
    pub(crate) given_up_from_us: Option<i64>,
    /// Time of the last record given up.
    pub(crate) given_up_to_us: Option<i64>,
    /// Parts that are safe on disk.
    pub(crate) parts: u64,
    /// Files of these.
    pub(crate) files: u64,
    /// Their bytes.
    pub(crate) file_bytes: u64,
    /// Rows in them.
    pub(crate) rows: u64,
    /// RPCs in them.
    pub(crate) rpcs: u64,
    /// All of the log up to this time is safe.
    pub(crate) safe_us: Option<i64>,
    /// What the log of these parts held and missed.
    pub(crate) summary: TraceSummary,
    /// What cannot be written at the moment and is tried again.
    pub(crate) unwritten: Option<String>,
    /// What could not be done.
    pub(crate) failures: Vec<String>,
    /// How often something could not be done.
    pub(crate) failed: u64,
    /// The decoding thread is through.
    pub(crate) finished: bool,
}

impl Account {
    pub(crate) fn enter(&mut self, progress: Progress) {
        match progress {
            Progress::Decoded { bytes, records, last_us, took, busiest_cpu_bytes_per_s } => {
                self.busiest_cpu_bytes_per_s =
                    busiest_cpu_bytes_per_s.into_iter().chain(self.busiest_cpu_bytes_per_s).reduce(f64::max);
                self.segments += 1;
                self.records += records;
                self.bytes += bytes;
                self.decoded_us = self.decoded_us.max(last_us);
                self.decode_cpu += took;
            }
            Progress::GivenUp(stretch) => {
                self.given_up += 1;
                self.given_up_bytes += stretch.bytes;
                self.given_up_rpcs += stretch.rpcs;
                self.given_up_from_us = self.given_up_from_us.into_iter().chain(stretch.first_us).min();
                self.given_up_to_us = self.given_up_to_us.max(stretch.last_us);
                tracing::warn!(
                    bytes = stretch.bytes,
                    first_us = stretch.first_us,
                    last_us = stretch.last_us,
                    "a stretch of the log is lost: {}",
                    stretch.why.as_str()
                );
            }
            Progress::Closed { part, summary, through_us } => {
                self.parts += 1;
                self.files += part.files;
                self.file_bytes += part.bytes;
                self.rows += part.rows;
                self.rpcs += part.rpcs;
                self.safe_us = self.safe_us.max(through_us);
                self.summary.merge(&summary);
                self.unwritten = None;
                tracing::info!(rpcs = part.rpcs, rows = part.rows, bytes = part.bytes, "a part is safe on disk");
            }
            Progress::Failed(err @ (DrainError::Part(_) | DrainError::Raw { .. })) => {
                let message = err.to_string();
                tracing::error!("{message}");
                self.failed += 1;
                self.unwritten = Some(message);
            }
            Progress::Failed(err) => self.failure(&err.to_string()),
            Progress::AllSafe => self.unwritten = None,
            Progress::Finished => self.finished = true,
        }
    }

    pub(crate) fn failure(&mut self, message: &str) {
        tracing::error!("{message}");
        self.failed += 1;
        if self.failures.len() < MAX_FAILURES && self.failures.last().is_none_or(|last| last != message) {
            self.failures.push(message.to_owned());
        }
    }
}
