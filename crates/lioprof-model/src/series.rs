//! Figures over time.

use serde::{Deserialize, Serialize};

use crate::row::Direction;
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
    /// Per target: reads and writes (OST traffic, and Data-on-MDT for MDTs).
    pub targets: Vec<TargetSeries>,
    /// Per node: all RPCs of all services.
    pub nodes: Vec<NodeSeries>,
    /// Read and write requests per client and target; top flows, the rest of a target with `nid: null`.
    pub flows: Vec<FlowSeries>,
    /// Total time of reads and writes.
    pub latency: Vec<Heatmap>,
}

/// One target over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetSeries {
    /// Target; `null`: reads and writes of the node whose target is unknown.
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
    /// Reads and writes ended.
    pub rpcs: Vec<u64>,
    /// Reads and writes arrived (enqueued).
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
    /// Mean number between arrival and end.
    pub in_flight: Vec<f64>,
    /// Mean total time of the RPCs that ended in the bin, microseconds; `null` where none did.
    pub mean_total_us: Vec<Option<f64>>,
}

/// Reads and writes of one client on one target over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowSeries {
    /// Client; `null`: all clients of the target that have no row of their own.
    pub nid: Option<String>,
    /// Target; `null` if unknown.
    pub target: Option<String>,
    /// Name of the node.
    pub node: String,
    /// Number of reads that ended in each bin.
    pub read_rpcs: Vec<u64>,
    /// Number of writes that ended in each bin.
    pub write_rpcs: Vec<u64>,
}

/// How many RPCs took how long, over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heatmap {
    /// Reads or writes.
    pub direction: Direction,
    /// Lower edges of the latency buckets, microseconds; the last bucket is open.
    pub edges_us: Vec<u64>,
    /// Non-empty cells: bin, bucket, RPCs.
    pub cells: Vec<(u32, u32, u64)>,
}

/// Single RPCs for plots that show every one: all reads and writes of a small capture, else a sample.
///
/// An RPC is kept if a hash of its NID and xid falls below a limit that is halved whenever the sample
/// is full: which ones are kept does not depend on order, threads or chunks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RpcSample {
    /// One in this many RPCs is in the sample, on average; 1: all of them.
    pub one_in: u64,
    /// The RPCs, by end time.
    pub rpcs: Vec<SampledRpc>,
}

/// One RPC of an [`RpcSample`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampledRpc {
    /// Arrival, Unix seconds.
    pub arrival: f64,
    /// Start of handling, Unix seconds.
    pub start: f64,
    /// End, Unix seconds.
    pub end: f64,
    /// Read or write.
    pub direction: Direction,
    /// Index into `clients`.
    pub client: u32,
    /// Index into `targets`, where known.
    pub target: Option<u32>,
    /// Object, where known.
    pub object: Option<String>,
    /// First byte, where known.
    pub offset: Option<u64>,
    /// Last byte, inclusive, where known.
    pub last: Option<u64>,
    /// Best estimate of the bytes, where known.
    pub bytes: Option<u64>,
}
