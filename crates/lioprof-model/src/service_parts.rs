//! What the service time of reads and writes was made of, as far as the log shows it (mask `net`).

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

use crate::{Direction, Distribution};

/// Parts of the service time of reads and writes: by OST or MDT, by server, by client, by network of the clients and by size.
///
/// Empty if no log shows when data moved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServiceParts {
    /// By target.
    pub targets: Vec<TargetParts>,
    /// By server.
    pub servers: Vec<ServerParts>,
    /// By client.
    pub clients: Vec<ClientParts>,
    /// By LNet network of the clients.
    #[serde(default)]
    pub networks: Vec<NetworkParts>,
    /// By size.
    pub sizes: Vec<SizeParts>,
}

/// Parts of a target's reads or writes. Its peers are all other OSTs, but for servers whose OSTs are apart ([`ServerParts::apart`]); the part of an RPC is compared with those of RPCs of the same
/// client, direction and size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetParts {
    /// Name of the target; `None`: unknown.
    pub target: Option<String>,
    /// Node that serves it.
    pub node: String,
    /// Parts.
    #[serde(flatten)]
    pub parts: ServiceSplit,
}

/// Parts of the reads or writes of a server's OSTs. Its peers are the OSTs of all other servers; compared are RPCs of the same client,
/// direction and size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerParts {
    /// Name of the server.
    pub node: String,
    /// OSTs whose data it moved.
    pub osts: u64,
    /// All of its OSTs take far longer for the disk's part than those of other servers, as those of another type of OSD do (ZFS beside ldiskfs):
    /// they are no peers of these. [`TargetParts`] compares them with each other only.
    #[serde(default)]
    pub apart: bool,
    /// Parts.
    #[serde(flatten)]
    pub parts: ServiceSplit,
}

/// Parts of a client's reads or writes. Its peers are all other clients; compared are RPCs of the same target, direction and size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientParts {
    /// Network id of the client.
    pub nid: String,
    /// Targets with which it exchanged data.
    pub targets: u64,
    /// Parts.
    #[serde(flatten)]
    pub parts: ServiceSplit,
}

/// Parts of the reads or writes of all clients of an LNet network, or of an IPv4 subnet if they are on several. Its peers are all other
/// clients; compared are RPCs of the same target, direction and size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetworkParts {
    /// Name of the network, `tcp1`, or of the subnet of 256 addresses, `10.0.3.0/24@tcp1`.
    pub network: String,
    /// Clients that exchanged data.
    pub clients: u64,
    /// Parts.
    #[serde(flatten)]
    pub parts: ServiceSplit,
}

/// The network of a NID, `tcp1` of `10.0.0.1@tcp1`; `None` for a server's own, `0@lo`.
#[must_use]
pub fn network(nid: &str) -> Option<&str> {
    nid.rsplit_once('@').map(|(_, network)| network).filter(|network| *network != "lo")
}

/// The subnet of a NID, `10.0.3.0/24@tcp1` of `10.0.3.17@tcp1`; `None` if it is no IPv4 address. How wide a site's subnets are no log
/// tells: racks and routers most often have 256 addresses or a multiple of that.
#[must_use]
pub fn subnet(nid: &str) -> Option<String> {
    let network = network(nid)?;
    let [a, b, c, _] = nid.split('@').next()?.parse::<Ipv4Addr>().ok()?.octets();
    Some(format!("{a}.{b}.{c}.0/24@{network}"))
}

impl NetworkParts {
    /// Whether a client is one of them.
    #[must_use]
    pub fn holds(&self, nid: &str) -> bool {
        match self.whole() {
            None => network(nid) == Some(&self.network),
            Some(_) => subnet(nid).as_ref() == Some(&self.network),
        }
    }

    /// The network in which a subnet is.
    #[must_use]
    pub fn whole(&self) -> Option<&str> {
        network(&self.network)
    }
}

/// Parts of reads or writes of about the same size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeParts {
    /// Upper bound of the size in bytes, inclusive, a power of two.
    pub le_bytes: u64,
    /// Parts.
    #[serde(flatten)]
    pub parts: ServiceSplit,
}

/// Reads or writes whose bulk transfer is known, and the parts of their service time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServiceSplit {
    /// Reads or writes.
    pub direction: Direction,
    /// RPCs whose parts are known. The others had no transfer (short I/O, failed), or the log allows more than one.
    pub rpcs: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// When the first of them was over, Unix seconds.
    pub first: f64,
    /// When the last of them was over.
    pub last: f64,
    /// From the start of handling to that of the transfer: a read's disk read, a write's preparation.
    pub before: SplitPart,
    /// From the start of the transfer until all data had arrived: network and client.
    pub transfer: SplitPart,
    /// From there to the end of handling: a write's disk write and commit.
    pub after: SplitPart,
}

/// One part of the service time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SplitPart {
    /// How long it took.
    pub us: Distribution,
    /// Compared with that of peers; `null` if there are none.
    pub against_peers: Option<AgainstPeers>,
}

/// RPCs against those of peers that are alike in everything else (strata). Ranks come from histograms whose buckets are 0.8 % wide.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgainstPeers {
    /// RPCs that have peers.
    pub rpcs: u64,
    /// Peers' RPCs.
    pub peer_rpcs: u64,
    /// Mean of these peers for the same mix of strata, µs.
    pub peers_mean_us: f64,
    /// Own mean over the peers'; `null` if the peers took no time.
    pub ratio: Option<f64>,
    /// Share of all pairs of an own RPC and a peer's in which the own one took longer (equal ones count half): 0.5 means alike.
    pub longer_share: f64,
    /// By how many standard deviations `longer_share` lies above what chance gives: stratified rank sum test (van Elteren).
    pub z: f64,
    /// Probability that chance makes it look this slow, or slower: the larger one of those that its requests are a draw from the same times
    /// as the peers' (the rank sum test, exact for few requests), and that it differs from its peers no more than these do among themselves.
    /// Adjusted for how many are compared (Benjamini and Hochberg over all parts of all targets, servers or clients).
    pub chance: f64,
}

impl AgainstPeers {
    /// Chance up to which it is certain that the part takes longer than the peers': among those called certain, one in twenty is not.
    pub const CERTAIN: f64 = 0.05;

    /// Whether it takes longer than the peers' for certain.
    #[must_use]
    pub fn takes_longer(&self) -> bool {
        self.chance <= Self::CERTAIN && self.ratio.is_none_or(|ratio| ratio > 1.0)
    }
}

impl ServiceSplit {
    /// The parts in the order of time, with their names.
    #[must_use]
    pub fn in_order(&self) -> [(&'static str, &SplitPart); 3] {
        [("before the transfer", &self.before), ("transfer", &self.transfer), ("after the transfer", &self.after)]
    }

    /// Mean service time of these RPCs, µs.
    #[must_use]
    pub fn mean_service_us(&self) -> f64 {
        self.in_order().iter().filter_map(|(_, part)| part.us.mean).sum()
    }

    /// About the time from the start of the first to the end of the last of these RPCs, seconds.
    #[must_use]
    pub fn span_s(&self) -> f64 {
        self.last - self.first + self.mean_service_us() / 1e6
    }
}
