//! What the time of lock requests (LDLM_ENQUEUE) was made of: queue, service, and waiting for locks.

use serde::{Deserialize, Serialize};

use crate::latency::Distribution;

/// Parts of the time of lock requests: of all, by target and by client. Needs mask `dlmtrace`; without it parts are unknown.
///
/// Empty if locks were not looked at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnqueueParts {
    /// All lock requests.
    pub all: EnqueueSplit,
    /// By target, in the order of names.
    pub targets: Vec<TargetEnqueues>,
    /// By client, in the order of NIDs. Servers ask each other for locks, too: their NIDs are among these.
    pub clients: Vec<ClientEnqueues>,
}

/// Lock requests to a target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetEnqueues {
    /// Name of the target; `null`: no lock line of the request is in the log.
    pub target: Option<String>,
    /// Node that handled them.
    pub node: String,
    /// Parts.
    #[serde(flatten)]
    pub parts: EnqueueSplit,
}

/// Lock requests of a client.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientEnqueues {
    /// Network id of the client.
    pub nid: String,
    /// Parts.
    #[serde(flatten)]
    pub parts: EnqueueSplit,
}

/// Lock requests and the parts of their time. All parts are of the same requests, those whose parts are known, so the sums of the parts
/// add up to the sum of the totals, to the microsecond.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnqueueSplit {
    /// LDLM_ENQUEUE requests handled.
    pub enqueues: u64,
    /// Those whose parts are unknown: no mask `dlmtrace`, a line is missing, or the lock was not granted within the log.
    pub unknown: u64,
    /// Those that waited for a lock of another client.
    pub waited: u64,
    /// From the arrival until the request was handled, or until its lock was granted if that came later.
    pub total: EnqueuePart,
    /// From the arrival to the start of handling.
    pub queue: EnqueuePart,
    /// Handling, without the time in which the request waited for a lock.
    pub service: EnqueuePart,
    /// From the moment at which the request was put on the waiting list, because of another client's lock, until its lock was granted:
    /// after the reply (OSTs), or within the handling (MDTs). 0 if it did not wait.
    pub lock_wait: EnqueuePart,
    /// The same because of a lock of the same client, or of the server itself.
    pub other_wait: EnqueuePart,
}

/// A part of the time of lock requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnqueuePart {
    /// Distribution over all requests whose parts are known.
    pub us: Distribution,
    /// Sum, µs; `null`: of none are the parts known.
    pub sum_us: Option<u64>,
}

impl EnqueueSplit {
    /// The parts in the order of time, with their names.
    #[must_use]
    pub fn in_order(&self) -> [(&'static str, &EnqueuePart); 4] {
        [
            ("queue", &self.queue),
            ("service", &self.service),
            ("wait for other clients' locks", &self.lock_wait),
            ("wait for own and servers' locks", &self.other_wait),
        ]
    }

    /// Requests whose parts are known.
    #[must_use]
    pub fn known(&self) -> u64 {
        self.enqueues - self.unknown
    }
}
