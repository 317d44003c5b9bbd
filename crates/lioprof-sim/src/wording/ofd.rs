//! Messages of the OST device: the object and extent of an I/O, connections, object attributes.

use super::rpc::{Request, debug_req};
use super::{Line, Wording};

/// The object and extent of a read or write. `last` is inclusive.
pub fn refresh(
    line: &mut Line<'_>,
    wording: &Wording,
    (target, thread): (&str, &str),
    fid: (u64, u64),
    (first, last): (u64, u64),
    request: &Request<'_>,
) {
    line.s("@@@ ").s(target).s(" ").s(thread).s(": refresh rw locks for ").fid(fid);
    line.s(" (").u(first).s("->").u(last).s(") ");
    debug_req(line, wording, request);
    line.s("\n");
}

/// The extent again, also for OST_PUNCH.
pub fn prolong(line: &mut Line<'_>, pointer: u32, xid: u64, (first, last): (u64, u64)) {
    line.s("Prolong locks for req ").p(pointer).s(" with x").u(xid).s(" ext(").u(first).s("->").u(last).s(")\n");
}

/// How many locks that prolonged.
pub fn refreshed(line: &mut Line<'_>, target: &str, locks: u64, pointer: u32) {
    line.s(target).s(": refreshed ").u(locks).s(" locks timeout for req ").p(pointer).s("\n");
}

/// What the OST knows about an object when its first lock is made.
pub fn lvb_init(line: &mut Line<'_>, fid: (u64, u64), size_bytes: u64, mtime_s: u64, blocks: u64) {
    line.s("res: ").fid(fid).s(" initial LVB size: ").u(size_bytes).s(", mtime: ").hx(mtime_s);
    line.s(", atime: 0x0, ctime: ").hx(mtime_s).s(", blocks: ").hx(blocks).s("\n");
}

/// An attribute changed: `size`, `mtime from disk`, ..
pub fn lvb_update(line: &mut Line<'_>, fid: (u64, u64), what: &str, old: u64, new: u64) {
    line.s("res: ").fid(fid).s(" updating lvb ").s(what).s(": ").u(old).s(" -> ").u(new).s("\n");
}

/// What a client asked for when it connected.
pub fn connect_flags(line: &mut Line<'_>, target: &str, uuid: &str, export: u32, index: u32) {
    line.s(target).s(": cli ").s(uuid).s("/").p(export).s(" ocd_connect_flags: 0xa0467af2e3640038");
    line.s(" ocd_version: 211393e ocd_grant: 8437760 ocd_index: ").x(index).s(" ocd_group 0\n");
}

/// Checksums of a connection.
pub fn connect_cksum(line: &mut Line<'_>, target: &str) {
    line.s(target).s(": cli <unknown> supports cksum type 32, return 32\n");
}

/// A connection is on disk.
pub fn new_client(line: &mut Line<'_>, target: &str, uuid: &str) {
    line.s(target).s(": committing for initial connect of ").s(uuid).s("\n");
}
