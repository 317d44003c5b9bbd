//! Extent locks: what may stand side by side, how far a grant grows.

use super::Io;
use crate::wording::Extent;
use crate::wording::lock::flags;

/// A lock, on the server and, for those that clients have, on the client.
#[derive(Default)]
pub(crate) struct Lock {
    pub(crate) pointer: u32,
    pub(crate) cookie: u64,
    pub(crate) remote: u64,
    pub(crate) object: usize,
    /// `None` for the server's own.
    pub(crate) mount: Option<usize>,
    pub(crate) write: bool,
    pub(crate) request: Extent,
    pub(crate) extent: Extent,
    pub(crate) granted: bool,
    pub(crate) ast_sent: bool,
    /// It waited for its grant.
    pub(crate) waited: bool,
    pub(crate) gone: bool,
    /// Blocking ASTs under way: each refers to the lock.
    pub(crate) asts: u32,
    /// The client is done with it; its place is free once no AST refers to it.
    pub(crate) released: bool,
    pub(crate) pid: u32,
    pub(crate) blocked_us: u64,
    /// When it waited on the server.
    pub(crate) wait_us: Option<(u64, u64)>,
    /// When the reply to its enqueue was in the client's log.
    pub(crate) answered_us: u64,
    pub(crate) ast_us: u64,
    pub(crate) timeout_s: u64,
    /// The reply to the enqueue reached the client.
    pub(crate) replied: bool,
    /// The client heard of the grant, from that reply or from a completion AST.
    pub(crate) told: bool,
    /// The server granted it before it replied.
    pub(crate) granted_in_reply: bool,
    /// The client uses it.
    pub(crate) ready: bool,
    pub(crate) users: u32,
    /// The client must give it back.
    pub(crate) closing: bool,
    pub(crate) cancelled: bool,
    /// The process that asked for it, until it has it.
    pub(crate) asker: Option<usize>,
    /// I/O of the client that waits for it.
    pub(crate) waiters: Vec<Io>,
}

impl Lock {
    pub(crate) fn new(object: usize, mount: Option<usize>, write: bool, request: Extent) -> Self {
        Self { object, mount, write, request, extent: request, ..Self::default() }
    }

    pub(super) fn mode(&self) -> &'static str {
        if self.write { "PW" } else { "PR" }
    }

    /// Flags that stay with a lock: on the server, waited for, called back.
    pub(super) fn base_flags(&self) -> u64 {
        let mut bits = flags::SERVER;
        if self.waited {
            bits |= flags::NO_TIMEOUT;
        }
        if self.ast_sent {
            bits |= flags::AST_SENT;
        }
        bits
    }
}

/// What a lock line shows of the moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) references: u32,
    /// `--` or the mode.
    pub(crate) granted: bool,
    /// Bits beside the lasting ones.
    pub(crate) flags: u64,
    /// Only what is known at birth: no extent, no client.
    pub(crate) newborn: bool,
    /// The server itself reads or writes under it.
    pub(crate) pinned: bool,
    /// It asked for the size only.
    pub(crate) glimpse: bool,
}

impl Look {
    pub(crate) const fn held(references: u32, flags: u64) -> Self {
        Self { references, granted: true, flags, newborn: false, pinned: false, glimpse: false }
    }

    pub(crate) const fn waiting(references: u32, flags: u64) -> Self {
        Self { references, granted: false, flags, newborn: false, pinned: false, glimpse: false }
    }
}
