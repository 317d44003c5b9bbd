//! Who is behind a lock or a request, and when a resource is contended.

use lioprof_model::traffic;
use lioprof_model::{RpcWindow, Symbol};

/// Who is behind a request or a lock, by NID.
pub(super) type Party = traffic::Party<Symbol>;

/// Who is against whom, by NID.
pub(super) type Kind = traffic::ConflictKind<Symbol>;

/// What surrounds an event: the request that its thread is handling, and who sent it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServedRequest {
    pub(crate) window: Option<RpcWindow>,
    pub(crate) party: Party,
    /// Within the time that is looked at.
    pub(crate) counts: bool,
}

impl ServedRequest {
    /// The job of the request.
    pub(super) fn job(&self) -> Option<Symbol> {
        self.window.and_then(|rpc| rpc.job)
    }
}

/// How two requests for an object collide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overlap {
    /// What was asked for overlaps.
    True,
    /// Only what the server granted beyond that overlaps.
    Expansion,
    /// Not known, or locks without extents.
    Unknown,
}
