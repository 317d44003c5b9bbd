//! A client asks for a lock.

use super::{Effect, Event, LockEffect, Look, Pen, Purpose, Simulation, Stage, opcode, say};
use crate::wording::Extent;
use crate::wording::lock::flags;

/// Handles of one node are so far apart.
const COOKIE_STEP: u64 = 7;

impl Simulation {
    /// Waits for another handler that works on the same object.
    pub(super) fn is_object_busy(&mut self, request: usize, object: usize) -> bool {
        let busy_us = self.world.objects[object].busy_us;
        if busy_us > self.now_us {
            self.events.at(busy_us, Event::Step(request));
            return true;
        }
        false
    }

    /// Gives a lock its handle on the server.
    pub(super) fn bear(&mut self, lock: usize, node: usize, pid: u32) {
        let node = &mut self.world.nodes[node];
        node.next_cookie += COOKIE_STEP;
        let cookie = node.next_cookie;
        let pointer = self.pointer_of(lock.wrapping_mul(2) + 1);
        let state = &mut self.world.locks[lock];
        (state.cookie, state.pointer, state.pid) = (cookie, pointer, pid);
    }

    /// Reads an object's attributes from disk if there was no lock on it.
    pub(super) fn know_object(&mut self, object: usize, pen: &mut Pen) {
        let state = &mut self.world.objects[object];
        if state.known.is_some() {
            return;
        }
        let (fid, size_bytes, mtime_s) = (state.fid, state.size_bytes, state.mtime_s);
        state.known = Some((size_bytes, mtime_s));
        let blocks = size_bytes.div_ceil(512);
        say!(self, pen, lvb_init(fid, size_bytes, mtime_s, blocks));
        pen.now_us += self.rng.about(20);
    }

    /// How contended the object is: one line for the granted locks and one for those that wait.
    pub(super) fn say_contention(&mut self, object: usize, conflicts: (usize, usize), pen: &mut Pen) {
        for count in [conflicts.0, conflicts.1] {
            let count = u64::try_from(count).unwrap_or(0);
            let state = &mut self.world.objects[object];
            let since_s = pen.now_us.saturating_sub(state.contended_us) / 1_000_000;
            if since_s > 2 {
                state.contention = (state.contention.1, 0);
                state.contended_us = pen.now_us;
            }
            let (previous, current) = state.contention;
            state.contention.1 += count;
            let resource = state.resource;
            say!(self, pen, contention(count, resource, since_s, current, previous));
            say!(self, pen, contended(count));
        }
    }

    fn lock_effect(&mut self, pen: &Pen, target: usize, what: LockEffect) {
        self.log.effect(pen, Effect::Lock { target, what });
    }

    /// Makes the lock, and grants it or calls back those in its way.
    pub(super) fn enqueue_step(&mut self, request: usize) {
        let state = &self.world.requests[request];
        let (mount, target) = (state.mount, state.target);
        let (lock, glimpse) = match state.purpose {
            Purpose::Enqueue(lock) => (lock, false),
            Purpose::Glimpse(lock) => (lock, true),
            _ => return,
        };
        let object = self.world.locks[lock].object;
        if self.is_object_busy(request, object) {
            return;
        }
        let mut pen = self.handler_pen(request);
        say!(self, &mut pen, enqueue_start());
        pen.now_us += self.rng.about(10);
        self.bear(lock, pen.node, pen.pid);
        self.lock_effect(&pen, target, LockEffect::Enqueue(mount));
        let newborn = Look { newborn: true, ..Look::waiting(2, 0) };
        say!(self, &mut pen, new_lock(self.world.lock_line(lock, newborn)));
        self.know_object(object, &mut pen);
        if glimpse {
            self.glimpse_step(request, lock, pen);
            return;
        }
        self.world.export_mut(mount, target).locks += 1;
        let (held, waiting) = self.world.conflicts(lock);
        let in_the_way = self.call_back(&held, &waiting, lock, &mut pen);
        self.say_contention(object, (held.len(), waiting.len()), &mut pen);
        if held.is_empty() && waiting.is_empty() {
            self.world.locks[lock].extent = self.world.expanded(lock);
            self.world.grant(lock);
            self.lock_effect(&pen, target, LockEffect::Granted);
            say!(self, &mut pen, add_lock(self.world.lock_line(lock, Look::held(3, flags::IN_WORK))));
        } else {
            self.world.objects[object].waiting.push(lock);
            self.lock_effect(&pen, target, LockEffect::Blocked);
            self.world.locks[lock].blocked_us = pen.now_us;
            say!(self, &mut pen, add_lock(self.world.lock_line(lock, Look::waiting(4, flags::IN_WORK))));
            self.world.locks[lock].waited = true;
            pen.now_us += self.rng.about(15);
            self.send_blocking_asts(request, &in_the_way, &mut pen);
        }
        self.await_callbacks(request, object, &mut pen);
    }

