//! One RPC as a server handled it.

use std::path::Path;

use lustre_debuglog::message::ObjectName;
use lustre_debuglog::{Extent, Opcode, TargetName, Xid};
use serde::{Deserialize, Serialize};

use crate::counted::CounterSnapshot;
use crate::symbol::{Symbol, Symbols};
use crate::trace::{LockEvent, Mark, SentRpc, TraceSummary};

/// One RPC handled by a service of a node, rebuilt from about eleven records.
///
/// Times are microseconds since the epoch on the node's own clock.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcRow {
    /// Node (server) whose log this is.
    pub node: Symbol,
    /// Opcode.
    pub opcode: Opcode,
    /// Client NID, plain form.
    pub nid: Symbol,
    /// Client uuid as last printed; `0` before a connect is processed.
    pub client_uuid: Symbol,
    /// Transfer id; unique together with the NID.
    pub xid: Xid,
    /// Job id; `None` where the version prints none (to 2.12).
    pub job: Option<Symbol>,
    /// Service thread, `ll_ost_io00_002`.
    pub thread: Symbol,
    /// Kernel pid of that thread.
    pub pid: u32,
    /// End of handling: time of `Handled RPC`.
    pub end_us: i64,
    /// Time in the handler; `None` if the clock stepped inside.
    pub service_us: Option<u64>,
    /// Arrival to end; `None` if the clock stepped inside.
    pub total_us: Option<u64>,
    /// Handler status; for a successful OST_READ the bytes sent.
    pub rc: i32,
    /// Status in the reply, -999 without one.
    pub reply_rc: i32,
    /// Transaction number.
    pub transno: u64,
    /// Target, where known.
    pub target: Option<TargetName>,
    /// How the target is known.
    pub target_evidence: TargetEvidence,
    /// Object, where known.
    pub object: Option<ObjectName>,
    /// First byte of the first niobuf to last byte of the last, where known.
    pub extent: Option<Extent>,
    /// Bytes moved.
    pub size: RpcSize,
    /// How the bytes are known.
    pub size_evidence: SizeEvidence,
    /// When in the service time the data moved; `None` without mask `net`, for inline data ("short I/O"), and where the log leaves
    /// more than one possibility.
    pub bulk: Option<BulkSpan>,
    /// The server dropped the request before it was handled (deadline passed, old connection).
    pub dropped: bool,
    /// The client sent this request again after a timeout.
    pub resent: bool,
    /// The client replayed this request after recovery.
    pub replay: bool,
    /// User, group and project id (Lustre 2.16, 2.17), where packed.
    pub uid: Option<u32>,
    /// Group id.
    pub gid: Option<u32>,
    /// Project id.
    pub projid: Option<u32>,
}

impl RpcRow {
    /// A row of which nothing more is known; for those that make rows up. `text` is in the place of all texts.
    #[must_use]
    pub fn made_up(text: Symbol, opcode: Opcode, end_us: i64) -> Self {
        Self {
            node: text,
            opcode,
            nid: text,
            client_uuid: text,
            xid: Xid(1),
            job: None,
            thread: text,
            pid: 1,
            end_us,
            service_us: None,
            total_us: None,
            rc: 0,
            reply_rc: 0,
            transno: 0,
            target: None,
            target_evidence: TargetEvidence::None,
            object: None,
            extent: None,
            size: RpcSize::Unknown,
            size_evidence: SizeEvidence::None,
            bulk: None,
            dropped: false,
            resent: false,
            replay: false,
            uid: None,
            gid: None,
            projid: None,
        }
    }

    /// Time between arrival and the start of handling.
    #[must_use]
    pub fn queue_us(&self) -> Option<u64> {
        self.total_us?.checked_sub(self.service_us?)
    }

    /// Arrival at the server.
    #[must_use]
    pub fn arrival_us(&self) -> Option<i64> {
        self.end_us.checked_sub_unsigned(self.total_us?)
    }

    /// Start of handling.
    #[must_use]
    pub fn start_us(&self) -> Option<i64> {
        self.end_us.checked_sub_unsigned(self.service_us?)
    }

    /// Time in the handler behind the bulk transfer: for a write the disk write and commit.
    #[must_use]
    pub fn after_bulk_us(&self) -> Option<u64> {
        let bulk = self.bulk.filter(|bulk| bulk.is_within(self.service_us))?;
        Some(self.service_us? - bulk.before_us - bulk.transfer_us)
    }

    /// Whether the handler failed, or never ran.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.rc < 0 || self.dropped
    }

    /// Read or write, for OST_READ and OST_WRITE.
    #[must_use]
    pub fn direction(&self) -> Option<Direction> {
        Direction::of(self.opcode)
    }
}

/// Direction of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Server to client.
    Read,
    /// Client to server.
    Write,
}

