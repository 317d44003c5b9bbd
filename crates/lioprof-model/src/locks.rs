//! Lock contention: which clients fight for which objects, and what it costs.
//!
//! Only conflicts between different clients count as contention. Conflicts of a client with its own lock and
//! conflicts that the servers cause (unlink, destroy) are counted separately, see [`ConflictKinds`](crate::ConflictKinds).

use serde::{Deserialize, Serialize};

use crate::latency::Distribution;
use crate::lock_sums::LockTotals;
use crate::names::UNKNOWN_OBJECT;

/// Which log lines the lock figures come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LockEvidence {
    /// Only RPC lines: conflicts are known per OST and pair of clients; objects and waits are inferred.
    #[default]
    Rpctrace,
    /// The lock manager's own lines, which show locks, extents and waits.
    Dlmtrace,
    /// Some nodes have only RPC lines, others the lock manager's; each target says which.
    Mixed,
}

/// Lock figures of an analysis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Locks {
    /// Which log lines the figures come from.
    pub evidence: LockEvidence,
    /// Assumed thresholds: the log shows neither the Lustre version nor its settings.
    pub rules: LockRules,
    /// Sums over all OSTs.
    pub totals: LockTotals,
    /// Sums over all MDTs (inode bits, flock and plain locks).
    pub mdt_totals: LockTotals,
    /// Figures per target, most contended first.
    pub targets: Vec<LockTarget>,
    /// OST objects with conflicts between clients, most contended first.
    pub objects: Vec<LockObject>,
    /// Pairs of clients per OST, most conflicts first.
    pub pairs: Vec<LockPair>,
    /// There were more objects or pairs with conflicts than are kept: figures of those that are listed are lower bounds. Those of
    /// targets and totals have all of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Clients that asked how large the files are that others write, per OST, longest wait first.
    #[serde(default)]
    pub glimpses: Vec<Glimpses>,
    /// MDT resources (directories and files) with conflicts between clients, most contended first.
    #[serde(default)]
    pub mdt_objects: Vec<LockObject>,
    /// Pairs of clients per MDT, most conflicts first.
    #[serde(default)]
    pub mdt_pairs: Vec<LockPair>,
    /// Jobs of the waiting clients, longest wait first.
    pub jobs: Vec<LockJob>,
    /// Figures over time, in the same bins as the analysis' `series`.
    pub series: LocksOverTime,
}

/// Lock figures over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LocksOverTime {
    /// One series per target.
    pub targets: Vec<LockSeries>,
}

/// Thresholds of contention. They are assumed, since a log does not show how its server is configured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LockRules {
    /// A resource becomes contended after this many conflicts ...
    pub contended_conflicts: u64,
    /// ... within this many seconds, ...
    pub contended_window_s: f64,
    /// ... and stays contended for this many seconds.
    pub contended_hold_s: f64,
    /// Where these three values come from.
    pub contended_source: String,
    /// This many changes of owner are a sustained fight (ping-pong) ...
    pub ping_pong_alternations: u64,
    /// ... if at most this many seconds pass between any two consecutive ones.
    pub ping_pong_gap_s: f64,
}

/// Lock figures of one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockTarget {
    /// Name of the target.
    pub target: String,
    /// Node that serves the target.
    pub node: String,
    /// Which log lines the figures of this target come from.
    pub evidence: LockEvidence,
    /// Sums over the target's locks.
    pub totals: LockTotals,
    /// Seconds during which at least one client waited for another client's lock.
    pub contended_s: f64,
    /// `contended_s` as a share of the window, 0 to 1.
    pub contended_share: f64,
    /// Bytes read and written per second in the time bins in which a client waited; `null` if there are no such bins.
    pub bandwidth_contended: Option<f64>,
    /// Bytes read and written per second in the bins with traffic in which no client waited; `null` if there are no such bins.
    pub bandwidth_uncontended: Option<f64>,
    /// Time from enqueue to grant of requests that waited for another client's lock, µs.
    pub wait_us: Distribution,
    /// Time from blocking callback to release of locks that another client waited for, µs; dlmtrace only.
    pub release_us: Distribution,
    /// Round-trip time of blocking callbacks, µs.
    pub blocking_ast_us: Distribution,
    /// Bytes that holders wrote between the callback and the release; `null` if unknown.
    pub flushed_bytes: Option<u64>,
}

/// Lock figures of one object (LDLM resource).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockObject {
    /// Name of the target.
    pub target: String,
    /// Node that serves the target.
    pub node: String,
    /// Name of the LDLM resource, as lock lines print it; `null` if the object is inferred.
    pub resource: Option<String>,
    /// FID of the object; `null` if unknown.
    pub fid: Option<String>,
    /// Whether the object is inferred from the reads and writes of holder and waiter around the callback: no lock line names it.
    pub inferred: bool,
    /// Number of conflicts between clients.
    pub conflicts: u64,
    /// Conflicts whose requested extents overlap, see [`LockTotals::true_conflicts`].
    pub true_conflicts: Option<u64>,
    /// Conflicts caused only by expanded extents, see [`LockTotals::expansion_conflicts`].
    pub expansion_conflicts: Option<u64>,
    /// Conflicts that cannot be classified, see [`LockTotals::unclassified_conflicts`].
    pub unclassified_conflicts: Option<u64>,
    /// Number of times that the lock changed its owner.
    pub alternations: u64,
    /// Mean number of grants in a row to the same client.
    pub mean_run: f64,
    /// Clients in conflict, by NID.
    pub clients: Vec<String>,
    /// Client-seconds spent waiting for another client's lock.
    pub wait_s: f64,
    /// Time from enqueue to grant, µs.
    pub wait_us: Distribution,
    /// Whether there was a sustained fight by [`LockRules`].
    pub ping_pong: bool,
    /// Sustained fights, longest first, at most 10.
    pub episodes: Vec<Episode>,
    /// Times at which the object was contended by the kernel's rule, at most 100.
    pub contended: Vec<Interval>,
    /// The kernel's own counts; `null` if the log does not print them (before Lustre 2.17.55).
    pub kernel: Option<KernelCount>,
    /// When each client held or waited for a lock; `null` without dlmtrace, and for less contended objects.
    pub timeline: Option<Timeline>,
}

