//! What the join needs to know of a record: owned, compact, strings interned.

use std::num::NonZeroU32;

use lioprof_model::{ClientStep, LockState, LockStep, Symbol};
use lustre_debuglog::message::{NrsPolicy, ObjectName, Outcome};
use lustre_debuglog::{Extent, Fid, Opcode, ResourceId, TargetName};

/// A record that the analysis uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    /// Microseconds since the epoch.
    pub(crate) time_us: i64,
    /// Logging pid.
    pub(crate) pid: u32,
    /// Kernel buffer it went through ([`lustre_debuglog::Record::stream`]).
    pub(crate) stream: u32,
    /// Segment of a log that comes in segments; 0 else.
    pub(crate) segment: u32,
    /// What it says.
    pub(crate) body: Body,
}

impl Event {
    /// Whether both are the same record, written twice.
    pub(crate) fn is_copy_of(&self, other: &Self) -> bool {
        (self.time_us, self.pid, self.stream) == (other.time_us, other.pid, other.stream) && self.body == other.body
    }
}

/// What an event says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Body {
    /// `Handling RPC`.
    Handling(RpcIds),
    /// `Handled RPC`.
    Handled(RpcIds, Outcome),
    /// `refresh rw locks`.
    Refresh { target: TargetName, object: ObjectName, extent: Option<Extent>, req: ReqInfo },
    /// `sending reply` (mask net).
    SendingReply(ReqInfo),
    /// `Prolong locks`.
    Prolong { xid: u64, extent: Extent },
    /// `NRS start`, or the policy's own word for it; `number` is the request's, or that of its round.
    NrsStart { number: Option<u64>, policy: NrsPolicy, ost_index: Option<u32> },
    /// `TBF dequeues`: the rule of the request's class allows so many requests a second.
    TbfDequeue { rate: Option<u32> },
    /// `NRS stop tbf`: the only tbf line with a sequence number.
    NrsStopTbf { sequence: u64 },
    /// `NRS: finished delayed request`: the policy delay handed it over, without a number.
    NrsStopDelay,
    /// `Sending RPC`.
    Sending(SentIds),
    /// `Completed RPC`.
    Completed(SentIds),
    /// `Transferring ... bytes`.
    Transferring { nid: Symbol, bytes: u64, match_bits: (u64, u64) },
    /// An event of a bulk transfer that this node serves; `None`: one that tells nothing of its time.
    BulkEvent { desc: u64, step: Option<BulkStep> },
    /// A lock manager line about a lock of a target of this node.
    Lock(LockStep, LockState),
    /// A lock manager line that names no lock.
    LockPhase(LockPhase),
    /// The kernel's own count of conflicts on a resource.
    KernelContention { resource: ResourceId, added: u32, window: u32 },
    /// A line about an operation of a client.
    Client(ClientStep),
    /// A client puts a bulk RPC together: the request, and the first byte in the object.
    BulkRequest { req: u64, start: u64 },
    /// .. and the file that it is for, with the first page in the object.
    BulkBuilt { fid: Fid, is_write: bool, start_page: u64 },
    /// `lctl mark`.
    Marker(Symbol),
    /// A request was dropped before it was handled.
    Dropped,
    /// An RPC that this node sent timed out; for lock callbacks the target is known.
    SentTimedOut { opcode: Option<Opcode>, target: Option<TargetName> },
    /// The pinger evicted a client; the MGS is no target.
    Evicted { nid: Symbol, target: Option<TargetName> },
}

/// A step of one memory descriptor of a bulk transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BulkStep {
    /// The GET of a write, or the data of a read, are on their way.
    Sent,
    /// The data of a write have come.
    Received,
    /// The data of a read have arrived.
    Acknowledged,
}

/// Marks in a thread's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockPhase {
    EnqueueStart,
    EnqueueEnd,
}

/// The fields that `Handling RPC` and `Handled RPC` share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RpcIds {
    /// Request pointer, 0 if not printed.
    pub(crate) req: u64,
    pub(crate) xid: u64,
    pub(crate) nid: Symbol,
    pub(crate) thread: Symbol,
    pub(crate) client_uuid: Symbol,
    pub(crate) job: Option<Symbol>,
    pub(crate) opcode: Opcode,
    /// The client's process that it is for, if there is one.
    pub(crate) process: Option<NonZeroU32>,
    /// A kernel thread sent it for that process, and the job is the thread's.
    pub(crate) by_kernel: bool,
}

/// What is used of a request description.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ReqInfo {
    pub(crate) req: u64,
    pub(crate) xid: u64,
    pub(crate) nid: Symbol,
    pub(crate) opcode: Option<Opcode>,
    pub(crate) request_len: u32,
    /// Logged at the end of the request, not on its arrival.
    pub(crate) complete: bool,
    pub(crate) resent: bool,
    pub(crate) replay: bool,
    pub(crate) uid: Option<u32>,
    pub(crate) gid: Option<u32>,
    pub(crate) projid: Option<u32>,
}

/// An RPC that the node sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SentIds {
    pub(crate) xid: u64,
    pub(crate) nid: Symbol,
    pub(crate) device: Symbol,
    pub(crate) opcode: Opcode,
    /// Request pointer, 0 if not printed.
    pub(crate) req: u64,
    /// A thread of the kernel's own sends it.
    pub(crate) by_kernel: bool,
}

impl Event {
    /// Replaces the symbols of a chunk's own table by those that `map` gives.
    pub(crate) fn translate(&mut self, map: &[Symbol]) {
        self.symbols(&mut |symbol| *symbol = map[symbol.0 as usize]);
    }

    /// Shows each symbol to `visit`, which may replace it.
    pub(crate) fn symbols(&mut self, visit: &mut impl FnMut(&mut Symbol)) {
        match &mut self.body {
            Body::Handling(rpc) | Body::Handled(rpc, _) => rpc.symbols(visit),
            Body::Refresh { req, .. } | Body::SendingReply(req) => visit(&mut req.nid),
            Body::Sending(sent) | Body::Completed(sent) => sent.symbols(visit),
            Body::Transferring { nid, .. } | Body::Evicted { nid, .. } => visit(nid),
            Body::Marker(text) => visit(text),
            Body::Lock(_, lock) => lock.nid.iter_mut().for_each(visit),
            Body::Client(step) => step.symbols(visit),
            Body::BulkRequest { .. }
            | Body::BulkBuilt { .. }
            | Body::Prolong { .. }
            | Body::BulkEvent { .. }
            | Body::NrsStart { .. }
            | Body::TbfDequeue { .. }
            | Body::NrsStopTbf { .. }
            | Body::NrsStopDelay
            | Body::LockPhase(_)
            | Body::KernelContention { .. }
            | Body::Dropped
            | Body::SentTimedOut { .. } => {}
        }
    }
}

impl RpcIds {
    pub(crate) fn symbols(&mut self, visit: &mut impl FnMut(&mut Symbol)) {
        visit(&mut self.nid);
        visit(&mut self.thread);
        visit(&mut self.client_uuid);
        self.job.iter_mut().for_each(visit);
    }
}

impl SentIds {
    pub(crate) fn symbols(&mut self, visit: &mut impl FnMut(&mut Symbol)) {
        visit(&mut self.nid);
        visit(&mut self.device);
    }
}
