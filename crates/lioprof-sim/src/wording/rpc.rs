//! Messages of ptlrpc about requests: `Handling RPC`, `Sending RPC`, the schedulers, the suffix of DEBUG_REQ.

use super::{Line, Wording};

/// A request as DEBUG_REQ prints it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Hashed pointer.
    pub pointer: u32,
    /// Number of the sender's.
    pub xid: u64,
    /// Transaction that it made; 0 for none.
    pub transno: u64,
    /// Operation.
    pub opcode: u16,
    /// Uuid of the client on a received request, name of the import on a sent one.
    pub peer: &'a str,
    /// NID without `12345-`.
    pub nid: &'a str,
    /// Request and reply portal; on a received request the memory holds other things.
    pub portals: (u32, u32),
    /// Bytes of request and reply.
    pub lens: (u64, u64),
    /// The reply is late.
    pub timed_out: bool,
    /// When the sender gives up, seconds since the epoch.
    pub deadline_s: u64,
    /// References.
    pub references: u32,
    /// Phase and letters, for example `New:` or `Interpret:H`.
    pub phase: &'a str,
    /// Flags in request and reply; no reply yet is `ffffffff`.
    pub flags: (u32, u32),
    /// Status of handler and reply.
    pub rc: (i64, i64),
    /// Job of the sender.
    pub job: &'a str,
    /// User, group and project.
    pub owner: (u32, u32, u32),
}

/// ` req@.. x.. o..->..`: what `DEBUG_REQ` appends.
pub fn debug_req(line: &mut Line<'_>, wording: &Wording, r: &Request<'_>) {
    line.s(" req@").p(r.pointer).s(" x").u(r.xid).s("/t").u(r.transno).s("(0) o").u(r.opcode);
    line.s("->").s(r.peer).s("@").s(r.nid).s(":").u(r.portals.0).s("/").u(r.portals.1);
    line.s(" lens ").u(r.lens.0).s("/").u(r.lens.1).s(" e 0 to ").u(u64::from(r.timed_out));
    line.s(" dl ").u(r.deadline_s).s(" ref ").u(r.references).s(" fl ").s(r.phase);
    line.s("/").x(r.flags.0).s("/").x(r.flags.1).s(" rc ").d(r.rc.0).s("/").d(r.rc.1);
    line.s(" job:'").s(r.job).s("'");
    if wording.has_owner {
        line.s(" uid:").u(r.owner.0).s(" gid:").u(r.owner.1).s(" projid:").u(r.owner.2);
    }
}

/// A request of `nid` is in the hands of LNet.
pub fn peer(line: &mut Line<'_>, nid: &str) {
    line.s("peer: 12345-").s(nid).s(" (source: 12345-").s(nid).s(")\n");
}

/// `unwrap req`.
pub fn unwrap(line: &mut Line<'_>, xid: u64) {
    line.s("unwrap req x").u(xid).s("\n");
}

/// `got req` with the x.
pub fn got(line: &mut Line<'_>, xid: u64) {
    line.s("got req x").u(xid).s("\n");
}

/// `got req` without the x.
pub fn got_again(line: &mut Line<'_>, xid: u64) {
    line.s("got req ").u(xid).s("\n");
}

/// `finish req`.
pub fn finish(line: &mut Line<'_>, xid: u64) {
    line.s("finish req x").u(xid).s("\n");
}

/// The scheduler hands out a request.
pub fn nrs_start(line: &mut Line<'_>, nid: &str, sequence: u64) {
    line.s("NRS start fifo request from 12345-").s(nid).s(", seq: ").u(sequence).s("\n");
}

/// The request is done.
pub fn nrs_stop(line: &mut Line<'_>, nid: &str, sequence: u64) {
    line.s("NRS stop fifo request from 12345-").s(nid).s(", seq: ").u(sequence).s("\n");
}

/// What `Handling RPC` and `Handled RPC` have in common.
#[derive(Clone, Copy, Debug)]
pub struct Handling<'a> {
    /// Hashed pointer of the request.
    pub pointer: u32,
    /// Name of the service thread, cut to fifteen characters.
    pub thread: &'a str,
    /// Uuid of the client; `0` before it is connected.
    pub uuid: &'a str,
    /// References of the export; -99 before it is connected.
    pub references: i32,
    /// Pid on the client.
    pub pid: u32,
    /// Number of the sender's.
    pub xid: u64,
    /// NID without `12345-`.
    pub nid: &'a str,
    /// Operation.
    pub opcode: u16,
    /// Job of the sender.
    pub job: &'a str,
}

fn handling_fields(line: &mut Line<'_>, h: &Handling<'_>) {
    line.s(" RPC req@").p(h.pointer).s(" pname:cluuid+ref:pid:xid:nid:opc:job ").s(h.thread).s(":").s(h.uuid);
    line.s("+").d(h.references).s(":").u(h.pid).s(":x").u(h.xid).s(":12345-").s(h.nid).s(":").u(h.opcode);
    line.s(":").s(h.job);
}

/// `Handling RPC`.
pub fn handling(line: &mut Line<'_>, h: &Handling<'_>) {
    line.s("Handling");
    handling_fields(line, h);
    line.s("\n");
}

/// How a request ended.
#[derive(Clone, Copy, Debug)]
pub struct Handled {
    /// In the handler, microseconds.
    pub service_us: u64,
    /// Since arrival, microseconds.
    pub total_us: u64,
    /// Transaction; 0 for none.
    pub transno: u64,
    /// Status of the handler and of the reply.
    pub rc: (i64, i64),
}

/// `Handled RPC`.
pub fn handled(line: &mut Line<'_>, h: &Handling<'_>, end: &Handled) {
    line.s("Handled");
    handling_fields(line, h);
    line.s(" Request processed in ").u(end.service_us).s("us (").u(end.total_us).s("us total) trans ");
    line.u(end.transno).s(" rc ").d(end.rc.0).s("/").d(end.rc.1).s("\n");
}

/// A request that the node sends.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// Hashed pointer of the request.
    pub pointer: u32,
    /// Thread that sends it.
    pub thread: &'a str,
    /// For a callback the target, `FS-OST0000_UUID`.
    pub uuid: &'a str,
    /// Pid of that thread.
    pub pid: u32,
    /// Number of this server's.
    pub xid: u64,
    /// Destination.
    pub nid: &'a str,
    /// Operation.
    pub opcode: u16,
    /// Job of the sender; servers have none.
    pub job: &'a str,
}

fn sent(line: &mut Line<'_>, first: &str, s: &Sent<'_>) {
    line.s(first).s(" RPC req@").p(s.pointer).s(" pname:cluuid:pid:xid:nid:opc:job ").s(s.thread).s(":").s(s.uuid);
    line.s(":").u(s.pid).s(":").u(s.xid).s(":").s(s.nid).s(":").u(s.opcode).s(":").s(s.job).s("\n");
}

/// `Sending RPC`.
pub fn sending(line: &mut Line<'_>, s: &Sent<'_>) {
    sent(line, "Sending", s);
}

/// `Completed RPC`.
pub fn completed(line: &mut Line<'_>, s: &Sent<'_>) {
    sent(line, "Completed", s);
}

/// The sender waits for its requests.
pub fn set_wait(line: &mut Line<'_>, set: u32, seconds: u32) {
    line.s("set ").p(set).s(" going to sleep for ").u(seconds).s(" seconds\n");
}

/// What an administrator wrote with `lctl mark`.
pub fn marker(line: &mut Line<'_>, text: &str) {
    line.s("DEBUG MARKER: ").s(text).s("\n");
}
