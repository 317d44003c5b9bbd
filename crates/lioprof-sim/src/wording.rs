//! What Lustre's servers print: the places in its source that log, and the texts.
//!
//! Written from the printf formats in Lustre's source and from logs of real servers, with no look at the parsers
//! of this workspace. Texts and places are in one table (`messages`); releases
//! differ in places and in a few flags ([`Wording`]).

mod client_lock;
pub mod lock;
mod messages;
mod notation;
mod releases;
mod request;
mod tbf;

pub use client_lock::{ClientLock, ClientLockKind};
pub use messages::{Sites, text};
pub use notation::{Extent, Fid};
pub use releases::{V2_15, V2_17};
pub use request::{Handled, Request, Rpc};
pub use tbf::{TBF_DEPTH, TbfClass, TbfStep};

/// A call of a debug macro in Lustre's source.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// Base name of the C file.
    pub file: &'static str,
    /// C function.
    pub function: &'static str,
    /// Line of the call; 0 if the release has no such message.
    pub line: u32,
    /// Subsystem bit of the file.
    pub subsystem: u32,
    /// Mask bits of the call.
    pub mask: u32,
}

/// One release's way to log.
#[derive(Clone, Copy, Debug)]
pub struct Wording {
    /// Name of the release, as in `lctl get_param version`.
    pub release: &'static str,
    /// Where each message comes from.
    pub sites: Sites,
    /// `uid: gid: projid:` at the end of a request, since 2.16 and 2.17.
    pub has_owner: bool,
    /// `lru_score: lru_type:` at the end of a lock, since 2.17.51.
    pub has_lru: bool,
    /// A callback thread gives up the lock of a direct I/O; in 2.17.57 the thread of the I/O does.
    pub has_local_worker: bool,
    /// OST objects of MDT0 have a sequence of their own per OST; IDIF and `[oid:0:0]` resources before.
    pub has_fid_on_ost: bool,
    /// Lines of a token bucket filter name the service and what a class has in common, since 2.17.52.
    pub has_tbf_keys: bool,
    /// Request flags with "uid and gid packed" (0x200) and "projid packed" (0x400).
    pub client_flags: u32,
    /// Request flags of another server's requests.
    pub server_flags: u32,
    /// xids between two requests of one node.
    pub xid_step: u64,
    /// Job name of a client's lock callback threads.
    pub bl_job: &'static str,
    /// Seconds a server's request may take, in `going to sleep for`.
    pub ast_timeout_s: u32,
}
