//! The status of the daemon.

mod text;

use std::fmt;

use lioprof_model::live::LiveVerdict;
use serde::{Deserialize, Serialize};

use crate::budget::{Figures, Level, Limits, Transition};
use crate::control::Values;
use crate::left_out::LeftOut;

/// Version of the layout. Adding keys keeps it.
pub const STATUS_SCHEMA: &str = "lioprof.status/1";

/// The status of the daemon at one time. Times are microseconds since the epoch; unknown values are `null`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default = "Status::unknown")]
pub struct Status {
    /// Version of this format, [`STATUS_SCHEMA`].
    pub(crate) schema: String,
    /// Version of the daemon.
    pub(crate) version: String,
    /// Process id of the daemon.
    pub(crate) pid: u32,
    /// Name of the node.
    pub(crate) node: String,
    /// Version of the Lustre modules.
    pub(crate) lustre_version: Option<String>,
    /// Targets of the node.
    pub(crate) targets: Vec<String>,
    /// State of the daemon.
    pub(crate) state: State,
    /// Time since which the daemon is in this state.
    pub(crate) state_since_us: i64,
    /// Start time of the daemon.
    pub(crate) since_us: i64,
    /// Time of this status.
    pub(crate) now_us: i64,
    /// Profile in use, `full` or `light`.
    pub(crate) profile: String,
    /// Masks and sizes of the kernel's debug log.
    pub(crate) masks: Values,
    /// Directory and limits of the segments.
    pub(crate) spool: SpoolState,
    /// Segments of the log that wait, were decoded or were dropped.
    pub(crate) segments: Segments,
    /// Records that the kernel had logged before the capture, and that are not part of it.
    pub(crate) left_out: LeftOut,
    /// Totals since the start.
    pub(crate) totals: Totals,
    /// Figures of the last seconds.
    pub(crate) rates: Rates,
    /// How far decoding is behind the log.
    pub(crate) lag_s: Option<f64>,
    /// Losses since the start.
    pub(crate) loss: LossAccount,
    /// Cost of tracing, and its limits.
    pub(crate) budget: BudgetState,
    /// Files of rows, or of the log itself, that the daemon has written.
    pub(crate) files: Files,
    /// The last sample of the node's counters.
    pub(crate) counters: Option<CounterState>,
    /// Messages of the debug daemon in the kernel log, by kind.
    pub(crate) kernel_log: KernelLog,
    /// What is wrong with the server, by the last window that was judged (`live.window` of the configuration, a minute); `null`
    /// before the first.
    pub(crate) verdict: Option<LiveVerdict>,
    /// Warnings, most important first.
    pub(crate) warnings: Vec<String>,
}

impl Status {
    /// Of this daemon, of which nothing else is known yet.
    pub(crate) fn unknown() -> Self {
        Self {
            schema: STATUS_SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            masks: Values::default().or_blank(),
            ..Self::default()
        }
    }
}

/// State of the daemon.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr, strum::VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum State {
    /// Looking whether the node can be traced.
    #[default]
    Preflight,
    /// Waiting until Lustre's modules are loaded.
    WaitingForLustre,
    /// Waiting until there is something to trace.
    WaitingForTrigger,
    /// Tracing.
    Tracing,
    /// Tracing part of the time.
    DutyCycled,
    /// Not tracing: the budget does not allow it.
    Paused,
    /// Draining and restoring.
    Stopping,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Preflight => "checking the node",
            Self::WaitingForLustre => "waiting for Lustre to be loaded",
            Self::WaitingForTrigger => "waiting for the trigger",
            Self::Tracing => "tracing",
            Self::DutyCycled => "tracing part of the time",
            Self::Paused => "paused by the budget",
            Self::Stopping => "stopping",
        })
    }
}

/// Directory and size of the segments, as configured or chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SpoolState {
    /// Directory.
    pub(crate) directory: String,
    /// Limit on the total size of all segments, bytes.
    pub(crate) limit_bytes: u64,
    /// Size at which a segment is closed, bytes.
    pub(crate) segment_bytes: u64,
}

/// Raw segments of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Segments {
    /// Segments decoded since the start.
    pub(crate) decoded: u64,
    /// Segments that wait to be decoded.
    pub(crate) queued: u64,
    /// Size of the segments that wait, bytes.
    pub(crate) queued_bytes: u64,
    /// Segments dropped undecoded since the start.
    pub(crate) dropped: u64,
    /// Size of the segments dropped undecoded, bytes.
    pub(crate) dropped_bytes: u64,
    /// Start time of the first dropped segment.
    pub(crate) dropped_from_us: Option<i64>,
    /// End time of the last dropped segment.
    pub(crate) dropped_to_us: Option<i64>,
    /// Free bytes in the directory where the kernel writes segments.
    pub(crate) spool_free_bytes: Option<u64>,
}

/// Totals since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Totals {
    /// Log records decoded since the start.
    pub(crate) records: u64,
    /// RPCs that this node handled.
    pub(crate) rpcs: u64,
    /// Lines of the lock manager.
    pub(crate) lock_events: u64,
    /// Bytes read by clients.
    pub(crate) read_bytes: u64,
    /// Bytes written by clients.
    pub(crate) write_bytes: u64,
    /// RPCs that the node sent: all that a client does, lock callbacks of a server.
    pub(crate) sent_rpcs: u64,
    /// Sent RPCs that are `OST_READ`.
    pub(crate) sent_reads: u64,
    /// Sent RPCs that are `OST_WRITE`.
    pub(crate) sent_writes: u64,
}

