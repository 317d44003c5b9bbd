//! What kind of traffic a request is. Whoever counts asks here, so that a figure means the same wherever it is shown: in the
//! analysis, in the daemon's comparison with the counters, in its metrics, in findings, and in SQL.
//!
//! Each rule stands here twice, for rows and as a standard SQL expression over the raw tables of a dataset ([`sql`]); a test of
//! `lioprof-query` asks both about the same rows.

use lustre_debuglog::{Opcode, TargetKind, TargetName};

use crate::row::RpcRow;
use crate::symbol::{Symbol, Symbols};
use crate::trace::RpcWindow;

/// Whether a request was for a metadata target. A read or write there is Data-on-MDT, which the servers count apart from what OSTs do.
/// Where the log does not name the target, the service thread tells.
///
/// The names of all threads of an MDS begin with `mdt` (`LUSTRE_MDT_NAME` in `obd.h`, `tc_thr_name` in `mdt_mds.c`).
#[inline]
#[must_use]
pub fn is_on_mdt(target: Option<TargetName>, thread: &[u8]) -> bool {
    thread.starts_with(b"mdt") || target.is_some_and(|target| target.kind() == TargetKind::Mdt)
}

/// [`is_on_mdt`] for a row.
#[inline]
#[must_use]
pub fn row_is_on_mdt(row: &RpcRow, symbols: &Symbols) -> bool {
    is_on_mdt(row.target, symbols.bytes(row.thread))
}

/// Whether a request came from another server of the file system, by the uuid of its connection: an MDT's connection to an OST
/// (`-mdtlov_UUID`, `lod_dev.c`) or a light-weight one (`-lwp-`, `obd.h`, `tgt_name2lwp_name`). Those of clients are UUIDs.
#[must_use]
pub fn is_from_server(client_uuid: &[u8]) -> bool {
    // Clients' are hexadecimal: a search for one letter ends it for nearly all.
    let may_be_lwp = client_uuid.contains(&b'w');
    client_uuid.ends_with(b"-mdtlov_UUID") || may_be_lwp && client_uuid.windows(LWP.len()).any(|part| part == LWP)
}

const LWP: &[u8] = b"-lwp-";

/// The service of a thread: `ll_ost_io00_002` and `ll_ost_io01_017` are threads of `ll_ost_io`.
#[inline]
#[must_use]
pub fn service_name(thread: &[u8]) -> &[u8] {
    let number_at = thread.iter().rposition(|&b| b == b'_');
    let part = match number_at {
        Some(at) if thread[at + 1..].iter().all(u8::is_ascii_digit) => &thread[..at],
        _ => thread,
    };
    let digits = part.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    &part[..part.len() - digits]
}

/// The service whose counters count what a thread handles, as Lustre names it (`ptlrpc_register_service`): threads have
/// shorter names.
#[inline]
#[must_use]
pub fn counted_service(thread: &[u8]) -> Option<&'static str> {
    Some(match service_name(thread) {
        b"ll_ost" => "ost",
        b"ll_ost_create" => "ost_create",
        b"ll_ost_io" => "ost_io",
        b"ll_ost_out" => "ost_out",
        b"ll_ost_seq" => "ost_seq",
        b"mdt" => "mdt",
        b"mdt_attr" => "mdt_setattr",
        b"mdt_fld" => "mdt_fld",
        b"mdt_io" => "mdt_io",
        b"mdt_out" => "mdt_out",
        b"mdt_rdpg" => "mdt_readpage",
        b"mdt_seqm" => "mdt_seqm",
        b"mdt_seqs" => "mdt_seqs",
        b"ldlm_cb" => "ldlm_cbd",
        b"ldlm_cn" => "ldlm_canceld",
        _ => return None,
    })
}

named! {
    /// What an operation is for.
    pub enum OperationClass {
        /// Moves file data: `OST_READ`, `OST_WRITE`.
        Bulk = "bulk",
        /// Any other operation on an OST or MDT: names, attributes, connects, space.
        Metadata = "metadata",
        /// The lock manager's: enqueue, cancel, callbacks.
        Lock = "lock",
        /// Keeps a connection alive.
        Ping = "ping",
        /// Configuration, quota, logs, updates between servers.
        Other = "other",
    }
}

impl OperationClass {
    /// The class of an opcode. `lustre_idl.h` numbers OST operations from 0, MDS operations from 33, those of the lock manager from 101 and
    /// others from 250.
    #[must_use]
    pub fn of(opcode: Opcode) -> Self {
        match opcode {
            Opcode::OST_READ | Opcode::OST_WRITE => Self::Bulk,
            Opcode(0..=99) => Self::Metadata,
            Opcode(100..=199) => Self::Lock,
            Opcode::OBD_PING => Self::Ping,
            _ => Self::Other,
        }
    }

    /// Whether only clients ask for it under a uuid like a client's: bulk and metadata. (The MGC of a server has such a uuid, too; it talks
    /// to the MGS, pings, and takes locks on the configuration.)
    #[must_use]
    pub const fn is_file_operation(self) -> bool {
        matches!(self, Self::Bulk | Self::Metadata)
    }
}

/// Who is behind a request or a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party<C> {
    /// A client, by whatever names it.
    Client(C),
    /// A server of the file system, or a thread of the node itself without a request.
    Server,
    /// The log does not say.
    Unknown,
}

impl Party<Symbol> {
    /// Who sent the request in whose window a line stands. What stands in none is the node's own doing.
    #[must_use]
    pub fn behind(window: Option<RpcWindow>, is_from_server: impl FnOnce(Symbol) -> bool) -> Self {
        match window {
            Some(rpc) if !is_from_server(rpc.client_uuid) => Self::Client(rpc.nid),
            _ => Self::Server,
        }
    }
}

