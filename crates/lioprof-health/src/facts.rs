//! What is known of one server at one time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::survey::SurveyFacts;

/// Name and version of the facts' JSON.
pub const FACTS_SCHEMA: &str = "lioprof.facts/1";

/// Something that was read, or why it could not be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact<T> {
    /// It was read.
    Known(T),
    /// It could not be read, for this reason.
    Unknown(String),
}

impl<T> Fact<T> {
    /// Known, or unknown for this reason.
    pub(crate) fn or(value: Option<T>, why: &str) -> Self {
        value.map_or_else(|| Self::Unknown(why.to_owned()), Self::Known)
    }

    /// What is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }
}

/// What was read of one server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerFacts {
    /// [`FACTS_SCHEMA`].
    pub schema: String,
    /// Name of the server: the host name up to its first dot.
    pub server: String,
    /// When the facts were read, microseconds since the epoch, by the server's clock.
    pub time_us: i64,
    /// Version of Lustre (`version`).
    pub version: Fact<String>,
    /// `health_check`: `healthy`, `NOT HEALTHY` or `LBUG`, on older versions with the devices that are not.
    pub health: Fact<String>,
    /// Targets that the server has.
    pub targets: Fact<Vec<TargetFacts>>,
    /// Services with their threads and schedulers, sorted by name.
    pub services: Fact<Vec<ServiceFacts>>,
    /// LNet's interfaces and counters.
    pub lnet: Fact<LnetFacts>,
    /// What the kernel log says of the last day.
    pub kernel_log: Fact<KernelLogFacts>,
    /// Settings that servers of the same kind should have in common.
    pub settings: Vec<Setting>,
    /// What its OSTs deliver by themselves (`--survey`); `None`: that was not asked for.
    #[serde(default)]
    pub survey: Option<Fact<SurveyFacts>>,
}

impl ServerFacts {
    /// Facts of a server of which there is only a kernel log.
    pub(crate) fn of_kernel_log(server: String, log: KernelLogFacts) -> Self {
        const WHY: &str = "there is only a kernel log";
        Self {
            schema: FACTS_SCHEMA.to_owned(),
            server,
            time_us: 0,
            version: Fact::or(None, WHY),
            health: Fact::or(None, WHY),
            targets: Fact::or(None, WHY),
            services: Fact::or(None, WHY),
            lnet: Fact::or(None, WHY),
            kernel_log: Fact::Known(log),
            settings: Vec::new(),
            survey: None,
        }
    }

    /// Why these facts are none of a Lustre server: neither its version nor its targets could be read.
    #[must_use]
    pub fn unusable(&self) -> Option<&str> {
        match (&self.version, &self.targets) {
            (Fact::Unknown(_), Fact::Unknown(why)) => Some(why),
            _ => None,
        }
    }
}

/// One target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// `lustre-OST0003`, `MGS`.
    pub name: String,
    /// `ost`, `mdt` or `mgs`.
    pub kind: String,
    /// Name of the file system; `None` for the MGS.
    pub fsname: Option<String>,
    /// State of the device: `UP`, `ST` (stopping), ...; `None` if the list of devices cannot be read.
    pub state: Option<String>,
    /// Whether `/proc/mounts` lists it.
    pub mounted: Fact<bool>,
    /// OST: `degraded`, set by administrators or RAID monitors; the MDS then creates fewer objects there.
    pub degraded: Fact<bool>,
    /// `readonly`: the target refuses changes.
    pub read_only: Fact<bool>,
    /// `recovery_status`.
    pub recovery: Fact<Recovery>,
    /// Free space and inodes.
    pub space: Fact<Space>,
    /// OST: disk I/O since the counters were cleared, from `brw_stats`.
    pub disk_io: Fact<DiskIo>,
    /// OST: durations of the disk I/O while it was watched (`--watch`); `None`: it was not.
    pub watched: Option<Fact<DiskHistogram>>,
    /// MDT: the OSTs that it uses, from `lod.*.target_obd`; empty for other targets.
    pub osts: Vec<OstOfMdt>,
}

/// An OST as an MDT sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OstOfMdt {
    /// `lustre-OST0003`.
    pub name: String,
    /// Whether it is in use; a switch, not the state of the connection.
    pub active: bool,
    /// State of the MDT's connection to it: `FULL`, `DISCONN`, ...; `None`: not known.
    #[serde(default)]
    pub connection: Option<String>,
}

