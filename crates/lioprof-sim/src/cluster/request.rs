//! Requests in both directions.

use super::opcode;
use crate::wording::Extent;

/// A read or write of one RPC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Io {
    pub(crate) process: usize,
    pub(crate) object: usize,
    /// In the object.
    pub(crate) extent: Extent,
    /// Bytes to move: fewer than the extent has if there are gaps.
    pub(crate) bytes: u64,
    /// Contiguous pieces.
    pub(crate) pieces: u64,
    pub(crate) write: bool,
    /// The server takes the lock.
    pub(crate) direct: bool,
    /// The process waits for it.
    pub(crate) waits: bool,
    /// The lock that covers it.
    pub(crate) lock: Option<usize>,
}

/// Inline data travel in the request or its reply up to this size.
const SHORT_IO_BYTES: u64 = 16_384;

impl Io {
    /// Without a bulk transfer. Clients do so for direct I/O and for single pieces that fit.
    pub(crate) fn is_short(&self) -> bool {
        self.bytes <= SHORT_IO_BYTES
    }

    /// Descriptors of one MiB that a bulk transfer takes.
    pub(crate) fn descriptors(&self) -> u64 {
        self.bytes.div_ceil(1 << 20).max(1)
    }

    pub(crate) fn opcode(&self) -> u16 {
        if self.write { opcode::OST_WRITE } else { opcode::OST_READ }
    }
}

/// What the sender does with the reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Purpose {
    Io,
    Enqueue(usize),
    Glimpse(usize),
    Cancel(usize),
    /// A process waits for it.
    Process(usize),
    /// Nobody cares.
    #[default]
    Nothing,
}

/// How far a handler is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stage {
    #[default]
    Waiting,
    Started,
    /// Callbacks are on their way.
    Callbacks,
    /// Its data are on their way to a disk.
    Moving,
    Ending,
}

/// A request to a server.
#[derive(Default)]
pub(crate) struct Request {
    pub(crate) pointer: u32,
    pub(crate) xid: u64,
    pub(crate) opcode: u16,
    pub(crate) mount: usize,
    pub(crate) target: usize,
    pub(crate) pid: u32,
    pub(crate) job: usize,
    pub(crate) owner: (u32, u32, u32),
    pub(crate) purpose: Purpose,
    pub(crate) io: Option<Io>,
    pub(crate) object: Option<usize>,
    pub(crate) part: usize,
    pub(crate) thread: usize,
    pub(crate) sequence: u64,
    /// When the scheduler lets a thread have it.
    pub(crate) ready_us: u64,
    /// Tokens that its class had left, if there are any.
    pub(crate) tokens: u64,
    pub(crate) urgent: bool,
    pub(crate) arrival_us: u64,
    pub(crate) start_us: u64,
    pub(crate) deadline_s: u64,
    pub(crate) transno: u64,
    pub(crate) rc: (i64, i64),
    pub(crate) stage: Stage,
    pub(crate) open_callbacks: usize,
    /// When the handler has written about the last answer.
    pub(crate) callback_us: u64,
    /// The server's own lock under which it works.
    pub(crate) local_lock: Option<usize>,
    pub(crate) resent: bool,
    /// The server is done with it; a duplicate may still come.
    pub(crate) answered: bool,
    /// The process that asked for it.
    pub(crate) process: Option<usize>,
    /// The process that put its data together and waits for them.
    pub(crate) builder: Option<usize>,
    /// On its way to the server, microseconds.
    pub(crate) way_us: u64,
    /// As the client's log shows it: when its data were put together or its lock asked for, and when it was sent.
    pub(crate) queued_us: Option<u64>,
    pub(crate) sent_us: u64,
    /// As the server's log shows it: when its data moved, and its end.
    pub(crate) transfer_us: Option<(u64, u64)>,
    pub(crate) end_us: u64,
    /// Handle of the MDT's lock on the client.
    pub(crate) cookie: u64,
}

/// A request of a server to a client.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Callback {
    pub(crate) pointer: u32,
    pub(crate) xid: u64,
    pub(crate) opcode: u16,
    pub(crate) target: usize,
    pub(crate) mount: usize,
    pub(crate) lock: usize,
    /// The lock's handle: its place may hold another lock when the callback arrives.
    pub(crate) cookie: u64,
    /// The request whose handler waits for it.
    pub(crate) request: Option<usize>,
    pub(crate) cpu: u16,
    pub(crate) pid: u32,
    pub(crate) sent_us: u64,
}
