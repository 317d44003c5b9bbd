//! What clients' logs tell of operations, and what they leave open.

use std::collections::BTreeMap;
use std::sync::Arc;

use lustre_debuglog::Opcode;
use lustre_debuglog::vocab::OperationKind;

use crate::units::{plural, real, thousands};

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

/// What the clients' logs have lines of, what was inferred and what is left, for people. Nothing of clients that log all that is usual.
#[must_use]
pub fn notes(clients: &[ClientLog]) -> Vec<String> {
    let mut notes = Vec::new();
    let mut alike: BTreeMap<(&[OperationKind], &[OperationKind]), Vec<&ClientLog>> = BTreeMap::new();
    for client in clients.iter().filter(|client| !client.not_logged().is_empty()) {
        alike.entry((&client.logged, &client.inferred)).or_default().push(client);
    }
    for ((logged, inferred), of) in &alike {
        let its = if of.len() == 1 { "its" } else { "their" };
        let whose = match of.as_slice() {
            [one] => format!("The log of {} has", one.node),
            few @ ([_, _] | [_, _, _]) => {
                format!("The logs of {} have", list(few.iter().map(|client| client.node.to_string())))
            }
            many => format!("The logs of {} clients have", thousands(many.len() as u64)),
        };
        let kinds = |kinds: &[OperationKind]| list(kinds.iter().map(|kind| format!("{kind}s")));
        let mut note = match logged {
            [] => format!("{whose} no lines of operations"),
            logged => format!("{whose} lines of {} only", kinds(logged)),
        };
        if !inferred.is_empty() {
            note += &format!(
                "; {its} {} (*) were inferred from first lines and from requests: each lasted at least so long",
                kinds(inferred)
            );
        }
        notes.push(format!("{note}."));
        let sums: Vec<RpcSum> = of.iter().map(|client| client.no_operation_sum()).collect();
        let none = RpcSum::of(&sums);
        let all: u64 = of.iter().map(|client| client.rpcs).sum();
        if none.rpcs > 0 {
            let belong = if none.rpcs == 1 { "belongs" } else { "belong" };
            notes.push(format!(
                "{} of {its} {} ({:.3} s from sending to reply) {belong} to no operation that the log tells of.",
                thousands(none.rpcs),
                plural(all, "RPC"),
                real(none.round_trip_us) / 1e6
            ));
        }
    }
    if !notes.is_empty() {
        notes.push(
            "Clients log reads and writes from Lustre 2.15 on (mask iotrace), opens, closes and stats from 2.16 on (iotrace, vfstrace), \
             fsyncs from 2.17.55 on."
                .to_owned(),
        );
    }
    notes
}

/// `a, b and c`.
fn list(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.collect();
    match names.pop() {
        Some(last) if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// What RPCs of a kind are for that belong to no operation, in a few words for people.
#[must_use]
pub fn why_of_none(opcode: Opcode) -> &'static str {
    match opcode {
        Opcode::OST_READ => "read-ahead, or reads not logged",
        Opcode::OST_WRITE => "write-back, or writes not logged",
        Opcode::LDLM_CANCEL | Opcode::LDLM_CONVERT => "locks given back",
        Opcode::LDLM_ENQUEUE => "walks, stats, reads, writes not logged",
        Opcode::MDS_BATCH => "names looked up ahead (statahead)",
        Opcode::MDS_CLOSE => "closes by other threads, or not certain",
        Opcode::MDS_REINT => "changes of names and attributes",
        Opcode::MDS_GETXATTR => "extended attributes",
        Opcode::MDS_READPAGE => "directories read, or read ahead",
        Opcode::OST_SETATTR | Opcode::OST_PUNCH => "attributes and truncates",
        Opcode::MDS_SYNC | Opcode::OST_SYNC => "fsyncs that are not certain",
        Opcode::OBD_PING
        | Opcode::MDS_CONNECT
        | Opcode::OST_CONNECT
        | Opcode::OST_DISCONNECT
        | Opcode::MDS_DISCONNECT => "connections",
        Opcode::OST_STATFS | Opcode::MDS_STATFS => "free space",
        _ => "",
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
