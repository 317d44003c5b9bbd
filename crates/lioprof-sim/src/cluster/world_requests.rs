//! Requests as lines show them.

use super::{Request, World, opcode};
use crate::wording;

impl World {
    /// Bytes of a request and its reply, inline data included.
    pub(crate) fn lens(&self, request: &Request) -> (u64, u64) {
        let (mut asked, mut answered) = opcode::lens(request.opcode, self.targets[request.target].mdt);
        if let Some(io) = &request.io {
            asked += 16 * (io.pieces - 1);
            if io.is_short() {
                let inline = io.bytes.next_multiple_of(8);
                if io.write {
                    asked += inline;
                } else {
                    answered += inline;
                }
            }
        }
        (asked, answered)
    }

    /// As DEBUG_REQ shows a request that the server received.
    pub(crate) fn received<'a>(&'a self, request: usize, phase: &'a str, replied: bool) -> wording::Request<'a> {
        let request = &self.requests[request];
        let mount = &self.mounts[request.mount];
        let (asked, answered) = self.lens(request);
        let connected = self.export(request.mount, request.target).connected;
        let flags = if mount.server { self.wording.server_flags } else { self.wording.client_flags };
        wording::Request {
            wording: self.wording,
            pointer: request.pointer,
            xid: request.xid,
            transno: request.transno,
            opcode: request.opcode,
            peer: if connected { &mount.uuid } else { "<?>" },
            nid: &self.hosts[mount.host].nid,
            portals: (u32::try_from(request.deadline_s % 293).unwrap_or(0), 0),
            lens: (asked, if replied { answered } else { 0 }),
            timed_out: false,
            deadline_s: request.deadline_s,
            phase,
            flags: (flags | if request.resent { 2 } else { 0 }, if replied { 0 } else { u32::MAX }),
            rc: if replied { request.rc } else { (0, -1) },
            job: &self.jobs[request.job],
            owner: if mount.server { (0, 0, u32::MAX) } else { request.owner },
        }
    }

    /// As `Handling RPC` shows it.
    pub(crate) fn handling(&self, request: usize) -> wording::Rpc<'_> {
        let request = &self.requests[request];
        let mount = &self.mounts[request.mount];
        let export = self.export(request.mount, request.target);
        let connected = export.connected;
        wording::Rpc {
            pointer: request.pointer,
            thread: &self.parts[request.part].threads[request.thread].name,
            uuid: if connected { &mount.uuid } else { "0" },
            references: Some(if connected { export.references() } else { -99 }),
            pid: request.pid,
            xid: request.xid,
            nid: &self.hosts[mount.host].nid,
            opcode: request.opcode,
            job: &self.jobs[request.job],
        }
    }
}
