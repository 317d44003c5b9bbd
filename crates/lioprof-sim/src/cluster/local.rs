//! Locks that a server takes for itself: direct I/O and unlink.

use super::{Effect, Io, Lock, LockEffect, Look, Pen, Simulation, say};
use crate::wording::Extent;
use crate::wording::lock::flags;

const fn pinned(references: u32, granted: bool, flags: u64) -> Look {
    Look { references, granted, flags, newborn: false, pinned: true, glimpse: false }
}

impl Simulation {
    fn new_local_lock(&mut self, request: usize, object: usize, write: bool, extent: Extent, pen: &mut Pen) -> usize {
        let lock = self.world.locks.insert(Lock::new(object, None, write, extent));
        self.bear(lock, pen.node, pen.pid);
        self.world.requests[request].local_lock = Some(lock);
        let target = self.world.objects[object].target;
        self.log.effect(pen, Effect::Lock { target, what: LockEffect::Local });
        self.know_object(object, pen);
        let look = Look { newborn: true, ..pinned(3, false, 0) };
        say!(self, pen, addref(self.world.locks[lock].mode(), self.world.lock_line(lock, look)));
        lock
    }

    /// The lock under which a direct read or write is done.
    pub(super) fn take_local_lock(&mut self, request: usize, io: &Io, pen: &mut Pen) {
        let lock = self.new_local_lock(request, io.object, io.write, io.extent, pen);
        self.say_contention(io.object, (0, 0), pen);
        self.world.grant(lock);
        say!(self, pen, add_lock(self.world.lock_line(lock, pinned(3, true, flags::IN_WORK | flags::LOCAL))));
        say!(self, pen, local_lock(self.world.lock_line(lock, pinned(3, true, flags::LOCAL))));
    }

    /// Gives that lock up.
    pub(super) fn drop_local_lock(&mut self, request: usize, io: &Io, pen: &mut Pen) {
        let Some(lock) = self.world.requests[request].local_lock.take() else { return };
        if io.write {
            self.update_object(io.object, pen);
        }
        self.say_decref(lock, pen, 0);
        if self.world.wording.has_local_worker {
            self.leave_to_worker(lock, pen, 0);
            return;
        }
        self.say_local_cancel(lock, pen, 0);
        let look = Look::waiting(0, flags::DEAD | flags::LOCAL | flags::CANCELING | flags::CBPENDING);
        let granted = self.free_local(lock, look, pen);
        self.complete(&granted, None, pen);
    }

    fn say_decref(&mut self, lock: usize, pen: &mut Pen, more: u64) {
        let (mode, used) = (self.world.locks[lock].mode(), pinned(3, true, flags::IN_WORK | flags::LOCAL | more));
        say!(self, pen, decref(mode, self.world.lock_line(lock, used)));
        let look = Look::held(2, flags::IN_WORK | flags::LOCAL | flags::CBPENDING | more);
        say!(self, pen, final_decref(self.world.lock_line(lock, look)));
    }

    fn say_local_cancel(&mut self, lock: usize, pen: &mut Pen, more: u64) {
        let held = flags::LOCAL | flags::CBPENDING | more;
        let pointer = self.world.locks[lock].pointer;
        let look = Look::held(3, held);
        say!(self, pen, local_callback(self.world.lock_line(lock, look)));
        say!(self, pen, local_unused(pointer));
        say!(self, pen, local_calling(self.world.lock_line(lock, look)));
        say!(self, pen, local_cancel(self.world.lock_line(lock, Look::held(4, held | flags::CANCELING))));
        let look = Look::waiting(2, flags::DEAD | held | flags::CANCELING);
        say!(self, pen, local_end(self.world.lock_line(lock, look)));
    }

    fn free_local(&mut self, lock: usize, look: Look, pen: &mut Pen) -> Vec<usize> {
        let object = self.world.locks[lock].object;
        let waiting = !self.world.objects[object].waiting.is_empty();
        self.world.unlink(lock);
        say!(self, pen, lock_put(self.world.lock_line(lock, look)));
        let state = &mut self.world.objects[object];
        if state.granted.is_empty() && state.waiting.is_empty() {
            state.known = None;
        }
        self.world.locks.release(lock);
        if waiting { self.world.grant_waiting(object) } else { Vec::new() }
    }

    /// Unlink: a lock over the whole object, so that clients throw away what they cached of it.
    pub(super) fn destroy_step(&mut self, request: usize) {
        let Some(object) = self.world.requests[request].object else { return };
        if self.is_object_busy(request, object) {
            return;
        }
        let mut pen = self.handler_pen(request);
        pen.now_us += self.rng.about(60);
        let lock = self.new_local_lock(request, object, true, Extent::ALL, &mut pen);
        let (held, waiting) = self.world.conflicts(lock);
        let in_the_way = self.call_back(&held, &waiting, lock, &mut pen);
        self.say_contention(object, (held.len(), waiting.len()), &mut pen);
        let mode = flags::LOCAL | flags::DISCARD;
        if held.is_empty() && waiting.is_empty() {
            self.world.grant(lock);
            say!(self, &mut pen, add_lock(self.world.lock_line(lock, pinned(3, true, flags::IN_WORK | mode))));
        } else {
            self.world.objects[object].waiting.push(lock);
            self.world.locks[lock].blocked_us = pen.now_us;
            say!(self, &mut pen, add_lock(self.world.lock_line(lock, pinned(4, false, flags::IN_WORK | mode))));
            self.world.locks[lock].waited = true;
            self.send_blocking_asts(request, &in_the_way, &mut pen);
        }
        self.await_callbacks(request, object, &mut pen);
    }

    /// The lock served its purpose when the clients know; the object goes.
    pub(super) fn destroy_end(&mut self, request: usize) {
        let mut pen = self.handler_pen(request);
        let Some(lock) = self.world.requests[request].local_lock.take() else { return };
        let Some(object) = self.world.requests[request].object else { return };
        let granted = self.world.locks[lock].granted && !self.world.locks[lock].gone;
        if granted {
            let look = pinned(3, true, flags::LOCAL | flags::DISCARD);
            say!(self, &mut pen, local_lock(self.world.lock_line(lock, look)));
            self.say_decref(lock, &mut pen, flags::DISCARD);
            self.leave_to_worker(lock, &mut pen, flags::DISCARD);
        }
        let state = &mut self.world.objects[object];
        (state.size_bytes, state.mtime_s) = (0, 0);
        self.new_transaction(request);
        pen.now_us += self.rng.about(400);
        self.finish(request, pen);
    }

    /// A callback thread gives up a local lock, outside of any request.
    fn leave_to_worker(&mut self, lock: usize, pen: &mut Pen, more: u64) {
        say!(self, pen, bl_added());
        let mut worker = Pen { pid: self.world.nodes[pen.node].bl_pids[0], ..*pen };
        worker.now_us += 40;
        say!(self, &mut worker, bl_work());
        self.say_local_cancel(lock, &mut worker, more);
        let mode = flags::LOCAL | flags::CANCELING | flags::CBPENDING | more;
        let granted = self.free_local(lock, Look::waiting(0, flags::DEAD | mode), &mut worker);
        self.complete(&granted, None, &mut worker);
        say!(self, &mut worker, bl_idle());
    }
}
