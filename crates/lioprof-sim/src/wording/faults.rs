//! Messages about what goes wrong: timeouts, resends, evictions, reconnects.

use super::ldlm::{Lock, lock_fields};
use super::rpc::{Request, debug_req};
use super::{Line, Wording};

fn with_request(line: &mut Line<'_>, wording: &Wording, request: &Request<'_>) {
    line.s(" ");
    debug_req(line, wording, request);
    line.s("\n");
}

/// A request stayed in the queue beyond its deadline.
pub fn timed_out(line: &mut Line<'_>, w: &Wording, nid: &str, allowed_s: u64, late_s: u64, r: &Request<'_>) {
    line.s("@@@ Dropping timed-out request from 12345-").s(nid).s(": deadline ");
    line.u(allowed_s).s("/").u(late_s).s("s ago");
    with_request(line, w, r);
}

/// A request took longer than its sender waits.
pub fn too_long(line: &mut Line<'_>, wording: &Wording, allowed_s: u64, late_s: u64, request: &Request<'_>) {
    line.s("@@@ Request took longer than estimated (").u(allowed_s).s("/").u(late_s).s("s); client may timeout");
    with_request(line, wording, request);
}

/// The same request came again while it is being handled.
pub fn duplicate(line: &mut Line<'_>, wording: &Wording, request: &Request<'_>) {
    line.s("@@@ Found duplicate req in processing");
    with_request(line, wording, request);
}

/// The one that is being handled.
pub fn original(line: &mut Line<'_>, wording: &Wording, request: &Request<'_>) {
    line.s("@@@ Request being processed");
    with_request(line, wording, request);
}

/// A callback got no reply.
pub fn expired(line: &mut Line<'_>, wording: &Wording, sent_s: u64, request: &Request<'_>) {
    line.s("@@@ Request sent has timed out for slow reply: [sent ").u(sent_s).s("/real ").u(sent_s).s("]");
    with_request(line, wording, request);
}

/// A client did not give back a lock in time.
pub fn expired_lock(line: &mut Line<'_>, wording: &Wording, waited_s: u64, nid: &str, lock: &Lock<'_>) {
    line.s("### lock callback timer expired after ").u(waited_s).s("s: evicting client at ").s(nid).s(" ");
    lock_fields(line, wording, lock);
}

/// A client did not answer a blocking AST.
pub fn ast_error(line: &mut Line<'_>, wording: &Wording, nid: &str, sent: (u32, u64), lock: &Lock<'_>) {
    line.s("### client (nid ").s(nid).s(") failed to reply to blocking AST (req@").p(sent.0).s(" x").u(sent.1);
    line.s(" status 0 rc -110), evict it");
    lock_fields(line, wording, lock);
}

/// An evicted client goes on as if it were not.
pub fn unconnected(line: &mut Line<'_>, opcode: u16, nid: &str) {
    line.s("operation ").u(opcode).s(" on unconnected OST from 12345-").s(nid).s("\n");
}

/// The export of an evicted client goes away: `disconnecting` or `disconnected`.
pub fn export(line: &mut Line<'_>, what: &str, export: u32, uuid: &str) {
    line.s(what).s(" export ").p(export).s("/").s(uuid).s("\n");
}

/// A client connects, for the first time or again.
pub fn connection(line: &mut Line<'_>, target: &str, uuid: &str, nid: &str, export: u32, uptime_s: u64, last_s: u64) {
    line.s(target).s(": connection from ").s(uuid).s("@").s(nid).s(" t0 exp ").p(export);
    line.s(" cur ").u(uptime_s).s(" last ").u(last_s).s("\n");
}

/// A client whose connection the server still has.
pub fn reconnecting(line: &mut Line<'_>, target: &str, uuid: &str, nid: &str) {
    line.s(target).s(": Client ").s(uuid).s(" (at ").s(nid).s(") reconnecting\n");
}

/// The reverse import of a client changes state.
pub fn import_state(line: &mut Line<'_>, import: u32, from: &str, to: &str) {
    line.p(import).s("  : changing import state from ").s(from).s(" to ").s(to).s("\n");
}
