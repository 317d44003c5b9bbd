//! Lock contention: who fights whom for what, and what it costs.
//!
//! Only conflicts between different clients count as contention. A client in conflict with its own lock,
//! and conflicts of the servers' own making (unlink, destroy), are counted apart, see [`ConflictKinds`].

use serde::{Deserialize, Serialize};

use crate::latency::Distribution;

/// What the figures rest on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LockEvidence {
    /// Only the RPCs: conflicts per OST and pair of clients; objects and waits are inferred.
    #[default]
    Rpctrace,
    /// The lock manager's own lines: locks, extents, waits.
    Dlmtrace,
    /// Some nodes the one, some the other; each target says which.
    Mixed,
}

/// Lock figures of an analysis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Locks {
    /// What the figures rest on.
    pub evidence: LockEvidence,
    /// The rules that the figures follow; the log states neither a version nor settings.
    pub rules: LockRules,
    /// Sums over the OSTs.
    pub totals: LockTotals,
    /// Sums over the MDTs (inode bits, flock and plain locks).
    pub mdt_totals: LockTotals,
    /// Per target, most contended first.
    pub targets: Vec<LockTarget>,
    /// Objects of OSTs, most contended first; those with conflicts between clients only.
    pub objects: Vec<LockObject>,
    /// Pairs of clients per OST, most conflicts first.
    pub pairs: Vec<LockPair>,
    /// Resources of MDTs with conflicts between clients: directories and files.
    #[serde(default)]
    pub mdt_objects: Vec<LockObject>,
    /// Pairs of clients per MDT.
    #[serde(default)]
    pub mdt_pairs: Vec<LockPair>,
    /// Per job of the waiting client, longest wait first.
    pub jobs: Vec<LockJob>,
    /// Over time; same bins as the analysis' `series`.
    pub series: LocksOverTime,
}

/// Lock figures over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LocksOverTime {
    /// Per target.
    pub targets: Vec<LockSeries>,
}

/// Thresholds. Assumed: a log does not say how its server is configured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LockRules {
    /// Conflicts on a resource that make it contended ...
    pub contended_conflicts: u64,
    /// ... within this many seconds, ...
    pub contended_window_s: f64,
    /// ... and how long it then stays so.
    pub contended_hold_s: f64,
    /// Where these come from.
    pub contended_source: String,
    /// Changes of owner that make a fight out of single hand-overs ...
    pub ping_pong_alternations: u64,
    /// ... if none of them is further from the one before than this.
    pub ping_pong_gap_s: f64,
}

/// Conflicts by who is against whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictKinds {
    /// A client against another client: contention.
    pub client: u64,
    /// A client against a lock of its own.
    pub own: u64,
    /// The servers' own doing: unlink and destroy on behalf of the MDT, locks without a client.
    pub server: u64,
}

crate::merge_fields!(ConflictKinds { client, own, server });

/// Sums.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LockTotals {
    /// Locks asked for by clients; `null` without dlmtrace: an enqueue names no target.
    pub enqueues: Option<u64>,
    /// Of these, granted in the reply; `null` without dlmtrace.
    pub granted_at_once: Option<u64>,
    /// Requests that had to wait. Without dlmtrace: those that sent a callback, or got a completion.
    pub blocked: u64,
    /// Conflicts by kind; contention is `kinds.client`.
    pub kinds: ConflictKinds,
    /// Conflicts between clients.
    pub conflicts: u64,
    /// Of these, requested extents overlap; `null` without dlmtrace, like the next four.
    pub true_conflicts: Option<u64>,
    /// Only an extent that the server had expanded overlaps.
    pub expansion_conflicts: Option<u64>,
    /// Not told: an extent is missing from the log, or the lock has none.
    pub unclassified_conflicts: Option<u64>,
    /// Conflicts of two writers.
    pub write_write: Option<u64>,
    /// Conflicts of a reader and a writer.
    pub read_write: Option<u64>,
    /// Conflicts with a group lock.
    pub group: Option<u64>,
    /// Changes of owner: a grant to a client that waited for another's lock.
    pub handovers: u64,
    /// Callbacks sent: give the lock back.
    pub blocking_asts: u64,
    /// Callbacks sent: the lock is yours.
    pub completion_asts: u64,
    /// Callbacks sent: how large is the file.
    pub glimpse_asts: u64,
    /// LDLM_CANCEL requests; they name no target, so only in the totals of all targets.
    pub cancels: Option<u64>,
    /// Clients evicted for not giving a lock back.
    pub evictions: u64,
    /// Callbacks that were not answered in time.
    pub callback_timeouts: u64,
    /// Clients' locks whose creation is not in the log: what they asked for may be missing; `null` without
    /// dlmtrace.
    #[serde(default)]
    pub unborn_locks: Option<u64>,
    /// Client-seconds spent waiting for another client's lock.
    pub wait_s: f64,
    /// Waits that had not ended when the log did, or whose end is missing; not in `wait_s`.
    pub open_waits: u64,
}

/// One target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockTarget {
    /// Target.
    pub target: String,
    /// Node.
    pub node: String,
    /// What its figures rest on.
    pub evidence: LockEvidence,
    /// Sums.
    pub totals: LockTotals,
    /// Seconds in which at least one client waited for another.
    pub contended_s: f64,
    /// That, as a share of the window.
    pub contended_share: f64,
    /// Read and write bytes per second in bins in which a client waited; `null`: there are none.
    pub bandwidth_contended: Option<f64>,
    /// The same in bins with traffic in which no client waited.
    pub bandwidth_uncontended: Option<f64>,
    /// Enqueue to grant, of requests that waited for another client.
    pub wait_us: Distribution,
    /// Blocking callback to release, of locks that another client waited for; dlmtrace only.
    pub release_us: Distribution,
    /// Round trip of blocking callbacks.
    pub blocking_ast_us: Distribution,
    /// Bytes that holders wrote between the callback and the release.
    pub flushed_bytes: Option<u64>,
}

