//! Programs that clients run, and how far they are.

use super::Running;

/// A read or write of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Which file, in the order of [`Cluster::file`](super::Cluster::file).
    pub file: usize,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub bytes: u64,
    /// Write, or read.
    pub write: bool,
    /// O_DIRECT: the server takes the lock. It does not call back locks of clients, so it is for files on which none
    /// has a lock in the way.
    pub direct: bool,
    /// The process goes on only when it is done.
    pub wait: bool,
    /// Contiguous pieces with gaps of one page between them, within `bytes`; 1 for no gaps.
    pub pieces: u64,
}

impl Access {
    /// A write that the process waits for.
    pub fn write(file: usize, offset: u64, bytes: u64) -> Self {
        Self { file, offset, bytes, write: true, direct: false, wait: true, pieces: 1 }
    }

    /// A read that the process waits for.
    pub fn read(file: usize, offset: u64, bytes: u64) -> Self {
        Self { write: false, ..Self::write(file, offset, bytes) }
    }

    /// Goes on without waiting, as with write-back and read-ahead.
    pub fn ahead(self) -> Self {
        Self { wait: false, ..self }
    }

    /// With O_DIRECT.
    pub fn direct(self) -> Self {
        Self { direct: true, ..self }
    }
}

/// One step of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Reads or writes.
    Io(Access),
    /// Waits for all I/O of the process and writes the file to disk.
    Sync(usize),
    /// Waits for all I/O of the process.
    Drain,
    /// Does nothing for this many microseconds.
    Sleep(u64),
    /// Waits until this many microseconds after the start.
    Until(u64),
    /// Waits until this many processes have reached this barrier.
    Barrier {
        /// Its number.
        id: usize,
        /// Processes that meet there.
        processes: usize,
    },
    /// Asks for the size of a file.
    Stat(usize),
    /// Gives back the locks on a file.
    DropLocks(usize),
    /// An operation without an object on a target: ping, statfs, connecting (again), the operations of an MDT.
    Plain {
        /// Operation.
        opcode: u16,
        /// Target.
        target: usize,
    },
    /// Deletes the objects of a file, as the MDT does it.
    Destroy(usize),
    /// `lctl mark` on all servers.
    Mark(String),
}

/// A program: its steps in order.
pub type Program = Box<dyn Iterator<Item = Op> + Send>;

/// Why a process does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// It does, or an event will wake it.
    None,
    /// Until this many requests or fewer are open, and it has its locks.
    Open(usize),
    Barrier(usize),
    Done,
}

pub(crate) struct Process {
    pub(crate) mount: usize,
    pub(crate) pid: u32,
    pub(crate) job: usize,
    pub(crate) owner: (u32, u32, u32),
    pub(crate) program: Program,
    /// A step to repeat after a wait.
    pub(crate) pending: Option<Op>,
    /// Requests of the process that are not answered.
    pub(crate) open: usize,
    /// Locks that it asked for and does not have: a call goes on only under its lock.
    pub(crate) locks: usize,
    pub(crate) pause: Pause,
    /// On a client that logs: the operation that is running.
    pub(crate) operation: Option<Running>,
    /// On a client that logs: the process's last line was before this.
    pub(crate) pen_us: u64,
}
