//! The sections of the configuration and their defaults.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::values::{Auto, OrOff, Span, Timestamp};
use crate::control::Access;
use crate::control::profile::Profile;
use crate::systemd::Notifier;

/// Defines sections of the file: every key has a default, and there are no others.
macro_rules! section {
    ($($(#[doc = $doc:literal])* pub struct $name:ident $fields:tt)+) => {
        lioprof_model::with_defaults! {$(
            $(#[doc = $doc])*
            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
            #[serde(default, deny_unknown_fields)]
            pub struct $name $fields
        )+}
    };
}

/// The whole configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// This server.
    pub node: Node,
    /// How to access Lustre's settings.
    pub control: ControlAccess,
    /// What to capture, and when.
    pub capture: Capture,
    /// Starting and stopping by load.
    pub trigger: Trigger,
    /// What to keep on disk, where and how long.
    pub keep: Keep,
    /// Limits on the daemon's resources.
    pub budget: Budget,
    /// The servers' own counters.
    pub counters: Counters,
    /// What the server does now.
    pub live: Live,
    /// Commands and metrics.
    pub talk: Talk,
}

section! {
    /// This server.
    pub struct Node {
        /// Name of the server in the data; `"auto"` is the host name up to the first dot.
        pub name: String = "auto".to_owned(),
    }

    /// How to access Lustre's settings.
    pub struct ControlAccess {
        /// Directory used in place of `/`; other than `/` only for a simulated server.
        pub root: PathBuf = "/".into(),
        /// `auto`, `files` or `lctl`.
        pub access: Access = Access::Auto,
        /// Name or path of the `lctl` command.
        pub lctl: PathBuf = "lctl".into(),
    }
}

/// Which masks to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProfileChoice {
    /// `full`, but `light` when the budget demands it.
    #[default]
    Auto,
    /// Always `full`.
    Full,
    /// Always `light`.
    Light,
}

impl ProfileChoice {
    /// The profile to start with.
    #[must_use]
    pub const fn first(self) -> Profile {
        match self {
            Self::Auto | Self::Full => Profile::Full,
            Self::Light => Profile::Light,
        }
    }
}

section! {
    /// What to capture, and when.
    pub struct Capture {
        /// Which masks to use.
        pub profile: ProfileChoice = ProfileChoice::Auto,
        /// Directory of the segments that the kernel writes; `auto`: chosen by free space, see [`Config::spool_dirs`].
        pub spool_dir: Auto<PathBuf> = Auto::Auto,
        /// Limit on the total size of all segments; `auto`: by the free space. On a tmpfs this is memory.
        pub spool_limit_mib: Auto<u64> = Auto::Auto,
        /// Size at which a segment is closed; `auto`: a quarter of the limit, at most 64 MiB.
        pub segment_mib: Auto<u64> = Auto::Auto,
        /// Age at which a segment is closed.
        pub rotate: Span = Span::from_secs(1),
        /// Size of the kernel's debug buffer (`debug_mb`).
        pub buffer_mib: Auto<u64> = Auto::Auto,
        /// Upper limit of `buffer_mib = "auto"`.
        pub buffer_limit_mib: u64 = 2048,
        /// Stop after this time.
        #[serde(rename = "for")]
        pub duration: OrOff<Span> = OrOff::Off,
        /// Stop at this time.
        pub until: OrOff<Timestamp> = OrOff::Off,
        /// Wait while Lustre's modules are not loaded, instead of exiting; `auto`: if a service manager started the daemon.
        pub wait_for_lustre: Auto<bool> = Auto::Auto,
        /// Stop unless somebody renews the lease within this time, again and again.
        pub lease: OrOff<Span> = OrOff::Off,
    }
}

/// Default directory of the segments if it has room: a tmpfs on all distributions.
const RUN_SPOOL: &str = "/run/lioprof/spool";
/// Upper limit of `spool_limit_mib = "auto"`.
pub(crate) const MOST_SPOOL_MIB: u64 = 1024;
/// The smallest segment: with smaller ones the daemon would do nothing but rename.
pub(crate) const LEAST_SEGMENT_MIB: u64 = 5;
/// The largest segment that `segment_mib = "auto"` chooses.
const MOST_SEGMENT_MIB: u64 = 64;
/// Number of segments that must fit: one that the kernel writes, one that is being closed, one that is decoded, and one
/// whose rows are not on disk yet.
pub(crate) const LEAST_SEGMENTS: u64 = 4;

impl Capture {
    /// Directory of the segments; as long as it is not chosen, the first choice.
    #[must_use]
    pub fn spool_dir(&self) -> &Path {
        match &self.spool_dir {
            Auto::Is(dir) => dir,
            Auto::Auto => Path::new(RUN_SPOOL),
        }
    }

    /// Limit on the total size of all segments; as long as it is not chosen, the highest possible one.
    #[must_use]
    pub fn spool_limit_mib(&self) -> u64 {
        self.spool_limit_mib.get().unwrap_or(MOST_SPOOL_MIB)
    }

    /// Size at which a segment is closed.
    #[must_use]
    pub fn segment_mib(&self) -> u64 {
        let quarter_mib = self.spool_limit_mib() / LEAST_SEGMENTS;
        self.segment_mib.get().unwrap_or(quarter_mib.clamp(LEAST_SEGMENT_MIB, MOST_SEGMENT_MIB))
    }

    /// Whether the daemon waits for Lustre. A service is started at boot, long before targets are mounted by hand or by a
    /// cluster manager; a user who starts the daemon by hand needs to know at once that there is nothing to trace.
    #[must_use]
    pub fn waits_for_lustre(&self) -> bool {
        self.wait_for_lustre.get().unwrap_or_else(|| Notifier.has_manager())
    }

    /// The smallest usable limit on the total size of all segments.
    pub(crate) fn least_spool_mib(&self) -> u64 {
        self.segment_mib.get().unwrap_or(LEAST_SEGMENT_MIB).saturating_mul(LEAST_SEGMENTS)
    }
}

section! {
    /// Starting and stopping by the load of a target. With both off, capturing starts at once.
    pub struct Trigger {
        /// Start when any target of this node moves more than this, in MiB/s read and written.
        pub start_mib_per_s: OrOff<u64> = OrOff::Off,
        /// Start when any target of this node handles more than this many RPCs per second.
        pub start_rpcs_per_s: OrOff<u64> = OrOff::Off,
        /// Stop and wait again after no target has reached a start value for this long.
        pub stop_after: Span = Span::from_secs(60),
        /// Interval at which the load is checked.
        pub every: Span = Span::from_secs(5),
    }
}

impl Trigger {
    /// Whether load starts the capture.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.start_mib_per_s != OrOff::Off || self.start_rpcs_per_s != OrOff::Off
    }
}

