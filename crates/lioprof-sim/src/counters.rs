//! The truth: what a simulated server did, kept by the simulation itself and not read from its log.
//!
//! An RPC counts from the moment of its `Handled RPC` line, an event of a lock from the moment of its line: whoever
//! stops a run in the middle finds both sides equal.

use std::collections::BTreeMap;

use lioprof_model::Merge;
use serde::Serialize;

/// Number, extremes and sums of a quantity, as Lustre's `stats` files have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Samples {
    /// Number of samples.
    pub count: u64,
    /// The smallest; 0 without samples.
    pub min: u64,
    /// The largest; 0 without samples.
    pub max: u64,
    /// Sum of the samples.
    pub sum: u64,
    /// Sum of the samples.
    pub sumsq: u128,
}

impl Samples {
    /// Counts one more.
    pub fn add(&mut self, value: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        self.sum += value;
        self.sumsq += u128::from(value) * u128::from(value);
    }
}

impl Merge for Samples {
    fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum += other.sum;
        self.sumsq += other.sumsq;
    }
}

/// RPCs by size: the exponent of the smallest power of two that is not below the bytes of the RPC.
pub type Sizes = BTreeMap<u32, u64>;

/// Reads, writes and other operations of somebody.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Bytes of OST_READ; the count is that of RPCs.
    pub read_bytes: Samples,
    /// Bytes of OST_WRITE; the count is that of RPCs.
    pub write_bytes: Samples,
    /// OST_READ by size.
    pub read_sizes: Sizes,
    /// OST_WRITE by size.
    pub write_sizes: Sizes,
    /// Microseconds in the handler by opcode, reads and writes included.
    pub operations_us: BTreeMap<u16, Samples>,
}

impl Traffic {
    /// Counts a read.
    pub fn add_read(&mut self, bytes: u64) {
        self.read_bytes.add(bytes);
        *self.read_sizes.entry(exponent(bytes)).or_default() += 1;
    }

    /// Counts a write.
    pub fn add_write(&mut self, bytes: u64) {
        self.write_bytes.add(bytes);
        *self.write_sizes.entry(exponent(bytes)).or_default() += 1;
    }
}

lioprof_model::merge_fields!(Traffic { read_bytes, write_bytes, read_sizes, write_sizes, operations_us });

fn exponent(bytes: u64) -> u32 {
    bytes.checked_next_power_of_two().map_or(64, u64::trailing_zeros)
}

/// What a target's lock server did for one client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClientLocks {
    /// Locks that it asked for, glimpses included.
    pub enqueues: u64,
    /// Locks that it gave back.
    pub cancels: u64,
    /// Requests to give back a lock that were sent to it.
    pub blocking_asts: u64,
    /// Locks that it got after a wait.
    pub completion_asts: u64,
    /// Questions for the size of a file that were sent to it.
    pub glimpse_asts: u64,
    /// It was thrown out.
    pub evictions: u64,
}

/// A target's lock server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LockCounters {
    /// Enqueues that were granted at once.
    pub granted: u64,
    /// Enqueues that had to wait.
    pub blocked: u64,
    /// Enqueues that only asked for the size.
    pub glimpses: u64,
    /// Locks of the server itself: direct I/O and unlink.
    pub local: u64,
    /// From `About to add this lock` to `lock granted`, microseconds.
    pub wait_us: Samples,
    /// A client's lock stood in the way of another's: (NID that asked, NID that held), how often.
    #[serde(skip)]
    pub conflicts: BTreeMap<(String, String), u64>,
    /// Locks of each client, by its NID.
    pub clients: BTreeMap<String, ClientLocks>,
}

impl LockCounters {
    /// Blocking ASTs to all clients.
    pub fn blocking_asts(&self) -> u64 {
        self.clients.values().map(|client| client.blocking_asts).sum()
    }

    /// Completion ASTs to all clients.
    pub fn completion_asts(&self) -> u64 {
        self.clients.values().map(|client| client.completion_asts).sum()
    }
}

/// A client's connections to a target, as `exports/NID` shows them: all mounts of a node in one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExportCounters {
    /// The uuids of its mounts.
    pub uuids: Vec<String>,
    /// What its mounts read, wrote and asked for.
    pub traffic: Traffic,
}

/// A target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TargetCounters {
    /// Traffic of all clients together.
    pub traffic: Traffic,
    /// Counters of each client, by its NID.
    pub exports: BTreeMap<String, ExportCounters>,
    /// By job as `job_stats` has it; requests without a job are left out.
    pub jobs: BTreeMap<String, Traffic>,
    /// Its lock server.
    pub locks: LockCounters,
}

/// A service of a node, for example `ost_io`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ServiceCounters {
    /// Time in the queue, microseconds.
    pub wait_us: Samples,
    /// Time in the handler by opcode, microseconds.
    pub operations_us: BTreeMap<u16, Samples>,
    /// Requests that were thrown away because their time was over.
    pub dropped: u64,
}

lioprof_model::merge_fields!(ServiceCounters { wait_us, operations_us, dropped });

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// By name, for example `lustre-OST0000`.
    pub targets: BTreeMap<String, TargetCounters>,
    /// Counters of each service, by its name.
    pub services: BTreeMap<String, ServiceCounters>,
    /// Requests of the node's own that were completed, by opcode.
    pub sent: BTreeMap<u16, u64>,
}

impl Counters {
    /// RPCs that were handled, all services together.
    pub fn rpcs(&self) -> u64 {
        self.services.values().flat_map(|service| service.operations_us.values()).map(|samples| samples.count).sum()
    }
}
