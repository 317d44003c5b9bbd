//! The services of the nodes.

use serde::{Deserialize, Serialize};

/// The threads of one service of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Service {
    /// Name of the node.
    pub node: String,
    /// The thread name without CPT and number, `ll_ost_io`.
    pub service: String,
    /// Threads that handled an RPC in the log; there may be more that had nothing to do.
    pub threads: u64,
    /// Requests that they handled.
    pub rpcs: u64,
    /// What these waited before a thread took them, together, microseconds.
    pub queue_us: u64,
    /// What they were in the handler, together, microseconds.
    pub service_us: u64,
    /// The part of `queue_us` of requests that waited although the thread that then took them had nothing to do: they did not wait for a
    /// thread, but a policy of the scheduler held them back, or the CPU. Too high if not all requests are in the log, or were selected.
    pub held_us: u64,
}

/// Requests of a client and job that a rule of a token bucket filter let through.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Throttled {
    /// Name of the node.
    pub node: String,
    /// As [`Service::service`].
    pub service: String,
    /// Requests a second that the rule allows; 0: the Lustre version does not print it.
    pub rate: u32,
    /// NID of the client.
    pub nid: String,
    /// Job id; `null` if the Lustre version prints none.
    pub job: Option<String>,
    /// Requests.
    pub rpcs: u64,
    /// What they waited before a thread took them, together, microseconds.
    pub queue_us: u64,
    /// What they were in the handler, together, microseconds.
    pub service_us: u64,
    /// When the first of them ended, Unix seconds.
    pub first: f64,
    /// When the last of them ended.
    pub last: f64,
}
