//! Requests that ended with an error.

use lustre_debuglog::{Errno, Opcode};
use serde::{Deserialize, Serialize};

/// Requests of one operation that ended with the same error, of one client and job, at one target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Opcode.
    pub opcode: u32,
    /// Name of the operation, `OST_WRITE`.
    pub name: String,
    /// Status of the requests, negative: `-122`.
    pub rc: i32,
    /// Name of the error, `EDQUOT`.
    pub error: String,
    /// Why nothing is wrong, if the error is everyday life: [`everyday`].
    pub everyday: Option<String>,
    /// Server.
    pub node: String,
    /// Target; `null` if unknown.
    pub target: Option<String>,
    /// NID of the client.
    pub nid: String,
    /// Job id; `null` if the Lustre version prints none.
    pub job: Option<String>,
    /// Requests that ended so.
    pub rpcs: u64,
    /// When the first of them ended, Unix seconds.
    pub first: f64,
    /// When the last of them ended.
    pub last: f64,
}

/// Errors that are no failure of the system.
struct Everyday {
    errors: &'static [Errno],
    of: fn(Opcode) -> bool,
    why: &'static str,
}

fn of_any(_: Opcode) -> bool {
    true
}

/// Asks an MDT for something in the name space: as an operation, or as the intent of a lock request.
fn of_names(opcode: Opcode) -> bool {
    matches!(opcode, Opcode(33..=99) | Opcode::LDLM_ENQUEUE) && !of_connects(opcode)
}

/// Moves no data: reads and writes are what every server does.
fn of_extras(opcode: Opcode) -> bool {
    !matches!(opcode, Opcode::OST_READ | Opcode::OST_WRITE)
}

fn of_connects(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::OST_CONNECT | Opcode::MDS_CONNECT | Opcode::MGS_CONNECT)
}

/// The one table of them; `lustre/..` is where Lustre 2.15 answers so.
static EVERYDAY: &[Everyday] = &[
    Everyday {
        // mdt/mdt_handler.c, mdt_reint.c, mdt_xattr.c: what the call of a program returns.
        errors: &[
            Errno::EPERM,
            Errno::ENOENT,
            Errno::EACCES,
            Errno::EEXIST,
            Errno::EXDEV,
            Errno::ENOTDIR,
            Errno::EISDIR,
            Errno::ETXTBSY,
            Errno::EMLINK,
            Errno::ERANGE,
            Errno::ENAMETOOLONG,
            Errno::ENOTEMPTY,
            Errno::ELOOP,
            Errno::ENODATA,
            Errno::EOPNOTSUPP,
        ],
        of: of_names,
        why: "the answer to a program that asked for a name, an attribute or a right that is not there, or is there already",
    },
    Everyday {
        // mgs/mgs_llog.c, ptlrpc/llog_server.c (llog_origin_handle_open): logs that nobody has written.
        errors: &[Errno::ENOENT],
        of: |opcode| matches!(opcode, Opcode(501..=509)),
        why: "a configuration log that nobody has written",
    },
    Everyday {
        // ofd/ofd_dev.c (ofd_destroy_hdl): destroyed before, by a request that was sent again.
        errors: &[Errno::ENOENT],
        of: |opcode| opcode == Opcode::OST_DESTROY,
        why: "the object was destroyed before",
    },
    Everyday {
        // ldlm/ldlm_lockd.c (ldlm_handle_cancel): the lock was given back or taken away meanwhile.
        errors: &[Errno::ESTALE],
        of: |opcode| opcode == Opcode::LDLM_CANCEL,
        why: "the lock was gone already",
    },
    Everyday {
        // ldlm/ldlm_lib.c (target_handle_connect): recovery, or another connect, is under way.
        errors: &[Errno::EAGAIN, Errno::EBUSY, Errno::EALREADY],
        of: of_connects,
        why: "the client connects again a little later",
    },
    Everyday {
        // ldlm/ldlm_lib.c (target_handle_connect): a client tries both servers of a failover pair.
        errors: &[Errno::ENODEV],
        of: of_connects,
        why: "the target is mounted on another server of its failover pair",
    },
    Everyday {
        // ofd/ofd_dev.c (ofd_fallocate_hdl, ofd_ladvise_hdl): the client does without it, or tells the program.
        errors: &[Errno::EOPNOTSUPP],
        of: of_extras,
        why: "the server's version or type of disk does not have it",
    },
    Everyday {
        // ldlm/ldlm_flock.c, ldlm/ldlm_lockd.c: a lock that a program wants only if it is free.
        errors: &[Errno::EAGAIN],
        of: |opcode| opcode == Opcode::LDLM_ENQUEUE,
        why: "a lock that is taken, of a program that does not wait for it",
    },
    Everyday {
        // ptlrpc/client.c (after_reply): the client sends it again by itself.
        errors: &[Errno::EINPROGRESS],
        of: of_any,
        why: "the server was not ready, and the client sends the request again",
    },
    Everyday {
        // target/tgt_handler.c (tgt_request_handle): told under `evictions` and `client_faults`.
        errors: &[Errno::ENOTCONN],
        of: of_any,
        why: "the server does not know the client (any more), which connects again",
    },
];

/// Why nothing is wrong with requests of this operation that end with this error; `None`: they failed. Positive codes (a lock request that
/// ends with `ELDLM_LOCK_ABORTED`, 301, or `ELDLM_LOCK_REPLACED`, 302; `lustre/include/lustre_dlm.h`) are no errors in the first place.
#[must_use]
pub fn everyday(opcode: Opcode, error: Errno) -> Option<&'static str> {
    EVERYDAY.iter().find(|it| it.errors.contains(&error) && (it.of)(opcode)).map(|it| it.why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_ask_for_in_vain_is_everyday_and_lost_data_is_not() {
        let of = |opcode, error| everyday(opcode, error).is_some();
        assert!(of(Opcode::MDS_REINT, Errno::EEXIST) && of(Opcode::LDLM_ENQUEUE, Errno::ENOENT));
        assert!(of(Opcode::OST_WRITE, Errno::EINPROGRESS) && of(Opcode::LDLM_CANCEL, Errno::ESTALE));
        assert!(!of(Opcode::OST_WRITE, Errno::ENOENT) && !of(Opcode::MDS_REINT, Errno::ENOSPC));
        assert!(of(Opcode::OST_CONNECT, Errno::ENODEV) && !of(Opcode::OST_WRITE, Errno::EOPNOTSUPP));
        assert!(!of(Opcode::MDS_REINT, Errno::ESTALE) && !of(Opcode::MDS_CONNECT, Errno::EPERM));
    }
}
