//! An RPC that a server handled, as a row, and the traits that pass such rows on.

use std::path::{Path, PathBuf};

use lustre_debuglog::message::ObjectName;
use lustre_debuglog::{Extent, Opcode, TargetName, Xid};

use crate::client::ClientEvent;
use crate::counters::CounterSnapshot;
use crate::io::{Direction, ReadWrite, RpcSize};
use crate::symbol::{Symbol, Symbols};
use crate::trace::{LockEvent, Mark, SentRpc, TraceSummary};

/// One RPC handled by a service of a node, rebuilt from about eleven records.
///
/// Times are microseconds since the epoch on the node's own clock.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcRow {
    /// Node (server) whose log this is.
    pub node: Symbol,
    /// Operation that the client asked for.
    pub opcode: Opcode,
    /// NID of the client, without the `12345-` prefix.
    pub nid: Symbol,
    /// Client uuid as last printed; `0` before a connect is processed.
    pub client_uuid: Symbol,
    /// Transfer id (xid); unique together with the NID.
    pub xid: Xid,
    /// Job id; `None` if the Lustre version prints none (up to 2.12).
    pub job: Option<Symbol>,
    /// Name of the service thread, such as `ll_ost_io00_002`.
    pub thread: Symbol,
    /// Kernel pid of that thread.
    pub pid: u32,
    /// End of handling: time of the `Handled RPC` line.
    pub end_us: i64,
    /// Time in the handler, µs; `None` if the clock stepped meanwhile.
    pub service_us: Option<u64>,
    /// Time from arrival to the end of handling, µs; `None` if the clock stepped meanwhile.
    pub total_us: Option<u64>,
    /// Status that the handler returned; for a successful OST_READ the number of bytes sent.
    pub rc: i32,
    /// Status in the reply; -999 if there was no reply.
    pub reply_rc: i32,
    /// Transaction number of the request.
    pub transno: u64,
    /// Target that handled the RPC; `None` if unknown.
    pub target: Option<TargetName>,
    /// Which log lines or facts name the target.
    pub target_evidence: TargetEvidence,
    /// Object that was read or written; `None` if unknown.
    pub object: Option<ObjectName>,
    /// From the first byte of the first niobuf to the last byte of the last one; `None` if unknown.
    pub extent: Option<Extent>,
    /// Number of bytes read or written.
    pub size: RpcSize,
    /// Which log lines or facts `size` comes from.
    pub size_evidence: SizeEvidence,
    /// When during the service time the bulk data moved; `None` without mask `net`, for inline data ("short I/O"), and if the log
    /// is ambiguous.
    pub bulk: Option<BulkSpan>,
    /// The server dropped the request before it was handled (deadline passed, old connection).
    pub dropped: bool,
    /// The client sent this request again after a timeout.
    pub resent: bool,
    /// The client replayed this request after recovery.
    pub replay: bool,
    /// User id; `None` if the request carries none (before Lustre 2.16).
    pub uid: Option<u32>,
    /// Group id; `None` if the request carries none (before Lustre 2.16).
    pub gid: Option<u32>,
    /// Project id; `None` if the request carries none (before Lustre 2.17).
    pub projid: Option<u32>,
    /// Requests a second that the rule of a token bucket filter (scheduler `tbf`) allowed the class of this request; 0 before Lustre 2.10,
    /// which does not print it; `None` without a rule.
    pub tbf_rate: Option<u32>,
}

impl ReadWrite {
    /// Counts an RPC of this direction.
    #[inline]
    pub fn add(&mut self, row: &RpcRow, direction: Direction) {
        self.direction(direction).add(row.size, row.failed());
    }
}

