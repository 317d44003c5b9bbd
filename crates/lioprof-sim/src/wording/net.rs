//! Messages of ptlrpc under mask net.

use super::rpc::{Request, debug_req};
use super::{Line, Wording};

/// LNet put a request into a buffer of the service.
pub fn event_in(line: &mut Line<'_>, service: &str) {
    line.s("event type 2, status 0, service ").s(service).s("\n");
}

/// A piece of a bulk transfer: 5 sent, 4 acknowledged, 3 arrived.
pub fn bulk_event(line: &mut Line<'_>, event: u32, status: i32, descriptor: u32) {
    line.s("event type ").u(event).s(", status ").d(status).s(", desc ").p(descriptor).s("\n");
}

/// A bulk transfer begins: the exact bytes of the request.
pub fn transfer(line: &mut Line<'_>, pages: u64, bytes: u64, nid: &str, mbits: (u64, u64)) {
    line.s("Transferring ").u(pages).s(" pages ").u(bytes).s(" bytes via portal 8 id 12345-").s(nid);
    line.s(" mbits ").hx(mbits.0).s("-").hx(mbits.1).s("\n");
}

/// `sending reply` with its request.
pub fn send_reply(line: &mut Line<'_>, wording: &Wording, request: &Request<'_>) {
    line.s("@@@ sending reply ");
    debug_req(line, wording, request);
    line.s("\n");
}

/// A message leaves.
pub fn send_buffer(line: &mut Line<'_>, bytes: u64, portal: u32, xid: u64, offset: u32) {
    line.s("Sending ").u(bytes).s(" bytes to portal ").u(portal).s(", xid ").u(xid);
    line.s(", offset ").u(offset).s("\n");
}

/// A request of the server's own gets room for its reply.
pub fn reply_buffer(line: &mut Line<'_>, bytes: u64, xid: u64, portal: u32) {
    line.s("Setup reply buffer: ").u(bytes).s(" bytes, xid ").u(xid).s(", portal ").u(portal).s("\n");
}

/// Something happened to a request of the server's own.
pub fn own_event(line: &mut Line<'_>, wording: &Wording, event: u32, request: &Request<'_>) {
    line.s("@@@ type ").u(event).s(", status 0 ");
    debug_req(line, wording, request);
    line.s("\n");
}

/// Its reply buffer is free.
pub fn reply_unlink(line: &mut Line<'_>, wording: &Wording, request: &Request<'_>) {
    line.s("@@@ unlink ");
    debug_req(line, wording, request);
    line.s("\n");
}
