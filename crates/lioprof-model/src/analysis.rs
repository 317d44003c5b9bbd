//! The result of an analysis: the layout of `analysis.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::access::Access;
use crate::baseline::Baseline;
use crate::faults::ClientFaults;
use crate::findings::{Check, Finding};
use crate::io::{Io, SizeHistogram};
use crate::latency::Distribution;
use crate::locks::{LockEvidence, Locks};
use crate::phases::RpcPhases;
use crate::row::{Direction, SizeEvidence, TargetEvidence};
use crate::series::{RpcSample, Series};
use crate::services::Service;
use crate::target::TargetKindName;
use crate::units::{percent, plural};

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
    /// Seconds of it in which at least one node was traced; `null`: all of it.
    #[serde(default)]
    pub traced_s: Option<f64>,
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

/// Why pieces of a log are lost: the node lost power or crashed while they were in memory only. A reason of
/// [`Loss::dropped_reasons`], and of the manifests beside the rows.
pub const NEVER_ON_DISK: &str = "the node went down before this was on disk";

/// What a capture lost or cannot tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// Requests that the schedulers numbered but whose `NRS start` line is not there, by the best explanation of all holes.
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
    /// Of the stretches, how many for which reason.
    #[serde(default)]
    pub dropped_reasons: BTreeMap<String, u64>,
    /// Times the kernel said, while it was captured, that its debug buffer overflowed.
    #[serde(default)]
    pub kernel_overflows: u64,
    /// Times the clock went back.
    pub clock_steps: u64,
    /// Of `nrs_sequence_gaps`, numbers that are surely missing.
    #[serde(default)]
    pub nrs_sequence_gaps_min: u64,
    /// `Handled RPC` whose `Handling RPC` and number are lost; the RPC itself is there.
    #[serde(default)]
    pub lost_starts: u64,
    /// `Handling RPC` whose `Handled RPC` is lost.
    #[serde(default)]
    pub lost_ends: u64,
    /// Best estimate of the share of RPCs lost; `null` if nothing tells, or if a head was overwritten.
    pub estimated_lost_fraction: Option<f64>,
    /// At least this share is lost; `null` as above.
    #[serde(default)]
    pub lost_fraction_min: Option<f64>,
    /// At most this share is lost; `null` if there is no bound.
    #[serde(default)]
    pub lost_fraction_max: Option<f64>,
    /// What the three shares rest on.
    #[serde(default)]
    pub decided_by: LossEvidence,
    /// How it was estimated.
    pub estimate: String,
    /// What the nodes' own counters say, by node and service; empty where none were sampled.
    #[serde(default)]
    pub by_service: Vec<ServiceLoss>,
    /// The same by node and OST.
    #[serde(default)]
    pub by_target: Vec<TargetLoss>,
}

impl Analysis {
    /// Whether lines of the lock manager are in the log of every server, although some of the log is lost. Then the debug masks were on that
    /// name the OST of each read and write, and where a line that names it is missing, it was lost.
    #[must_use]
    pub fn only_lost_lines_hide_targets(&self) -> bool {
        let evidence = self.locks.as_ref().map(|locks| locks.evidence);
        evidence == Some(LockEvidence::Dlmtrace) && self.loss.is_some()
    }

    /// What clients sent, as a sentence, if there are logs of clients only.
    #[must_use]
    pub fn sent_by_clients(&self) -> Option<String> {
        let all_clients = self.nodes.iter().all(|node| node.role == Some(NodeRole::Client));
        if self.nodes.is_empty() || !all_clients {
            return None;
        }
        let sum = |figure: fn(&Node) -> u64| self.nodes.iter().map(figure).sum::<u64>();
        let logs = match self.nodes.len() {
            1 => "this is the log of a client".to_owned(),
            clients => format!("these are the logs of {clients} clients"),
        };
        Some(format!(
            "{logs}: {} sent, {} and {} of OSTs among them",
            plural(sum(|node| node.sent_rpcs), "RPC"),
            plural(sum(|node| node.sent_reads), "read"),
            plural(sum(|node| node.sent_writes), "write"),
        ))
    }
}

impl Loss {
    /// The share of the RPCs that is missing, for people: `32.57 %` where counters decide, else `about 20.2 % (20.2 to 20.5 %)`.
    /// `None` if it is unknown, or nothing is missing.
    #[must_use]
    pub fn missing(&self) -> Option<String> {
        let best = self.estimated_lost_fraction?;
        let (min, max) = (self.lost_fraction_min.unwrap_or(best), self.lost_fraction_max);
        if best <= 0.0 && max.is_none_or(|max| max <= 0.0) {
            return None;
        }
        let about = percent(best, 2);
        let (low, high) = (percent(min, 1), max.map(|max| percent(max, 1)));
        Some(match high {
            Some(high) if low == high && self.decided_by == LossEvidence::Counters => about,
            Some(high) if low == high => format!("about {about}"),
            Some(high) => format!("about {about} ({} to {high})", low.trim_end_matches(" %")),
            None => format!("about {about} (at least {low})"),
        })
    }

    /// Whether there are signs that the kernel's debug buffer overflowed.
    #[must_use]
    pub fn overflowed(&self) -> bool {
        self.discarded_heads + self.kernel_overflows > 0
    }

