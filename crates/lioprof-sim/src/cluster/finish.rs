//! The end of a request: reply, last lines, account, the next request of the thread.

use super::account::{Effect, RpcEffect};
use super::events::Event;
use super::log::Pen;
use super::opcode;
use super::say::say;
use super::simulation::Simulation;
use crate::wording::{faults, net, rpc};

impl Simulation {
    /// Sends the reply and ends the handling of a request.
    pub(super) fn finish(&mut self, request: usize, mut pen: Pen) {
        let wording = self.world.wording;
        let state = &self.world.requests[request];
        let (mount, target, xid, opcode) = (state.mount, state.target, state.xid, state.opcode);
        let (service, part, thread, io) = (state.service, state.part, state.thread, state.io);
        let phase = if state.urgent { "Interpret:H" } else { "Interpret:" };
        if opcode != opcode::LDLM_CANCEL {
            say!(self, &mut pen, send_reply, |line| net::send_reply(
                line,
                wording,
                &rpc::Request {
                    rc: (state.rc.0, 0),
                    ..self.world.received(&self.world.requests[request], phase, true)
                }
            ));
        }
        let bytes = self.world.lens(state).1;
        let mbits = xid + io.filter(|io| !io.is_short()).map_or(0, |io| io.descriptors() - 1);
        let offset = if opcode == opcode::OST_CONNECT { 0 } else { 224 };
        let portal = service.reply_portal();
        say!(self, &mut pen, send_buffer, |line| net::send_buffer(line, bytes, portal, mbits, offset));
        let way_us = self.world.mounts[mount].rtt_us / 2;
        let reply_us = pen.now_us + self.rng.about(way_us).max(1) + self.world.mounts[mount].extra_us.1;
        pen.now_us += self.rng.about(6);
        self.warn_if_late(request, &mut pen);
        self.handled(request, &mut pen);
        if matches!(opcode, opcode::OST_READ | opcode::OST_WRITE) {
            self.refresh(request, &mut pen, true);
        } else if opcode == opcode::OST_PUNCH {
            self.prolong(request, &mut pen);
        }
        self.world.export_mut(mount, target).requests -= 1;
        self.world.requests[request].answered = true;
        self.events.at(reply_us.max(pen.now_us), Event::Reply(request));
        self.events.at(pen.now_us + 1, Event::Thread(part, thread));
    }

    /// `Handled RPC`, `NRS stop` and what counts.
    pub(super) fn handled(&mut self, request: usize, pen: &mut Pen) {
        let state = &self.world.requests[request];
        let end = rpc::Handled {
            service_us: pen.now_us - state.start_us,
            total_us: pen.now_us - state.arrival_us,
            transno: state.transno,
            rc: state.rc,
        };
        let rpc = RpcEffect {
            target: state.target,
            mount: state.mount,
            job: state.job,
            service: state.service.name(),
            opcode: state.opcode,
            bytes: state.io.filter(|_| state.rc.0 >= 0).map(|io| io.bytes),
            wait_us: state.start_us - state.arrival_us,
            service_us: end.service_us,
        };
        self.log.effect(pen, Effect::Rpc(rpc));
        let (mount, sequence) = (state.mount, state.sequence);
        say!(self, pen, handled, |line| rpc::handled(line, &self.world.handling(&self.world.requests[request]), &end));
        say!(self, pen, nrs_stop, |line| rpc::nrs_stop(line, self.world.nid(mount), sequence));
    }

    /// The sender has given up by now.
    fn warn_if_late(&mut self, request: usize, pen: &mut Pen) {
        let state = &self.world.requests[request];
        let now_s = pen.now_us / 1_000_000;
        if now_s <= state.deadline_s {
            return;
        }
        let allowed_s = state.deadline_s.saturating_sub(state.arrival_us / 1_000_000);
        let late_s = now_s - state.deadline_s;
        let wording = self.world.wording;
        say!(self, pen, too_long, |line| faults::too_long(
            line,
            wording,
            allowed_s,
            late_s,
            &self.world.received(&self.world.requests[request], "Complete:", true)
        ));
    }
}
