//! What rows are summed up in.

use serde::{Deserialize, Serialize};

use crate::io::Direction;
use crate::io::Io;
use crate::merge::{earliest, latest};

crate::sums! {
    /// A time bin of a target, or of all of a node.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct SeriesCell {
        /// Bytes read, spread over the time of handling.
        pub read_bytes: u64,
        /// Bytes written.
        pub write_bytes: u64,
        /// Of these, estimated.
        pub read_bounded_bytes: u64,
        /// Of these, estimated.
        pub write_bounded_bytes: u64,
        /// Reads that ended.
        pub read_rpcs: u64,
        /// Writes that ended.
        pub write_rpcs: u64,
        /// RPCs that ended.
        pub rpcs: u64,
        /// RPCs that arrived.
        pub arrived: u64,
        /// Request-microseconds of waiting for a thread.
        pub queued_us: u64,
        /// Request-microseconds of being handled.
        pub process_us: u64,
        /// Total time of the RPCs that ended.
        pub total_us: u64,
        /// How many of them have one.
        pub timed: u64,
    }

    /// A time bin of a client's reads and writes of a target.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct FlowCell {
        /// Reads.
        pub read_rpcs: u64,
        /// Writes.
        pub write_rpcs: u64,
    }

    /// A time bin of a target's locks.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct LockCell {
        /// Conflicts between clients.
        pub conflicts: u64,
        /// Of what was asked for.
        pub true_conflicts: u64,
        /// Of what was granted beyond that.
        pub expansion_conflicts: u64,
        /// Blocking callbacks.
        pub blocking_asts: u64,
        /// Request-microseconds of waiting for another client's lock.
        pub waiting_us: u64,
    }

    /// Two clients that want the same of a target.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct LockPairSums {
        /// Conflicts.
        pub conflicts: u64,
        /// Of what was asked for.
        pub true_conflicts: u64,
        /// Of what was granted beyond that.
        pub expansion_conflicts: u64,
        /// Changes of owner.
        pub handovers: u64,
        /// Time waited.
        pub wait_us: u64,
        /// Glimpse callbacks that one caused to the other.
        #[serde(default)]
        pub glimpses: u64,
        /// Time waited for the answers.
        #[serde(default)]
        pub glimpse_wait_us: u64,
    }

    /// Locks of a job.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct LockJobSums {
        /// Requests for locks.
        pub enqueues: u64,
        /// Blocked ones.
        pub blocked: u64,
        /// Time waited.
        pub wait_us: u64,
    }

    /// RPCs grouped by every counting key.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct CombinationSums {
        /// RPCs.
        pub rpcs: u64,
        /// Of these, sent again.
        pub resent: u64,
        /// Of these, replayed.
        pub replayed: u64,
        /// Service time of all of them.
        pub service_us: u64,
        /// Of reads and writes: bytes and how sure they are; all zero for other operations.
        #[serde(with = "Io")]
        pub io: Io,
    }

    /// RPCs of an opcode that somebody sent.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct OpcodeSums {
        /// RPCs.
        pub rpcs: u64,
        /// Their service time.
        pub service_us: u64,
    }

    /// Objects.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct ObjectsSums {
        /// How many there are.
        pub objects: u64,
        /// Reads.
        #[serde(with = "Io")]
        pub read: Io,
        /// Writes.
        #[serde(with = "Io")]
        pub write: Io,
    }

    /// RPCs of a node.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct NodeRpcs {
        /// RPCs handled, of any kind.
        pub rpcs: u64,
        /// RPCs sent.
        pub sent_rpcs: u64,
        /// `OST_READ` among them.
        #[serde(default)]
        pub sent_reads: u64,
        /// `OST_WRITE` among them.
        #[serde(default)]
        pub sent_writes: u64,
        /// Reads of OSTs.
        #[serde(with = "Io")]
        pub read: Io,
        /// Writes of OSTs.
        #[serde(with = "Io")]
        pub write: Io,
    }
}

impl CombinationSums {
    /// What they are for whoever sent them: all are of one opcode.
    #[must_use]
    pub fn of_opcode(&self) -> OpcodeSums {
        OpcodeSums { rpcs: self.rpcs, service_us: self.service_us }
    }
}

impl NodeRpcs {
    /// Reads or writes.
    pub fn direction(&mut self, direction: Direction) -> &mut Io {
        direction.pick(&mut self.read, &mut self.write)
    }
}

/// Requests that ended with the same error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureSums {
    /// Requests.
    pub rpcs: u64,
    /// When the first of them ended.
    pub first_us: Option<i64>,
    /// When the last of them ended.
    pub last_us: Option<i64>,
}

crate::merge_fields!(FailureSums { rpcs } by { first_us: earliest, last_us: latest });

/// Requests that a rule of a token bucket filter let through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThrottleSums {
    /// Requests.
    pub rpcs: u64,
    /// Time in the queue.
    pub queue_us: u64,
    /// Time in the handler.
    pub service_us: u64,
    /// When the first of them ended.
    pub first_us: Option<i64>,
    /// When the last of them ended.
    pub last_us: Option<i64>,
}

crate::merge_fields!(ThrottleSums { rpcs, queue_us, service_us } by { first_us: earliest, last_us: latest });

/// What else went wrong with a client's requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultSums {
    /// Evictions for locks not given back.
    pub evictions: u64,
    /// Requests dropped.
    pub dropped_rpcs: u64,
    /// Requests sent again.
    pub resent_rpcs: u64,
    /// Requests replayed.
    pub replayed_rpcs: u64,
    /// Connect requests.
    pub connects: u64,
    /// First of all but the connects.
    pub first_us: Option<i64>,
    /// Last of them.
    pub last_us: Option<i64>,
}

crate::merge_fields!(FaultSums {
    evictions, dropped_rpcs, resent_rpcs, replayed_rpcs, connects
} by { first_us: earliest, last_us: latest });

/// What there is of a node's requests of clients besides those that are kept for a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayFacts {
    /// How many there were.
    pub requests: u64,
    /// End of the last one.
    pub last_us: Option<i64>,
    /// End of the last read, write or sync.
    pub last_bulk_us: Option<i64>,
    /// Only those that ended before are kept; `None`: all.
    pub cut_us: Option<i64>,
}

/// A second of a target: what dashboards show. Key: everything up to `second`.
///
/// Not needed for an analysis, whose bins are as wide as the time that it covers wants them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Second {
    /// Node.
    pub node: String,
    /// Data on MDT, or an MDT's locks.
    pub mdt: bool,
    /// Target.
    pub target: Option<String>,
    /// Unix time.
    pub second: i64,
    /// Seconds that the row stands for: 1, unless the node's rows span more than 11 days.
    pub seconds: i64,
    /// Bytes read, spread over the time of handling.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Reads that ended.
    pub read_rpcs: u64,
    /// Writes that ended.
    pub write_rpcs: u64,
    /// Request-microseconds of waiting for a thread.
    pub queued_us: u64,
    /// Request-microseconds of being handled.
    pub process_us: u64,
    /// Total time of the RPCs that ended.
    pub total_us: u64,
    /// Conflicts between clients.
    pub lock_conflicts: u64,
    /// Request-microseconds of waiting for another client's lock.
    pub lock_waiting_us: u64,
}
