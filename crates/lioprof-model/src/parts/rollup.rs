//! What needs the order of events, summed up per node.
//!
//! A client's log has facts, markers and exchanges only.

use serde::{Deserialize, Serialize};

use super::clock_line::ClockLine;
use super::sums::{FlowCell, LockCell, LockJobSums, LockPairSums, NodeSums, SeriesCell};
use super::{Bucket, Keyed};
use crate::access::{AccessPattern, MixSum};
use crate::lock_sums::LockTargetSums;
use crate::locks::{KernelCount, LockEvidence, LockRules};
use crate::services::Service;
use crate::time_account::SpentOn;
use crate::trace::TraceSummary;

/// Per-node facts, one row each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeFacts {
    /// Node.
    pub node: String,
    /// It is a client of the file system.
    pub client: bool,
    /// RPCs that it handled and sent.
    #[serde(flatten)]
    pub sums: NodeSums,
    /// What its log holds besides rows, on the node's own clock.
    pub summary: TraceSummary,
    /// Threads by service.
    pub services: Vec<Service>,
    /// The clock that its times were put on; `None`: its own.
    pub clock: Option<ClockLine>,
    /// Evidence of its locks.
    pub lock_evidence: Option<LockEvidence>,
    /// Rules of its locks; `None`: locks were not looked at.
    pub lock_rules: Option<LockRules>,
    /// Locks given back.
    pub cancels: u64,
    /// Width of its time bins.
    pub bin_us: i64,
    /// First and last bin in use.
    pub bins: Option<(i64, i64)>,
    /// One in so many reads and writes is in the sample.
    pub sample_one_in: u64,
    /// Requests of clients, of which [`ReplayedRpc`]s are the beginning.
    #[serde(default)]
    pub replay: ReplayFacts,
}

/// A line of `lctl mark`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Mark {
    /// Node.
    pub node: String,
    /// Time.
    pub time_us: i64,
    /// Text.
    pub text: String,
}

/// What a [`SeriesBin`] is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesKey {
    /// Node.
    pub node: String,
    /// All operations of the node, instead of a target's reads and writes.
    pub whole_node: bool,
    /// See [`super::of_rows::CombinationKey::mdt`].
    pub mdt: bool,
    /// Target.
    pub target: Option<String>,
    /// Width of the bin. Those of a longer log are wider, and each width divides the next.
    pub bin_us: i64,
    /// Start of the bin over its width.
    pub bin: i64,
}

/// A time bin of a target, or of all of a node.
pub type SeriesBin = Keyed<SeriesKey, SeriesCell>;

/// What a [`FlowBin`] is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowKey {
    /// Node.
    pub node: String,
    /// Client; `None`: those with fewer RPCs.
    pub nid: Option<String>,
    /// See [`super::of_rows::CombinationKey::mdt`].
    pub mdt: bool,
    /// Target.
    pub target: Option<String>,
    /// Width of the bin.
    pub bin_us: i64,
    /// Start of the bin over its width.
    pub bin: i64,
}

/// A time bin of a client's reads and writes of a target.
pub type FlowBin = Keyed<FlowKey, FlowCell>;

/// A cell of the map of latencies. Key: everything up to `bucket`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyBin {
    /// Node.
    pub node: String,
    /// Writes, not reads.
    pub write: bool,
    /// Width of the bin.
    pub bin_us: i64,
    /// Start of the bin over its width.
    pub bin: i64,
    /// Bucket of the total time: four per factor of two.
    pub quarter_octave: u32,
    /// RPCs that ended.
    pub rpcs: u64,
}

/// What a [`LockBin`] is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockBinKey {
    /// Node.
    pub node: String,
    /// Target.
    pub target: String,
    /// Width of the bin.
    pub bin_us: i64,
    /// Start of the bin over its width.
    pub bin: i64,
}

/// A time bin of a target's locks.
pub type LockBin = Keyed<LockBinKey, LockCell>;

