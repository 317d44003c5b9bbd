//! What servers do now: the layout of `lioprof top --json`.
//!
//! Rates are per second of traced time in the window of each server. Unknown values are `null`.

mod io;
mod rows;
mod top;

pub use io::LiveIo;
pub use rows::{LiveAccess, LiveClient, LiveFlow, LiveJob, LiveObject, LiveTarget, LiveWait};
pub use top::{LiveRow, Top};

use serde::{Deserialize, Serialize};

use crate::findings::{Finding, Severity};

/// Version of the layout. Adding keys keeps it.
pub const LIVE_SCHEMA: &str = "lioprof.live/1";

crate::with_defaults! {
    /// What one server, or several, did in the last seconds.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Live {
        /// [`LIVE_SCHEMA`].
        pub schema: String = LIVE_SCHEMA.to_owned(),
        /// The servers, by name.
        pub servers: Vec<LiveServer> = Vec::new(),
        /// Targets, most bytes first, as in most lists.
        pub targets: Top<LiveTarget> = Top::default(),
        /// Clients.
        pub clients: Top<LiveClient> = Top::default(),
        /// Jobs.
        pub jobs: Top<LiveJob> = Top::default(),
        /// Clients by target.
        pub flows: Top<LiveFlow> = Top::default(),
        /// Objects: first those that clients fight over, most conflicts first.
        pub objects: Top<LiveObject> = Top::default(),
        /// Objects by client.
        pub accesses: Top<LiveAccess> = Top::default(),
        /// Who waits for whom: conflicts of pairs of clients, most first.
        pub waits: Top<LiveWait> = Top::default(),
    }
}

impl Live {
    /// Most rows of each list but the following.
    pub const MOST_ROWS: usize = 200;
    /// Most rows of `flows` and `accesses`.
    pub const MOST_PAIRS: usize = 1000;
    /// Most rows of `targets`.
    pub const MOST_TARGETS: usize = 2000;

    /// Several servers as one: what they say of the same client, job or file adds up.
    #[must_use]
    pub fn of_many(lives: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::default();
        for live in lives {
            all.servers.extend(live.servers);
            all.targets.merge(live.targets);
            all.clients.merge(live.clients);
            all.jobs.merge(live.jobs);
            all.flows.merge(live.flows);
            all.objects.merge(live.objects);
            all.accesses.merge(live.accesses);
            all.waits.merge(live.waits);
        }
        all.servers.sort_by(|a, b| a.name.cmp(&b.name));
        all.targets.cut(Self::MOST_TARGETS);
        all.clients.cut(Self::MOST_ROWS);
        all.jobs.cut(Self::MOST_ROWS);
        all.flows.cut(Self::MOST_PAIRS);
        all.objects.cut(Self::MOST_ROWS);
        all.accesses.cut(Self::MOST_PAIRS);
        all.waits.cut(Self::MOST_ROWS);
        all
    }

    /// The findings of all servers, worst first, with the server of each.
    #[must_use]
    pub fn findings(&self) -> Vec<(&LiveServer, &Finding)> {
        let mut all: Vec<_> = self.servers.iter().flat_map(LiveServer::findings).collect();
        all.sort_by_key(|(_, finding)| std::cmp::Reverse(finding.severity));
        all
    }
}

/// A server, and the time that the rates are of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LiveServer {
    /// Name of the server.
    pub name: String,
    /// Time of this answer, Unix seconds.
    pub now: f64,
    /// State of the daemon, as its status has it.
    pub state: String,
    /// Beginning of the window, Unix seconds: RPCs count that ended in it.
    pub from: f64,
    /// End of the window: up to here the log has been decoded.
    pub to: f64,
    /// Seconds of the window in which everything was traced; rates are per second of these. 0: nothing is known.
    pub traced_s: f64,
    /// RPCs of all kinds.
    pub rpcs_per_s: f64,
    /// Reads of OSTs.
    pub read: LiveIo,
    /// Writes of OSTs.
    pub write: LiveIo,
    /// The latest verdict; `null` before the first.
    pub verdict: Option<LiveVerdict>,
    /// Why nothing is known of this server; `null` otherwise.
    pub error: Option<String>,
}

impl LiveServer {
    fn findings(&self) -> impl Iterator<Item = (&Self, &Finding)> {
        let findings = self.verdict.iter().flat_map(|verdict| &verdict.findings);
        findings.map(move |finding| (self, finding))
    }

    /// A server of which nothing is known.
    #[must_use]
    pub fn unknown(name: &str, why: String) -> Self {
        Self { name: name.to_owned(), error: Some(why), ..Self::default() }
    }
}

/// What is wrong with a server, judged by the rules of `lioprof analyze` over a longer window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LiveVerdict {
    /// Beginning of the window, Unix seconds.
    pub from: f64,
    /// End of the window, Unix seconds.
    pub to: f64,
    /// One sentence.
    pub text: String,
    /// How serious the worst finding is; `null`: nothing is found.
    pub severity: Option<Severity>,
    /// What was found, worst first.
    pub findings: Vec<Finding>,
}
