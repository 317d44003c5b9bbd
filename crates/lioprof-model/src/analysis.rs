//! The result of an analysis: the layout of `analysis.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::access::Access;
use crate::baseline::Baseline;
use crate::faults::ClientFaults;
use crate::findings::{Check, Finding};
use crate::io::{Io, SizeHistogram};
use crate::locks::Locks;
use crate::phases::RpcPhases;
use crate::row::{SizeEvidence, TargetEvidence};
use crate::series::{RpcSample, Series};
use crate::services::Service;

/// Everything lioprof knows about a set of captures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// [`crate::SCHEMA`].
    pub schema: String,
    /// What made it.
    pub generator: Generator,
    /// First to last record that was looked at.
    pub window: Window,
    /// What to know before believing the figures; one sentence each, most important first.
    pub warnings: Vec<String>,
    /// `lctl mark` lines.
    pub markers: Vec<Marker>,
    /// What was read.
    pub inputs: Vec<Input>,
    /// What is missing.
    pub loss: Loss,
    /// Sums.
    pub totals: Totals,
    /// The servers.
    pub nodes: Vec<Node>,
    /// The targets, by name; reads and writes are those whose target is known.
    pub targets: Vec<Target>,
    /// The clients, by bytes.
    pub clients: Vec<Client>,
    /// Client x target, sparse, by NID and target.
    pub flows: Vec<Flow>,
    /// Jobs, by bytes.
    pub jobs: Vec<Job>,
    /// User, group and project ids, by bytes (Lustre 2.16 and later).
    pub owners: Vec<Owner>,
    /// Objects with most bytes; if there are more, a last row with `fid: null` sums up the others.
    pub objects: Vec<Object>,
    /// Per opcode and service.
    pub operations: Vec<Operation>,
    /// RPCs that the servers sent themselves.
    pub sent: Vec<SentRpcs>,
    /// Where the time of RPCs goes, by client, node and target, for clients whose log is an input.
    #[serde(default)]
    pub rpc_phases: Vec<RpcPhases>,
    /// Threads per service and node, by name.
    #[serde(default)]
    pub services: Vec<Service>,
    /// Clients with which something went wrong, worst first.
    #[serde(default)]
    pub client_faults: Vec<ClientFaults>,
    /// What the OSTs can deliver, where the user said so; `null` otherwise.
    #[serde(default)]
    pub baseline: Option<Baseline>,
    /// Lock contention; `null` if it was switched off.
    #[serde(default)]
    pub locks: Option<Locks>,
    /// Figures over time.
    pub series: Series,
    /// Single RPCs.
    pub sample: RpcSample,
    /// How reads and writes of OSTs lie in their objects and in time.
    #[serde(default)]
    pub access: Access,
    /// What is wrong, worst first.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// What was looked for, found or not.
    #[serde(default)]
    pub checks: Vec<Check>,
}

/// Program and version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generator {
    /// `lioprof`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A time span, Unix seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Start.
    pub start: f64,
    /// End.
    pub end: f64,
    /// `end - start`, seconds.
    pub duration_s: f64,
}

/// A `DEBUG MARKER` line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Marker {
    /// Unix seconds.
    pub time: f64,
    /// Node.
    pub node: String,
    /// Text.
    pub text: String,
}

/// In what form a log was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// `lctl debug_file`, `lctl dk`.
    Text,
    /// Debug daemon, `dump_kernel`.
    Binary,
    /// Rows that lioprof has kept.
    Parquet,
}

/// One input file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// Path as given or found; `-` is standard input.
    pub path: String,
    /// Node it was taken for.
    pub node: String,
    /// In what form, told by content.
    pub format: Format,
    /// `gz`, `zst`, `xz`, `bz2`, or `null`.
    pub compression: Option<String>,
    /// Bytes read, decompressed.
    pub bytes: u64,
    /// Records found.
    pub records: u64,
    /// Records of a kind that lioprof interprets.
    pub messages: u64,
    /// Records (or lines) that could not be read.
    pub bad_records: u64,
    /// Bytes that belong to no record.
    pub skipped_bytes: u64,
    /// First bad places, at most 20.
    pub bad_places: Vec<BadPlace>,
    /// Known messages that did not parse, by kind.
    pub malformed: BTreeMap<String, u64>,
    /// Records of other kinds, `file:function`, most frequent 20.
    pub other: Vec<OtherRecords>,
    /// Time of the first record, Unix seconds.
    pub first: Option<f64>,
    /// Time of the last record.
    pub last: Option<f64>,
    /// What went wrong with this input, if anything did.
    pub error: Option<String>,
}

