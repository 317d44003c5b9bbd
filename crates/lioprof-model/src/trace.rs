//! What a node's log says besides RPCs: the life of locks, the RPCs that the node sends itself, marks.
//!
//! Together with [`RpcRow`](crate::RpcRow) these are all that an analysis needs of a log. Whoever keeps them, in the order
//! in which they came, can do without the log.

use std::collections::{BTreeMap, BTreeSet};

use lustre_debuglog::vocab::LockType;
use lustre_debuglog::{Extent, LockMode, Opcode, ResourceId, TargetName, Xid};
use serde::{Deserialize, Serialize};

use crate::merge::{Merge, earliest, latest};

use crate::counted::Counted;
use crate::symbol::Symbol;

/// The request that a thread was handling when something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RpcWindow {
    /// Client NID.
    pub nid: Symbol,
    /// Uuid of the client's connection.
    pub client_uuid: Symbol,
    /// Transfer id (xid) of the request.
    pub xid: Xid,
    /// Operation that the request asks for.
    pub opcode: Opcode,
    /// Job id, where printed.
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
    /// The request in whose window the line falls.
    pub window: Option<RpcWindow>,
    /// What the line reports.
    pub happening: LockHappening,
}

/// What a line of the lock manager says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LockHappening {
    /// Something happened to a lock.
    Lock(LockStep, LockState),
    /// An enqueue handler begins.
    EnqueueStart,
    /// An enqueue handler ends.
    EnqueueEnd,
    /// The kernel's own count of conflicts on a resource.
    KernelContention {
        /// Resource (object) on which the conflicts were counted.
        resource: ResourceId,
        /// Conflicts that the kernel added to its count.
        added: u32,
        /// Conflicts in the sliding window, 0 where the version prints none.
        window: u32,
    },
    /// A callback to a client timed out.
    CallbackTimedOut {
        /// Opcode of the callback.
        opcode: Opcode,
        /// Target of the lock.
        target: TargetName,
    },
}

/// What happened to a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LockStep {
    /// Made for a client's enqueue.
    Created,
    /// Made by a thread of the server itself, on behalf of a request or of nobody.
    LocalCreated,
    /// In the way of the request that this pid is working on.
    Incompatible,
    /// Put on a list: granted or waiting, as its mode tells.
    Queued,
    /// The enqueue is answered.
    Reply,
    /// Its holder is asked to give it back.
    BlockingAst,
    /// Granted after a wait.
    Granted,
    /// Given back after a callback.
    Released,
    /// Evicted: the holder did not give it back.
    Evicted,
    /// The lock is destroyed.
    Freed,
}

/// A lock as a line describes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LockState {
    /// Handle, unique on the node.
    pub cookie: u64,
    /// Target whose lock it is.
    pub target: TargetName,
    /// What is locked.
    pub resource: ResourceId,
    /// Type, where known.
    pub lock_type: Option<LockType>,
    /// Granted mode; `None` while it waits.
    pub granted_mode: LockMode,
    /// Mode that was requested.
    pub requested_mode: LockMode,
    /// Granted extent of an extent lock.
    pub granted: Option<Extent>,
    /// Requested extent of an extent lock.
    pub requested: Option<Extent>,
    /// Client, unless printed as `local`.
    pub nid: Option<Symbol>,
}

