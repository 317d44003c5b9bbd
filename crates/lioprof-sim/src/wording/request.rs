//! Requests as messages show them: the suffix of `DEBUG_REQ`, and what stands behind `Handling RPC` and `Sending RPC`.

use std::fmt;

use super::Wording;

/// A request as `DEBUG_REQ` prints it: `req@.. x.. o..->..`.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The release that prints it.
    pub wording: &'a Wording,
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

impl fmt::Display for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wording, pointer, xid, transno, opcode, peer, nid, deadline_s, phase, job, .. } = self;
        let (portals, lens, late, flags, rc) = (self.portals, self.lens, u8::from(self.timed_out), self.flags, self.rc);
        write!(f, "req@{pointer:016x} x{xid}/t{transno}(0) o{opcode}->{peer}@{nid}:{}/{}", portals.0, portals.1)?;
        write!(f, " lens {}/{} e 0 to {late} dl {deadline_s} ref 1 fl {phase}", lens.0, lens.1)?;
        write!(f, "/{:x}/{:x} rc {}/{} job:'{job}'", flags.0, flags.1, rc.0, rc.1)?;
        if wording.has_owner {
            let (uid, gid, projid) = self.owner;
            write!(f, " uid:{uid} gid:{gid} projid:{projid}")?;
        }
        Ok(())
    }
}

/// An RPC as `Handling RPC`, `Handled RPC`, `Sending RPC` and `Completed RPC` print it.
#[derive(Clone, Copy, Debug)]
pub struct Rpc<'a> {
    /// Hashed pointer of the request.
    pub pointer: u32,
    /// Name of the thread, cut to fifteen characters.
    pub thread: &'a str,
    /// Uuid of the client, `0` before it is connected; for a callback the target, `FS-OST0000_UUID`.
    pub uuid: &'a str,
    /// References of the export, -99 before it is connected; `None` for a request that the node sends.
    pub references: Option<i32>,
    /// Pid of the sender.
    pub pid: u32,
    /// Number of the sender's.
    pub xid: u64,
    /// NID of the sender or the destination, without `12345-`.
    pub nid: &'a str,
    /// Operation.
    pub opcode: u16,
    /// Job of the sender; servers have none.
    pub job: &'a str,
}

impl fmt::Display for Rpc<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pointer, thread, uuid, references, pid, xid, nid, opcode, job } = self;
        write!(f, "req@{pointer:016x} ")?;
        match references {
            Some(references) => write!(
                f,
                "pname:cluuid+ref:pid:xid:nid:opc:job {thread}:{uuid}+{references}:{pid}:x{xid}:12345-{nid}:{opcode}:{job}"
            ),
            None => write!(f, "pname:cluuid:pid:xid:nid:opc:job {thread}:{uuid}:{pid}:{xid}:{nid}:{opcode}:{job}"),
        }
    }
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

impl fmt::Display for Handled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { service_us, total_us, transno, rc } = self;
        write!(f, "Request processed in {service_us}us ({total_us}us total) trans {transno} rc {}/{}", rc.0, rc.1)
    }
}
