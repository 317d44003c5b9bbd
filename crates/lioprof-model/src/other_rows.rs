//! What a bounded list leaves out.

use serde::{Deserialize, Serialize};

use crate::io::Io;

/// Rows that a list leaves out, summed up. A sum is `null` where the list has no such figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OtherRows {
    /// Number of rows that the list has kept.
    pub kept: u64,
    /// The figure of which these have most.
    pub by: String,
    /// Number of rows left out.
    pub rows: u64,
    /// Their RPCs.
    pub rpcs: Option<u64>,
    /// Their lock requests.
    pub enqueues: Option<u64>,
    /// Their bytes, where reads and writes are rows of their own.
    pub bytes: Option<u64>,
    /// Their reads.
    pub read: Option<Io>,
    /// Their writes.
    pub write: Option<Io>,
}

impl OtherRows {
    pub(crate) fn rpcs(&mut self, more: u64) -> &mut Self {
        Self::count(&mut self.rpcs, more);
        self
    }

    pub(crate) fn io(&mut self, read: &Io, write: &Io) {
        self.read.get_or_insert_default().merge(read);
        self.write.get_or_insert_default().merge(write);
    }

    pub(crate) fn count(sum: &mut Option<u64>, more: u64) {
        let sum = sum.get_or_insert_default();
        *sum = sum.saturating_add(more);
    }
}
