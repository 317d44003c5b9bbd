//! Limits, and how fast to react.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

lioprof_model::with_defaults! {
    /// Limits on the cost of tracing.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    pub(crate) struct Limits {
        /// CPU seconds of this process per second, averaged over [`Pace::settle`]; 1.0 is one core.
        pub(crate) cpu_share: f64 = 0.25,
        /// Resident memory of this process.
        pub(crate) resident_bytes: u64 = 256 << 20,
        /// Segments of raw log that wait to be decoded.
        pub(crate) queued_bytes: u64 = 512 << 20,
        /// Files that the daemon keeps.
        pub(crate) disk_bytes: u64 = 20 << 30,
        /// Log records per second, averaged like the CPU share.
        pub(crate) records_per_s: f64 = 1_000_000.0,
        /// How far decoding is behind the log.
        pub(crate) lag_s: f64 = 60.0,
    }

    /// How fast to react.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct Pace {
        /// How long a step down may take to show before the next; also the time over which rates are averaged. A
        /// duty cycle is given one period at least.
        pub(crate) settle: Duration = Duration::from_secs(20),
        /// Calm needed before a step up.
        pub(crate) recover: Duration = Duration::from_secs(120),
        /// Calm needed at most, after premature steps up have doubled it again and again.
        pub(crate) recover_max: Duration = Duration::from_secs(3600),
        /// Time after which tracing is tried again once it was stopped; doubled like `recover`.
        pub(crate) retry: Duration = Duration::from_secs(600),
    }
}

/// A limited resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Resource {
    /// [`Limits::cpu_share`].
    Cpu,
    /// [`Limits::resident_bytes`].
    ResidentMemory,
    /// [`Limits::queued_bytes`].
    QueuedSegments,
    /// [`Limits::disk_bytes`].
    Disk,
    /// [`Limits::records_per_s`].
    RecordRate,
    /// [`Limits::lag_s`].
    Lag,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cpu => "CPU time",
            Self::ResidentMemory => "resident memory",
            Self::QueuedSegments => "queued segments",
            Self::Disk => "disk space",
            Self::RecordRate => "record rate",
            Self::Lag => "lag",
        })
    }
}
