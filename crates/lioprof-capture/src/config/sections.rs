//! The sections and their defaults.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::values::{Auto, OrOff, Span, Timestamp};
use crate::control::Access;
use crate::control::profile::Profile;

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// This server.
    pub node: Node,
    /// Lustre's settings.
    pub control: ControlAccess,
    /// What is captured, and when.
    pub capture: Capture,
    /// Starting and stopping by load.
    pub trigger: Trigger,
    /// What is kept.
    pub keep: Keep,
    /// What the daemon may cost.
    pub budget: Budget,
    /// The servers' own counters.
    pub counters: Counters,
    /// Commands and metrics.
    pub talk: Talk,
}

/// This server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Node {
    /// Its name in the data; `"auto"` is the host name up to the first dot.
    pub name: String,
}

impl Default for Node {
    fn default() -> Self {
        Self { name: "auto".to_owned() }
    }
}

/// How Lustre's settings are reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ControlAccess {
    /// Directory that stands for `/`. Something else for a simulated server only.
    pub root: PathBuf,
    /// `auto`, `files` or `lctl`.
    pub access: Access,
    /// The command.
    pub lctl: PathBuf,
}

impl Default for ControlAccess {
    fn default() -> Self {
        Self { root: "/".into(), access: Access::Auto, lctl: "lctl".into() }
    }
}

/// Which masks to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProfileChoice {
    /// `full`, and `light` when the budget demands it.
    #[default]
    Auto,
    /// Always `full`.
    Full,
    /// Always `light`.
    Light,
}

impl ProfileChoice {
    /// What to begin with.
    #[must_use]
    pub const fn first(self) -> Profile {
        match self {
            Self::Auto | Self::Full => Profile::Full,
            Self::Light => Profile::Light,
        }
    }
}

/// What is captured, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Capture {
    /// Which masks to use.
    pub profile: ProfileChoice,
    /// Directory of the segments that the kernel writes.
    pub spool_dir: PathBuf,
    /// Most that all segments together may take. On a tmpfs this is memory.
    pub spool_limit_mib: u64,
    /// Size at which a segment is closed.
    pub segment_mib: u64,
    /// Age at which a segment is closed.
    pub rotate: Span,
    /// The kernel's debug buffer.
    pub buffer_mib: Auto<u64>,
    /// Most that `buffer_mib = "auto"` takes.
    pub buffer_limit_mib: u64,
    /// Stop after this time.
    #[serde(rename = "for")]
    pub duration: OrOff<Span>,
    /// Stop at this time.
    pub until: OrOff<Timestamp>,
}

impl Default for Capture {
    fn default() -> Self {
        Self {
            profile: ProfileChoice::Auto,
            spool_dir: "/run/lioprof/spool".into(),
            spool_limit_mib: 1024,
            segment_mib: 64,
            rotate: Span::from_secs(1),
            buffer_mib: Auto::Auto,
            buffer_limit_mib: 2048,
            duration: OrOff::Off,
            until: OrOff::Off,
        }
    }
}

/// Starting and stopping by the load of a target. With both off, capturing starts at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Trigger {
    /// Start when any target of this node moves more, MiB/s read and written.
    pub start_mib_per_s: OrOff<u64>,
    /// Start when any target of this node handles more RPCs per second.
    pub start_rpcs_per_s: OrOff<u64>,
    /// Stop and wait again when no target reached a start value for this long.
    pub stop_after: Span,
    /// How often to look.
    pub every: Span,
}

impl Trigger {
    /// Is capturing started by load?
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.start_mib_per_s != OrOff::Off || self.start_rpcs_per_s != OrOff::Off
    }
}

impl Default for Trigger {
    fn default() -> Self {
        Self {
            start_mib_per_s: OrOff::Off,
            start_rpcs_per_s: OrOff::Off,
            stop_after: Span::from_secs(60),
            every: Span::from_secs(5),
        }
    }
}

/// In which form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Rows: RPCs and lock events.
    #[default]
    Rpc,
    /// The log itself, compressed.
    Raw,
    /// Both.
    Both,
}

/// What is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Keep {
    /// In which form.
    pub mode: Mode,
    /// Where; the journal of changed settings is there, too.
    pub dir: PathBuf,
    /// Size at which a file is closed.
    pub file_mib: u64,
    /// Age at which a file is closed.
    pub file_age: Span,
    /// Files older than this are deleted.
    pub retention: OrOff<Span>,
    /// The oldest files are deleted when all together take more.
    pub retention_mib: u64,
}

impl Default for Keep {
    fn default() -> Self {
        Self {
            mode: Mode::Rpc,
            dir: "/var/lib/lioprof".into(),
            file_mib: 256,
            file_age: Span::from_secs(15 * 60),
            retention: OrOff::Is(Span::from_secs(14 * 86_400)),
            retention_mib: 20_480,
        }
    }
}

/// What the daemon may cost. Above it, it does less, step by step, and says so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Share of one core.
    pub cpu_percent: u32,
    /// Resident memory of the daemon; the segments have their own limit, `capture.spool_limit_mib`.
    pub memory_mib: u64,
    /// Free space that must stay on the file system of `keep.dir`.
    pub disk_reserve_mib: u64,
    /// Log records per second.
    pub records_per_s: u64,
    /// When less has to be done: trace for this long ..
    pub duty_on: Span,
    /// .. of every so long.
    pub duty_every: Span,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            cpu_percent: 15,
            memory_mib: 256,
            disk_reserve_mib: 2048,
            records_per_s: 500_000,
            duty_on: Span::from_secs(5),
            duty_every: Span::from_secs(60),
        }
    }
}

/// The servers' own counters, kept beside the trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Counters {
    /// How often they are read.
    pub every: OrOff<Span>,
    /// How often those of single clients and jobs are read: there may be very many.
    pub clients_every: OrOff<Span>,
}

impl Default for Counters {
    fn default() -> Self {
        Self { every: OrOff::Is(Span::from_secs(10)), clients_every: OrOff::Is(Span::from_secs(60)) }
    }
}

/// Commands and metrics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Talk {
    /// Unix socket for `lioprof status`, `stop`, `mark`.
    pub socket: PathBuf,
    /// Address of the Prometheus metrics.
    pub metrics: OrOff<SocketAddr>,
}

impl Default for Talk {
    fn default() -> Self {
        Self {
            socket: "/run/lioprof/socket".into(),
            metrics: OrOff::Is(SocketAddr::new(std::net::Ipv4Addr::LOCALHOST.into(), 9817)),
        }
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

    /// Held by the daemon while it runs.
    #[must_use]
    pub fn lock_path(&self) -> PathBuf {
        self.keep.dir.join("lock")
    }
}
