//! What a node's log holds besides the RPCs that it handled: lock events, the RPCs that it sent, and marks.
//!
//! Together with [`RpcRow`](crate::RpcRow) these are all that an analysis needs from a log: a store that keeps them in their
//! order can replace the log.

use std::collections::{BTreeMap, BTreeSet};

use lustre_debuglog::vocab::LockType;
use lustre_debuglog::{Extent, LockMode, Opcode, ResourceId, TargetName, Xid};
use serde::{Deserialize, Serialize};

use crate::merge::{Merge, all_of, earliest, latest};

use crate::counters::Counted;
use crate::events::LoggedEvents;
use crate::recent_count::RecentCount;
use crate::symbol::Symbol;
use crate::under_way::OpenRpcs;

/// The request that a thread was handling when something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RpcWindow {
    /// NID of the client that sent the request.
    pub nid: Symbol,
    /// Uuid of the client's connection.
    pub client_uuid: Symbol,
    /// Transfer id (xid) of the request.
    pub xid: Xid,
    /// Operation that the request asks for.
    pub opcode: Opcode,
    /// Job id of the request; `None` if the Lustre version prints none.
    pub job: Option<Symbol>,
}

/// A line of the lock manager.
#[derive(Clone, Debug, PartialEq)]
pub struct LockEvent {
    /// Node whose log this is.
    pub node: Symbol,
    /// Microseconds since the epoch, on that node's clock.
    pub time_us: i64,
    /// Kernel pid of the logging thread.
    pub pid: u32,
    /// The request that the logging thread was handling; `None` if it was handling none.
    pub window: Option<RpcWindow>,
    /// What the line reports.
    pub happening: LockHappening,
}

/// Event that a line of the lock manager reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LockHappening {
    /// Something happened to a lock.
    Lock(LockStep, LockState),
    /// The handler of an LDLM_ENQUEUE begins.
    EnqueueStart,
    /// The handler of an LDLM_ENQUEUE ends.
    EnqueueEnd,
    /// The kernel's own count of conflicts on a resource.
    KernelContention {
        /// Resource (object) on which the conflicts were counted.
        resource: ResourceId,
        /// Conflicts that the kernel added to its count.
        added: u32,
        /// Conflicts in the sliding window; 0 if the Lustre version does not print them.
        window: u32,
    },
    /// A callback to a client timed out.
    CallbackTimedOut {
        /// Opcode of the callback.
        opcode: Opcode,
        /// Target of the lock.
        target: TargetName,
    },
    /// A client that had fallen silent was evicted by the pinger.
    SilentEvicted {
        /// NID of the client.
        nid: Symbol,
        /// Target that evicted it; `None`: the MGS.
        target: Option<TargetName>,
    },
}

impl LockHappening {
    /// Shows the symbols in it to `visit`, which may replace them.
    pub fn symbols(&mut self, visit: &mut impl FnMut(&mut Symbol)) {
        match self {
            Self::Lock(_, lock) => lock.nid.iter_mut().for_each(visit),
            Self::SilentEvicted { nid, .. } => visit(nid),
            Self::EnqueueStart | Self::EnqueueEnd | Self::KernelContention { .. } | Self::CallbackTimedOut { .. } => {}
        }
    }

    /// Whether a client was evicted, named or not.
    #[must_use]
    pub fn is_eviction(&self) -> bool {
        matches!(self, Self::Lock(LockStep::Evicted, _) | Self::SilentEvicted { .. })
    }

    /// The client that was evicted, if one was.
    #[must_use]
    pub fn evicted(&self) -> Option<Symbol> {
        match self {
            Self::Lock(LockStep::Evicted, lock) => lock.nid,
            Self::SilentEvicted { nid, .. } => Some(*nid),
            _ => None,
        }
    }
}

named! {
    /// What happened to a lock.
    pub enum LockStep {
        /// The lock was created for a client's enqueue.
        Created = "created",
        /// A server thread created the lock itself, for a request or on its own account.
        LocalCreated = "local_created",
        /// The lock conflicts with the request that this pid is handling.
        Incompatible = "incompatible",
        /// The lock was put on the granted or on the waiting list; its granted mode says which.
        Queued = "queued",
        /// The server replied to the enqueue.
        Reply = "reply",
        /// The server asked the holder to give the lock back.
        BlockingAst = "blocking_ast",
        /// The lock was granted after a wait.
        Granted = "granted",
        /// The holder gave the lock back after a callback.
        Released = "released",
        /// The holder was evicted because it did not give the lock back.
        Evicted = "evicted",
        /// The lock was destroyed.
        Freed = "freed",
    }
}