impl RpcRow {
    /// A row with only these facts, for tests and generators; `text` stands for every text.
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
            tbf_rate: None,
        }
    }

    /// Time from arrival to the start of handling, µs; `None` if the clock stepped meanwhile.
    #[must_use]
    pub fn queue_us(&self) -> Option<u64> {
        self.total_us?.checked_sub(self.service_us?)
    }

    /// When the request arrived at the server; `None` if the clock stepped meanwhile.
    #[must_use]
    pub fn arrival_us(&self) -> Option<i64> {
        self.end_us.checked_sub_unsigned(self.total_us?)
    }

    /// When handling started; `None` if the clock stepped meanwhile.
    #[must_use]
    pub fn start_us(&self) -> Option<i64> {
        self.end_us.checked_sub_unsigned(self.service_us?)
    }

    /// Time in the handler after the bulk transfer, µs: for a write the disk write and commit. `None` without a valid bulk transfer.
    #[must_use]
    pub fn after_bulk_us(&self) -> Option<u64> {
        let bulk = self.bulk.filter(|bulk| bulk.is_within(self.service_us))?;
        Some(self.service_us? - bulk.before_us - bulk.transfer_us)
    }

    /// Whether the handler failed or never ran.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.rc < 0 || self.dropped
    }

    /// Direction of the data for OST_READ and OST_WRITE; `None` for other opcodes.
    #[must_use]
    pub fn direction(&self) -> Option<Direction> {
        Direction::of(self.opcode)
    }
}

/// When an RPC's bulk transfer took place within its service time. Both parts and [`RpcRow::after_bulk_us`] add up to that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BulkSpan {
    /// Time before the transfer, from `Handling RPC` to `Transferring`, µs: for a read the disk read, for a write its preparation (grants,
    /// pages, reading partly written pages).
    pub before_us: u64,
    /// Time of the transfer, from `Transferring` to the event that all data reached the server (write) or the client (read), µs.
    pub transfer_us: u64,
}

impl BulkSpan {
    /// Whether the transfer ended within this service time; false if `service_us` is `None`.
    #[must_use]
    pub fn is_within(&self, service_us: Option<u64>) -> bool {
        let end_us = self.before_us.checked_add(self.transfer_us);
        end_us.zip(service_us).is_some_and(|(end, service)| end <= service)
    }
}

named! {
    /// Where a size comes from, most reliable first.
    pub enum SizeEvidence {
        /// The handler failed or never ran: nothing moved.
        Failed = "failed",
        /// Status of a successful read: the bytes sent.
        ReadStatus = "read_status",
        /// The `Transferring ... bytes` line.
        Bulk = "bulk",
        /// Length of a message with inline data ("short I/O").
        Inline = "inline",
        /// There is one niobuf, so the extent's length is the size.
        Extent = "extent",
        /// Several niobufs with gaps: the size is only bounded.
        Niobufs = "niobufs",
        /// Extent whose niobufs are unknown (server-local lock, or no message length): the size is only bounded.
        LockExtent = "lock_extent",
        /// The log does not show it.
        None = "none",
    }

    /// Where the target of an RPC comes from.
    pub enum TargetEvidence {
        /// The RPC's `refresh rw locks` line.
        RefreshLine = "refresh_line",
        /// A server-local lock that the handling thread took.
        LocalLock = "local_lock",
        /// The request scheduler named the OST (trr).
        Nrs = "nrs",
        /// The node has exactly one target of that kind, since only one pings the first MDT.
        OnlyTarget = "only_target",
        /// The log does not show it.
        None = "none",
    }
}

/// A request that the node began to handle, and whose end is not in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfRpc {
    /// Node that handled it.
    pub node: Symbol,
    /// Kernel pid of the service thread.
    pub pid: u32,
    /// Uuid of the client's connection.
    pub client_uuid: Symbol,
    /// Number of the request.
    pub xid: Xid,
    /// Operation that was asked for.
    pub opcode: Opcode,
    /// `Handling RPC`, microseconds since the epoch.
    pub from_us: i64,
    /// When the thread turned to something else; `None` if the log ends before that.
    pub until_us: Option<i64>,
}

