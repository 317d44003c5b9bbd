//! What goes wrong: clients that keep locks or do not answer, late requests, resends, reconnects.

use super::client_config::ClientFaults;
use super::{Effect, Event, LockEffect, Look, Pen, Purpose, Simulation, Stage, opcode, say};
use crate::wording::lock::flags;
use crate::wording::{Handled, Request};

/// `-ENOTCONN`: the server threw the client out.
pub(super) const NOT_CONNECTED: i64 = -107;
/// How long a client waits before it tries again, microseconds.
const RECONNECT_US: u64 = 5_000;

impl Simulation {
    /// Nobody gave the lock back in time: its client is thrown out.
    pub(super) fn lock_timeout(&mut self, lock: usize, cookie: u64) {
        let state = &self.world.locks[lock];
        if state.cookie != cookie || state.gone || !state.granted || state.timeout_s == 0 {
            return;
        }
        let Some(mount) = state.mount else { return };
        let target = self.world.objects[state.object].target;
        let waited_s = self.lock_timeout_s;
        let mut pen = self.worker(target, 0);
        let look = Look::held(3, flags::WAITED | flags::CBPENDING);
        say!(self, &mut pen, expired_lock(waited_s, self.world.nid(mount), self.world.lock_line(lock, look)));
        self.evict(mount, target, pen);
    }

    /// A callback got no answer: a warning, and the client is thrown out.
    pub(super) fn callback_timeout(&mut self, callback: usize) {
        let state = self.world.callbacks[callback];
        let node = self.world.targets[state.target].node;
        let mut pen = Pen { node, cpu: state.cpu, pid: state.pid, now_us: self.now_us };
        say!(
            self,
            &mut pen,
            expired(state.sent_us / 1_000_000, Request { timed_out: true, ..self.world.own(callback, "Rpc:XQr") })
        );
        if let Some(request) = state.request {
            let handler = &mut self.world.requests[request];
            handler.open_callbacks -= 1;
            handler.callback_us = pen.now_us;
            if handler.open_callbacks == 0 {
                self.events.at(pen.now_us + 20, Event::Step(request));
            }
        }
        let lock = state.lock;
        let alive = self.world.locks[lock].cookie == state.cookie && !self.world.locks[lock].gone;
        if alive && self.world.export(state.mount, state.target).connected {
            let look = Look::held(4, flags::WAITED | flags::CBPENDING);
            say!(
                self,
                &mut pen,
                ast_error(self.world.nid(state.mount), state.pointer, state.xid, self.world.lock_line(lock, look))
            );
            let worker = Pen { now_us: pen.now_us, ..self.worker(state.target, 0) };
            self.evict(state.mount, state.target, worker);
        }
        if state.opcode == opcode::LDLM_BL_CALLBACK {
            self.forget_ast(lock, &mut pen);
        }
        self.world.callbacks.release(callback);
    }

    fn worker(&self, target: usize, which: usize) -> Pen {
        let node = self.world.targets[target].node;
        let pids = &self.world.nodes[node].bl_pids;
        Pen { node, cpu: 0, pid: pids[which % pids.len()], now_us: self.now_us }
    }

    /// Ends a client's connection and frees all its locks on the target.
    fn evict(&mut self, mount: usize, target: usize, mut pen: Pen) {
        self.log.effect(&pen, Effect::Lock { target, what: LockEffect::Eviction(mount) });
        let export = self.world.export_mut(mount, target);
        export.connected = false;
        let pointer = export.pointer;
        let uuid = self.world.mounts[mount].uuid.clone();
        say!(self, &mut pen, disconnecting(pointer, &uuid));
        say!(self, &mut pen, import_state(pointer ^ 1, "FULL", "CLOSED"));
        say!(self, &mut pen, disconnected(pointer, &uuid));
        let mut worker = Pen { now_us: pen.now_us, ..self.worker(target, 2) };
        for lock in self.locks_of(mount, target) {
            let object = self.world.locks[lock].object;
            self.update_object(object, &mut worker);
            let granted = self.release(lock, &mut worker);
            self.complete(&granted, None, &mut worker);
            self.world.objects[object].busy_us = worker.now_us;
        }
    }

    fn locks_of(&self, mount: usize, target: usize) -> Vec<usize> {
        self.world
            .objects
            .iter()
            .filter(|object| object.target == target)
            .flat_map(|object| object.granted.iter().chain(&object.waiting).copied())
            .filter(|&lock| self.world.locks[lock].mount == Some(mount))
            .collect()
    }

