//! Where the time of a client's RPCs goes.

use serde::{Deserialize, Serialize};

use crate::latency::Distribution;

/// RPCs of one client to one target, as both the client's and the server's log tell of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RpcPhases {
    /// Client, by the name of its node.
    pub client: String,
    /// NID under which the server knows it.
    pub nid: String,
    /// Server.
    pub node: String,
    /// Target; `null` if unknown.
    pub target: Option<String>,
    /// RPCs found in both logs.
    pub rpcs: u64,
    /// One in so many RPCs was looked for.
    pub one_in: u64,
    /// From `Sending RPC` to `Completed RPC`, on the client.
    pub round_trip_us: Distribution,
    /// On the way, there and back: the round trip less the time at the server. No comparison of clocks is in it.
    pub network_us: Distribution,
    /// Arrival to start of handling, on the server.
    pub queue_us: Distribution,
    /// Start of handling to end, on the server.
    pub service_us: Distribution,
    /// Mean of the way there; `null` if the clocks cannot be compared.
    pub network_out_us: Option<f64>,
    /// Mean of the way back.
    pub network_back_us: Option<f64>,
    /// So much may belong to the one way instead of the other.
    pub clock_error_us: Option<u64>,
}