/// A lock as a line describes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LockState {
    /// Handle of the lock, unique on the node.
    pub cookie: u64,
    /// Target to whose namespace the lock belongs.
    pub target: TargetName,
    /// Resource (object) that is locked.
    pub resource: ResourceId,
    /// Type of the lock; `None` if the line does not print it.
    pub lock_type: Option<LockType>,
    /// Mode that was granted; `--` while the lock waits.
    pub granted_mode: LockMode,
    /// Mode that was requested.
    pub requested_mode: LockMode,
    /// Extent that was granted; `None` for other types of locks.
    pub granted: Option<Extent>,
    /// Extent that was requested; `None` for other types of locks.
    pub requested: Option<Extent>,
    /// NID of the client; `None` if the line prints `local`.
    pub nid: Option<Symbol>,
}

/// An RPC that the node sent, such as a lock callback or an MDT's request to an OST.
#[derive(Clone, Debug, PartialEq)]
pub struct SentRpc {
    /// Node whose log this is.
    pub node: Symbol,
    /// When the RPC was sent or its reply arrived, microseconds since the epoch.
    pub time_us: i64,
    /// Kernel pid of the logging thread.
    pub pid: u32,
    /// Operation that the request asks for.
    pub opcode: Opcode,
    /// Uuid of the sending device; for a lock callback the uuid of the target.
    pub device: Symbol,
    /// NID of the node to which the RPC was sent.
    pub nid: Symbol,
    /// Transfer id (xid) from the node's own counter.
    pub xid: Xid,
    /// The request that the logging thread was handling; `None` if it was handling none.
    pub window: Option<RpcWindow>,
    /// `None`: the RPC is being sent at `time_us`. `Some`: the reply arrived at `time_us`, with the round trip in microseconds.
    pub round_trip_us: Option<u64>,
}

/// An `lctl mark` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Node whose log this is.
    pub node: Symbol,
    /// Microseconds since the epoch.
    pub time_us: i64,
    /// Text given to `lctl mark`.
    pub text: Symbol,
}

/// Counts and facts about a part of a node's log that its rows do not show. Parts of one log add up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TraceSummary {
    /// Size of the log, in bytes.
    pub bytes: u64,
    /// Number of records decoded.
    pub records: u64,
    /// Number of records whose message lioprof knows.
    pub messages: u64,
    /// Number of records logged under mask `rpctrace`.
    pub rpctrace_records: u64,
    /// Time of the first record, microseconds since the epoch; `None` if there is no record.
    pub first_us: Option<i64>,
    /// Time of the last record, microseconds since the epoch.
    pub last_us: Option<i64>,
    /// Intervals in which tracing was on (start, end), in order; empty if it was on all the time.
    pub traced_us: Vec<[i64; 2]>,
    /// Targets that this node serves, as far as its log names them.
    #[serde(with = "names")]
    pub targets: BTreeSet<TargetName>,
    /// Targets whose light-weight connections ping the first MDT.
    #[serde(with = "names")]
    pub pinging_targets: BTreeSet<TargetName>,
    /// Requests that the network brought, by their `peer:` lines.
    #[serde(skip_serializing_if = "RecentCount::is_empty")]
    pub arrivals: RecentCount,
    /// Requests that a thread began with, by their `Handling RPC` lines.
    #[serde(skip_serializing_if = "RecentCount::is_empty")]
    pub begun: RecentCount,
    /// Number of requests dropped before they were handled.
    pub dropped_rpcs: u64,
    /// Number of RPCs that the node sent and that timed out.
    pub sent_timed_out: u64,
    /// Number of times that this node's targets evicted a client.
    pub evictions: u64,
    /// What its lines for people (masks `warning`, `error`, `emerg`, `console`, `neterror`) tell.
    #[serde(skip_serializing_if = "LoggedEvents::is_empty")]
    pub events: LoggedEvents,
    /// Requests that had begun and had not ended when the log ended or was interrupted: those under way for longest.
    #[serde(skip_serializing_if = "OpenRpcs::is_empty")]
    pub under_way: OpenRpcs,
    /// What is missing from this part of the log.
    pub loss: TraceLoss,
    /// The node's own counters compared with the trace; empty if none were sampled.
    #[serde(skip_serializing_if = "Counted::is_empty")]
    pub counted: Counted,
}

crate::merge_fields!(TraceSummary {
    bytes, records, messages, rpctrace_records, arrivals, begun, dropped_rpcs, sent_timed_out, evictions, events, under_way, loss, counted,
} by {
    first_us: earliest, last_us: latest, traced_us: all_of, targets: all_of, pinging_targets: all_of,
});

