//! Figures over time.

use serde::{Deserialize, Serialize};

use crate::io::Direction;
use crate::target::TargetKindName;

/// Figures per time bin. Bin `i` covers `[start + i * bin_s, start + (i + 1) * bin_s)`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Width of a bin, seconds.
    pub bin_s: f64,
    /// Start of bin 0, Unix seconds; a multiple of `bin_s`.
    pub start: f64,
    /// Number of bins; every array below has this length.
    pub bins: usize,
    /// Number of bins of the analysis that each of these joins, if they were joined; 0 otherwise.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub joined: u64,
    /// Reads and writes of each target (for MDTs: Data-on-MDT).
    pub targets: Vec<TargetSeries>,
    /// All RPCs of all services of each node.
    pub nodes: Vec<NodeSeries>,
    /// Reads and writes per client and target: the largest flows, and one with `nid: null` for the other clients of a target.
    pub flows: Vec<FlowSeries>,
    /// Total times (arrival to end) of reads and of writes.
    pub latency: Vec<Heatmap>,
    /// If bins were joined: the most bytes of each target in a single bin of those that each of these joins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peaks: Vec<TargetPeaks>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
pub(crate) fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// Most bytes of one target in single bins, where bins were joined; those bins are `bin_s / joined` wide.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetPeaks {
    /// Name of the target, as in [`TargetSeries::name`].
    pub name: Option<String>,
    /// Node that serves it.
    pub node: String,
    /// Bytes read.
    pub read_bytes: Vec<u64>,
    /// Bytes written.
    pub write_bytes: Vec<u64>,
}

/// One target over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetSeries {
    /// Name of the target; `null`: the node's reads and writes of unknown target.
    pub name: Option<String>,
    /// Node that serves it.
    pub node: String,
    /// OST, MDT or MGS.
    pub kind: TargetKindName,
    /// Bytes read (best estimate), spread evenly over the time in which each RPC was handled.
    pub read_bytes: Vec<u64>,
    /// Bytes written (best estimate), spread evenly over the time in which each RPC was handled.
    pub write_bytes: Vec<u64>,
    /// The part of `read_bytes` that comes from RPCs whose size is only bounded.
    pub read_bounded_bytes: Vec<u64>,
    /// The part of `write_bytes` that comes from RPCs whose size is only bounded.
    pub write_bounded_bytes: Vec<u64>,
    /// Number of reads that ended in each bin.
    pub read_rpcs: Vec<u64>,
    /// Number of writes that ended in each bin.
    pub write_rpcs: Vec<u64>,
    /// Number of reads and writes that ended in each bin.
    pub rpcs: Vec<u64>,
    /// Number of reads and writes that arrived in each bin.
    pub arrived: Vec<u64>,
    /// Mean number of requests waiting for a service thread.
    pub queued: Vec<f64>,
    /// Mean number of requests being handled.
    pub in_process: Vec<f64>,
    /// Mean number of requests between arrival and end: `queued + in_process`.
    pub in_flight: Vec<f64>,
    /// Mean total time of the RPCs that ended in the bin, microseconds; `null` where none did.
    pub mean_total_us: Vec<Option<f64>>,
}

/// All RPCs of one node over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeSeries {
    /// Name of the node.
    pub node: String,
    /// Number of RPCs that ended in each bin.
    pub rpcs: Vec<u64>,
    /// Number of RPCs that arrived in each bin.
    pub arrived: Vec<u64>,
    /// Mean number of requests waiting for a service thread.
    pub queued: Vec<f64>,
    /// Mean number of requests being handled.
    pub in_process: Vec<f64>,
    /// Mean number of requests between arrival and end: `queued + in_process`.
    pub in_flight: Vec<f64>,
    /// Mean total time of the RPCs that ended in the bin, microseconds; `null` where none did.
    pub mean_total_us: Vec<Option<f64>>,
}

/// Reads and writes of one client on one target over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowSeries {
    /// NID of the client; `null`: all clients of the target that have no row of their own.
    pub nid: Option<String>,
    /// Name of the target; `null` if unknown.
    pub target: Option<String>,
    /// Name of the node.
    pub node: String,
    /// Number of reads that ended in each bin.
    pub read_rpcs: Vec<u64>,
    /// Number of writes that ended in each bin.
    pub write_rpcs: Vec<u64>,
}

/// Number of RPCs by time bin and total time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heatmap {
    /// Reads or writes.
    pub direction: Direction,
    /// Lower edges of the latency buckets, microseconds; the last bucket is open.
    pub edges_us: Vec<u64>,
    /// Non-empty cells: index of the time bin, index of the latency bucket, number of RPCs.
    pub cells: Vec<(u32, u32, u64)>,
}

/// Single RPCs for plots that draw each one: all reads and writes of a small capture, a sample of a large one.
///
/// An RPC is kept if a hash of its NID and xid falls below a limit that is halved whenever the sample
/// is full, so the sample does not depend on order, threads or chunks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RpcSample {
    /// On average, one in this many RPCs is in the sample; 1: all of them are.
    pub one_in: u64,
    /// The RPCs of the sample, by end time.
    pub rpcs: Vec<SampledRpc>,
}

/// One RPC of an [`RpcSample`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampledRpc {
    /// When the request arrived, Unix seconds.
    pub arrival: f64,
    /// When handling started, Unix seconds.
    pub start: f64,
    /// When handling ended, Unix seconds.
    pub end: f64,
    /// Whether it is a read or a write.
    pub direction: Direction,
    /// Index of the client in the analysis' `clients`.
    pub client: u32,
    /// Index of the target in the analysis' `targets`; `null` if unknown.
    pub target: Option<u32>,
    /// FID of the object; `null` if unknown.
    pub object: Option<String>,
    /// First byte of the object that was accessed; `null` if unknown.
    pub offset: Option<u64>,
    /// Last byte that was accessed (inclusive); `null` if unknown.
    pub last: Option<u64>,
    /// Best estimate of the bytes moved; `null` if unknown.
    pub bytes: Option<u64>,
    /// Index of the job in the analysis' `jobs`; not there if the log does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<u32>,
    /// Time from the start of handling to the bulk transfer, µs: disk (read) or preparation (write); not there if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_us: Option<u64>,
    /// Time of the bulk transfer, µs: network and client; not there if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer_us: Option<u64>,
}
