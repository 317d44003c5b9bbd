//! What went wrong between servers and clients.

use serde::{Deserialize, Serialize};

/// Faults of one client. Only those that have some are listed, worst first, at most 100.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientFaults {
    /// NID.
    pub nid: String,
    /// Times that a target threw it out for a lock that it did not give back; the pinger's evictions name no client.
    pub evictions: u64,
    /// RPCs answered with `-ENOTCONN`: the target had thrown it out, or was restarted.
    pub not_connected_rpcs: u64,
    /// RPCs that ended with `-ETIMEDOUT`: data did not arrive.
    pub timed_out_rpcs: u64,
    /// Requests dropped before they were handled: too late, or of an old connection.
    pub dropped_rpcs: u64,
    /// Requests that it had sent before.
    pub resent_rpcs: u64,
    /// Requests replayed in recovery.
    pub replayed_rpcs: u64,
    /// Connect requests: mounts and reconnects.
    pub connects: u64,
    /// Time of the first fault, Unix seconds.
    pub first: Option<f64>,
    /// Time of the last one.
    pub last: Option<f64>,
}
