//! Messages of the lock manager under mask dlmtrace.

use super::{Line, Wording};

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

/// An extent lock as `LDLM_DEBUG` prints it.
#[derive(Clone, Copy, Debug)]
pub struct Lock<'a> {
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
    pub resource: (u64, u64),
    /// References of the resource.
    pub resource_references: u32,
    /// What it covers, end inclusive.
    pub extent: (u64, u64),
    /// What was asked for.
    pub request: (u64, u64),
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

/// `### MESSAGE ns: ..`.
pub fn lock(line: &mut Line<'_>, wording: &Wording, message: &str, l: &Lock<'_>) {
    line.s("### ").s(message);
    lock_fields(line, wording, l);
}

/// `### refreshed to Ns` and the like: a message that ends with a number and more text.
pub fn lock_with(line: &mut Line<'_>, wording: &Wording, parts: (&str, u64, &str), l: &Lock<'_>) {
    line.s("### ").s(parts.0).u(parts.1).s(parts.2);
    lock_fields(line, wording, l);
}

/// The part of a lock line after the message.
pub fn lock_fields(line: &mut Line<'_>, wording: &Wording, l: &Lock<'_>) {
    line.s(" ns: filter-").s(l.target).s("_UUID lock: ").p(l.pointer).s("/").hx(l.cookie);
    line.s(" lrc: ").u(l.references.0).s("/").u(l.references.1).s(",").u(l.references.2);
    line.s(" mode: ").s(l.granted).s("/").s(l.mode).s(" res: ").fid(l.resource).s(".0x0 rrc: ");
    line.u(l.resource_references).s(" type: EXT [").u(l.extent.0).s("->").u(l.extent.1);
    line.s("] (req ").u(l.request.0).s("->").u(l.request.1).s(") gid 0 flags: ").hx(l.flags);
    line.s(" nid: ").s(l.nid).s(" remote: ").hx(l.remote).s(" expref: ").d(l.export_references);
    line.s(" pid: ").u(l.pid).s(" timeout: ").u(l.timeout_s).s(" lvb_type: ").u(l.lvb_type);
    if wording.has_lru {
        line.s(" lru_score: 0 lru_type: 0");
    }
    line.s("\n");
}

/// A text without a lock.
pub fn note(line: &mut Line<'_>, text: &str) {
    line.s("### ").s(text).s("\n");
}

/// `server-side enqueue handler END`.
pub fn enqueue_end(line: &mut Line<'_>, pointer: u32) {
    line.s("### server-side enqueue handler END (lock ").p(pointer).s(", rc 0)\n");
}

/// `server-side cancel handler START`.
pub fn cancel_start(line: &mut Line<'_>, locks: u64) {
    line.s("### server-side cancel handler START: ").u(locks).s(" locks, starting at 0\n");
}

/// How many locks a list holds against the one being enqueued.
pub fn contention(
    line: &mut Line<'_>,
    wording: &Wording,
    conflicts: u64,
    resource: (u64, u64),
    window: (u64, u64, u64),
) {
    if wording.has_contention_window {
        line.s("add ").u(conflicts).s(" to ").fid(resource).s(".0x0 since=").u(window.0);
        line.s("s v=(").u(window.1).s(" ").u(window.2).s(")\n");
    } else {
        line.s("contended locks = ").u(conflicts).s("\n");
    }
}

/// A local lock's callback finds it unused.
pub fn local_unused(line: &mut Line<'_>, pointer: u32, callback: u32) {
    line.s("Lock ").p(pointer).s(" already unused, calling callback (").p(callback).s(")\n");
}