/// Whose lock is in whose way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictKind<C> {
    /// Two clients: the conflicts that pairs, objects, waits and costs are about.
    Client {
        /// Whose lock it is.
        holder: C,
        /// Who wants one.
        waiter: C,
    },
    /// A client's own lock, for example when it truncates a file that it has written.
    Own,
    /// A server is on one side, for example an MDT that unlinks a file whose objects a client has locked.
    Server,
}

impl<C: PartialEq> ConflictKind<C> {
    /// What a conflict between these is. Where the log does not name a party it is not counted as a client's.
    #[must_use]
    pub fn new(holder: Party<C>, waiter: Party<C>) -> Self {
        match (holder, waiter) {
            (Party::Client(holder), Party::Client(waiter)) if holder != waiter => Self::Client { holder, waiter },
            (Party::Client(_), Party::Client(_)) => Self::Own,
            _ => Self::Server,
        }
    }
}

/// The rules as SQL expressions.
pub mod sql {
    /// [`is_on_mdt`](super::is_on_mdt), over the columns `thread` and `target`.
    pub const ON_MDT: &str = "(thread LIKE 'mdt%' OR coalesce(target LIKE '%-MDT%', FALSE))";

    /// [`is_from_server`](super::is_from_server), over the column of a uuid.
    #[must_use]
    pub fn from_server(client_uuid: &str) -> String {
        format!("({client_uuid} LIKE '%-mdtlov_UUID' OR {client_uuid} LIKE '%-lwp-%')")
    }

    /// [`OperationClass::of`](super::OperationClass::of), over the column `opcode`.
    pub const OPERATION_CLASS: &str = "CASE WHEN opcode IN (3, 4) THEN 'bulk' WHEN opcode < 100 THEN 'metadata' \
         WHEN opcode < 200 THEN 'lock' WHEN opcode = 400 THEN 'ping' ELSE 'other' END";

    /// [`service_name`](super::service_name), over the column `thread`.
    pub const SERVICE: &str = "rtrim(regexp_replace(thread, '_[0-9]*$', ''), '0123456789')";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_belong_to_services() {
        for (thread, service) in [
            ("ll_ost_io00_002", "ll_ost_io"),
            ("ll_ost_create00", "ll_ost_create"),
            ("mdt_rdpg01_017", "mdt_rdpg"),
            ("ll_mgs_0002", "ll_mgs"),
            ("mdt_seqs_0000", "mdt_seqs"),
            ("ptlrpcd_00_01", "ptlrpcd_"),
        ] {
            assert_eq!(service_name(thread.as_bytes()), service.as_bytes(), "{thread}");
        }
    }

    #[test]
    fn threads_are_of_the_services_that_count_them() {
        for (thread, service) in [
            ("ll_ost_io00_002", Some("ost_io")),
            ("ll_ost_create00", Some("ost_create")),
            ("ll_ost01_017", Some("ost")),
            ("ldlm_cn00_003", Some("ldlm_canceld")),
            ("mdt_rdpg00_001", Some("mdt_readpage")),
            ("ptlrpcd_00_01", None),
        ] {
            assert_eq!(counted_service(thread.as_bytes()), service, "{thread}");
        }
    }

    #[test]
    fn servers_are_told_by_their_uuids() {
        assert!(is_from_server(b"lustre-MDT0000-mdtlov_UUID"));
        assert!(is_from_server(b"lustre-MDT0000-lwp-OST0001_UUID"));
        assert!(!is_from_server(b"b2df25ce-5f2c-45c8-8c82-6364f185437c"));
        assert!(!is_from_server(b""));
    }

    #[test]
    fn the_thread_tells_where_the_target_is_unknown() {
        let target = |name| TargetName::parse_bytes(name);
        assert!(is_on_mdt(None, b"mdt_io00_001"));
        assert!(is_on_mdt(target(b"lustre-MDT0001"), b"ll_ost_io00_001"));
        assert!(!is_on_mdt(target(b"lustre-OST0001"), b"ll_ost_io00_001"));
        assert!(!is_on_mdt(None, b"ll_ost_io00_001"));
    }

    #[test]
    fn operations_have_classes() {
        use OperationClass::{Bulk, Lock, Metadata, Other, Ping};
        for (opcode, class) in [
            (Opcode::OST_READ, Bulk),
            (Opcode::OST_WRITE, Bulk),
            (Opcode::OST_PUNCH, Metadata),
            (Opcode::MDS_REINT, Metadata),
            (Opcode::LDLM_ENQUEUE, Lock),
            (Opcode::LDLM_GL_CALLBACK, Lock),
            (Opcode::OBD_PING, Ping),
            (Opcode::MGS_CONFIG_READ, Other),
            (Opcode::OUT_UPDATE, Other),
        ] {
            assert_eq!(OperationClass::of(opcode), class, "{opcode}");
        }
    }

    #[test]
    fn only_two_clients_are_a_conflict_between_clients() {
        use Party::{Client, Server, Unknown};
        let kind = ConflictKind::<u8>::new;
        assert_eq!(kind(Client(1), Client(2)), ConflictKind::Client { holder: 1, waiter: 2 });
        assert_eq!(kind(Client(1), Client(1)), ConflictKind::Own);
        for (holder, waiter) in [(Client(1), Server), (Server, Client(1)), (Unknown, Client(1)), (Client(1), Unknown)] {
            assert_eq!(kind(holder, waiter), ConflictKind::Server);
        }
    }
}
