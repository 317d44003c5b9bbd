//! A walk along a path, which calls by path begin with.

use lioprof_model::NameHash;
use lustre_debuglog::{Fid, Opcode};

/// A walk along a path takes no rest, except for its RPCs. After a longer one something else begins. Under emulation up to 6 ms were seen.
pub(super) const REST_US: i64 = 20_000;
/// More directories of a path are not remembered.
const MAX_ENTERED: usize = 64;
/// `MAY_EXEC`: a directory is entered.
pub(super) const MAY_EXEC: u32 = 1;
/// `MAY_WRITE`: the last directory of a path is to be changed.
pub(super) const MAY_WRITE: u32 = 2;
/// `MAY_OPEN`: the end of an open's walk, or the end of an open that created the file.
pub(super) const MAY_OPEN: u32 = 0o40;
/// `MAY_ACCESS`, `MAY_CHDIR`: system calls that log nothing else.
pub(super) const MAY_OTHERS: u32 = 0o20 | 0o100;

/// A walk along a path.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    pub(super) begin_us: i64,
    /// Directories that were entered: entering one of them again is a new walk.
    entered: Vec<Fid>,
    /// When the root was last tested: a new absolute path begins there.
    root_us: Option<i64>,
    /// Names have been looked up.
    moved: bool,
    /// Its last directory has been reached: entering another one is a new walk.
    is_at_end: bool,
    /// It is that of an open.
    pub(super) is_of_open: bool,
    /// The last name.
    pub(super) last_name: Option<NameHash>,
}

impl Walk {
    pub(super) fn begun(begin_us: i64) -> Self {
        Self {
            begin_us,
            entered: Vec::new(),
            root_us: None,
            moved: false,
            is_at_end: false,
            is_of_open: false,
            last_name: None,
        }
    }

    /// A line of the walk. It may begin a new one: then what went before belonged to something else.
    pub(super) fn step(
        &mut self,
        fid: Option<Fid>,
        (name, is_root): (Option<NameHash>, bool),
        access: Option<u32>,
        time_us: i64,
    ) {
        if is_root {
            if self.moved {
                *self = Self::begun(time_us);
            }
            self.root_us = Some(time_us);
        }
        self.is_at_end |= access.is_some_and(|access| access & MAY_WRITE != 0);
        if access == Some(MAY_EXEC) {
            if self.moved && (self.is_at_end || fid.is_some_and(|fid| self.entered.contains(&fid))) {
                *self = Self::begun(self.root_us.unwrap_or(time_us));
            }
            self.root_us = None;
            self.entered.extend(fid.filter(|_| self.entered.len() < MAX_ENTERED));
        }
        if access.is_none() {
            self.moved |= !is_root;
            self.last_name = name;
        }
    }
}

/// Whether the walk along a path may send an RPC of this kind.
pub(super) fn is_of_walk(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::LDLM_ENQUEUE
            | Opcode::MDS_GETATTR
            | Opcode::MDS_GETATTR_NAME
            | Opcode::MDS_GETXATTR
            | Opcode::MDS_BATCH
    ) || is_by_the_way(opcode)
}

/// Whether an RPC of this kind may be sent in the midst of anything: locks are given back, a connection is made, the number of a file that is
/// to be created is fetched.
pub(super) fn is_by_the_way(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::LDLM_CANCEL
            | Opcode::LDLM_CONVERT
            | Opcode::MDS_CONNECT
            | Opcode::OST_CONNECT
            | Opcode::OBD_PING
            | Opcode::SEQ_QUERY
            | Opcode::FLD_QUERY
    )
}