/// What is missing from a part of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TraceLoss {
    /// Request scheduler numbers that are missing and cannot be explained by two independent counters.
    pub nrs_sequence_gaps: u64,
    /// Numbers in holes that two counters explain only if the one in use stopped for good where the other began.
    pub nrs_sequence_likely: u64,
    /// As `nrs_sequence_likely`, but one of the two counters has so few requests that it may really have stopped; also requests that were
    /// probably in missing rounds. `None`: no upper bound, because a policy was switched, or an older lioprof did not keep this.
    pub nrs_sequence_doubtful: Option<u64>,
    /// Further requests that may have been in missing rounds.
    pub nrs_sequence_possible: u64,
    /// `Handled RPC` lines of threads seen before, whose `Handling RPC` line and scheduler number are lost.
    pub lost_starts: u64,
    /// `Handling RPC` lines whose `Handled RPC` line is lost: the thread logged later lines.
    pub lost_ends: u64,
    /// Number of requests under way when the log ended or was interrupted, by service as the counters name it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub open_at_end: BTreeMap<String, u64>,
    /// Request scheduler numbers that are in the log.
    pub nrs_sequence_seen: u64,
    /// `Handling RPC` lines without a `Handled RPC` line.
    pub missing_handled: u64,
    /// `Handled RPC` lines without a `Handling RPC` line.
    pub missing_handling: u64,
    /// Number of requests that were announced but never handled.
    pub never_handled: u64,
    /// Places where a daemon file wrapped and overwrote older records.
    pub torn_seams: u64,
    /// Runs of records whose head the kernel discarded because a buffer overflowed.
    pub discarded_heads: u64,
    /// Number of CPU buffers whose first record is not in the log.
    pub streams_without_head: u64,
    /// Places whose bytes could not be decoded as records.
    pub bad_records: u64,
    /// Bytes in the places counted by `bad_records`.
    pub skipped_bytes: u64,
    /// Places where time goes backwards.
    pub clock_steps: u64,
    /// Nodes whose log holds the records of several servers: their schedulers' numbers were left out.
    #[serde(skip_serializing_if = "crate::series::is_zero")]
    pub of_several_servers: u64,
    /// Text logs with lines of requests and none of their arrival: somebody filtered them.
    #[serde(skip_serializing_if = "crate::series::is_zero")]
    pub logs_without_arrivals: u64,
    /// Pieces of the log that were given up before they were read.
    pub dropped_segments: u64,
    /// Bytes in the pieces counted by `dropped_segments`.
    pub dropped_segment_bytes: u64,
    /// RPCs whose `Handled RPC` line is in these pieces.
    pub dropped_segment_rpcs: u64,
    /// Number of these pieces by reason, in the words of the capture daemon.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dropped_reasons: BTreeMap<String, u64>,
    /// Number of times that the kernel reported an overflow of its debug buffer.
    pub kernel_overflows: u64,
    /// Parts of a dataset of which rows could not be read; only known to who reads them.
    #[serde(skip)]
    pub unread_parts: u64,
    /// RPCs in the rows that could not be read. Their scheduler numbers are among those in the log.
    #[serde(skip)]
    pub unread_rpcs: u64,
}

impl Merge for TraceLoss {
    fn merge(&mut self, other: &Self) {
        let doubtful = match (self.nrs_sequence_doubtful, other.nrs_sequence_doubtful) {
            (Some(a), Some(b)) => Some(a + b),
            // Without numbers there are no holes.
            (None, doubtful) if self.nrs_sequence_seen == 0 => doubtful,
            (doubtful, None) if other.nrs_sequence_seen == 0 => doubtful,
            _ => None,
        };
        let is = |mine: &mut Option<u64>, _: &Option<u64>| *mine = doubtful;
        crate::merge_fields!(self, other, TraceLoss {
            nrs_sequence_gaps, nrs_sequence_likely, nrs_sequence_possible, nrs_sequence_seen,
            lost_starts, lost_ends, open_at_end, missing_handled, missing_handling, never_handled,
            torn_seams, discarded_heads, streams_without_head, bad_records, skipped_bytes, clock_steps, of_several_servers, logs_without_arrivals,
            dropped_segments, dropped_segment_bytes, dropped_segment_rpcs, dropped_reasons, kernel_overflows,
            unread_parts, unread_rpcs,
        } by { nrs_sequence_doubtful: is });
    }
}

/// Target names as a list of strings.
mod names {
    use std::collections::BTreeSet;

    use lustre_debuglog::TargetName;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(names: &BTreeSet<TargetName>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(names.iter().map(ToString::to_string))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeSet<TargetName>, D::Error> {
        let names = Vec::<String>::deserialize(from)?;
        names.iter().map(|name| name.parse().map_err(D::Error::custom)).collect()
    }
}