/// A read or write of the sample.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleRpc {
    /// Node.
    pub node: String,
    /// Decides whether it is kept: its highest bits are zero.
    pub hash: u64,
    /// Client.
    pub nid: String,
    /// Transfer id.
    pub xid: u64,
    /// See [`super::of_rows::CombinationKey::mdt`].
    pub mdt: bool,
    /// A write.
    pub write: bool,
    /// Arrival.
    pub arrival_us: i64,
    /// Start.
    pub start_us: i64,
    /// End.
    pub end_us: i64,
    /// Target.
    pub target: Option<String>,
    /// Object: words of its FID, or of its resource.
    pub object: Option<String>,
    /// First byte.
    pub first_byte: Option<u64>,
    /// Last byte.
    pub last_byte: Option<u64>,
    /// Bytes.
    pub bytes: Option<u64>,
}

/// What a client wrote of an object, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writer {
    /// Client.
    pub nid: String,
    /// First write.
    pub first_us: i64,
    /// Last write.
    pub last_us: i64,
    /// Lowest byte.
    pub first_byte: u64,
    /// Highest byte.
    pub last_byte: u64,
}

/// How an object is read and written. Key: node, target and object; the other objects have neither.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AccessObject {
    /// Node.
    pub node: String,
    /// Target.
    pub target: Option<String>,
    /// Object.
    pub object: Option<String>,
    /// RPCs, for choosing the busiest.
    pub rpcs: u64,
    /// Reads.
    pub read: AccessPattern,
    /// Writes.
    pub write: AccessPattern,
    /// Clients.
    pub clients: Vec<String>,
    /// Jobs.
    pub jobs: Vec<String>,
    /// Writers.
    pub writers: Vec<Writer>,
    /// Lowest byte.
    pub first_byte: u64,
    /// Highest byte.
    pub last_byte: u64,
    /// Small RPCs.
    pub small_rpcs: u64,
    /// Their lowest byte.
    pub small_first_byte: Option<u64>,
    /// Their highest byte.
    pub small_last_byte: Option<u64>,
    /// Clients that sent them.
    pub small_clients: Vec<String>,
}

/// Small and large RPCs of a client. Key: node, client and target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientMix {
    /// Node.
    pub node: String,
    /// Client.
    pub nid: String,
    /// Target; `None`: all of them, and objects that are not known.
    pub target: Option<String>,
    /// Counts.
    pub sum: MixSum,
}

/// Snapshot of the requests in flight on a target. Key: everything up to the target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    /// Node.
    pub node: String,
    /// Writes.
    pub write: bool,
    /// Distance of the pictures: a power of two times that of others.
    pub step_us: i64,
    /// Its time over the distance.
    pub number: i64,
    /// Target.
    pub target: String,
    /// Requests.
    pub requests: u64,
}

/// What a [`LockTarget`] is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockTargetKey {
    /// Node.
    pub node: String,
    /// Target.
    pub target: String,
}

/// Locks of a target.
pub type LockTarget = Keyed<LockTargetKey, LockTargetSums>;

/// What a distribution of lock times is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LockSpan {
    /// Waits.
    #[default]
    Wait,
    /// From the callback until the lock is given back.
    Release,
    /// Round trips of blocking callbacks.
    BlockingAst,
}

/// Times of a target's locks. Key: everything up to the bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockTimes {
    /// Node.
    pub node: String,
    /// Target.
    pub target: String,
    /// What.
    pub span: LockSpan,
    /// Times.
    pub times: Bucket,
}

/// Whose lock requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnqueuesOf {
    /// A target's.
    #[default]
    Target,
    /// A client's.
    Client,
}

/// A part of the time of lock requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnqueueTime {
    /// From the arrival until it was handled and its lock granted.
    #[default]
    Total,
    /// Waiting for a thread.
    Queue,
    /// Handling, without waits for locks.
    Service,
    /// Waiting for other clients' locks.
    LockWait,
    /// Waiting for other locks.
    OtherWait,
    /// The parts are unknown: only the count says something.
    Unknown,
}

/// Times of lock requests. Key: everything up to the bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnqueueTimes {
    /// Node.
    pub node: String,
    /// Of a target or of a client.
    pub whose: EnqueuesOf,
    /// Target or NID; `None`: the target is unknown.
    pub name: Option<String>,
    /// Which part.
    pub part: EnqueueTime,
    /// Times.
    pub times: Bucket,
}