/// A place in an input that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadPlace {
    /// Byte offset in the decompressed input.
    pub offset: u64,
    /// Bytes skipped.
    pub bytes: u64,
    /// Why.
    pub why: String,
}

/// Records that lioprof does not interpret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherRecords {
    /// Source file of the kernel module.
    pub file: String,
    /// Function.
    pub function: String,
    /// Records.
    pub records: u64,
}

/// What a capture lost or cannot tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// Requests that the schedulers numbered but whose `NRS start` line is not there.
    pub nrs_sequence_gaps: u64,
    /// Requests seen by their `NRS start` line.
    pub nrs_sequence_seen: u64,
    /// `Handling RPC` without `Handled RPC` (still running at the end, or lost).
    pub missing_handled: u64,
    /// `Handled RPC` without `Handling RPC` (before the start, or lost).
    pub missing_handling: u64,
    /// Reads and writes that announced themselves but were never handled.
    pub never_handled: u64,
    /// Places where a ring was overwritten.
    pub torn_seams: u64,
    /// CPU buffers ("streams") that begin without the `F` flag: what they held before is gone, or the flagged
    /// record was filtered out.
    #[serde(default)]
    pub streams_without_head: u64,
    /// The head of the capture was overwritten (a seam, or a stream without head and RPCs of which half is
    /// missing): how much is unknown.
    pub head_overwritten: bool,
    /// Runs of records whose head the kernel discarded (buffer overflow).
    pub discarded_heads: u64,
    /// Records that could not be read.
    pub bad_records: u64,
    /// Stretches of the log that a capture lost before they were read.
    #[serde(default)]
    pub dropped_segments: u64,
    /// Bytes of the log in them.
    #[serde(default)]
    pub dropped_segment_bytes: u64,
    /// RPCs whose end is in these: counted, not rebuilt.
    #[serde(default)]
    pub dropped_segment_rpcs: u64,
    /// Times the kernel said, while it was captured, that its debug buffer overflowed.
    #[serde(default)]
    pub kernel_overflows: u64,
    /// Times the clock went back.
    pub clock_steps: u64,
    /// Share of RPCs lost, estimated from the schedulers' numbers and from what is known to be dropped; `null` if they
    /// say nothing, or if a head was overwritten.
    pub estimated_lost_fraction: Option<f64>,
    /// How it was estimated.
    pub estimate: String,
}

/// Sums over everything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// RPCs handled by the nodes' services.
    pub rpcs: u64,
    /// Of these, sent by servers (MDT to OST, light-weight connections), as told by their uuids.
    pub server_rpcs: u64,
    /// RPCs that the nodes sent themselves (lock callbacks, MDT to OST).
    pub sent_rpcs: u64,
    /// OST_READ on OSTs.
    pub read: Io,
    /// OST_WRITE on OSTs.
    pub write: Io,
    /// Data-on-MDT reads (not in `read`).
    pub dom_read: Io,
    /// Data-on-MDT writes (not in `write`).
    pub dom_write: Io,
    /// The part of `read` and `write` whose OST is unknown.
    pub unattributed: ReadWrite,
    /// RPCs resent by clients.
    pub resent_rpcs: u64,
    /// RPCs replayed by clients.
    pub replayed_rpcs: u64,
    /// Requests dropped before they were handled.
    pub dropped_rpcs: u64,
    /// RPCs that the nodes sent and that timed out.
    pub sent_timed_out: u64,
    /// Clients evicted, as reported by lock timers and the pinger.
    pub evictions: u64,
    /// What the sizes of reads and writes rest on: RPCs by evidence.
    pub size_evidence: BTreeMap<SizeEvidence, u64>,
    /// What the targets of reads and writes rest on: RPCs by evidence.
    pub target_evidence: BTreeMap<TargetEvidence, u64>,
}

/// Reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadWrite {
    /// Reads.
    pub read: Io,
    /// Writes.
    pub write: Io,
}

/// A server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Name.
    pub name: String,
    /// RPCs it handled.
    pub rpcs: u64,
    /// RPCs it sent.
    pub sent_rpcs: u64,
    /// OST_READ.
    pub read: Io,
    /// OST_WRITE.
    pub write: Io,
    /// The part of them whose OST is unknown.
    pub unattributed: ReadWrite,
    /// Time of the first record, Unix seconds.
    pub first: f64,
    /// Time of the last record.
    pub last: f64,
    /// Tracing was on part of the time only: what that means. `null`: it was on all the time.
    #[serde(default)]
    pub sampled: Option<Sampled>,
    /// What it is, as far as its log shows.
    #[serde(default)]
    pub role: Option<NodeRole>,
    /// Its targets, by name.
    #[serde(default)]
    pub targets: Vec<String>,
    /// Node on whose clock offsets are told; `null` if this node's clock cannot be compared with another one's.
    #[serde(default)]
    pub clock_reference: Option<String>,
    /// What this node's clock shows more than the reference's, in the middle of its log; `null` if unknown.
    #[serde(default)]
    pub clock_offset_us: Option<i64>,
    /// The offset is at most so much larger or smaller, at any time of the log.
    #[serde(default)]
    pub clock_error_us: Option<u64>,
    /// How much faster this node's clock runs than the reference's, microseconds per second.
    #[serde(default)]
    pub clock_drift_ppm: Option<f64>,
    /// The drift is at most so much larger or smaller.
    #[serde(default)]
    pub clock_drift_error_ppm: Option<f64>,
    /// Times of this node are those of the reference's clock. If not, they are as the node logged them.
    #[serde(default)]
    pub clock_aligned: bool,
    /// RPCs of which both its log and another node's tell: what clocks are compared by.
    #[serde(default)]
    pub pairs: u64,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeRole {
    /// Has MDTs.
    Mds,
    /// Has OSTs.
    Oss,
    /// Has both.
    MdsOss,
    /// Has the MGS only.
    Mgs,
    /// Has no target, and sends RPCs.
    Client,
}

impl NodeRole {
    /// As people write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mds => "MDS",
            Self::Oss => "OSS",
            Self::MdsOss => "MDS and OSS",
            Self::Mgs => "MGS",
            Self::Client => "client",
        }
    }
}

/// A node that was traced part of the time. All counts and bytes are of that time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sampled {
    /// Seconds of tracing between first and last record.
    pub traced_s: f64,
    /// Share of the time between first and last record, 0 to 1.
    pub traced_share: f64,
    /// RPCs that all of the time would have had, if it was like the part that was traced.
    pub estimated_rpcs: f64,
    /// Bytes read, estimated likewise.
    pub estimated_read_bytes: f64,
    /// Bytes written, estimated likewise.
    pub estimated_write_bytes: f64,
}

/// Kind of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetKindName {
    /// Object storage target.
    Ost,
    /// Metadata target.
    Mdt,
    /// Management service.
    Mgs,
}

/// A target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// `lustre-OST0003`.
    pub name: String,
    /// Node that serves it.
    pub node: String,
    /// Kind.
    pub kind: TargetKindName,
    /// Reads.
    pub read: TargetIo,
    /// Writes.
    pub write: TargetIo,
    /// RPCs by opcode, of those whose target is known.
    pub opcodes: BTreeMap<String, u64>,
}

/// Reads or writes of one target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetIo {
    /// RPCs and bytes.
    #[serde(flatten)]
    pub io: Io,
    /// RPC sizes.
    pub size_hist: SizeHistogram,
    /// Times.
    pub latency: Latency,
}

