//! The end of a request: reply, last lines, account, the next request of the thread.

use super::account::RpcEffect;
use super::{Effect, Event, Pen, Simulation, opcode, say};
use crate::wording::{Handled, Request};

impl Simulation {
    /// Sends the reply and ends the handling of a request.
    pub(super) fn finish(&mut self, request: usize, mut pen: Pen) {
        let state = &self.world.requests[request];
        let (mount, target, xid, opcode) = (state.mount, state.target, state.xid, state.opcode);
        let (part, thread, io) = (state.part, state.thread, state.io);
        let phase = if state.urgent { "Interpret:H" } else { "Interpret:" };
        if opcode != opcode::LDLM_CANCEL {
            let rc = (state.rc.0, 0);
            say!(self, &mut pen, send_reply(Request { rc, ..self.world.received(request, phase, true) }));
        }
        let bytes = self.world.lens(state).1;
        let mbits = xid + io.filter(|io| !io.is_short()).map_or(0, |io| io.descriptors() - 1);
        let offset = if opcode == opcode::OST_CONNECT { 0 } else { 224 };
        let portal = self.world.parts[part].service.reply_portal();
        say!(self, &mut pen, send_buffer(bytes, portal, mbits, offset));
        let reply_us = pen.now_us + self.way_us(mount) + self.world.mounts[mount].config.extra_back_us;
        pen.now_us += self.rng.about(6);
        if let Some((allowed_s, late_s)) = self.late_s(request, &pen) {
            say!(self, &mut pen, too_long(allowed_s, late_s, self.world.received(request, "Complete:", true)));
        }
        self.handled(request, &mut pen);
        if matches!(opcode, opcode::OST_READ | opcode::OST_WRITE) {
            self.refresh(request, &mut pen, true);
        }
        self.world.export_mut(mount, target).requests -= 1;
        self.world.requests[request].answered = true;
        self.events.at(reply_us.max(pen.now_us), Event::Reply(request));
        self.events.at(pen.now_us + 1, Event::Thread(part, thread));
    }

    /// The lines of the end, and what counts.
    pub(super) fn handled(&mut self, request: usize, pen: &mut Pen) {
        let state = &self.world.requests[request];
        let end = Handled {
            service_us: pen.now_us - state.start_us,
            total_us: pen.now_us - state.arrival_us,
            transno: state.transno,
            rc: state.rc,
        };
        let rpc = RpcEffect {
            target: state.target,
            mount: state.mount,
            job: state.job,
            service: self.world.parts[state.part].service.name(),
            opcode: state.opcode,
            bytes: state.io.filter(|_| state.rc.0 >= 0).map(|io| io.bytes),
            wait_us: state.start_us - state.arrival_us,
            service_us: end.service_us,
        };
        self.log.effect(pen, Effect::Rpc(rpc));
        self.world.requests[request].end_us = pen.now_us;
        self.say_handled(request, end, pen);
    }

    /// `Handled RPC` and `NRS stop`.
    pub(super) fn say_handled(&mut self, request: usize, end: Handled, pen: &mut Pen) {
        say!(self, pen, handled(self.world.handling(request), end));
        self.say_done(request, pen);
    }

    /// How many seconds a request's sender waits, and since how many it no longer does; `None` while it waits.
    pub(super) fn late_s(&self, request: usize, pen: &Pen) -> Option<(u64, u64)> {
        let state = &self.world.requests[request];
        let late_s = (pen.now_us / 1_000_000).checked_sub(state.deadline_s).filter(|&late_s| late_s > 0)?;
        Some((state.deadline_s.saturating_sub(state.arrival_us / 1_000_000), late_s))
    }
}