/// A fight for an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fight {
    /// First change of owner.
    pub start_us: i64,
    /// Last one.
    pub end_us: i64,
    /// Changes.
    pub alternations: u64,
    /// Clients.
    pub clients: Vec<String>,
}

/// A lock that was held.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Client.
    pub nid: String,
    /// Mode.
    pub mode: String,
    /// From.
    pub start_us: Option<i64>,
    /// To.
    pub end_us: Option<i64>,
    /// First byte granted.
    pub granted_start: u64,
    /// Last byte granted.
    pub granted_end: u64,
    /// First byte asked for.
    pub requested_start: u64,
    /// Last byte asked for.
    pub requested_end: u64,
}

/// A wait.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// Client.
    pub nid: String,
    /// From.
    pub start_us: i64,
    /// To.
    pub end_us: Option<i64>,
    /// First byte asked for.
    pub requested_start: u64,
    /// Last byte asked for.
    pub requested_end: u64,
}

/// A callback.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockingAst {
    /// Time.
    pub time_us: i64,
    /// Holder.
    pub nid: String,
}

/// A contended object. Key: node, target and resource: it is one node's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LockObject {
    /// Node.
    pub node: String,
    /// Target.
    pub target: String,
    /// Words of the resource's name.
    pub resource: Vec<u64>,
    /// Which object it is follows from the RPCs around a callback only.
    pub inferred: bool,
    /// Conflicts.
    pub conflicts: u64,
    /// Of what was asked for.
    pub true_conflicts: u64,
    /// Of what was granted beyond that.
    pub expansion_conflicts: u64,
    /// Neither is known.
    pub unclassified_conflicts: u64,
    /// Clients.
    pub clients: Vec<String>,
    /// Time waited.
    pub wait_us: u64,
    /// Waits.
    pub wait: Vec<Bucket>,
    /// Grants.
    pub grants: u64,
    /// Changes of owner.
    pub alternations: u64,
    /// Fights, longest first.
    pub fights: Vec<Fight>,
    /// When it was contended by the kernel's rule.
    pub contended: Vec<(i64, i64)>,
    /// What the kernel counted.
    pub kernel: Option<KernelCount>,
    /// Locks held.
    pub holds: Vec<Hold>,
    /// Waits.
    pub waits: Vec<Wait>,
    /// Callbacks.
    pub blocking_asts: Vec<BlockingAst>,
    /// There was more of these than was kept.
    pub truncated: bool,
}

/// What a [`LockPair`] is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LockPairKey {
    /// Node.
    pub node: String,
    /// Target.
    pub target: String,
    /// Who has it.
    pub holder: String,
    /// Who wants it.
    pub waiter: String,
}

/// Two clients that want the same of a target.
pub type LockPair = Keyed<LockPairKey, LockPairSums>;

/// What a [`LockJob`] is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LockJobKey {
    /// Node.
    pub node: String,
    /// Job.
    pub job: Option<String>,
}

/// Locks of a job.
pub type LockJob = Keyed<LockJobKey, LockJobSums>;

/// An RPC by which clocks are compared, on the node's own clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// Node.
    pub node: String,
    /// It sent the RPC; else it handled it.
    pub sent: bool,
    /// The other end.
    pub nid: String,
    /// One in so many RPCs of that NID is kept.
    pub one_in: u64,
    /// Transfer id.
    pub xid: u64,
    /// Opcode.
    pub opcode: u32,
    /// Uuid of the sending device.
    pub uuid: String,
    /// Sent, or arrived.
    pub first_us: i64,
    /// Start of handling; of RPCs sent the same as `first_us`.
    pub start_us: i64,
    /// Answered, or handled.
    pub last_us: i64,
    /// Target, of RPCs handled.
    pub target: Option<String>,
}

/// A second of a target: what dashboards show. Key: everything up to `second`.
///
/// Not needed for an analysis, whose bins are as wide as the time that it covers wants them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Second {
    /// Node.
    pub node: String,
    /// See [`super::of_rows::CombinationKey::mdt`].
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

