//! What is replayed.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What a request is in a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// No request: a client waits for a lock.
    Wait,
    /// Reads data.
    Read,
    /// Writes data.
    Write,
    /// Asks for a lock of an OST.
    LockRequest,
    /// Gives locks back. Clients do that beside their work, and wait for nothing.
    Cancel,
    /// Waits until what was written is on the disk of an OST.
    Sync,
    /// Names, attributes, close, other locks.
    Other,
}

impl Kind {
    /// Whether it moves data.
    pub(crate) fn is_bulk(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }

    /// Whether it takes its share of a disk.
    pub(crate) fn uses_disk(self) -> bool {
        self.is_bulk() || self == Self::Sync
    }

    /// Whether a client goes on only when it is over.
    pub(crate) fn is_waited_for(self) -> bool {
        !matches!(self, Self::Wait | Self::Cancel)
    }

    /// Whether the run is not over before it is.
    pub(super) fn counts(self, moves_data: bool) -> bool {
        if moves_data { self.uses_disk() } else { self.is_waited_for() }
    }
}

/// A request of a client. Times are microseconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Request {
    pub(crate) arrival_us: i64,
    pub(crate) start_us: i64,
    pub(crate) end_us: i64,
    /// Number of the client.
    pub(crate) client: usize,
    /// Number of the place.
    pub(crate) place: usize,
    pub(crate) kind: Kind,
    /// Bytes moved; 0 also if how many is not known.
    pub(crate) bytes: u32,
    /// Hash of the object; 0 if it is not known.
    pub(crate) object: u32,
    /// Between its first and its last byte some are left out.
    pub(crate) gapped: bool,
    /// Time before the transfer, and of the transfer, if the log shows them.
    pub(crate) parts: Option<(u32, u32)>,
}

impl Request {
    /// Its size as a power of two, to compare it with others like it.
    pub(super) fn log2_bytes(&self) -> u32 {
        self.bytes.checked_ilog2().map_or(0, |log2| log2 + 1)
    }
}

/// A target on a server; without a name, what is of no known target there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) node: String,
    pub(crate) target: Option<String>,
    pub(crate) is_ost: bool,
}

/// A client's wait for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LockWait {
    pub(crate) client: usize,
    pub(crate) place: usize,
    pub(crate) from_us: i64,
    pub(crate) to_us: i64,
}

/// What is replayed. Lists are sorted by [`Run::sort`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    pub(crate) clients: Vec<String>,
    pub(crate) places: Vec<Place>,
    /// Servers whose OSTs are of another kind than those of the others.
    pub(crate) apart: BTreeSet<String>,
    pub(crate) requests: Vec<Request>,
    /// Arrival of the first of them.
    pub(crate) first_us: Option<i64>,
    pub(crate) waits: Vec<LockWait>,
    /// Requests of clients, those that cannot be replayed as well.
    pub(crate) all_requests: u64,
    /// End of the last request that somebody waits for, of all, and of the last read, write or sync.
    pub(crate) last_us: Option<i64>,
    pub(crate) last_bulk_us: Option<i64>,
}

impl Run {
    /// Sorts what is replayed: the rest depends on it, and need not be known if nothing is.
    pub(super) fn sort(&mut self) {
        self.requests.sort_unstable();
        self.waits.sort_unstable();
    }

    /// From the first arrival to the end of the last request that counts, µs.
    pub(super) fn elapsed_us(&self) -> f64 {
        let moves_data = self.moves_data();
        let counting = self.requests.iter().filter(|request| request.kind.counts(moves_data));
        let last_us = counting.map(|request| request.end_us).max();
        last_us.map_or(0.0, |last_us| self.since_first(last_us).max(0.0))
    }

    /// Whether most of the time of requests goes to reads and writes. Then the run is over with the last of them, or with the last sync: other clients may go on
    /// to look at the file system by their own clock.
    pub(super) fn moves_data(&self) -> bool {
        let (mut bulk_us, mut other_us) = (0.0, 0.0);
        for request in self.requests.iter().filter(|request| request.kind.is_waited_for()) {
            let us = (self.since_first(request.end_us) - self.since_first(request.arrival_us)).max(0.0);
            *if request.kind.uses_disk() { &mut bulk_us } else { &mut other_us } += us;
        }
        bulk_us > other_us
    }

    /// A time since the first arrival, µs.
    #[expect(clippy::cast_precision_loss, reason = "µs of a log need fewer than 52 bits")]
    pub(crate) fn since_first(&self, time_us: i64) -> f64 {
        time_us.saturating_sub(self.first_us.unwrap_or(time_us)) as f64
    }

    /// Whether a place is on a server whose OSTs are of another kind.
    pub(super) fn is_apart(&self, place: usize) -> bool {
        self.apart.contains(&self.places[place].node)
    }

    /// Numbers of the OSTs.
    pub(super) fn osts(&self) -> Vec<usize> {
        let is_named_ost = |place: &Place| place.is_ost && place.target.is_some();
        (0..self.places.len()).filter(|&number| is_named_ost(&self.places[number])).collect()
    }

    /// The number of each place's server.
    pub(crate) fn nodes_of_places(&self) -> Vec<usize> {
        // Places are sorted by server.
        let mut node = 0;
        let mut nodes = Vec::with_capacity(self.places.len());
        for (number, place) in self.places.iter().enumerate() {
            node += usize::from(number > 0 && self.places[number - 1].node != place.node);
            nodes.push(node);
        }
        nodes
    }
}
