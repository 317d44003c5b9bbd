//! Locks as the messages of the lock manager show them.

use std::fmt;

use super::Wording;
use super::notation::{Extent, Fid};

/// Flags as the lines show them.
pub mod flags {
    /// A blocking AST was sent.
    pub const AST_SENT: u64 = 0x20;
    /// The lock had to wait; its enqueue has no time limit.
    pub const NO_TIMEOUT: u64 = 0x2_0000;
    /// To be cancelled.
    pub const CBPENDING: u64 = 1 << 34;
    /// A lock of the server's own.
    pub const LOCAL: u64 = 1 << 40;
    /// Its completion AST is due.
    pub const CP_REQD: u64 = 1 << 43;
    /// In a list of work, as this build prints it while it processes a lock.
    pub const IN_WORK: u64 = 1 << 52;
    /// In the list of locks that must be cancelled in time.
    pub const WAITED: u64 = 1 << 53;
    /// No longer on any list.
    pub const DESTROYED: u64 = 1 << 50;
    /// Being cancelled.
    pub const CANCELING: u64 = 1 << 39;
    /// On the server.
    pub const SERVER: u64 = 1 << 54;
    /// Cancelled, destroyed, cleaned up.
    pub const DEAD: u64 = 0x4_8010_0000_0000;
    /// The object is going away: cached data need not be written.
    pub const DISCARD: u64 = 1 << 31;
}

/// An extent lock as `LDLM_DEBUG` prints it behind a message.
#[derive(Clone, Copy, Debug)]
pub struct Lock<'a> {
    /// The release that prints it.
    pub wording: &'a Wording,
    /// Name of the target.
    pub target: &'a str,
    /// Hashed pointer.
    pub pointer: u32,
    /// Handle on the server.
    pub cookie: u64,
    /// References, readers, writers.
    pub references: (u32, u32, u32),
    /// `--` before and after.
    pub granted: &'a str,
    /// Mode asked for.
    pub mode: &'a str,
    /// Name of the resource.
    pub resource: Fid,
    /// References of the resource.
    pub resource_references: u32,
    /// What it covers.
    pub extent: Extent,
    /// What was asked for.
    pub request: Extent,
    /// State bits.
    pub flags: u64,
    /// NID of the client, `local` without one.
    pub nid: &'a str,
    /// Handle on the client.
    pub remote: u64,
    /// References of the export; -99 without one.
    pub export_references: i32,
    /// Thread that made it.
    pub pid: u32,
    /// When it must be cancelled, seconds of the monotonic clock; 0 for never.
    pub timeout_s: u64,
    /// Kind of value block: 1 for a glimpse.
    pub lvb_type: u32,
}

impl fmt::Display for Lock<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wording, target, pointer, cookie, granted, mode, resource, resource_references, .. } = self;
        let Self { extent, request, flags, nid, remote, export_references, pid, timeout_s, lvb_type, .. } = self;
        let (references, readers, writers) = self.references;
        write!(f, "ns: filter-{target}_UUID lock: {pointer:016x}/{cookie:#x} lrc: {references}/{readers},{writers}")?;
        write!(f, " mode: {granted}/{mode} res: {resource}.0x0 rrc: {resource_references} type: EXT [{extent}]")?;
        write!(
            f,
            " (req {request}) gid 0 flags: {flags:#x} nid: {nid} remote: {remote:#x} expref: {export_references}"
        )?;
        write!(f, " pid: {pid} timeout: {timeout_s} lvb_type: {lvb_type}")?;
        if wording.has_lru { f.write_str(" lru_score: 0 lru_type: 0") } else { Ok(()) }
    }
}