/// Whose time it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhoseTime {
    /// That of all clients together.
    #[default]
    All,
    /// That of a client.
    Client,
    /// That of a job.
    Job,
}

/// What time is spent on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spending {
    /// On what.
    pub on: SpentOn,
    /// See [`super::of_rows::CombinationKey::mdt`].
    pub mdt: bool,
    /// Target.
    pub target: Option<String>,
}

/// Time that requests took in a bin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpentInBin {
    /// Place in [`TimeRaster::spendings`].
    pub spending: u32,
    /// Request-microseconds.
    pub us: u64,
}

/// A bin of a [`TimeRaster`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeBin {
    /// Bit n: something was under way at the n-th of 64 points of the bin.
    pub points: u64,
    /// What its time was spent on.
    pub spent: Vec<SpentInBin>,
}

/// When requests of all clients, of a client or a job were under way at a node. Key: everything up to the name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeRaster {
    /// Node.
    pub node: String,
    /// Whose.
    pub whose: WhoseTime,
    /// NID or job id.
    pub name: Option<String>,
    /// First arrival.
    pub first_us: i64,
    /// Last end.
    pub last_us: i64,
    /// The points of bins are 2 to this power µs apart.
    pub log2_point_us: u32,
    /// Start of the first bin over the width, which is 64 points.
    pub first_bin: i64,
    /// Bins, next to each other.
    pub bins: Vec<TimeBin>,
    /// What time was spent on.
    pub spendings: Vec<Spending>,
}

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

/// A request of a client, or its wait for a lock, as a replay needs it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ReplayedRpc {
    /// Node.
    pub node: String,
    /// End.
    pub end_us: i64,
    /// From the arrival to the end.
    pub total_us: u32,
    /// From the start to the end.
    pub service_us: u32,
    /// Parts of service times; `None`: the log does not show them.
    pub before_us: Option<u32>,
    /// The transfer.
    pub transfer_us: Option<u32>,
    /// Bytes; 0 if none moved, or how many is not known.
    pub bytes: u32,
    /// Hash of the object; 0 if it is not known.
    pub object: u32,
    /// Between its first and its last byte at least a page is left out.
    pub gapped: bool,
    /// NID.
    pub nid: String,
    /// See [`super::of_rows::CombinationKey::mdt`].
    pub mdt: bool,
    /// Target.
    pub target: Option<String>,
    /// What it is, see `lioprof_analysis`.
    pub kind: u8,
}

/// All of these, of one node or many.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rollup {
    /// Nodes.
    pub nodes: Vec<NodeFacts>,
    /// Markers.
    pub marks: Vec<Mark>,
    /// Bins of targets and nodes.
    pub series: Vec<SeriesBin>,
    /// Bins of flows.
    pub flows: Vec<FlowBin>,
    /// Maps of latencies.
    pub latency: Vec<LatencyBin>,
    /// Bins of locks.
    pub locks: Vec<LockBin>,
    /// Single RPCs.
    pub sample: Vec<SampleRpc>,
    /// How objects are used.
    pub access: Vec<AccessObject>,
    /// Small between large RPCs.
    pub mix: Vec<ClientMix>,
    /// Momentary pictures.
    pub pictures: Vec<Picture>,
    /// Locks of targets.
    pub lock_targets: Vec<LockTarget>,
    /// Their times.
    pub lock_times: Vec<LockTimes>,
    /// Times of lock requests.
    pub enqueue_times: Vec<EnqueueTimes>,
    /// Contended objects.
    pub lock_objects: Vec<LockObject>,
    /// Pairs of clients.
    pub lock_pairs: Vec<LockPair>,
    /// Locks of jobs.
    pub lock_jobs: Vec<LockJob>,
    /// RPCs between nodes.
    pub exchanges: Vec<Exchange>,
    /// What clients waited for.
    pub time_rasters: Vec<TimeRaster>,
    /// Requests to replay.
    pub replay: Vec<ReplayedRpc>,
    /// Targets by second.
    pub seconds: Vec<Second>,
}
