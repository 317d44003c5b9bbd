//! Rows of the lists. Names are `null` in the row of the others.

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

impl LiveRow for LiveTarget {
    type Key = (Option<String>, Option<String>, Option<TargetKindName>);

    fn key(&self) -> Self::Key {
        (self.target.clone(), self.server.clone(), self.kind)
    }

    fn weight(&self) -> f64 {
        bytes(&self.read, &self.write)
    }

    fn add(&mut self, other: &Self) {
        self.rpcs_per_s += other.rpcs_per_s;
        self.read.add(&other.read);
        self.write.add(&other.write);
        self.in_flight += other.in_flight;
        self.conflicts_per_s += other.conflicts_per_s;
        self.clients = self.clients.max(other.clients);
        // Percentiles of two do not add up.
        self.queue_p50_us = None;
        self.queue_p99_us = None;
        self.service_p50_us = None;
        self.service_p99_us = None;
    }

    fn nameless(&self) -> Self {
        Self {
            target: None,
            server: None,
            kind: None,
            queue_p50_us: None,
            queue_p99_us: None,
            service_p50_us: None,
            service_p99_us: None,
            ..self.clone()
        }
    }
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

impl LiveRow for LiveClient {
    type Key = Option<String>;

    fn key(&self) -> Self::Key {
        self.nid.clone()
    }

    fn weight(&self) -> f64 {
        bytes(&self.read, &self.write)
    }

    fn add(&mut self, other: &Self) {
        self.rpcs_per_s += other.rpcs_per_s;
        self.read.add(&other.read);
        self.write.add(&other.write);
        // Servers have different targets.
        self.targets += other.targets;
        self.conflicts_per_s += other.conflicts_per_s;
        self.waiting += other.waiting;
    }

    fn nameless(&self) -> Self {
        Self { nid: None, ..self.clone() }
    }
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

impl LiveRow for LiveJob {
    type Key = Option<String>;

    fn key(&self) -> Self::Key {
        self.job.clone()
    }

    fn weight(&self) -> f64 {
        bytes(&self.read, &self.write)
    }

    fn add(&mut self, other: &Self) {
        self.rpcs_per_s += other.rpcs_per_s;
        self.read.add(&other.read);
        self.write.add(&other.write);
        self.clients = self.clients.max(other.clients);
    }

    fn nameless(&self) -> Self {
        Self { job: None, ..self.clone() }
    }
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

impl LiveRow for LiveFlow {
    type Key = (Option<String>, Option<String>, Option<String>);

    fn key(&self) -> Self::Key {
        (self.target.clone(), self.nid.clone(), self.server.clone())
    }

    fn weight(&self) -> f64 {
        bytes(&self.read, &self.write)
    }

    fn add(&mut self, other: &Self) {
        self.read.add(&other.read);
        self.write.add(&other.write);
    }

    fn nameless(&self) -> Self {
        Self { nid: None, target: None, server: None, ..self.clone() }
    }
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

/// One conflict comes before any number of bytes.
const FIRST: f64 = 1e15;

impl LiveRow for LiveObject {
    type Key = (Option<String>, Option<String>, Option<String>);

    fn key(&self) -> Self::Key {
        (self.target.clone(), self.object.clone(), self.server.clone())
    }

    fn weight(&self) -> f64 {
        FIRST.mul_add(self.conflicts_per_s, bytes(&self.read, &self.write))
    }

    fn add(&mut self, other: &Self) {
        self.read.add(&other.read);
        self.write.add(&other.write);
        self.clients = self.clients.max(other.clients);
        self.conflicts_per_s += other.conflicts_per_s;
    }

    fn nameless(&self) -> Self {
        Self { object: None, target: None, server: None, ..self.clone() }
    }
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

impl LiveRow for LiveAccess {
    type Key = (Option<String>, Option<String>, Option<String>, Option<String>);

    fn key(&self) -> Self::Key {
        (self.target.clone(), self.nid.clone(), self.object.clone(), self.server.clone())
    }

    fn weight(&self) -> f64 {
        bytes(&self.read, &self.write)
    }

    fn add(&mut self, other: &Self) {
        self.read.add(&other.read);
        self.write.add(&other.write);
    }

    fn nameless(&self) -> Self {
        Self { nid: None, object: None, target: None, server: None, ..self.clone() }
    }
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

impl LiveRow for LiveWait {
    type Key = (Option<String>, Option<String>, Option<String>, Option<String>);

    fn key(&self) -> Self::Key {
        (self.target.clone(), self.waiter.clone(), self.holder.clone(), self.server.clone())
    }

    fn weight(&self) -> f64 {
        self.conflicts_per_s
    }

    fn add(&mut self, other: &Self) {
        self.conflicts_per_s += other.conflicts_per_s;
    }

    fn nameless(&self) -> Self {
        Self { waiter: None, holder: None, target: None, server: None, ..self.clone() }
    }
}

/// Bytes per second in both directions.
fn bytes(read: &LiveIo, write: &LiveIo) -> f64 {
    read.bytes_per_s.unwrap_or(0.0) + write.bytes_per_s.unwrap_or(0.0)
}
