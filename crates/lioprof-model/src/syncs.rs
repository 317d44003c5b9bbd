//! Syncs that take longer than their like on the same server.

use serde::{Deserialize, Serialize};

use crate::Distribution;

/// Syncs of what was written to an OST, or to one of several, against others on the same server: these are of OSTs of the same kind. No line
/// of a log names the OST of a sync.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SyncTimes {
    /// Server.
    pub node: String,
    /// OSTs that they may be of. One: the only one of the server to which their clients had written of late. Several: the clients had written
    /// about as much to each, and some of their syncs took far longer than the others.
    pub targets: Vec<String>,
    /// Syncs.
    pub rpcs: u64,
    /// What they took in the handler.
    pub service_us: Distribution,
    /// Other syncs on the server: of other OSTs, or those that did not take so long.
    pub others: u64,
    /// What those took.
    pub others_service_us: Distribution,
    /// How many times as long they took: of one OST the mean, for about as many bytes, else the least over the longest of the others.
    pub ratio: f64,
    /// Probability that chance makes it look so; `null` if they were told by their times.
    pub chance: Option<f64>,
    /// Time in which any of them was under way, µs.
    pub covered_us: u64,
    /// When the first of them began, Unix seconds.
    pub first: f64,
    /// When the last of them was over, Unix seconds.
    pub last: f64,
}
