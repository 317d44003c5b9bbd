//! Operations and the services that take them.

/// Get attributes of an object.
pub const OST_GETATTR: u16 = 1;
/// Set attributes of an object.
pub const OST_SETATTR: u16 = 2;
/// Read.
pub const OST_READ: u16 = 3;
/// Write.
pub const OST_WRITE: u16 = 4;
/// Make objects in advance.
pub const OST_CREATE: u16 = 5;
/// Delete an object.
pub const OST_DESTROY: u16 = 6;
/// Connect to an OST.
pub const OST_CONNECT: u16 = 8;
/// Cut or free a range of an object.
pub const OST_PUNCH: u16 = 10;
/// Space of an OST.
pub const OST_STATFS: u16 = 13;
/// Write an object's data to disk.
pub const OST_SYNC: u16 = 16;
/// Close a file.
pub const MDS_CLOSE: u16 = 35;
/// Change something in the name space.
pub const MDS_REINT: u16 = 36;
/// Space of an MDT.
pub const MDS_STATFS: u16 = 41;
/// Ask for a lock.
pub const LDLM_ENQUEUE: u16 = 101;
/// Give back locks.
pub const LDLM_CANCEL: u16 = 103;
/// Give that lock back.
pub const LDLM_BL_CALLBACK: u16 = 104;
/// There is your lock.
pub const LDLM_CP_CALLBACK: u16 = 105;
/// How large is the file?
pub const LDLM_GL_CALLBACK: u16 = 106;
/// Are you there?
pub const OBD_PING: u16 = 400;

/// The name in the `stats` files of services (`ll_rpc_opcode_table` of ptlrpc `lproc_ptlrpc.c`).
pub fn name(opcode: u16) -> Option<&'static str> {
    Some(match opcode {
        OST_GETATTR => "ost_getattr",
        OST_SETATTR => "ost_setattr",
        OST_READ => "ost_read",
        OST_WRITE => "ost_write",
        OST_CREATE => "ost_create",
        OST_DESTROY => "ost_destroy",
        OST_CONNECT => "ost_connect",
        OST_PUNCH => "ost_punch",
        OST_STATFS => "ost_statfs",
        OST_SYNC => "ost_sync",
        MDS_CLOSE => "mds_close",
        MDS_REINT => "mds_reint",
        MDS_STATFS => "mds_statfs",
        LDLM_ENQUEUE => "ldlm_enqueue",
        LDLM_CANCEL => "ldlm_cancel",
        LDLM_BL_CALLBACK => "ldlm_bl_callback",
        LDLM_CP_CALLBACK => "ldlm_cp_callback",
        LDLM_GL_CALLBACK => "ldlm_gl_callback",
        OBD_PING => "obd_ping",
        _ => return None,
    })
}

/// A ptlrpc service of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Service {
    /// `ost`: everything about OSTs but I/O.
    Ost,
    /// `ost_io`.
    OstIo,
    /// `ost_create`.
    OstCreate,
    /// `ldlm_canceld`.
    Cancel,
    /// `mdt`.
    Mdt,
    /// `mdt_readpage`.
    MdtReadpage,
}

impl Service {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Ost, Self::OstIo, Self::OstCreate, Self::Cancel, Self::Mdt, Self::MdtReadpage];

    /// As `stats` files and messages under mask net name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ost => "ost",
            Self::OstIo => "ost_io",
            Self::OstCreate => "ost_create",
            Self::Cancel => "ldlm_canceld",
            Self::Mdt => "mdt",
            Self::MdtReadpage => "mdt_readpage",
        }
    }

    /// Beginning of its threads' names.
    pub(crate) fn thread(self) -> &'static str {
        match self {
            Self::Ost => "ll_ost",
            Self::OstIo => "ll_ost_io",
            Self::OstCreate => "ll_ost_create",
            Self::Cancel => "ldlm_cn",
            Self::Mdt => "mdt",
            Self::MdtReadpage => "mdt_rdpg",
        }
    }

    /// Portal of its replies.
    pub(crate) fn reply_portal(self) -> u32 {
        match self {
            Self::Ost | Self::OstIo | Self::OstCreate => 4,
            Self::Cancel => 18,
            Self::Mdt | Self::MdtReadpage => 10,
        }
    }

    /// Where a request for an OST or MDT goes.
    pub(crate) fn of(opcode: u16, mdt: bool) -> Self {
        match opcode {
            OST_READ | OST_WRITE | OST_PUNCH => Self::OstIo,
            OST_STATFS => Self::OstCreate,
            LDLM_CANCEL => Self::Cancel,
            MDS_CLOSE => Self::MdtReadpage,
            _ if mdt => Self::Mdt,
            _ => Self::Ost,
        }
    }
}

/// Bytes of request and reply without inline data.
pub(crate) fn lens(opcode: u16, mdt: bool) -> (u64, u64) {
    match opcode {
        OST_READ => (488, 440),
        OST_WRITE => (488, 448),
        OST_STATFS | MDS_STATFS => (224, 368),
        OST_CONNECT => (520, 416),
        OBD_PING => (224, 224),
        LDLM_CANCEL => (328, 224),
        LDLM_ENQUEUE if mdt => (648, 664),
        LDLM_ENQUEUE => (328, 400),
        MDS_CLOSE => (392, 456),
        MDS_REINT => (560, 448),
        _ => (440, 432),
    }
}
