//! What the senders of requests log: servers among each other, and clients whose log is wanted.

use super::{Event, Pen, Request, Simulation, World, say};
use crate::wording::Rpc;

/// `ptlrpcd_00_01`, and where it runs.
const SENDER: &str = "ptlrpcd_00_01";

impl Simulation {
    /// `Sending RPC` of a request that has just been made.
    pub(super) fn say_sending(&mut self, request: usize) {
        let Request { mount, way_us, .. } = self.world.requests[request];
        if let Some(node) = self.world.log_of_client(mount) {
            let sent_us = self.say_sending_of_client(request, node);
            self.events.at(sent_us + way_us, Event::Arrive(request));
            return;
        }
        let Some(mut pen) = self.sender(request) else { return };
        say!(self, &mut pen, sending(self.world.outgoing(request)));
    }

    /// `Completed RPC`: the reply is there.
    pub(super) fn say_completed(&mut self, request: usize) {
        if let Some(node) = self.world.log_of_client(self.world.requests[request].mount) {
            self.say_completed_of_client(request, node);
            return;
        }
        let Some(mut pen) = self.sender(request) else { return };
        say!(self, &mut pen, completed(self.world.outgoing(request)));
    }

    fn sender(&self, request: usize) -> Option<Pen> {
        let mount = &self.world.mounts[self.world.requests[request].mount];
        Some(Pen { node: mount.log_node?, cpu: 0, pid: mount.ptlrpcd_pids[0], now_us: self.now_us })
    }
}

impl World {
    pub(super) fn outgoing(&self, request: usize) -> Rpc<'_> {
        let state = &self.requests[request];
        let mount = &self.mounts[state.mount];
        let job = &self.jobs[state.job];
        let program = job.split('.').next().unwrap_or(job);
        let is_program = !mount.server && !mount.ptlrpcd_pids.contains(&state.pid);
        Rpc {
            pointer: state.pointer,
            thread: if is_program { program } else { SENDER },
            uuid: &mount.uuid,
            references: None,
            pid: state.pid,
            xid: state.xid,
            nid: &self.nodes[self.targets[state.target].node].nid,
            opcode: state.opcode,
            job,
        }
    }
}