/// Receives the rows of a node's log in the order in which they became known: an RPC once its handling is known to be over,
/// everything else when it happened. Symbols belong to `symbols`, a table that only grows, also from one node to the next.
pub trait RowSink {
    /// An RPC that the node handled.
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols);

    /// A line of the lock manager.
    fn lock_event(&mut self, _event: &LockEvent, _symbols: &Symbols) {}

    /// An RPC that the node sent, or the reply to it.
    fn sent_rpc(&mut self, _sent: &SentRpc, _symbols: &Symbols) {}

    /// A line of a client's log about an operation.
    fn client_event(&mut self, _event: &ClientEvent, _symbols: &Symbols) {}

    /// Half an RPC, which is no row.
    fn half_rpc(&mut self, _half: &HalfRpc, _symbols: &Symbols) {}

    /// An `lctl mark` line.
    fn mark(&mut self, _mark: &Mark, _symbols: &Symbols) {}

    /// All rows of a node have been passed on; nodes come one after the other. `summary` has what the rows do not say.
    fn node_end(&mut self, _node: &str, _summary: &TraceSummary, _symbols: &Symbols) {}
}

macro_rules! passed_on {
    ($($name:ident($row:ty);)+) => {
        $(fn $name(&mut self, row: &$row, symbols: &Symbols) {
            (**self).$name(row, symbols);
        })+
    };
}

impl<S: RowSink + ?Sized> RowSink for &mut S {
    passed_on! {
        rpc(RpcRow);
        lock_event(LockEvent);
        sent_rpc(SentRpc);
        client_event(ClientEvent);
        half_rpc(HalfRpc);
        mark(Mark);
    }

    fn node_end(&mut self, node: &str, summary: &TraceSummary, symbols: &Symbols) {
        (**self).node_end(node, summary, symbols);
    }
}

/// A node's log as rows, either read from a store or rebuilt from records.
pub trait RowSource: Send {
    /// Name of the node whose log this is.
    fn node(&self) -> &str;

    /// Passes all rows to `sink` in their original order; interns symbols in `symbols`.
    ///
    /// # Errors
    /// A sentence that says which file failed, where, what was expected and what was found. Rows before that have been passed on.
    fn read(&mut self, symbols: &mut Symbols, sink: &mut dyn RowSink) -> Result<(), String>;

    /// What the log holds besides rows.
    fn summary(&self) -> TraceSummary;

    /// Passes on the samples of the node's own counters in the order in which they were taken: only those of traced times whose
    /// rows are all there.
    ///
    /// # Errors
    /// The same as for [`Self::read`].
    fn counters(&mut self, _to: &mut dyn FnMut(&CounterSnapshot)) -> Result<(), String> {
        Ok(())
    }

    /// The sums that were made of exactly these rows, as bytes: what a `NodeSums` of `lioprof-analysis` with this schema becomes; `None`:
    /// there are none, and the rows are to be read.
    fn sums(&self, _schema: &str) -> Option<Vec<u8>> {
        None
    }

    /// Whether there are rows to read, not only their sums.
    fn has_rows(&self) -> bool {
        true
    }

    /// File or folder of the rows, for messages and the list of inputs.
    fn path(&self) -> &Path;
}

/// Opens folders of rows that were written earlier.
pub trait RowStores: Sync {
    /// Whether a folder holds rows.
    fn is_store(&self, dir: &Path) -> bool;

    /// The rows in folders. What is in several of them is read from the first.
    fn open(&self, dirs: &[PathBuf]) -> OpenStores;
}

/// What [`RowStores::open`] found.
#[derive(Default)]
pub struct OpenStores {
    /// One source for each node of each folder.
    pub sources: Vec<Box<dyn RowSource>>,
    /// What cannot be read: a folder, and a sentence that says what is wrong with which file.
    pub unreadable: Vec<(PathBuf, String)>,
    /// What is left out although nothing that was asked for is missing: a folder, and why.
    pub left_out: Vec<(PathBuf, String)>,
}