impl Direction {
    /// The direction of an opcode's bulk data; `None` if it has none.
    #[must_use]
    pub fn of(opcode: Opcode) -> Option<Self> {
        match opcode {
            Opcode::OST_READ => Some(Self::Read),
            Opcode::OST_WRITE => Some(Self::Write),
            _ => None,
        }
    }
}

/// When in an RPC's service time its bulk transfer was. Together with [`RpcRow::after_bulk_us`] the parts are the service time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BulkSpan {
    /// Before the transfer, from `Handling RPC` to `Transferring`: of a read the disk read, of a write its preparation (grants, pages, what
    /// is read of partly written pages).
    pub before_us: u64,
    /// The transfer, from there to the event that all data have come (write) or arrived (read): network and client.
    pub transfer_us: u64,
}

impl BulkSpan {
    /// Whether it lies in a service time.
    #[must_use]
    pub fn is_within(&self, service_us: Option<u64>) -> bool {
        let end_us = self.before_us.checked_add(self.transfer_us);
        end_us.zip(service_us).is_some_and(|(end, service)| end <= service)
    }
}

/// Bytes of one RPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RpcSize {
    /// Known.
    Exact(u64),
    /// Known within bounds.
    Bounded {
        /// Best estimate.
        best: u64,
        /// At least.
        min: u64,
        /// At most.
        max: u64,
    },
    /// Unknown, or the RPC is no read or write.
    Unknown,
}

/// What a size rests on, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeEvidence {
    /// The handler failed or never ran: nothing moved.
    Failed,
    /// Status of a successful read: bytes sent.
    ReadStatus,
    /// `Transferring ... bytes`.
    Bulk,
    /// Length of a message with inline data ("short I/O").
    Inline,
    /// One niobuf, so the extent is the size.
    Extent,
    /// Several niobufs with gaps: bounded.
    Niobufs,
    /// An extent of unknown niobufs (server-local lock, or no message length): bounded.
    LockExtent,
    /// Nothing.
    None,
}

/// What a target rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetEvidence {
    /// `refresh rw locks` line of the RPC.
    RefreshLine,
    /// A server-local lock taken by the handling thread.
    LocalLock,
    /// The request scheduler named the OST (trr).
    Nrs,
    /// The node has exactly one target of that kind: only one pings the first MDT.
    OnlyTarget,
    /// Nothing.
    None,
}

/// Receives what a node's log says, in the order in which it became known: an RPC when its handling was known to
/// be over, anything else when it happened. Symbols belong to `symbols`.
pub trait RowSink {
    /// One RPC.
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols);

    /// A line of the lock manager.
    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        let _ = (event, symbols);
    }

    /// An RPC that the node sent, or the answer to it.
    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        let _ = (sent, symbols);
    }

    /// An `lctl mark` line.
    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        let _ = (mark, symbols);
    }

    /// All of a node has been handed on; nodes come one after the other. `summary` says what its rows do not.
    fn node_end(&mut self, node: &str, summary: &TraceSummary, symbols: &Symbols) {
        let _ = (node, summary, symbols);
    }
}

impl<S: RowSink + ?Sized> RowSink for &mut S {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        (**self).rpc(row, symbols);
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        (**self).lock_event(event, symbols);
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        (**self).sent_rpc(sent, symbols);
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        (**self).mark(mark, symbols);
    }

    fn node_end(&mut self, node: &str, summary: &TraceSummary, symbols: &Symbols) {
        (**self).node_end(node, summary, symbols);
    }
}

/// A node's log in the form of rows: kept by a store, or made anew from records.
pub trait RowSource: Send {
    /// Node whose log this is.
    fn node(&self) -> &str;

    /// Hands everything to `sink`, in the order in which it came; symbols are interned in `symbols`.
    ///
    /// # Errors
    /// A sentence that says which file, where, what was expected and what was found. What came before it has been handed on.
    fn read(&mut self, symbols: &mut Symbols, sink: &mut dyn RowSink) -> Result<(), String>;

    /// What the log holds besides.
    fn summary(&self) -> TraceSummary;

    /// Hands on the node's own counters, in the order in which they were sampled: those of times that were traced, and of
    /// which all rows are there.
    ///
    /// # Errors
    /// As [`Self::read`].
    fn counters(&mut self, _to: &mut dyn FnMut(&CounterSnapshot)) -> Result<(), String> {
        Ok(())
    }

    /// File or folder, for messages and the account of inputs.
    fn path(&self) -> &Path;
}

/// Opens folders of rows that were made of logs before.
pub trait RowStores: Sync {
    /// Whether a folder holds rows.
    fn is_store(&self, dir: &Path) -> bool;

    /// The rows in a folder, by node.
    ///
    /// # Errors
    /// A sentence that says what is wrong with which file.
    fn open(&self, dir: &Path) -> Result<Vec<Box<dyn RowSource>>, String>;
}