/// Figures of the last seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Rates {
    /// Log records decoded per second.
    pub(crate) records_per_s: f64,
    /// RPCs handled per second.
    pub(crate) rpcs_per_s: f64,
    /// RPCs that the node sent.
    pub(crate) sent_rpcs_per_s: f64,
    /// Bytes read by clients, per second.
    pub(crate) read_bytes_per_s: f64,
    /// Bytes written by clients, per second.
    pub(crate) write_bytes_per_s: f64,
}

/// What was lost since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct LossAccount {
    /// Runs of records whose head the kernel discarded because a buffer was full.
    pub(crate) discarded_heads: u64,
    /// Requests that the schedulers numbered but whose records are missing.
    pub(crate) nrs_sequence_gaps: u64,
    /// Records that could not be read.
    pub(crate) bad_records: u64,
    /// Bytes of the log that belong to no record.
    pub(crate) skipped_bytes: u64,
    /// Share of RPCs lost, estimated by the schedulers' numbers alone; 0 to 1.
    pub(crate) estimated_lost_fraction: Option<f64>,
    /// Segments that were lost unread: dropped because too many waited, removed by somebody, or unreadable.
    pub(crate) dropped_segments: u64,
    /// Bytes of the segments that were lost unread.
    pub(crate) dropped_segment_bytes: u64,
    /// RPCs that ended in dropped segments.
    pub(crate) dropped_segment_rpcs: u64,
    /// `debug daemon buffer overflowed` in the kernel log. The kernel limits the rate of such messages: there may be more.
    pub(crate) kernel_overflows: u64,
    /// `cannot allocate a tage` in the kernel log: a record was lost.
    pub(crate) kernel_no_memory: u64,
    /// RPCs that the server's counters have and the trace lacks; `null` until the trace has reached a first sample.
    pub(crate) counters: Option<Missing>,
}

impl LossAccount {
    /// Whether anything is known to be lost.
    pub(crate) fn any(&self) -> bool {
        let signs = self.discarded_heads + self.nrs_sequence_gaps + self.bad_records + self.skipped_bytes;
        let dropped = self.dropped_segments + self.dropped_segment_bytes;
        let kernel = self.kernel_overflows + self.kernel_no_memory;
        signs + dropped + kernel + self.counters.map_or(0, |counters| counters.rpcs) > 0
    }
}

/// The cost of tracing, and the level that the budget reduced it to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct BudgetState {
    /// How much is traced at the moment.
    pub(crate) level: Level,
    /// What the daemon uses, by its last measurement.
    pub(crate) figures: Figures,
    /// What it may use, by its configuration.
    pub(crate) limits: Limits,
    /// Number of steps since the start.
    pub(crate) steps: u64,
    /// The last step; `None` if there was none.
    pub(crate) last_step: Option<Transition>,
    /// The same, for people.
    pub(crate) last_step_text: Option<String>,
}

/// Files kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Files {
    /// Directory.
    pub(crate) directory: String,
    /// Files written since the start.
    pub(crate) written: u64,
    /// Size of the files written since the start, bytes.
    pub(crate) written_bytes: u64,
    /// Bytes in the directory.
    pub(crate) kept_bytes: u64,
    /// Free bytes on the file system of the directory.
    pub(crate) free_bytes: Option<u64>,
}

/// The last sample of counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CounterState {
    /// Time of the sample.
    pub(crate) time_us: i64,
    /// Number of figures in the sample.
    pub(crate) values: u64,
    /// Duration of the sample.
    pub(crate) elapsed_us: u64,
}

/// Kernel messages about the debug log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct KernelLog {
    /// `debug daemon buffer overflowed`.
    pub(crate) buffer_overflows: u64,
    /// Other errors of the debug daemon (cannot open, write failed).
    pub(crate) errors: u64,
    /// Why the kernel cannot write its log at the moment; `null`: it can.
    pub(crate) cannot_write: Option<String>,
}

/// RPCs that the server's counters have and the trace lacks, up to one of the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Missing {
    /// When the sample was taken, microseconds since the epoch.
    pub(crate) time_us: i64,
    /// OST reads and writes that the counters counted while everything was traced.
    pub(crate) counted_rpcs: u64,
    /// Number of these RPCs that are missing in the trace.
    pub(crate) rpcs: u64,
    /// Bytes of the missing RPCs. If the trace has RPCs of unknown size, an estimate from the average size of all counted RPCs.
    pub(crate) bytes: u64,
}

#[cfg(test)]
mod tests {
    use strum::VariantArray as _;

    use super::*;

    #[test]
    fn names_are_those_of_json_and_absent_keys_are_allowed() {
        for &state in State::VARIANTS {
            assert_eq!(serde_json::to_value(state).unwrap(), <&str>::from(state));
        }
        let status: Status = serde_json::from_str(r#"{"node":"oss03","from_the_future":1}"#).unwrap();
        assert_eq!((status.node.as_str(), status.schema.as_str()), ("oss03", STATUS_SCHEMA));
        assert_eq!(serde_json::to_value(&status).unwrap()["lag_s"], serde_json::Value::Null);
    }
}