    /// Of [`Self::dropped_segments`], those that were in the memory of a node that went down. Nothing tells how many RPCs were in
    /// them: the numbers of the request schedulers begin anew after a boot.
    #[must_use]
    pub fn never_on_disk(&self) -> u64 {
        self.dropped_reasons.get(NEVER_ON_DISK).copied().unwrap_or(0)
    }

    /// Of [`Self::dropped_segments`], those that the capture daemon gave up or that somebody removed.
    #[must_use]
    pub fn given_up(&self) -> u64 {
        self.dropped_segments.saturating_sub(self.never_on_disk())
    }

    /// Whether any of it was captured by `lioprof daemon`, as far as what is lost shows: nobody else samples counters, reads the
    /// kernel log or gives up pieces.
    #[must_use]
    pub fn is_of_daemon(&self) -> bool {
        self.kernel_overflows + self.dropped_segments > 0 || !self.by_service.is_empty() || !self.by_target.is_empty()
    }

    /// Whether there are signs that records are missing, how many ever.
    #[must_use]
    pub fn is_some(&self) -> bool {
        self.overflowed()
            || self.dropped_segments + self.torn_seams > 0
            || self.head_overwritten
            || self.estimated_lost_fraction.is_some_and(|lost| lost > 0.0)
    }

    /// Why the capture daemon gave up pieces of the log, in its words; `None` if it gave up none.
    #[must_use]
    pub fn given_up_because(&self) -> Option<String> {
        let reasons = self.dropped_reasons.keys().map(String::as_str);
        let reasons: Vec<&str> = reasons.filter(|&reason| reason != NEVER_ON_DISK).collect();
        (self.given_up() > 0)
            .then(|| if reasons.is_empty() { "decoding could not keep up".to_owned() } else { reasons.join("; ") })
    }
}

/// What tells how much is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossEvidence {
    /// Nothing does.
    #[default]
    Unknown,
    /// The servers' own counters, sampled beside the trace.
    Counters,
    /// The numbers of the request schedulers, and halves of RPCs.
    Sequence,
    /// RPCs in segments that the capture daemon gave up, which it had counted.
    GivenUp,
    /// Counters on some nodes, something else on others.
    Mixed,
}

/// Requests of a service by the server's counters, and in the trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServiceLoss {
    /// Node.
    pub node: String,
    /// Service as the counters name it: `ost_io`.
    pub service: String,
    /// Requests between the first and the last sample, by `req_waittime` of the service.
    pub counted_rpcs: u64,
    /// RPCs in the trace of the same time.
    pub seen_rpcs: u64,
    /// Requests under way when a sample at an end was read, or when tracing ended: a difference up to this is no loss.
    pub edge_rpcs: u64,
    /// RPCs lost.
    pub lost_rpcs: u64,
    /// Share of the counted ones.
    pub lost_fraction: f64,
}

/// Reads and writes of an OST by its counters, and in the trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetLoss {
    /// Node.
    pub node: String,
    /// OST.
    pub target: String,
    /// Reads and writes between the first and the last sample, by `read_bytes` and `write_bytes` of the OST.
    pub counted_rpcs: u64,
    /// Their bytes.
    pub counted_bytes: u64,
    /// Reads and writes of this OST in the trace of the same time.
    pub seen_rpcs: u64,
    /// Their bytes, as far as they are known.
    pub seen_bytes: u64,
    /// RPCs under way when a sample at an end was read.
    pub edge_rpcs: u64,
    /// RPCs lost, if all reads and writes of unknown OST are of this one.
    pub lost_rpcs_min: u64,
    /// RPCs lost, if none of them is.
    pub lost_rpcs_max: u64,
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

crate::sums! {
    /// Reads and writes.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct ReadWrite {
        /// Reads.
        pub read: Io,
        /// Writes.
        pub write: Io,
    }
}

impl ReadWrite {
    /// One of them.
    pub fn direction(&mut self, direction: Direction) -> &mut Io {
        match direction {
            Direction::Read => &mut self.read,
            Direction::Write => &mut self.write,
        }
    }
}

/// A server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Name.
    pub name: String,
    /// RPCs it handled.
    pub rpcs: u64,
    /// RPCs it sent.
    pub sent_rpcs: u64,
    /// `OST_READ` among them.
    #[serde(default)]
    pub sent_reads: u64,
    /// `OST_WRITE` among them.
    #[serde(default)]
    pub sent_writes: u64,
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
    /// Bytes read, estimated likewise; `null` if there are reads and none has a known size.
    pub estimated_read_bytes: Option<f64>,
    /// Bytes written, estimated likewise; `null` if there are writes and none has a known size.
    pub estimated_write_bytes: Option<f64>,
    /// Reads and writes of unknown size in the traced time. The estimates take each for as large as the others of its
    /// direction are on average.
    #[serde(default)]
    pub unsized_rpcs: u64,
    /// As `estimated_read_bytes`, with 0 for reads of unknown size.
    #[serde(default)]
    pub estimated_read_bytes_min: f64,
    /// As `estimated_write_bytes`, with 0 for writes of unknown size.
    #[serde(default)]
    pub estimated_write_bytes_min: f64,
    /// Stretches that were traced, first to last, Unix seconds; of more than 1,000 the longest.
    #[serde(default)]
    pub traced: Vec<[f64; 2]>,
    /// Stretches that are not in `traced`.
    #[serde(default)]
    pub traced_omitted: u64,
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
