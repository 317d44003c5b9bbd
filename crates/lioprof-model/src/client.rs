//! What a client's log says of its programs' operations, besides the RPCs that it sent.

use lustre_debuglog::vocab::{Intent, OperationKind};
use lustre_debuglog::{Fid, Opcode, Xid};

use crate::symbol::Symbol;

/// A line of a client's log about an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClientEvent {
    /// Node whose log this is.
    pub node: Symbol,
    /// Microseconds since the epoch, on that node's clock.
    pub time_us: i64,
    /// Kernel pid of the logging thread.
    pub pid: u32,
    /// What the line reports.
    pub step: ClientStep,
}

/// A file's name as a hash: enough to tell names apart, and nothing that has to be kept secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NameHash(pub u64);

/// A file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileName {
    /// What tells it from others.
    pub hash: NameHash,
    /// The name itself, only if whoever reads the log has asked for names.
    pub text: Option<Symbol>,
}

/// What a line of a walk along a path says of the call that it is part of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WalkOf {
    /// Nothing: every call by path has such a line.
    #[default]
    AnyCall,
    /// `intent=open`: it is an open.
    Open,
    /// `ll_inode_revalidate`: attributes are asked for, by a stat or, if it is the root's line, by any walk.
    Getattr,
}

/// What a line of a client's log reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClientStep {
    /// `START`: an operation begins.
    Started {
        /// Kind of operation.
        kind: OperationKind,
        /// The file.
        fid: Fid,
        /// The file's name.
        name: Option<FileName>,
    },
    /// `COMPLETED`: an operation has ended.
    Completed {
        /// Kind of operation.
        kind: OperationKind,
        /// The file.
        fid: Fid,
        /// What it returned.
        rc: Option<i64>,
    },
    /// `VFS Op` of an operation without an end line, such as unlink.
    Called {
        /// Kind of operation.
        kind: OperationKind,
        /// The directory that the name is in.
        fid: Option<Fid>,
        /// The name.
        name: Option<FileName>,
    },
    /// `VFS Op` of the walk along a path.
    Walked {
        /// Inode, or the directory that the name is in.
        fid: Option<Fid>,
        /// Name that is looked up or tested.
        name: Option<NameHash>,
        /// The name is `/`: the root of the file system is tested, which every absolute path begins with.
        is_root: bool,
        /// Access that is asked for: `MAY_EXEC` 1, .., `MAY_OPEN` 0o40.
        access: Option<u32>,
        /// What the line says of the call that the walk is part of.
        of: WalkOf,
    },
    /// `VFS Op` at the begin of a call that has no last line in this version of Lustre.
    Entered {
        /// Kind of operation; `None`: one that lioprof has no name for, such as ioctl or getxattr.
        kind: Option<OperationKind>,
        /// The file.
        fid: Option<Fid>,
    },
    /// A line of a read or write in a version that has no first and last line of it, or between these.
    MovedData,
    /// The MDT has answered the intent of the RPC whose reply the thread has got.
    Answered {
        /// The RPC.
        xid: Xid,
        /// What it asked for.
        intent: Intent,
    },
    /// The thread, which sends an RPC, is one of the kernel's own.
    IsKernelThread,
    /// Another `VFS Op`: the operation goes on.
    WentOn,
    /// The thread begins to ask a server for a lock.
    EnqueueStarted {
        /// Handle of the lock.
        cookie: u64,
        /// It is a glimpse: the size of an OST's object is asked for.
        is_glimpse: bool,
    },
    /// A thread has the answer, and the lock if the server grants it.
    EnqueueEnded {
        /// Handle of the lock.
        cookie: u64,
    },
    /// The bulk RPC that the thread now sends carries data of this file.
    BulkSent {
        /// The RPC.
        xid: Xid,
        /// The file.
        fid: Fid,
        /// Whether data are written.
        is_write: bool,
        /// When the RPC was put together.
        built_us: i64,
        /// Thread that put it together.
        built_by: u32,
    },
    /// The reply to an RPC whose sending is not in the log.
    OrphanReply {
        /// Uuid of the sending device.
        device: Symbol,
        /// The RPC.
        xid: Xid,
        /// Operation that it asked for.
        opcode: Opcode,
    },
}

impl ClientStep {
    /// Shows its symbols to `visit`, which may replace them.
    pub fn symbols(&mut self, visit: &mut impl FnMut(&mut Symbol)) {
        match self {
            Self::Started { name, .. } | Self::Called { name, .. } => {
                name.iter_mut().filter_map(|name| name.text.as_mut()).for_each(visit);
            }
            Self::OrphanReply { device, .. } => visit(device),
            Self::Completed { .. }
            | Self::Walked { .. }
            | Self::WentOn
            | Self::Entered { .. }
            | Self::MovedData
            | Self::Answered { .. }
            | Self::IsKernelThread
            | Self::EnqueueStarted { .. }
            | Self::EnqueueEnded { .. }
            | Self::BulkSent { .. } => {}
        }
    }
}
