//! Operations and the services that take them.

macro_rules! opcodes {
    ($($(#[$doc:meta])* $name:ident = $number:literal;)*) => {
        $($(#[$doc])* pub const $name: u16 = $number;)*

        /// The name in the `stats` files of services (`ll_rpc_opcode_table` of ptlrpc `lproc_ptlrpc.c`).
        pub fn name(opcode: u16) -> Option<String> {
            match opcode {
                $($name => Some(stringify!($name).to_ascii_lowercase()),)*
                _ => None,
            }
        }
    };
}

opcodes! {
    /// Get attributes of an object.
    OST_GETATTR = 1;
    /// Set attributes of an object.
    OST_SETATTR = 2;
    /// Read.
    OST_READ = 3;
    /// Write.
    OST_WRITE = 4;
    /// Make objects in advance.
    OST_CREATE = 5;
    /// Delete an object.
    OST_DESTROY = 6;
    /// Connect to an OST.
    OST_CONNECT = 8;
    /// Cut or free a range of an object.
    OST_PUNCH = 10;
    /// Space of an OST.
    OST_STATFS = 13;
    /// Write an object's data to disk.
    OST_SYNC = 16;
    /// Close a file.
    MDS_CLOSE = 35;
    /// Change something in the name space.
    MDS_REINT = 36;
    /// Space of an MDT.
    MDS_STATFS = 41;
    /// Ask for a lock.
    LDLM_ENQUEUE = 101;
    /// Give back locks.
    LDLM_CANCEL = 103;
    /// Give that lock back.
    LDLM_BL_CALLBACK = 104;
    /// There is your lock.
    LDLM_CP_CALLBACK = 105;
    /// How large is the file?
    LDLM_GL_CALLBACK = 106;
    /// Are you there?
    OBD_PING = 400;
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

    /// Name, beginning of its threads' names, portal of its replies.
    fn facts(self) -> (&'static str, &'static str, u32) {
        match self {
            Self::Ost => ("ost", "ll_ost", 4),
            Self::OstIo => ("ost_io", "ll_ost_io", 4),
            Self::OstCreate => ("ost_create", "ll_ost_create", 4),
            Self::Cancel => ("ldlm_canceld", "ldlm_cn", 18),
            Self::Mdt => ("mdt", "mdt", 10),
            Self::MdtReadpage => ("mdt_readpage", "mdt_rdpg", 10),
        }
    }

    /// As `stats` files and messages under mask net name it.
    pub fn name(self) -> &'static str {
        self.facts().0
    }

    /// Beginning of its threads' names.
    pub(crate) fn thread(self) -> &'static str {
        self.facts().1
    }

    /// Portal of its replies.
    pub(crate) fn reply_portal(self) -> u32 {
        self.facts().2
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
