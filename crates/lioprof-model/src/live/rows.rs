//! Rows of the lists. Names are `null` in the row of the others.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::io::LiveIo;
use super::top::LiveRow;
use crate::target::TargetKindName;

/// A target of a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LiveTarget {
    /// Name of the target; `null` also for reads and writes whose target the log does not show.
    pub target: Option<String>,
    /// The server.
    pub server: Option<String>,
    /// OST, MDT or MGS; `null` in the row of the others.
    pub kind: Option<TargetKindName>,
    /// RPCs of all kinds.
    pub rpcs_per_s: f64,
    /// Reads.
    pub read: LiveIo,
    /// Writes.
    pub write: LiveIo,
    /// Time in the queue, microseconds: half of the RPCs waited at most this long. `null` in the row of the others, like the next three.
    pub queue_p50_us: Option<u64>,
    /// 99 % of the RPCs waited at most this long.
    pub queue_p99_us: Option<u64>,
    /// Time in the handler, microseconds: half of the RPCs took at most this long.
    pub service_p50_us: Option<u64>,
    /// 99 % of the RPCs took at most this long.
    pub service_p99_us: Option<u64>,
    /// Requests that were waiting or being handled at a time, on average: the time of all RPCs together per second.
    pub in_flight: f64,
    /// Conflicts between different clients over locks.
    pub conflicts_per_s: f64,
    /// Clients that read or wrote.
    pub clients: u64,
}

/// A client, by NID.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LiveClient {
    /// Network id.
    pub nid: Option<String>,
    /// RPCs of all kinds.
    pub rpcs_per_s: f64,
    /// Reads.
    pub read: LiveIo,
    /// Writes.
    pub write: LiveIo,
    /// Targets that it read or wrote.
    pub targets: u64,
    /// Conflicts over locks that it has with other clients, as holder or as waiter.
    pub conflicts_per_s: f64,
    /// Requests that waited for another client's lock at a time, on average. A wait counts where it ends.
    pub waiting: f64,
}

/// A job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LiveJob {
    /// Job id; empty for RPCs without one; `null` also if the Lustre version prints none.
    pub job: Option<String>,
    /// RPCs of all kinds.
    pub rpcs_per_s: f64,
    /// Reads.
    pub read: LiveIo,
    /// Writes.
    pub write: LiveIo,
    /// Clients that run it, at least: of several servers the most that one of them has seen.
    pub clients: u64,
}

/// A client's reads and writes of a target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LiveFlow {
    /// The client.
    pub nid: Option<String>,
    /// The target.
    pub target: Option<String>,
    /// The server.
    pub server: Option<String>,
    /// Reads.
    pub read: LiveIo,
    /// Writes.
    pub write: LiveIo,
}

/// An object of a target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LiveObject {
    /// FID, or the resource's name if it stands for no object.
    pub object: Option<String>,
    /// The target.
    pub target: Option<String>,
    /// The server.
    pub server: Option<String>,
    /// Reads.
    pub read: LiveIo,
    /// Writes.
    pub write: LiveIo,
    /// Clients that used it.
    pub clients: u64,
    /// Conflicts between different clients over its locks, where the log names the object (mask `dlmtrace`).
    pub conflicts_per_s: f64,
}

/// A client's reads and writes of an object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LiveAccess {
    /// The client.
    pub nid: Option<String>,
    /// FID of the object.
    pub object: Option<String>,
    /// The target.
    pub target: Option<String>,
    /// The server.
    pub server: Option<String>,
    /// Reads.
    pub read: LiveIo,
    /// Writes.
    pub write: LiveIo,
}

/// A pair of clients in conflict on a target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LiveWait {
    /// The client that wants a lock.
    pub waiter: Option<String>,
    /// The client that holds it.
    pub holder: Option<String>,
    /// The target.
    pub target: Option<String>,
    /// The server.
    pub server: Option<String>,
    /// Conflicts.
    pub conflicts_per_s: f64,
}

/// One conflict comes before any number of bytes.
const FIRST: f64 = 1e15;

/// Makes structs rows: by which names, how heavy, and what becomes of the other fields when two of them add up.
macro_rules! rows {
    ($(
        $row:ident by $($name:ident)+, weight |$it:ident| $weight:expr,
        io: $($io:ident)*, sum: $($sum:ident)*, most: $($most:ident)*, unknown: $($unknown:ident)*;
    )+) => {$(
        impl LiveRow for $row {
            fn by_name(&self, other: &Self) -> Ordering {
                ($(&self.$name,)+).cmp(&($(&other.$name,)+))
            }

            fn weight(&self) -> f64 {
                let $it = self;
                $weight
            }

            fn add(&mut self, other: &Self) {
                $(self.$io.add(&other.$io);)*
                $(self.$sum += other.$sum;)*
                $(self.$most = self.$most.max(other.$most);)*
                $(self.$unknown = None;)*
            }

            fn nameless(&self) -> Self {
                Self { $($name: None,)+ $($unknown: None,)* ..self.clone() }
            }
        }
    )+};
}

rows! {
    // Percentiles of two do not add up.
    LiveTarget by target server kind, weight |it| bytes(&it.read, &it.write),
        io: read write, sum: rpcs_per_s in_flight conflicts_per_s, most: clients,
        unknown: queue_p50_us queue_p99_us service_p50_us service_p99_us;
    // Servers have different targets.
    LiveClient by nid, weight |it| bytes(&it.read, &it.write),
        io: read write, sum: rpcs_per_s targets conflicts_per_s waiting, most:, unknown:;
    LiveJob by job, weight |it| bytes(&it.read, &it.write),
        io: read write, sum: rpcs_per_s, most: clients, unknown:;
    LiveFlow by target nid server, weight |it| bytes(&it.read, &it.write),
        io: read write, sum:, most:, unknown:;
    LiveObject by target object server, weight |it| FIRST.mul_add(it.conflicts_per_s, bytes(&it.read, &it.write)),
        io: read write, sum: conflicts_per_s, most: clients, unknown:;
    LiveAccess by target nid object server, weight |it| bytes(&it.read, &it.write),
        io: read write, sum:, most:, unknown:;
    LiveWait by target waiter holder server, weight |it| it.conflicts_per_s,
        io:, sum: conflicts_per_s, most:, unknown:;
}

/// Bytes per second in both directions.
fn bytes(read: &LiveIo, write: &LiveIo) -> f64 {
    read.bytes_per_s.unwrap_or(0.0) + write.bytes_per_s.unwrap_or(0.0)
}
