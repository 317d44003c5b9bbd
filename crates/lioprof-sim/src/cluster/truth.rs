//! What really happened to operations of clients that log: the truth for whoever reads the logs.
//!
//! Times are those of the lines, on true clocks, microseconds since the epoch.

/// What a process called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    /// Opens a file: a lock request to the MDT.
    Open,
    /// Closes it.
    Close,
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Writes all that is cached to disk.
    Fsync,
    /// Asks for the size.
    Stat,
    /// Removes a file.
    Unlink,
}

impl Call {
    /// As tools name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Close => "close",
            Self::Read => "read",
            Self::Write => "write",
            Self::Fsync => "fsync",
            Self::Stat => "stat",
            Self::Unlink => "unlink",
        }
    }
}

/// An operation that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrueOperation {
    /// What it was.
    pub call: Call,
    /// Number of the client's log.
    pub node: usize,
    /// Pid of the process.
    pub pid: u32,
    /// First line.
    pub begin_us: u64,
    /// Last line.
    pub end_us: u64,
    /// Its RPCs, in the order of their replies.
    pub rpcs: Vec<TrueRpc>,
    /// Locks that it asked for, in the order in which it had them.
    pub locks: Vec<TrueLock>,
}

/// An RPC of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrueRpc {
    /// What it asks for.
    pub opcode: u16,
    /// When its data were put together, or its lock asked for.
    pub queued_us: Option<u64>,
    /// When it was sent.
    pub sent_us: u64,
    /// When it arrived at the server.
    pub arrival_us: u64,
    /// When a thread took it.
    pub start_us: u64,
    /// Begin and end of the transfer of its data.
    pub transfer_us: Option<(u64, u64)>,
    /// When its lock was put on the waiting list, and when it was granted.
    pub wait_us: Option<(u64, u64)>,
    /// When it was handled.
    pub end_us: u64,
    /// When the reply was there.
    pub answered_us: u64,
}

/// A lock that an operation waited for beyond the reply to its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrueLock {
    /// When the reply was there.
    pub answered_us: u64,
    /// When the client had it.
    pub ended_us: u64,
}