/// `recovery_status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovery {
    /// `COMPLETE`, `RECOVERING`, `WAITING`, `WAITING_FOR_CLIENTS`, `INACTIVE`.
    pub status: String,
    /// Time that is left for clients to come back, seconds; while it recovers only.
    pub time_remaining_s: Option<u64>,
    /// Clients that have connected or completed, and clients that should, as printed: `3/4`.
    pub clients: Option<String>,
}

/// Room on a target, as clients see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Space {
    /// `kbytestotal`.
    pub total_kib: u64,
    /// `kbytesavail`: without what is reserved and granted.
    pub available_kib: u64,
    /// `filestotal`: inodes.
    pub inodes: u64,
    /// `filesfree`.
    pub free_inodes: u64,
}

/// Counts by what they are counted by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskHistogram {
    /// Time from the first sample of the counters to the second, milliseconds; 0 for counters since they were cleared.
    pub watched_ms: u64,
    /// Reads by the upper end of their bucket.
    pub reads: BTreeMap<u64, u64>,
    /// Writes by the upper end of their bucket.
    pub writes: BTreeMap<u64, u64>,
}

/// Disk I/O of an OST.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskIo {
    /// I/Os by their size in bytes (`disk I/O size`).
    pub sizes: DiskHistogram,
    /// Bulk requests by the number of disk I/Os that each took (`disk fragmented I/Os`).
    pub fragments: DiskHistogram,
}

/// A service, such as `ost_io`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceFacts {
    /// `ost.OSS.ost_io`.
    pub name: String,
    /// `threads_started`.
    pub threads_started: Fact<u64>,
    /// `threads_min`.
    pub threads_min: Fact<u64>,
    /// `threads_max`.
    pub threads_max: Fact<u64>,
    /// Schedulers that are started, other than the fallback when nothing else is.
    pub policies: Fact<Vec<Policy>>,
    /// `nrs_tbf_rule`: rules of the token bucket filter, without the default one.
    pub tbf_rules: Vec<String>,
}

/// A scheduler (NRS policy) that is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// `regular` or `high_priority`.
    pub queue: String,
    /// Name and argument: `tbf jobid`.
    pub name: String,
}

/// LNet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LnetFacts {
    /// Interfaces, sorted by NID.
    pub interfaces: Vec<LnetInterface>,
    /// Routers and peers that are known to be down.
    pub peers_down: Vec<String>,
    /// Errors since LNet was loaded.
    pub errors: Option<u64>,
    /// Messages received since then.
    pub received: Option<u64>,
    /// Messages dropped since then.
    pub dropped: Option<u64>,
}

/// A local interface of LNet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LnetInterface {
    /// `10.10.0.1@tcp`.
    pub nid: String,
    /// `up` or `down`.
    pub status: String,
}

/// The kernel log of the last day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelLogFacts {
    /// How far back the log goes, seconds: at most a day, less if the server booted later.
    pub covers_s: u64,
    /// Whether messages of the last day were overwritten.
    pub cut: bool,
    /// Messages by kind, in the order of the kinds.
    pub messages: Vec<KernelMessages>,
}

/// Messages of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelMessages {
    /// Their kind.
    pub kind: MessageKind,
    /// How many; the kernel leaves out some that repeat, so there may have been more.
    pub count: u64,
    /// When the last one was logged, microseconds since the epoch; `None` if the log's clock is not known.
    pub last_us: Option<i64>,
    /// How long before the end of the log that was, microseconds.
    #[serde(default)]
    pub before_end_us: i64,
    /// The last one.
    pub last: String,
}

/// Kinds of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    /// `LBUG` or a failed assertion.
    Lbug,
    /// An error of a disk or of the OSD's file system.
    Disk,
    /// A service thread that hangs.
    HungThread,
    /// A client lost its connection for good.
    Eviction,
    /// `LNetError`.
    Lnet,
    /// Other `LustreError`.
    Lustre,
}

/// A setting that servers of the same kind should have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Name, with `*` for the target: `obdfilter.*.brw_size`.
    pub name: String,
    /// The target; empty for settings of the server.
    pub target: String,
    /// Value.
    pub value: String,
}
