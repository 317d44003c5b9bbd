//! A client asks for a lock.

use super::account::{Effect, LockEffect};
use super::events::Event;
use super::lock::{EOF, Look};
use super::log::Pen;
use super::opcode;
use super::request::{Purpose, Stage};
use super::say::{say, say_lock};
use super::simulation::Simulation;
use crate::wording::ldlm::flags;
use crate::wording::{ldlm, ofd};

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
        say!(self, pen, lvb_init, |line| ofd::lvb_init(line, fid, size_bytes, mtime_s, blocks));
        pen.now_us += self.rng.about(20);
    }

    /// How contended the object is: one line for the granted locks and one for those that wait.
    pub(super) fn say_contention(&mut self, object: usize, conflicts: (usize, usize), pen: &mut Pen) {
        let wording = self.world.wording;
        for count in [conflicts.0, conflicts.1] {
            let count = u64::try_from(count).unwrap_or(0);
            let state = &mut self.world.objects[object];
            let since_s = pen.now_us.saturating_sub(state.contended_us) / 1_000_000;
            if since_s > 2 {
                state.contention = (state.contention.1, 0);
                state.contended_us = pen.now_us;
            }
            let window = (since_s, state.contention.1, state.contention.0);
            state.contention.1 += count;
            let resource = state.resource;
            say!(self, pen, contention, |line| ldlm::contention(line, wording, count, resource, window));
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
        say!(self, &mut pen, enqueue_start, |line| ldlm::note(line, "server-side enqueue handler START"));
        pen.now_us += self.rng.about(10);
        self.bear(lock, pen.node, pen.pid);
        self.lock_effect(&pen, target, LockEffect::Enqueue(mount));
        let newborn = Look { newborn: true, ..Look::waiting(2, 0) };
        say_lock!(self, &mut pen, new_lock, "server-side enqueue handler, new lock created", lock, newborn);
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
            let look = Look::held(3, flags::IN_WORK);
            say_lock!(self, &mut pen, add_lock, "About to add this lock", lock, look);
        } else {
            self.world.objects[object].waiting.push(lock);
            self.lock_effect(&pen, target, LockEffect::Blocked);
            self.world.locks[lock].blocked_us = pen.now_us;
            let look = Look::waiting(4, flags::IN_WORK);
            say_lock!(self, &mut pen, add_lock, "About to add this lock", lock, look);
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
            say_lock!(self, pen, incompatible, "lock incompatible; sending blocking AST.", holder, look);
            self.world.locks[holder].ast_sent = true;
        }
        in_the_way
    }

    /// Asks the holders for their locks; those that have none yet will hear of it with their grant.
    pub(super) fn send_blocking_asts(&mut self, request: usize, holders: &[usize], pen: &mut Pen) {
        for &holder in holders {
            if self.world.locks[holder].granted {
                say_lock!(
                    self,
                    pen,
                    blocking_ast,
                    "server preparing blocking AST",
                    holder,
                    Look::held(3, flags::IN_WORK)
                );
                self.arm_timer(holder, flags::IN_WORK, pen);
                self.send_callback(opcode::LDLM_BL_CALLBACK, holder, Some(request), pen);
            } else {
                let look = Look::waiting(3, flags::IN_WORK);
                say_lock!(self, pen, not_granted, "lock not granted, not sending blocking AST", holder, look);
            }
        }
    }

    /// From now on the client has so many seconds to give the lock back.
    pub(super) fn arm_timer(&mut self, lock: usize, more_flags: u64, pen: &mut Pen) {
        let seconds = self.lock_timeout_s;
        let uptime_s = pen.now_us.saturating_sub(self.start_us) / 1_000_000 + super::simulation::UPTIME_S;
        let state = &mut self.world.locks[lock];
        state.ast_us = pen.now_us;
        state.timeout_s = uptime_s + seconds;
        self.events.at(pen.now_us + seconds * 1_000_000, Event::LockTimeout(lock, state.cookie));
        let wording = self.world.wording;
        let look = Look::held(4, more_flags | flags::WAITED | flags::CBPENDING);
        say!(self, pen, wait_list, |line| ldlm::lock_with(
            line,
            wording,
            ("adding to wait list(timeout: ", seconds, ", AT: on)"),
            &self.world.lock_line(lock, look)
        ));
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
            .max_by_key(|&held| self.world.locks[held].extent.1);
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
        let purpose = self.world.requests[request].purpose;
        let (lock, message, glimpse) = match purpose {
            Purpose::Enqueue(lock) => (lock, "server-side enqueue handler, sending reply (err=0, rc=0)", false),
            Purpose::Glimpse(lock) => (lock, "server-side enqueue handler, sending reply (err=301, rc=0)", true),
            _ => return,
        };
        if glimpse {
            self.world.locks[lock].extent = (0, EOF);
            self.world.requests[request].rc = (301, 301);
            let look = Look { glimpse: true, ..Look::waiting(1, flags::DESTROYED) };
            say_lock!(self, &mut pen, enqueue_reply, message, lock, look);
            let look = Look { references: 0, ..look };
            say_lock!(self, &mut pen, lock_put, "final lock_put on destroyed lock, freeing it.", lock, look);
        } else {
            let granted = self.world.locks[lock].granted;
            self.world.locks[lock].granted_in_reply = granted;
            let look = Look { granted, ..Look::held(3, 0) };
            say_lock!(self, &mut pen, enqueue_reply, message, lock, look);
        }
        let pointer = self.world.locks[lock].pointer;
        say!(self, &mut pen, enqueue_end, |line| ldlm::enqueue_end(line, pointer));
        self.finish(request, pen);
    }
}
