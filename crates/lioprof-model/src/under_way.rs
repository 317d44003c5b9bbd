//! Requests that had begun and had not ended when the log ended.

use std::cmp::Reverse;

use lustre_debuglog::{Opcode, TargetName};
use serde::{Deserialize, Serialize};

use crate::merge::Merge;
use crate::units::seconds;

/// Requests listed, of a node and of all: those under way for longest.
pub const MAX_UNDER_WAY: usize = 200;

/// Such a request, as a node's log tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OpenRpc {
    /// How long it had been in the handler when the log ended, microseconds.
    pub age_us: Reverse<i64>,
    /// When a thread began with it, microseconds since the epoch.
    pub start_us: i64,
    /// Kernel pid of the thread.
    pub pid: u32,
    /// Name of the thread.
    pub thread: String,
    /// Opcode.
    pub opcode: u32,
    /// NID of the client.
    pub nid: String,
    /// Transfer id.
    pub xid: u64,
    /// Job id; `None` if the Lustre version prints none.
    pub job: Option<String>,
    /// Target, if a line before named it.
    pub target: Option<String>,
    /// Object, if a line before named it.
    pub object: Option<String>,
}

/// The requests under way for longest, of a part of a node's log. Parts of one log add up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OpenRpcs(Vec<OpenRpc>);

impl OpenRpcs {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a request.
    pub fn add(&mut self, rpc: OpenRpc) {
        let at = self.0.partition_point(|it| *it < rpc);
        if self.0.get(at) != Some(&rpc) {
            self.0.insert(at, rpc);
            self.0.truncate(MAX_UNDER_WAY);
        }
    }

    /// Oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &OpenRpc> {
        self.0.iter()
    }

    /// The same, of a log that ended at this time: its last record may be later than the last one that is used.
    #[must_use]
    pub fn until(&self, end_us: i64) -> Self {
        let mut rpcs = Self::default();
        for rpc in &self.0 {
            let age_us = Reverse(rpc.age_us.0.max(end_us.saturating_sub(rpc.start_us)));
            rpcs.add(OpenRpc { age_us, ..rpc.clone() });
        }
        rpcs
    }

    /// The same, with its times on another clock.
    #[must_use]
    pub fn on_clock(&self, there_us: impl Fn(i64) -> i64) -> Self {
        Self(self.0.iter().map(|rpc| OpenRpc { start_us: there_us(rpc.start_us), ..rpc.clone() }).collect())
    }
}

impl Merge for OpenRpcs {
    fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|rpc| self.add(rpc.clone()));
    }
}

/// A request that was under way when the log of its server ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnderWay {
    /// Server.
    pub node: String,
    /// Opcode.
    pub opcode: u32,
    /// Name of the operation.
    pub name: String,
    /// NID of the client.
    pub nid: String,
    /// Job id; `null` if the Lustre version prints none.
    pub job: Option<String>,
    /// Target; `null` if no line named it before the log ended.
    pub target: Option<String>,
    /// Object; `null` if unknown.
    pub object: Option<String>,
    /// Name of the service thread.
    pub thread: String,
    /// Kernel pid of the service thread.
    pub pid: u32,
    /// Transfer id.
    pub xid: u64,
    /// When the thread began with it, Unix seconds.
    pub start: f64,
    /// How long it had been in the handler when the log ended, seconds.
    pub age_s: f64,
}

impl UnderWay {
    /// A request of this node.
    #[must_use]
    pub fn of(node: &str, rpc: &OpenRpc) -> Self {
        Self {
            node: node.to_owned(),
            opcode: rpc.opcode,
            name: Opcode(rpc.opcode).to_string(),
            nid: rpc.nid.clone(),
            job: rpc.job.clone(),
            target: rpc.target.clone(),
            object: rpc.object.clone(),
            thread: rpc.thread.clone(),
            pid: rpc.pid,
            xid: rpc.xid,
            start: seconds(rpc.start_us),
            age_s: seconds(rpc.age_us.0),
        }
    }
}

impl OpenRpc {
    /// The target, if it is known.
    #[must_use]
    pub fn target(&self) -> Option<TargetName> {
        self.target.as_ref()?.parse().ok()
    }
}