/// One object (LDLM resource).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockObject {
    /// Target.
    pub target: String,
    /// Node.
    pub node: String,
    /// LDLM resource, as lock lines print it; `null` if the object is inferred.
    pub resource: Option<String>,
    /// The object's FID.
    pub fid: Option<String>,
    /// True: told from the reads and writes of holder and waiter around the callback, not from a lock line.
    pub inferred: bool,
    /// Conflicts between clients.
    pub conflicts: u64,
    /// See [`LockTotals`].
    pub true_conflicts: Option<u64>,
    /// See [`LockTotals`].
    pub expansion_conflicts: Option<u64>,
    /// See [`LockTotals`].
    pub unclassified_conflicts: Option<u64>,
    /// Changes of owner.
    pub alternations: u64,
    /// Mean number of grants in a row to the same client.
    pub mean_run: f64,
    /// Clients in conflict, by NID.
    pub clients: Vec<String>,
    /// Client-seconds spent waiting.
    pub wait_s: f64,
    /// Enqueue to grant.
    pub wait_us: Distribution,
    /// Whether there was a sustained fight, by [`LockRules`].
    pub ping_pong: bool,
    /// Fights, longest first, at most 10.
    pub episodes: Vec<Episode>,
    /// When the object was contended by the kernel's rule, Unix seconds, at most 100.
    pub contended: Vec<Interval>,
    /// What the kernel itself counted, where the log prints it (Lustre 2.17.55 and later).
    pub kernel: Option<KernelCount>,
    /// Who held and waited when, for the most contended objects; dlmtrace only.
    pub timeline: Option<Timeline>,
}

/// A stretch of time, Unix seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Start.
    pub start: f64,
    /// End.
    pub end: f64,
}

/// A sustained fight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// First change of owner, Unix seconds.
    pub start: f64,
    /// Last one.
    pub end: f64,
    /// Changes of owner.
    pub alternations: u64,
    /// Clients involved.
    pub clients: u64,
}

/// The kernel's own contention counter of a resource (`add N to ...`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelCount {
    /// Sum of what it added.
    pub added: u64,
    /// Largest sum of both halves of its window.
    pub window_max: u64,
}

/// Who held and waited when.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Locks held.
    pub holds: Vec<Hold>,
    /// Waits.
    pub waits: Vec<Wait>,
    /// Blocking callbacks: time in Unix seconds, NID of the holder.
    pub blocking_asts: Vec<(f64, String)>,
    /// More happened than is listed.
    pub truncated: bool,
}

/// A lock held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hold {
    /// Client.
    pub nid: String,
    /// Mode, `PW`.
    pub mode: String,
    /// Grant, Unix seconds; `null`: before the log.
    pub start: Option<f64>,
    /// Release; `null`: after the log.
    pub end: Option<f64>,
    /// First byte granted.
    pub first_byte: u64,
    /// Last byte granted, inclusive; 18446744073709551615: to the end of the file.
    pub last_byte: u64,
    /// First byte requested.
    pub requested_first_byte: u64,
    /// Last byte requested.
    pub requested_last_byte: u64,
}

/// A wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wait {
    /// Client.
    pub nid: String,
    /// Start, Unix seconds.
    pub start: f64,
    /// Grant; `null`: never, as far as the log shows.
    pub end: Option<f64>,
    /// First byte requested.
    pub first_byte: u64,
    /// Last byte requested, inclusive.
    pub last_byte: u64,
}

/// Two clients on one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockPair {
    /// Target.
    pub target: String,
    /// Client that held a lock.
    pub holder_nid: String,
    /// Client that asked for one in conflict with it.
    pub waiter_nid: String,
    /// Conflicts.
    pub conflicts: u64,
    /// See [`LockTotals`].
    pub true_conflicts: Option<u64>,
    /// See [`LockTotals`].
    pub expansion_conflicts: Option<u64>,
    /// Times that the holder's release let the waiter have its lock.
    pub handovers: u64,
    /// Seconds the waiter waited for locks that the holder then released.
    pub wait_s: f64,
}

/// A job whose requests waited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockJob {
    /// Job id; `null`: the version prints none.
    pub job: Option<String>,
    /// Locks asked for; `null` without dlmtrace.
    pub enqueues: Option<u64>,
    /// Requests that waited for another client.
    pub blocked: u64,
    /// Client-seconds spent waiting.
    pub wait_s: f64,
}

/// Locks of one target over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockSeries {
    /// Target.
    pub target: String,
    /// Node.
    pub node: String,
    /// Conflicts between clients.
    pub conflicts: Vec<u64>,
    /// Of these, true ones; zeros without dlmtrace.
    pub true_conflicts: Vec<u64>,
    /// Of these, expansion-only ones; zeros without dlmtrace.
    pub expansion_conflicts: Vec<u64>,
    /// Blocking callbacks sent, of any kind of conflict.
    pub blocking_asts: Vec<u64>,
    /// Mean number of requests waiting for another client's lock.
    pub waiting: Vec<f64>,
}