    /// Notes which locks are in the way and were not called back before.
    pub(super) fn call_back(&mut self, held: &[usize], waiting: &[usize], lock: usize, pen: &mut Pen) -> Vec<usize> {
        let target = self.world.objects[self.world.locks[lock].object].target;
        let in_the_way: Vec<usize> =
            held.iter().chain(waiting).copied().filter(|&other| !self.world.locks[other].ast_sent).collect();
        for &holder in &in_the_way {
            if let (Some(asks), Some(holds)) = (self.world.locks[lock].mount, self.world.locks[holder].mount) {
                self.lock_effect(pen, target, LockEffect::Conflict { asks, holds });
            }
            let look = Look { granted: self.world.locks[holder].granted, ..Look::held(2, 0) };
            say!(self, pen, incompatible(self.world.lock_line(holder, look)));
            self.world.locks[holder].ast_sent = true;
        }
        in_the_way
    }

    /// Asks the holders for their locks; those that have none yet will hear of it with their grant.
    pub(super) fn send_blocking_asts(&mut self, request: usize, holders: &[usize], pen: &mut Pen) {
        for &holder in holders {
            if self.world.locks[holder].granted {
                say!(self, pen, blocking_ast(self.world.lock_line(holder, Look::held(3, flags::IN_WORK))));
                self.arm_timer(holder, flags::IN_WORK, pen);
                self.send_callback(opcode::LDLM_BL_CALLBACK, holder, Some(request), pen);
            } else {
                say!(self, pen, not_granted(self.world.lock_line(holder, Look::waiting(3, flags::IN_WORK))));
            }
        }
    }

    /// From now on the client has this many seconds to cancel the lock.
    pub(super) fn arm_timer(&mut self, lock: usize, more_flags: u64, pen: &mut Pen) {
        let seconds = self.lock_timeout_s;
        let uptime_s = pen.now_us.saturating_sub(self.start_us) / 1_000_000 + super::simulation::UPTIME_S;
        let state = &mut self.world.locks[lock];
        state.ast_us = pen.now_us;
        state.timeout_s = uptime_s + seconds;
        self.events.at(pen.now_us + seconds * 1_000_000, Event::LockTimeout(lock, state.cookie));
        let look = Look::held(4, more_flags | flags::WAITED | flags::CBPENDING);
        say!(self, pen, wait_list(seconds, self.world.lock_line(lock, look)));
    }

    /// Asks the writer that may have made the object longest; without one the server knows the size.
    fn glimpse_step(&mut self, request: usize, lock: usize, mut pen: Pen) {
        let state = &self.world.requests[request];
        let (mount, target) = (state.mount, state.target);
        let object = self.world.locks[lock].object;
        self.lock_effect(&pen, target, LockEffect::Glimpse);
        let writer = self.world.objects[object]
            .granted
            .iter()
            .copied()
            .filter(|&held| self.world.locks[held].write && self.world.locks[held].mount.is_some_and(|it| it != mount))
            .max_by_key(|&held| self.world.locks[held].extent.last);
        self.world.objects[object].busy_us = pen.now_us;
        self.world.requests[request].stage = Stage::Callbacks;
        if let Some(writer) = writer {
            pen.now_us += self.rng.about(20);
            self.send_callback(opcode::LDLM_GL_CALLBACK, writer, Some(request), &mut pen);
            self.say_set_wait(&mut pen);
        } else {
            self.events.at(pen.now_us, Event::Step(request));
        }
        self.world.requests[request].callback_us = pen.now_us;
    }

    /// The reply to an enqueue: all callbacks are answered.
    pub(super) fn enqueue_end(&mut self, request: usize) {
        let mut pen = self.handler_pen(request);
        let lock = match self.world.requests[request].purpose {
            Purpose::Glimpse(lock) => {
                self.world.locks[lock].extent = Extent::ALL;
                self.world.requests[request].rc = (301, 301);
                let look = Look { glimpse: true, ..Look::waiting(1, flags::DESTROYED) };
                say!(self, &mut pen, enqueue_reply(301, self.world.lock_line(lock, look)));
                say!(self, &mut pen, lock_put(self.world.lock_line(lock, Look { references: 0, ..look })));
                lock
            }
            Purpose::Enqueue(lock) => {
                let granted = self.world.locks[lock].granted;
                self.world.locks[lock].granted_in_reply = granted;
                let look = Look { granted, ..Look::held(3, 0) };
                say!(self, &mut pen, enqueue_reply(0, self.world.lock_line(lock, look)));
                lock
            }
            _ => return,
        };
        let pointer = self.world.locks[lock].pointer;
        say!(self, &mut pen, enqueue_end(pointer));
        self.finish(request, pen);
    }
}
