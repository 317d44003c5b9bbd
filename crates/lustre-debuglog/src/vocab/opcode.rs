//! RPC opcodes.

use std::fmt;

use super::digits;

/// An RPC opcode (`lustre_idl.h`). Open: numbers this crate does not know are kept and print as `opc_999`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Opcode(pub u32);

/// One line per opcode: from it come the constant, its name and its place in [`Opcode::ALL`].
macro_rules! opcodes {
    ($($name:ident = $number:literal, $what:literal;)+) => {
        impl Opcode {
            $(#[doc = $what] pub const $name: Self = Self($number);)+

            /// Every opcode that has a name, in numeric order.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Name in `lustre_idl.h`, for example `OST_READ`.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some(stringify!($name)),)+
                    _ => None,
                }
            }
        }
    };
}

opcodes! {
    OST_REPLY = 0, "Never sent as a request.";
    OST_GETATTR = 1, "Attributes of an object.";
    OST_SETATTR = 2, "Change attributes of an object.";
    OST_READ = 3, "Read from an object (on an MDS: Data-on-MDT).";
    OST_WRITE = 4, "Write to an object (on an MDS: Data-on-MDT).";
    OST_CREATE = 5, "Precreate objects (MDT to OST).";
    OST_DESTROY = 6, "Destroy an object (MDT to OST).";
    OST_GET_INFO = 7, "Query by key, for example a FIEMAP.";
    OST_CONNECT = 8, "Connect to an OST.";
    OST_DISCONNECT = 9, "Disconnect from an OST.";
    OST_PUNCH = 10, "Truncate or punch a hole (on an MDS: Data-on-MDT).";
    OST_OPEN = 11, "Unused.";
    OST_CLOSE = 12, "Unused.";
    OST_STATFS = 13, "Free space and objects of an OST.";
    OST_SYNC = 16, "Sync an object or the whole OST.";
    OST_SET_INFO = 17, "Set by key.";
    OST_QUOTACHECK = 18, "Lustre 2.3 and older.";
    OST_QUOTACTL = 19, "Quota control on an OST.";
    OST_QUOTA_ADJUST_QUNIT = 20, "Lustre 2.3 and older.";
    OST_LADVISE = 21, "Advice on future access (Lustre 2.9 and later).";
    OST_FALLOCATE = 22, "Preallocate or punch (Lustre 2.14 and later).";
    OST_SEEK = 23, "`SEEK_HOLE` and `SEEK_DATA` (Lustre 2.14 and later).";
    MDS_GETATTR = 33, "Attributes by FID.";
    MDS_GETATTR_NAME = 34, "Attributes by name.";
    MDS_CLOSE = 35, "Close a file.";
    MDS_REINT = 36, "Change the name space: create, unlink, rename, setattr, ...";
    MDS_READPAGE = 37, "Read directory pages.";
    MDS_CONNECT = 38, "Connect to an MDT.";
    MDS_DISCONNECT = 39, "Disconnect from an MDT.";
    MDS_GET_ROOT = 40, "FID of the root directory (`MDS_GETSTATUS` to Lustre 2.8).";
    MDS_STATFS = 41, "Free space and inodes of an MDT.";
    MDS_PIN = 42, "Never used.";
    MDS_UNPIN = 43, "Never used.";
    MDS_SYNC = 44, "Sync a file or the whole MDT.";
    MDS_DONE_WRITING = 45, "Lustre 2.7 and older.";
    MDS_SET_INFO = 46, "Set by key.";
    MDS_QUOTACHECK = 47, "Lustre 2.3 and older.";
    MDS_QUOTACTL = 48, "Quota control on an MDT.";
    MDS_GETXATTR = 49, "Read extended attributes.";
    MDS_SETXATTR = 50, "Old; now part of `MDS_REINT`.";
    MDS_WRITEPAGE = 51, "Never used by clients.";
    MDS_IS_SUBDIR = 52, "Never used.";
    MDS_GET_INFO = 53, "Query by key, for example a path from a FID.";
    MDS_HSM_STATE_GET = 54, "HSM state of a file.";
    MDS_HSM_STATE_SET = 55, "Change the HSM state of a file.";
    MDS_HSM_ACTION = 56, "Current HSM action of a file.";
    MDS_HSM_PROGRESS = 57, "Progress report of an HSM copy tool.";
    MDS_HSM_REQUEST = 58, "Ask for an HSM action.";
    MDS_HSM_CT_REGISTER = 59, "Register an HSM copy tool.";
    MDS_HSM_CT_UNREGISTER = 60, "Unregister an HSM copy tool.";
    MDS_SWAP_LAYOUTS = 61, "Swap the layouts of two files.";
    MDS_RMFID = 62, "Remove files by FID (Lustre 2.13 and later).";
    MDS_BATCH = 63, "Several operations in one RPC (Lustre 2.16 and later).";
    MDS_HSM_DATA_VERSION = 64, "Data version for HSM (Lustre 2.16 and later).";
    LDLM_ENQUEUE = 101, "Ask for a lock, maybe with an intent.";
    LDLM_CONVERT = 102, "Change a lock.";
    LDLM_CANCEL = 103, "Give locks back.";
    LDLM_BL_CALLBACK = 104, "Blocking AST, server to client: a lock stands in the way.";
    LDLM_CP_CALLBACK = 105, "Completion AST, server to client: a waiting lock is granted.";
    LDLM_GL_CALLBACK = 106, "Glimpse AST, server to client: ask for size and times.";
    LDLM_SET_INFO = 107, "Set by key, server to client.";
    MGS_CONNECT = 250, "Connect to the MGS.";
    MGS_DISCONNECT = 251, "Disconnect from the MGS.";
    MGS_EXCEPTION = 252, "Node died, and so on.";
    MGS_TARGET_REG = 253, "A target registers.";
    MGS_TARGET_DEL = 254, "A target is removed.";
    MGS_SET_INFO = 255, "Set by key.";
    MGS_CONFIG_READ = 256, "Read a configuration log.";
    OBD_PING = 400, "Ping: keeps an idle connection alive.";
    OBD_LOG_CANCEL = 401, "Obsolete.";
    OBD_QC_CALLBACK = 402, "Lustre 2.3 and older.";
    OBD_IDX_READ = 403, "Read an index, between servers.";
    LLOG_ORIGIN_HANDLE_CREATE = 501, "Open a log, `llog_origin_handle_open` in statistics.";
    LLOG_ORIGIN_HANDLE_NEXT_BLOCK = 502, "Next block of a log.";
    LLOG_ORIGIN_HANDLE_READ_HEADER = 503, "Header of a log.";
    LLOG_ORIGIN_HANDLE_WRITE_REC = 504, "Obsolete.";
    LLOG_ORIGIN_HANDLE_CLOSE = 505, "Obsolete.";
    LLOG_ORIGIN_CONNECT = 506, "Obsolete.";
    LLOG_CATINFO = 507, "Obsolete.";
    LLOG_ORIGIN_HANDLE_PREV_BLOCK = 508, "Previous block of a log.";
    LLOG_ORIGIN_HANDLE_DESTROY = 509, "Lustre 2.10 and older.";
    QUOTA_DQACQ = 601, "A target acquires quota from the quota master.";
    QUOTA_DQREL = 602, "A target releases quota to the quota master.";
    SEQ_QUERY = 700, "Allocate FID sequences.";
    SEC_CTX_INIT = 801, "GSS context.";
    SEC_CTX_INIT_CONT = 802, "GSS context.";
    SEC_CTX_FINI = 803, "GSS context.";
    FLD_QUERY = 900, "Where a FID sequence lives.";
    FLD_READ = 901, "Read the FID location database.";
    OUT_UPDATE = 1000, "Updates between targets (`UPDATE_OBJ` in Lustre 2.5).";
    LFSCK_NOTIFY = 1101, "Online check, between servers.";
    LFSCK_QUERY = 1102, "Online check, between servers.";
}

