//! What clients' logs tell of operations, and what they leave open.

use lustre_debuglog::Opcode;
use lustre_debuglog::vocab::OperationKind;
use std::collections::BTreeMap;
use std::sync::Arc;

named! {
    /// What an operation is known by. All but the first are inferred: the operation lasted at least as long as it says.
    pub enum Evidence {
        /// Lines of its own in the client's log, or, where only servers tell, of the RPC in theirs.
        Logged = "logged",
        /// The line at its begin (mask vfstrace); its end is the last line or reply that belongs to it.
        EntryLine = "entry_line",
        /// An RPC with the intent to open a file.
        OpenIntent = "open_intent",
        /// An RPC with the intent to get attributes.
        GetattrIntent = "getattr_intent",
        /// An MDS_CLOSE.
        CloseRequest = "close_request",
        /// An MDS_SYNC, and the OST_SYNCs after it.
        SyncRequest = "sync_request",
        /// An MDS_READPAGE.
        ReadpageRequest = "readpage_request",
    }
}

/// RPCs of one kind, and how long the client waited for their replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RpcSum {
    /// How many.
    pub rpcs: u64,
    /// From sending to the reply, microseconds, of those with both lines in the client's log.
    pub round_trip_us: u64,
}

/// What the log of one client holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientLog {
    /// The client's node.
    pub node: Arc<str>,
    /// Kinds of operations of which the log has lines of its own, in order.
    pub logged: Vec<OperationKind>,
    /// Kinds of operations that were inferred, in order.
    pub inferred: Vec<OperationKind>,
    /// RPCs that the client sent.
    pub rpcs: u64,
    /// Those of them that belong to an operation of which the log has lines.
    pub logged_rpcs: u64,
    /// Those of them that belong to an inferred operation.
    pub inferred_rpcs: u64,
    /// The others, by what they asked for.
    pub no_operation: BTreeMap<Opcode, RpcSum>,
}

impl ClientLog {
    /// Kinds of operations that programs need all the time, and of which the log has no line.
    #[must_use]
    pub fn not_logged(&self) -> Vec<OperationKind> {
        const USUAL: [OperationKind; 6] = [
            OperationKind::Open,
            OperationKind::Close,
            OperationKind::Read,
            OperationKind::Write,
            OperationKind::Fsync,
            OperationKind::Stat,
        ];
        USUAL.into_iter().filter(|kind| !self.logged.contains(kind)).collect()
    }

    /// All RPCs that belong to no operation.
    #[must_use]
    pub fn no_operation_sum(&self) -> RpcSum {
        RpcSum::of(self.no_operation.values())
    }
}

impl RpcSum {
    /// All of them together.
    pub fn of<'a>(sums: impl IntoIterator<Item = &'a Self>) -> Self {
        let add = |all: Self, one: &Self| Self {
            rpcs: all.rpcs + one.rpcs,
            round_trip_us: all.round_trip_us + one.round_trip_us,
        };
        sums.into_iter().fold(Self::default(), add)
    }
}