/// Queue, service and total time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Arrival to start of handling.
    pub queue_us: Distribution,
    /// Start of handling to end.
    pub service_us: Distribution,
    /// Arrival to end.
    pub total_us: Distribution,
}

/// A distribution of times in microseconds. Count, mean and max are exact; percentiles are those of an
/// HDR histogram (relative error below 0.8 %).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Samples.
    pub count: u64,
    /// Mean; `null` without samples, like all below.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<u64>,
    /// 90 %.
    pub p90: Option<u64>,
    /// 99 %.
    pub p99: Option<u64>,
    /// 99.9 %.
    pub p999: Option<u64>,
    /// Largest.
    pub max: Option<u64>,
}

/// A client, by NID: all its mounts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Client {
    /// NID.
    pub nid: String,
    /// Its uuids.
    pub uuids: Vec<String>,
    /// True if a server of the file system sends from it (MDT to OST, light-weight connections), by its uuids.
    pub server: bool,
    /// RPCs of any kind.
    pub rpcs: u64,
    /// OST_READ.
    pub read: Io,
    /// OST_WRITE.
    pub write: Io,
    /// Targets it read or wrote.
    pub targets: u64,
    /// RPCs by opcode.
    #[serde(default)]
    pub opcodes: BTreeMap<String, u64>,
}

/// What one client did on one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// Client.
    pub nid: String,
    /// Target; `null` if unknown.
    pub target: Option<String>,
    /// Node.
    pub node: String,
    /// Reads.
    pub read: Io,
    /// Writes.
    pub write: Io,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Job id; empty: RPCs without one; `null`: the version prints none.
    pub job: Option<String>,
    /// RPCs of any kind.
    pub rpcs: u64,
    /// OST_READ.
    pub read: Io,
    /// OST_WRITE.
    pub write: Io,
    /// Clients.
    pub clients: u64,
    /// Targets it read or wrote.
    pub targets: u64,
}

/// Reads and writes by owner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Owner {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: Option<u32>,
    /// Project id.
    pub projid: Option<u32>,
    /// Reads.
    pub read: Io,
    /// Writes.
    pub write: Io,
}

/// An object of a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Object {
    /// Target; `null` in the row of the others.
    pub target: Option<String>,
    /// FID, or `seq/oid` as old versions print; `null` in the row of the others.
    pub fid: Option<String>,
    /// Objects in this row: 1, or how many the others are (at least).
    pub objects: u64,
    /// Reads.
    pub read: Io,
    /// Writes.
    pub write: Io,
    /// Clients that used it; `null` in the row of the others.
    pub clients: Option<u64>,
    /// Clients that wrote it.
    pub writers: Option<u64>,
    /// Lowest byte touched.
    pub first_byte: Option<u64>,
    /// Highest byte touched.
    pub last_byte: Option<u64>,
}

/// One kind of RPC on one service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// Opcode.
    pub opcode: u32,
    /// Its name.
    pub name: String,
    /// Service: the thread name without CPT and number, `ll_ost_io`.
    pub service: String,
    /// RPCs.
    pub rpcs: u64,
    /// RPCs with a negative status.
    pub errors: u64,
    /// Times.
    #[serde(flatten)]
    pub latency: Latency,
    /// Total time, histogram for plots: lower edge of the bucket in microseconds, RPCs. Four buckets
    /// per factor of two.
    pub total_hist_us: Vec<(u64, u64)>,
}

/// RPCs that a node sent, by opcode, sending device and destination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SentRpcs {
    /// Node that sent.
    pub node: String,
    /// Opcode.
    pub opcode: u32,
    /// Its name.
    pub name: String,
    /// Uuid of the sending device.
    pub device: String,
    /// The target that sends, for lock callbacks; `null` for other devices.
    #[serde(default)]
    pub target: Option<String>,
    /// Destination.
    pub nid: String,
    /// RPCs.
    pub rpcs: u64,
    /// Round trip, from `Sending RPC` to `Completed RPC`.
    pub round_trip_us: Distribution,
}