/// Form in which to keep the capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Rows: RPCs and lock events.
    #[default]
    Rpc,
    /// The log itself, compressed.
    Raw,
    /// Rows and the log itself.
    Both,
}

section! {
    /// What to keep on disk, where and how long.
    pub struct Keep {
        /// Form in which to keep the capture.
        pub mode: Mode = Mode::Rpc,
        /// Data directory; it also holds the journal of changed settings.
        pub dir: PathBuf = "/var/lib/lioprof".into(),
        /// Size at which a file is closed.
        pub file_mib: u64 = 256,
        /// Age at which a file is closed.
        pub file_age: Span = Span::from_secs(15 * 60),
        /// Longest time for decoding and writing at the end; segments left over stay in the spool for the next start.
        pub drain_at_most: Span = Span::from_secs(90),
        /// Files older than this are deleted.
        pub retention: OrOff<Span> = OrOff::Is(Span::from_secs(14 * 86_400)),
        /// The oldest files are deleted once all files together exceed this size.
        pub retention_mib: u64 = 20_480,
    }

    /// Limits on the daemon's resources. Above a limit the daemon traces less, step by step, and says so.
    pub struct Budget {
        /// CPU time, in percent of one core.
        pub cpu_percent: u32 = 15,
        /// Resident memory of the daemon; the segments have their own limit, `capture.spool_limit_mib`.
        pub memory_mib: u64 = 256,
        /// Free space to leave on the file system of `keep.dir`.
        pub disk_reserve_mib: u64 = 2048,
        /// Log records per second.
        pub records_per_s: u64 = 500_000,
        /// If the budget requires tracing part of the time: trace for this long ..
        pub duty_on: Span = Span::from_secs(5),
        /// .. in each period of this length.
        pub duty_every: Span = Span::from_secs(60),
    }

    /// Sampling of the server's own counters, which are kept beside the trace.
    pub struct Counters {
        /// Interval at which counters are read.
        pub every: OrOff<Span> = OrOff::Is(Span::from_secs(10)),
        /// Interval at which the counters of single clients and jobs, possibly very many, are read.
        pub clients_every: OrOff<Span> = OrOff::Is(Span::from_secs(60)),
    }

    /// What the server does now, for `lioprof top`, `lioprof status` and the metrics.
    pub struct Live {
        /// Length of the windows that are judged; two overlap by half. Off: no live view at all.
        pub window: OrOff<Span> = OrOff::Is(Span::from_secs(60)),
    }

    /// Commands and metrics.
    pub struct Talk {
        /// Unix socket for `lioprof status`, `top`, `stop`, `mark`.
        pub socket: PathBuf = "/run/lioprof/socket".into(),
        /// Address of the Prometheus metrics.
        pub metrics: OrOff<SocketAddr> = OrOff::Is(SocketAddr::new(std::net::Ipv4Addr::LOCALHOST.into(), 9817)),
    }
}

impl Config {
    /// Name of this server in the data.
    #[must_use]
    pub fn node_name(&self) -> String {
        let known = || crate::system::host::short_name(&self.control.root).unwrap_or_else(|| "node".to_owned());
        if self.node.name == "auto" { known() } else { self.node.name.clone() }
    }

    /// The journal of changed settings.
    #[must_use]
    pub fn journal_path(&self) -> PathBuf {
        self.keep.dir.join("journal.json")
    }

    /// Directories that may hold the segments, best first: the configured one, or one in memory and one beside the data.
    #[must_use]
    pub fn spool_dirs(&self) -> Vec<PathBuf> {
        match &self.capture.spool_dir {
            Auto::Is(dir) => vec![dir.clone()],
            Auto::Auto => vec![RUN_SPOOL.into(), self.keep.dir.join("spool")],
        }
    }

    /// The lock that the daemon holds while it runs.
    #[must_use]
    pub fn lock_path(&self) -> PathBuf {
        self.keep.dir.join("lock")
    }
}
