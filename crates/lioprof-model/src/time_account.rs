//! Where the time went: for all clients together, for each client and each job, what they waited for.

use serde::{Deserialize, Serialize};

use crate::names::target_of;
use crate::units::share;

/// What clients waited for between their first and their last request, summing up to all of that time.
///
/// Requests under way at the same time share the time, in proportion to how long each was under way within a short bin. When
/// nothing was under way is told at points in time, [`TimeAccount::resolution_us`] apart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeAccount {
    /// Distance of the points at which it was looked whether anything was under way for all clients together, µs. Those of single
    /// clients and jobs may be farther apart.
    pub resolution_us: u64,
    /// All clients together; `null` without any request of a client.
    pub all: Option<TimeOf>,
    /// Each client, those with most time in requests first, at most 1,000; the name is the NID.
    pub clients: Vec<TimeOf>,
    /// Each job, those with most time in requests first, at most 1,000; the name is the job id.
    pub jobs: Vec<TimeOf>,
    /// The time of all clients together, bin by bin.
    pub series: TimeSeries,
}

/// Where somebody's time went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeOf {
    /// NID or job id; empty for all.
    pub name: String,
    /// When its first request arrived, Unix seconds.
    pub first: f64,
    /// When its last one was over, Unix seconds.
    pub last: f64,
    /// From the first to the last, µs: the sum of `spent`.
    pub span_us: u64,
    /// What the time was spent on, most first. In a bounded analysis clients and jobs have at most 16 rows, and one more for the rest of
    /// each kind.
    pub spent: Vec<TimeSpent>,
}

/// Time spent on one thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeSpent {
    /// On what.
    pub on: SpentOn,
    /// Target; `null` where no target is concerned, or which one is not known.
    pub target: Option<String>,
    /// Server; empty for `nothing`, and where a bounded analysis sums up all that is left of this kind.
    pub node: String,
    /// Microseconds.
    pub us: u64,
    /// Of them, what the target's peers would not have needed for the same clients' requests of the same sizes; `null` where it is not
    /// certain that the target took longer than they ([`AgainstPeers::takes_longer`](crate::AgainstPeers::takes_longer)), or the log does
    /// not show parts of service times.
    pub excess_us: Option<u64>,
    /// Whether that is as it should be; of all clients together, where it is much of their time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<SpentState>,
    /// Why it is in this state, or cannot be told: a sentence without a full stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The finding that is the cause, by its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
}

named! {
    /// Whether time is spent as it should be.
    pub enum SpentState {
        /// As on its peers, as before, or as much as the work that was asked for takes.
        AsItShouldBe = "as_it_should_be",
        /// A finding says why it is more.
        Cause = "cause",
        /// The log does not show it.
        CannotTell = "cannot_tell",
    }

    /// What time is spent on.
    pub enum SpentOn {
        /// Waiting for a lock that another client has.
        LockWait = "lock_wait",
        /// Reads and writes that are handled, with the transfer of their data.
        Bulk = "bulk",
        /// Syncs of what was written to OSTs: work of a disk. No log names the OST: it is the only one of the server to which the client had
        /// written of late, or not known.
        Sync = "sync",
        /// Waiting for a service thread of a server.
        Queue = "queue",
        /// Requests that an MDT handles.
        Metadata = "metadata",
        /// Other requests, such as for locks and attributes on OSTs.
        Other = "other",
        /// Requests of which the log shows only the end.
        Unknown = "unknown",
        /// No request in any server's log: the clients' own work, their page caches, the network, servers without a log, requests that a log has
        /// lost.
        Nothing = "nothing",
    }
}

impl SpentState {
    /// The same for people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::AsItShouldBe => "as it should be",
            Self::Cause => "a cause",
            Self::CannotTell => "cannot tell",
        }
    }
}

impl SpentOn {
    /// What happens, for people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::LockWait => "waiting for locks",
            Self::Bulk => "reads and writes",
            Self::Sync => "syncs",
            Self::Queue => "queued",
            Self::Metadata => "metadata",
            Self::Other => "other requests",
            Self::Unknown => "requests with an unknown start",
            Self::Nothing => "no request at any traced server",
        }
    }

    /// The same as a phrase that can stand before the name of a target or server.
    fn phrase(self) -> &'static str {
        match self {
            Self::LockWait => "waiting for locks of",
            Self::Bulk => "reads and writes of",
            Self::Sync => "syncs of",
            Self::Queue => "queued on",
            Self::Metadata => "metadata requests of",
            Self::Other => "other requests of",
            Self::Unknown => "requests with an unknown start on",
            Self::Nothing => self.label(),
        }
    }
}

impl TimeSpent {
    /// Time spent on something, not yet judged.
    #[must_use]
    pub fn new(on: SpentOn, target: Option<String>, node: String, us: u64) -> Self {
        Self { on, target, node, us, excess_us: None, state: None, reason: None, finding: None }
    }

    /// What and where, for people.
    #[must_use]
    pub fn description(&self) -> String {
        let place = match (self.target.as_deref(), self.on) {
            (_, SpentOn::Nothing) => return self.on.phrase().to_owned(),
            (None, _) if self.node.is_empty() => "all others".into(),
            (None, SpentOn::Sync) => format!("a disk of {}", self.node).into(),
            (None, SpentOn::Queue | SpentOn::Metadata | SpentOn::Other) => self.node.as_str().into(),
            (target, _) => target_of(target, &self.node),
        };
        format!("{} {place}", self.on.phrase())
    }
}

impl TimeAccount {
    /// That of a client, if it is listed.
    #[must_use]
    pub fn client(&self, nid: &str) -> Option<&TimeOf> {
        self.clients.iter().find(|client| client.name == nid)
    }
}

impl TimeOf {
    /// Microseconds spent on this, wherever.
    #[must_use]
    pub fn us_on(&self, on: SpentOn) -> u64 {
        self.spent.iter().filter(|spent| spent.on == on).map(|spent| spent.us).sum()
    }

    /// The same as a share of its time.
    #[must_use]
    pub fn share_on(&self, on: SpentOn) -> f64 {
        share(self.us_on(on), self.span_us)
    }

    /// Microseconds in which something was under way at a traced server.
    #[must_use]
    pub fn covered_us(&self) -> u64 {
        self.span_us - self.us_on(SpentOn::Nothing)
    }
}

/// Time of all clients together, in bins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeSeries {
    /// Start of the first bin, Unix seconds.
    pub start: f64,
    /// Width of a bin in seconds.
    pub bin_s: f64,
    /// Number of bins.
    pub bins: usize,
    /// A row for each entry of [`TimeOf::spent`] of all clients, in the same order.
    pub spent: Vec<TimeSpentSeries>,
}

/// Time spent on one thing, bin by bin. The first and the last bin may be cut short by the span.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeSpentSeries {
    /// On what.
    pub on: SpentOn,
    /// Target, as in [`TimeSpent::target`].
    pub target: Option<String>,
    /// Server.
    pub node: String,
    /// Microseconds in each bin.
    pub us: Vec<u64>,
}