/// An interval of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Start, Unix seconds.
    pub start: f64,
    /// End, Unix seconds.
    pub end: f64,
}

/// A sustained fight of clients for an object's lock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// First change of owner, Unix seconds.
    pub start: f64,
    /// Last change of owner, Unix seconds.
    pub end: f64,
    /// Number of changes of owner.
    pub alternations: u64,
    /// Number of clients involved.
    pub clients: u64,
}

impl LockObject {
    /// FID, or else the resource.
    #[must_use]
    pub fn id(&self) -> &str {
        self.fid.as_deref().or(self.resource.as_deref()).unwrap_or(UNKNOWN_OBJECT)
    }
}

/// The kernel's own contention counter of a resource (`add N to ...`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelCount {
    /// Sum of the conflicts that the kernel added.
    pub added: u64,
    /// Largest sum of both halves of the kernel's window.
    pub window_max: u64,
}

/// When each client held or waited for a lock of one object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Locks that were held.
    pub holds: Vec<Hold>,
    /// Waits for locks.
    pub waits: Vec<Wait>,
    /// Blocking callbacks: time in Unix seconds and NID of the holder.
    pub blocking_asts: Vec<(f64, String)>,
    /// Whether these lists are incomplete.
    pub truncated: bool,
}

/// A lock that a client held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hold {
    /// NID of the client.
    pub nid: String,
    /// Lock mode, such as `PW`.
    pub mode: String,
    /// When the lock was granted, Unix seconds; `null`: before the log begins.
    pub start: Option<f64>,
    /// When the lock was released, Unix seconds; `null`: after the log ends.
    pub end: Option<f64>,
    /// First byte granted.
    pub first_byte: u64,
    /// Last byte granted, inclusive; 18446744073709551615: to the end of the file.
    pub last_byte: u64,
    /// First byte requested.
    pub requested_first_byte: u64,
    /// Last byte requested, inclusive.
    pub requested_last_byte: u64,
}

/// A client's wait for a lock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wait {
    /// NID of the client.
    pub nid: String,
    /// When the wait began, Unix seconds.
    pub start: f64,
    /// When the lock was granted, Unix seconds; `null` if the log shows no grant.
    pub end: Option<f64>,
    /// First byte requested.
    pub first_byte: u64,
    /// Last byte requested, inclusive.
    pub last_byte: u64,
}

/// Conflicts between two clients on one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockPair {
    /// Name of the target.
    pub target: String,
    /// NID of the client that held a lock.
    pub holder_nid: String,
    /// NID of the client that requested a conflicting lock.
    pub waiter_nid: String,
    /// Number of conflicts between the two.
    pub conflicts: u64,
    /// Conflicts whose requested extents overlap, see [`LockTotals::true_conflicts`].
    pub true_conflicts: Option<u64>,
    /// Conflicts caused only by expanded extents, see [`LockTotals::expansion_conflicts`].
    pub expansion_conflicts: Option<u64>,
    /// Number of times that the waiter got its lock when the holder released one.
    pub handovers: u64,
    /// Seconds that the waiter waited for locks that the holder then released.
    pub wait_s: f64,
}

/// Glimpse callbacks: one client wants attributes of files (`stat`, `ls -l`), and another one, that has them open for writing, is asked for
/// their size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Glimpses {
    /// Name of the target.
    pub target: String,
    /// NID of the client that was asked.
    pub holder_nid: String,
    /// NID of the client that wanted to know.
    pub waiter_nid: String,
    /// Callbacks that were answered.
    pub callbacks: u64,
    /// Seconds that the one waited for the answers, added up.
    pub wait_s: f64,
}

/// Lock figures of a job whose requests waited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockJob {
    /// Job id; `null` if the Lustre version prints none, or the log does not name that of a wait.
    pub job: Option<String>,
    /// Number of locks requested; `null` without dlmtrace.
    pub enqueues: Option<u64>,
    /// Number of requests that waited for another client's lock.
    pub blocked: u64,
    /// Client-seconds spent waiting for another client's lock.
    pub wait_s: f64,
}

/// Lock figures of one target per time bin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockSeries {
    /// Name of the target.
    pub target: String,
    /// Node that serves the target.
    pub node: String,
    /// Number of conflicts between clients.
    pub conflicts: Vec<u64>,
    /// Number of those whose requested extents overlap; 0 without dlmtrace.
    pub true_conflicts: Vec<u64>,
    /// Number of those in which only an expanded extent overlaps; 0 without dlmtrace.
    pub expansion_conflicts: Vec<u64>,
    /// Number of blocking callbacks sent for conflicts of any kind.
    pub blocking_asts: Vec<u64>,
    /// Mean number of requests waiting for another client's lock.
    pub waiting: Vec<f64>,
}
