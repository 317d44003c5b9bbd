//! A client gives back a lock; whoever waited may get it.

use super::{Effect, LockEffect, Look, Pen, Purpose, Simulation, opcode, say};
use crate::wording::lock::flags;

impl Simulation {
    /// Takes the lock away and grants others.
    pub(super) fn cancel_step(&mut self, request: usize) {
        let Purpose::Cancel(lock) = self.world.requests[request].purpose else { return };
        let object = self.world.locks[lock].object;
        if self.is_object_busy(request, object) {
            return;
        }
        let mut pen = self.handler_pen(request);
        let (mount, target) = (self.world.requests[request].mount, self.world.requests[request].target);
        say!(self, &mut pen, cancel_start(1));
        let mut granted = Vec::new();
        if !self.world.locks[lock].gone {
            pen.now_us += self.rng.about(10);
            self.log.effect(&pen, Effect::Lock { target, what: LockEffect::Cancel(mount) });
            if self.world.locks[lock].write {
                self.update_object(object, &mut pen);
            }
            self.say_release(lock, &mut pen);
            granted = self.release(lock, &mut pen);
        }
        self.complete(&granted, Some(request), &mut pen);
        self.await_callbacks(request, object, &mut pen);
    }

    /// All that was granted is told.
    pub(super) fn cancel_end(&mut self, request: usize) {
        let mut pen = self.handler_pen(request);
        say!(self, &mut pen, cancel_end());
        self.finish(request, pen);
    }

    /// What the object's disk has that the lock server did not know.
    pub(super) fn update_object(&mut self, object: usize, pen: &mut Pen) {
        let state = &mut self.world.objects[object];
        let (fid, size_bytes, mtime_s) = (state.fid, state.size_bytes, state.mtime_s);
        let Some((old_bytes, old_s)) = state.known.replace((size_bytes, mtime_s)) else { return };
        if old_bytes != size_bytes {
            say!(self, pen, lvb_disk_size(fid, old_bytes, size_bytes));
        }
        if old_s != mtime_s {
            say!(self, pen, lvb_disk_mtime(fid, old_s, mtime_s));
            say!(self, pen, lvb_disk_ctime(fid, old_s, mtime_s));
        }
        if old_bytes.div_ceil(512) != size_bytes.div_ceil(512) {
            let (old, new) = (old_bytes.div_ceil(512), size_bytes.div_ceil(512));
            say!(self, pen, lvb_disk_blocks(fid, old, new));
        }
    }

    /// A lock that others wait for is given back in time.
    fn say_release(&mut self, lock: usize, pen: &mut Pen) {
        if self.world.locks[lock].timeout_s == 0 {
            return;
        }
        let held_s = pen.now_us.saturating_sub(self.world.locks[lock].ast_us) / 1_000_000;
        let look = Look::held(4, flags::WAITED | flags::CBPENDING);
        say!(self, pen, cancel_blocked(held_s, self.world.lock_line(lock, look)));
        say!(self, pen, removed(self.world.lock_line(lock, Look::held(3, flags::IN_WORK | flags::CBPENDING))));
    }

    /// Frees a lock and grants those that waited for it; they are returned.
    pub(super) fn release(&mut self, lock: usize, pen: &mut Pen) -> Vec<usize> {
        let object = self.world.locks[lock].object;
        let waiting = self.world.objects[object].waiting.len();
        self.world.unlink(lock);
        if self.world.locks[lock].asts == 0 {
            self.say_last_put(lock, pen);
        }
        if let Some(mount) = self.world.locks[lock].mount {
            let target = self.world.objects[object].target;
            let export = self.world.export_mut(mount, target);
            export.locks = export.locks.saturating_sub(1);
        }
        for _ in 0..waiting {
            self.say_contention(object, (0, 0), pen);
        }
        if self.world.objects[object].granted.is_empty() && self.world.objects[object].waiting.is_empty() {
            self.world.objects[object].known = None;
        }
        let granted = self.world.grant_waiting(object);
        for &lock in &granted {
            let target = self.world.objects[object].target;
            let blocked_us = self.world.locks[lock].blocked_us;
            let wait_us = pen.now_us - blocked_us;
            self.world.locks[lock].wait_us = Some((blocked_us, pen.now_us));
            self.log.effect(pen, Effect::Lock { target, what: LockEffect::Waited(wait_us) });
            say!(self, pen, granted(self.world.lock_line(lock, Look::held(2, flags::CP_REQD))));
            say!(self, pen, add_lock(self.world.lock_line(lock, Look::held(3, flags::CP_REQD))));
        }
        granted
    }

    /// Nothing refers to a lock any more.
    pub(super) fn say_last_put(&mut self, lock: usize, pen: &mut Pen) {
        let called = if self.world.locks[lock].timeout_s > 0 { flags::CBPENDING } else { 0 };
        say!(self, pen, lock_put(self.world.lock_line(lock, Look::waiting(0, flags::DEAD | called))));
    }

    /// Tells clients that they have their locks. The server's own are used and given up at once.
    pub(super) fn complete(&mut self, granted: &[usize], request: Option<usize>, pen: &mut Pen) {
        for &lock in granted {
            if self.world.locks[lock].mount.is_none() {
                let more = self.release(lock, pen);
                self.complete(&more, request, pen);
                continue;
            }
            pen.now_us += self.rng.about(10);
            say!(self, pen, completion_ast(self.world.lock_line(lock, Look::held(3, 0))));
            if self.world.locks[lock].ast_sent {
                self.arm_timer(lock, 0, pen);
            }
            self.send_callback(opcode::LDLM_CP_CALLBACK, lock, request, pen);
        }
    }
}
