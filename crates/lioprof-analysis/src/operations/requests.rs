//! What a client sent and asked for, as its log tells.

use lustre_debuglog::vocab::Intent;
use lustre_debuglog::{Fid, Opcode};

use super::servers::RpcKey;

/// An RPC that the client sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) key: RpcKey,
    pub(super) opcode: Opcode,
    pub(super) pid: u32,
    pub(super) sent_us: i64,
    /// When the reply came; `None` if the log does not have it.
    pub(super) answered_us: Option<i64>,
    pub(super) bulk: Option<Bulk>,
    /// The lock request that it carries.
    pub(super) lock: Option<usize>,
    /// The intent that it carries, if the client's log has the answer to it.
    pub(super) intent: Option<Intent>,
    /// Thread that another thread has sent it for, as was inferred.
    pub(super) sent_for: Option<u32>,
}

/// What a bulk RPC is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bulk {
    pub(super) fid: Fid,
    pub(super) is_write: bool,
    pub(super) built_us: i64,
    pub(super) built_by: u32,
}

/// A thread's request for a lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct LockRequest {
    pub(super) pid: u32,
    pub(super) started_us: i64,
    pub(super) ended_us: Option<i64>,
    /// The RPC that carries it.
    pub(super) rpc: Option<usize>,
    /// It asks for the size of an object.
    pub(super) is_glimpse: bool,
}

/// A reply to an RPC whose sending is not in the log.
#[derive(Clone, Copy, Debug)]
pub(super) struct OrphanReply {
    pub(super) key: RpcKey,
    pub(super) opcode: Opcode,
    pub(super) pid: u32,
    pub(super) time_us: i64,
}