impl Opcode {
    /// Reads a name of either case, `opc_999`, or a plain number.
    #[must_use]
    pub fn parse_bytes(text: &[u8]) -> Option<Self> {
        if let Some(number) = digits::dec_all(text.strip_prefix(b"opc_").unwrap_or(text)) {
            return u32::try_from(number).ok().map(Self);
        }
        let named = |opcode: &&Self| opcode.name().is_some_and(|name| name.as_bytes().eq_ignore_ascii_case(text));
        Self::ALL.iter().find(named).copied()
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            None => write!(f, "opc_{}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_in_order_and_every_name_is_read() {
        assert!(Opcode::ALL.is_sorted_by(|a, b| a < b));
        for opcode in Opcode::ALL {
            assert_eq!(opcode.to_string().parse(), Ok(*opcode));
            assert_eq!(opcode.to_string().to_lowercase().parse(), Ok(*opcode));
        }
    }

    #[test]
    fn numbers_and_unknown_opcodes() {
        assert_eq!("3".parse(), Ok(Opcode::OST_READ));
        assert_eq!("opc_3".parse(), Ok(Opcode::OST_READ));
        assert_eq!("opc_999".parse(), Ok(Opcode(999)));
        assert_eq!(Opcode(999).to_string(), "opc_999");
        assert_eq!(Opcode(999).name(), None);
        assert_eq!(Opcode::OST_READ.name(), Some("OST_READ"));
    }

    #[test]
    fn rejects_other_text() {
        for text in ["", "OST", "opc_", "-1", "4294967296", "3 "] {
            assert!(text.parse::<Opcode>().is_err(), "{text}");
        }
    }
}