    /// An evicted client forgets its locks, connects again and sends its request once more.
    pub(super) fn reconnect(&mut self, request: usize) {
        let (mount, target) = (self.world.requests[request].mount, self.world.requests[request].target);
        let objects: Vec<usize> = self.world.mounts[mount]
            .locks
            .keys()
            .copied()
            .filter(|&object| self.world.objects[object].target == target)
            .collect();
        let mut orphans = Vec::new();
        for object in objects {
            let locks = self.world.mounts[mount].locks.remove(&object).unwrap_or_default();
            let (lost, kept): (Vec<usize>, Vec<usize>) =
                locks.into_iter().partition(|&lock| self.world.locks[lock].gone);
            for lock in lost {
                orphans.append(&mut self.world.locks[lock].waiters);
                if let Some(process) = self.world.locks[lock].asker.take() {
                    self.locked(process);
                }
            }
            self.world.mounts[mount].locks.insert(object, kept);
        }
        self.world.mounts[mount].config.faults = ClientFaults::default();
        self.send(mount, target, opcode::OST_CONNECT, Purpose::Nothing);
        let again = &mut self.world.requests[request];
        (again.rc, again.stage, again.answered) = ((0, 0), Stage::Waiting, false);
        let xid = self.world.next_xid(mount);
        let delay_us = self.rng.about(RECONNECT_US);
        let again = &mut self.world.requests[request];
        again.xid = xid;
        again.deadline_s = self.now_us / 1_000_000 + 11;
        self.events.at(self.now_us + delay_us, Event::Arrive(request));
        for io in orphans {
            self.submit(mount, io, io.extent);
        }
    }

    /// The server's side of OST_CONNECT.
    pub(super) fn connect(&mut self, request: usize, pen: &mut Pen) {
        let state = &self.world.requests[request];
        let (mount, target) = (state.mount, state.target);
        let uptime_s = pen.now_us.saturating_sub(self.start_us) / 1_000_000 + super::simulation::UPTIME_S;
        let again = self.world.export(mount, target).connected;
        let pointer = self.world.export(mount, target).pointer;
        let last_s = if again { pen.now_us / 1_000_000 } else { 0 };
        let (name, index) = (self.world.targets[target].name.clone(), self.world.targets[target].index);
        let uuid = self.world.mounts[mount].uuid.clone();
        let nid = self.world.nid(mount).to_owned();
        if again {
            say!(self, pen, reconnecting(&name, &uuid, &nid));
        }
        let shown = if again { pointer } else { 0 };
        say!(self, pen, connection(&name, &uuid, &nid, shown, uptime_s, last_s));
        if again {
            say!(self, pen, import_state(pointer ^ 1, "FULL", "RECOVER"));
        } else {
            say!(self, pen, connect_flags(&name, &uuid, pointer, index));
            say!(self, pen, connect_cksum(&name));
            say!(self, pen, connect_mds(&name));
        }
        say!(self, pen, import_state(pointer ^ 1, "RECOVER", "FULL"));
        self.world.export_mut(mount, target).connected = true;
        if !again {
            let mut committer = Pen { now_us: pen.now_us + 2_000, ..self.worker(target, 1) };
            say!(self, &mut committer, new_client(&name, &uuid));
        }
    }

    /// Throws away a request whose sender has given up waiting.
    pub(super) fn drop_if_late(&mut self, request: usize, pen: &mut Pen) -> bool {
        let Some((allowed_s, late_s)) = self.late_s(request, pen) else { return false };
        let state = &self.world.requests[request];
        if state.opcode == opcode::LDLM_CANCEL {
            return false;
        }
        let (mount, target, part, thread) = (state.mount, state.target, state.part, state.thread);
        let late = self.world.received(request, "Interpret:", false);
        say!(self, pen, timed_out(self.world.nid(mount), allowed_s, late_s, late));
        let state = &self.world.requests[request];
        let (service_us, total_us) = (pen.now_us - state.start_us, pen.now_us - state.arrival_us);
        let service = self.world.parts[part].service.name();
        self.log.effect(pen, Effect::Dropped { node: pen.node, service });
        self.say_handled(request, Handled { service_us, total_us, transno: 0, rc: (0, -999) }, pen);
        if self.world.requests[request].io.is_some() {
            self.refresh(request, pen, true);
        }
        self.world.export_mut(mount, target).requests -= 1;
        self.world.requests[request].stage = Stage::Waiting;
        self.events.at(pen.now_us + 1, Event::Thread(part, thread));
        self.send_again(request);
        true
    }

    /// The sender repeats a request that was thrown away: the same xid, marked as resent.
    fn send_again(&mut self, request: usize) {
        let way_us = self.world.mounts[self.world.requests[request].mount].config.rtt_us;
        let arrival_us = self.now_us + self.rng.about(way_us).max(1) + RECONNECT_US;
        let state = &mut self.world.requests[request];
        state.resent = true;
        state.deadline_s = arrival_us / 1_000_000 + 11;
        self.events.at(arrival_us, Event::Arrive(request));
    }

    /// The sender gave up waiting while the server still works: the copy is turned away.
    pub(super) fn resend(&mut self, request: usize, xid: u64) {
        let state = &self.world.requests[request];
        if state.xid != xid || state.answered || state.stage == Stage::Waiting {
            return;
        }
        let part = state.part;
        let pen = self.say_arrival(request);
        let Some(thread) = self.world.parts[part].idle.pop_front() else { return };
        let mut pen = Pen { now_us: pen.now_us + 20, ..self.thread_pen(part, thread) };
        say!(self, &mut pen, unwrap(xid));
        say!(self, &mut pen, got(xid));
        let copy = self.rng.pointer();
        let original = self.world.received(request, "New:", false);
        let flags = (original.flags.0 | 2, original.flags.1);
        say!(self, &mut pen, duplicate(Request { pointer: copy, flags, ..original }));
        say!(self, &mut pen, original(self.world.received(request, "Interpret:", true)));
        say!(self, &mut pen, finish(xid));
        self.events.at(pen.now_us + 1, Event::Thread(part, thread));
    }
}
