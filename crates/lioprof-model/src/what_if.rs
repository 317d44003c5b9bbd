//! How long the same work would have taken if one thing had been otherwise: predictions by replaying the requests.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What was replayed, and how long the same work would have taken with something changed.
///
/// Elapsed times are from the arrival of a client's first request to the end of the last one that somebody waits for. Pings, statfs,
/// connects, lock cancels and servers' requests among themselves do not count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhatIf {
    /// How long it took, seconds; `null` without any request of a client.
    pub elapsed_s: Option<f64>,
    /// Requests that were replayed: those of all clients up to a point in time.
    pub requests: u64,
    /// Of all requests of clients, the share that was replayed: requests without an end cannot be, and of a long log only the beginning
    /// is. `null` without any request.
    pub covered_share: Option<f64>,
    /// What the replay without any change makes of the time that it covers, over what it was: 1 if the model is true to the log.
    /// `null` if nothing was replayed.
    pub fidelity: Option<f64>,
    /// What was asked for, first, then what may be worth it.
    pub predictions: Vec<Prediction>,
}

impl WhatIf {
    /// The prediction for exactly these changes, all together.
    #[must_use]
    pub fn of(&self, changes: &[Change]) -> Option<&Prediction> {
        self.predictions.iter().find(|prediction| prediction.changes == changes)
    }
}

/// Requests that can be replayed with something changed.
pub trait Replays {
    /// Changes of which each by itself may save more than this share of the elapsed time for certain.
    fn candidates(&mut self, least_share: f64) -> Vec<Change>;

    /// Replays the requests with each of these sets of changes; a set of which nothing can be said has no prediction.
    fn predict(&mut self, wanted: &[Vec<Change>]) -> WhatIf;
}

/// How long the same work would have taken with these changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// What would have been otherwise; all of it together.
    pub changes: Vec<Change>,
    /// How long it would have taken, seconds.
    pub elapsed_s: f64,
    /// How much shorter that is, seconds; below zero: it would have taken longer.
    pub saves_s: f64,
    /// Least that it may be, given what the log does not tell.
    pub saves_s_min: f64,
    /// Most that it may be.
    pub saves_s_max: f64,
}

/// One thing that would have been otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// A target serves each request as fast as the other OSTs serve theirs of the same direction and size.
    TargetAsPeers {
        /// Its name.
        target: String,
    },
    /// A target serves each request so many times as fast.
    TargetFaster {
        /// Its name.
        target: String,
        /// How many times.
        factor: f64,
    },
    /// All OSTs of a server serve as fast as those of the other servers.
    NodeAsPeers {
        /// Name of the server.
        node: String,
    },
    /// A client's requests are served as fast as those of other clients: its link is as fast as theirs.
    ClientAsPeers {
        /// Its NID.
        client: String,
    },
    /// The same requests, evenly on all OSTs.
    SpreadEvenly,
    /// No client waits for a lock that another one has, and each asks once for the locks of a target.
    NoLockWaits,
    /// Requests that follow on each other in an object are one of 1 MiB.
    FullSize,
    /// There are no small requests between large ones.
    NoSmall,
    /// What one client writes and reads, so many do, each with a link of its own.
    Writers {
        /// NID of the one.
        client: String,
        /// How many.
        writers: u32,
    },
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TargetAsPeers { target } => write!(f, "{target} as fast as its peers"),
            Self::TargetFaster { target, factor } => write!(f, "{target} {factor} times as fast"),
            Self::NodeAsPeers { node } => write!(f, "{node} as fast as other servers"),
            Self::ClientAsPeers { client } => write!(f, "{client} as fast as other clients"),
            Self::SpreadEvenly => f.write_str("the same requests evenly on all OSTs"),
            Self::NoLockWaits => f.write_str("no waiting for locks"),
            Self::FullSize => f.write_str("requests of 1 MiB"),
            Self::NoSmall => f.write_str("no small requests between large ones"),
            Self::Writers { client, writers } => write!(f, "{writers} clients in place of {client}"),
        }
    }
}