/// An RPC that the node sends: lock callbacks, and traffic of MDTs to OSTs.
#[derive(Clone, Debug, PartialEq)]
pub struct SentRpc {
    /// Node whose log this is.
    pub node: Symbol,
    /// Time of this line, microseconds since the epoch.
    pub time_us: i64,
    /// Kernel pid of the logging thread.
    pub pid: u32,
    /// Operation that the request asks for.
    pub opcode: Opcode,
    /// Uuid of the sending device; of a lock callback the target's.
    pub device: Symbol,
    /// NID of the node to which the RPC was sent.
    pub nid: Symbol,
    /// Transfer id, of the node's own counter.
    pub xid: Xid,
    /// The request in whose window the line falls.
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

/// What a part of a node's log holds besides what its rows say. Parts of one log add up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TraceSummary {
    /// Bytes of the log.
    pub bytes: u64,
    /// Records decoded.
    pub records: u64,
    /// Records that are messages lioprof knows.
    pub messages: u64,
    /// Records with mask rpctrace.
    pub rpctrace_records: u64,
    /// Time of the first record, microseconds since the epoch.
    pub first_us: Option<i64>,
    /// Time of the last record.
    pub last_us: Option<i64>,
    /// Stretches in which tracing was on, in order; empty if it was on all the time.
    pub traced_us: Vec<[i64; 2]>,
    /// Targets that the log names as this node's.
    #[serde(with = "names")]
    pub targets: BTreeSet<TargetName>,
    /// Targets whose light-weight connections ping the first MDT.
    #[serde(with = "names")]
    pub pinging_targets: BTreeSet<TargetName>,
    /// Requests dropped before they were handled.
    pub dropped_rpcs: u64,
    /// RPCs that the node sent and that timed out.
    pub sent_timed_out: u64,
    /// Evictions of clients by this node's targets.
    pub evictions: u64,
    /// What is missing from this part of the log.
    pub loss: TraceLoss,
    /// The node's own counters beside what is there; empty where none were sampled.
    #[serde(skip_serializing_if = "Counted::is_empty")]
    pub counted: Counted,
}

crate::merge_fields!(TraceSummary {
    bytes, records, messages, rpctrace_records, dropped_rpcs, sent_timed_out, evictions, loss, counted,
} by {
    first_us: earliest, last_us: latest, traced_us: all_of, targets: all_of, pinging_targets: all_of,
});

/// What is missing of a part of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TraceLoss {
    /// Request scheduler numbers that are missing, and that no two counters explain.
    pub nrs_sequence_gaps: u64,
    /// Numbers in holes that are the distance between two counters only if one in use ended for good where the other began.
    pub nrs_sequence_likely: u64,
    /// The same, where one of the two counters has so few requests that it may be so; requests that were probably in missing rounds.
    /// `None`: not kept, by a version that excused the largest hole.
    pub nrs_sequence_doubtful: Option<u64>,
    /// Requests that may have been in missing rounds besides.
    pub nrs_sequence_possible: u64,
    /// `Handled RPC` of threads seen before, whose `Handling RPC` and number are lost.
    pub lost_starts: u64,
    /// `Handling RPC` of threads that went on, whose `Handled RPC` is lost.
    pub lost_ends: u64,
    /// Requests under way when the log ended or was interrupted, by service as the counters name it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub open_at_end: BTreeMap<String, u64>,
    /// Request scheduler numbers that are there.
    pub nrs_sequence_seen: u64,
    /// `Handling RPC` without `Handled RPC`.
    pub missing_handled: u64,
    /// `Handled RPC` without `Handling RPC`.
    pub missing_handling: u64,
    /// Requests announced and never handled.
    pub never_handled: u64,
    /// Seams of a ring that wrapped.
    pub torn_seams: u64,
    /// Runs whose head the kernel discarded because a buffer overflowed.
    pub discarded_heads: u64,
    /// CPU buffers whose first record is not in the log.
    pub streams_without_head: u64,
    /// Places that hold no records.
    pub bad_records: u64,
    /// Bytes in the places counted by `bad_records`.
    pub skipped_bytes: u64,
    /// Places where time goes back.
    pub clock_steps: u64,
    /// Stretches of the log that were given up before they were read.
    pub dropped_segments: u64,
    /// Bytes in the stretches counted by `dropped_segments`.
    pub dropped_segment_bytes: u64,
    /// RPCs whose end is in them.
    pub dropped_segment_rpcs: u64,
    /// Of the stretches, how many for which reason, in the words of the capture daemon.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dropped_reasons: BTreeMap<String, u64>,
    /// Times the kernel said that its debug buffer overflowed.
    pub kernel_overflows: u64,
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
            torn_seams, discarded_heads, streams_without_head, bad_records, skipped_bytes, clock_steps,
            dropped_segments, dropped_segment_bytes, dropped_segment_rpcs, dropped_reasons, kernel_overflows,
        } by { nrs_sequence_doubtful: is });
    }
}

/// Adds what a list or a set of another part has.
fn all_of<'a, T: Copy + 'a, C: Extend<T>>(mine: &mut C, theirs: &'a C)
where
    &'a C: IntoIterator<Item = &'a T>,
{
    mine.extend(theirs.into_iter().copied());
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
