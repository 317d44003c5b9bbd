//! Totals of what the daemon has decoded, written and lost since its start.

use lioprof_model::TraceSummary;

use crate::drain::{DrainError, Progress};
use crate::metrics::{Loss, Metrics};
use crate::status::Segments;

/// Largest number of failures that are listed.
const MAX_FAILURES: usize = 20;

/// Totals since the start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Account {
    /// Segments that were decoded or given up.
    pub(crate) segments: Segments,
    /// Records in the decoded segments.
    pub(crate) records: u64,
    /// Time of the last decoded record.
    pub(crate) decoded_us: Option<i64>,
    /// The highest rate at which one CPU logged, bytes per second.
    pub(crate) busiest_cpu_bytes_per_s: Option<f64>,
    /// RPCs that ended in segments that were given up.
    pub(crate) dropped_rpcs: u64,
    /// Files of parts that are safe on disk.
    pub(crate) files: u64,
    /// Bytes of these files.
    pub(crate) file_bytes: u64,
    /// Summary of the log of these parts, with its losses.
    pub(crate) summary: TraceSummary,
    /// The current failure to write, which is retried; `None` if there is none.
    pub(crate) unwritten: Option<String>,
    /// Failures, as texts.
    pub(crate) failures: Vec<String>,
    /// The decoding thread has finished.
    pub(crate) finished: bool,
}

impl Account {
    pub(crate) fn enter(&mut self, progress: Progress, metrics: &Metrics) {
        match progress {
            Progress::Decoded { bytes, records, last_us, busiest_cpu_bytes_per_s } => {
                metrics.decoded(records, bytes, 0);
                metrics.segment(bytes, false);
                self.busiest_cpu_bytes_per_s =
                    busiest_cpu_bytes_per_s.into_iter().chain(self.busiest_cpu_bytes_per_s).reduce(f64::max);
                self.segments.decoded += 1;
                self.records += records;
                self.decoded_us = self.decoded_us.max(last_us);
            }
            Progress::GivenUp(stretch) => {
                metrics.segment(stretch.bytes, true);
                let segments = &mut self.segments;
                segments.dropped += 1;
                segments.dropped_bytes += stretch.bytes;
                segments.dropped_from_us = segments.dropped_from_us.into_iter().chain(stretch.first_us).min();
                segments.dropped_to_us = segments.dropped_to_us.max(stretch.last_us);
                self.dropped_rpcs += stretch.rpcs;
                tracing::warn!(
                    bytes = stretch.bytes,
                    first_us = stretch.first_us,
                    last_us = stretch.last_us,
                    "part of the log is lost: {}",
                    stretch.why.as_str()
                );
            }
            Progress::Closed { part, summary } => {
                metrics.files(part.files, part.bytes);
                metrics.lost(Loss::DiscardedHead, summary.loss.discarded_heads);
                metrics.lost(Loss::NrsGap, summary.loss.nrs_sequence_gaps);
                metrics.lost(Loss::BadRecord, summary.loss.bad_records);
                self.files += part.files;
                self.file_bytes += part.bytes;
                self.summary.merge(&summary);
                self.unwritten = None;
                tracing::info!(rpcs = part.rpcs, rows = part.rows, bytes = part.bytes, "wrote a part");
            }
            Progress::Failed(err @ (DrainError::Part(_) | DrainError::Raw { .. })) => {
                let message = err.to_string();
                tracing::error!("{message}");
                self.unwritten = Some(message);
            }
            Progress::Failed(err) => self.failure(&err.to_string()),
            Progress::AllSafe => self.unwritten = None,
            Progress::Finished => self.finished = true,
        }
    }

    pub(crate) fn failure(&mut self, message: &str) {
        tracing::error!("{message}");
        if self.failures.len() < MAX_FAILURES && self.failures.last().is_none_or(|last| last != message) {
            self.failures.push(message.to_owned());
        }
    }
}
