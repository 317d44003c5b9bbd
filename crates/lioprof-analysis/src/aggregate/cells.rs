//! What is summed up for one target, client, job, operation or node.

use std::collections::BTreeMap;

use lioprof_model::{Direction, Io, SizeHistogram, Symbol};
use lustre_debuglog::{Opcode, TargetKind, TargetName};
use rustc_hash::FxHashMap;

use super::times::RpcTimes;

/// Reads and writes.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadWriteIo {
    pub(super) read: Io,
    pub(super) write: Io,
}

impl ReadWriteIo {
    pub(super) fn direction(&mut self, direction: Direction) -> &mut Io {
        match direction {
            Direction::Read => &mut self.read,
            Direction::Write => &mut self.write,
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.read.merge(&other.read);
        self.write.merge(&other.write);
    }
}

/// A target of a node; without a name, its reads and writes of unknown target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct TargetKey {
    pub(super) node: Symbol,
    pub(super) kind: TargetKind,
    pub(super) name: Option<TargetName>,
}

/// Reads or writes of a target.
#[derive(Clone, Debug, Default)]
pub(super) struct TargetDirection {
    pub(super) io: Io,
    pub(super) sizes: SizeHistogram,
    pub(super) times: RpcTimes,
}

impl TargetDirection {
    pub(super) fn merge(&mut self, other: &Self) {
        self.io.merge(&other.io);
        self.sizes.merge(&other.sizes);
        self.times.merge(&other.times);
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct TargetSum {
    pub(super) read: TargetDirection,
    pub(super) write: TargetDirection,
    pub(super) opcodes: BTreeMap<u32, u64>,
}

impl TargetSum {
    pub(super) fn direction(&mut self, direction: Direction) -> &mut TargetDirection {
        match direction {
            Direction::Read => &mut self.read,
            Direction::Write => &mut self.write,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct NodeSum {
    pub(super) rpcs: u64,
    pub(super) sent: u64,
    /// `OST_READ` among what it sent.
    pub(super) sent_reads: u64,
    /// `OST_WRITE` among what it sent.
    pub(super) sent_writes: u64,
    pub(super) io: ReadWriteIo,
    pub(super) first_us: Option<i64>,
    pub(super) last_us: Option<i64>,
    pub(super) traced_us: Vec<[i64; 2]>,
    /// No server: of its RPCs only numbers are told.
    pub(super) client: bool,
    /// Threads by the thread that stands for their service.
    pub(super) service_threads: FxHashMap<Symbol, u64>,
}

impl NodeSum {
    pub(super) fn count_sent(&mut self, opcode: Opcode, rpcs: u64) {
        self.sent += rpcs;
        match opcode {
            Opcode::OST_READ => self.sent_reads += rpcs,
            Opcode::OST_WRITE => self.sent_writes += rpcs,
            _ => {}
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct OwnerKey {
    pub(super) uid: u32,
    pub(super) gid: Option<u32>,
    pub(super) projid: Option<u32>,
}
