//! Requests of a server to its clients: blocking, completion and glimpse ASTs.

use super::{Callback, Effect, Event, LockEffect, Pen, Simulation, Stage, World, opcode, say};
use crate::wording::{Request, Rpc};

const REQUEST_BYTES: u64 = 328;
const REPLY_BYTES: u64 = 224;
/// Portals of lock callbacks and their replies.
const PORTALS: (u32, u32) = (15, 16);
/// How long a deaf client is waited for, each time.
const AST_TIMEOUT_US: u64 = 11_000_000;

impl Simulation {
    /// A request goes on when all its callbacks have been answered.
    pub(super) fn await_callbacks(&mut self, request: usize, object: usize, pen: &mut Pen) {
        self.world.objects[object].busy_us = pen.now_us;
        self.world.requests[request].stage = Stage::Callbacks;
        if self.world.requests[request].open_callbacks == 0 {
            self.events.at(pen.now_us, Event::Step(request));
        } else {
            self.say_set_wait(pen);
        }
        self.world.requests[request].callback_us = pen.now_us;
    }

    /// Sends an AST about a lock to its client. The handler of `request` waits for the answer.
    pub(super) fn send_callback(&mut self, opcode: u16, lock: usize, request: Option<usize>, pen: &mut Pen) {
        let Some(mount) = self.world.locks[lock].mount else { return };
        let target = self.world.objects[self.world.locks[lock].object].target;
        let node = &mut self.world.nodes[pen.node];
        node.next_xid += self.world.wording.xid_step;
        let callback = self.world.callbacks.insert(Callback {
            pointer: 0,
            xid: node.next_xid,
            opcode,
            target,
            mount,
            lock,
            cookie: self.world.locks[lock].cookie,
            request,
            cpu: pen.cpu,
            pid: pen.pid,
            sent_us: pen.now_us,
        });
        self.world.callbacks[callback].pointer = self.pointer_of(callback.wrapping_mul(3) + 2);
        let what = match opcode {
            opcode::LDLM_BL_CALLBACK => LockEffect::BlockingAst(mount),
            opcode::LDLM_CP_CALLBACK => LockEffect::CompletionAst(mount),
            _ => LockEffect::GlimpseAst(mount),
        };
        self.log.effect(pen, Effect::Lock { target, what });
        let state = self.world.callbacks[callback];
        say!(self, pen, sending(self.world.sent(callback)));
        say!(self, pen, reply_buffer(512, state.xid, PORTALS.1));
        say!(self, pen, send_buffer(REQUEST_BYTES, PORTALS.0, state.xid, 0));
        let mut driver = self.driver(pen.node, mount);
        driver.now_us = pen.now_us + 1;
        say!(self, &mut driver, sent_event(self.world.own(callback, "Rpc:r")));
        if let Some(request) = request {
            self.world.requests[request].open_callbacks += 1;
        }
        if opcode == opcode::LDLM_BL_CALLBACK {
            self.world.locks[lock].asts += 1;
        }
        if self.world.mounts[mount].config.faults.deaf {
            self.events.at(pen.now_us + AST_TIMEOUT_US, Event::CallbackTimeout(callback));
            return;
        }
        let there_us = pen.now_us + self.way_us(mount);
        self.events.at(there_us, Event::Callback(callback));
    }

    /// The sender goes to sleep until all answers are there.
    pub(super) fn say_set_wait(&mut self, pen: &mut Pen) {
        let set = self.rng.pointer();
        let seconds = self.world.wording.ast_timeout_s;
        pen.now_us += self.rng.about(10);
        say!(self, pen, set_wait(set, seconds));
    }

    /// The client hears of it and answers.
    pub(super) fn callback(&mut self, callback: usize) {
        let state = self.world.callbacks[callback];
        let mount = state.mount;
        let lock = &mut self.world.locks[state.lock];
        if lock.cookie == state.cookie {
            match state.opcode {
                opcode::LDLM_BL_CALLBACK if !self.world.mounts[mount].config.faults.keeps_locks => {
                    lock.closing = true;
                    self.close_if_unused(mount, state.lock);
                }
                opcode::LDLM_CP_CALLBACK => {
                    lock.closing |= lock.ast_sent && !self.world.mounts[mount].config.faults.keeps_locks;
                    lock.told = true;
                    self.lock_ready(mount, state.lock);
                }
                _ => {}
            }
        }
        // Now and then a client gives the lock back before its answer is on its way.
        let busy_us = if self.rng.chance(120_000) { 600 } else { 10 };
        let back_us = self.now_us + self.way_us(mount) + self.rng.about(busy_us);
        self.events.at(back_us, Event::CallbackReply(callback));
    }

    /// The answer is there.
    pub(super) fn callback_reply(&mut self, callback: usize) {
        let state = self.world.callbacks[callback];
        let node = self.world.targets[state.target].node;
        let mut driver = self.driver(node, state.mount);
        say!(self, &mut driver, reply_event(2, self.world.own(callback, "Rpc:Qr")));
        let mut pen = Pen { node, cpu: state.cpu, pid: state.pid, now_us: driver.now_us + 3 };
        if let Some(request) = state.request {
            let handler = &mut self.world.requests[request];
            pen.now_us = pen.now_us.max(handler.callback_us);
            handler.open_callbacks -= 1;
        }
        say!(self, &mut pen, reply_event(6, self.world.own(callback, "Rpc:RQ")));
        say!(self, &mut pen, reply_unlink(self.world.own(callback, "Rpc:RQU")));
        if state.opcode == opcode::LDLM_GL_CALLBACK {
            self.learn_size(&state, &mut pen);
        }
        if state.opcode == opcode::LDLM_BL_CALLBACK {
            self.forget_ast(state.lock, &mut pen);
        }
        self.log.effect(&pen, Effect::Sent { node, opcode: state.opcode });
        say!(self, &mut pen, completed(self.world.sent(callback)));
        if let Some(request) = state.request {
            self.world.requests[request].callback_us = pen.now_us;
            if self.world.requests[request].open_callbacks == 0 {
                let delay_us = self.rng.about(10);
                self.events.at(pen.now_us + delay_us, Event::Step(request));
            }
        }
        self.world.callbacks.release(callback);
    }

    /// An AST no longer refers to its lock; the last one to do so frees it.
    pub(super) fn forget_ast(&mut self, lock: usize, pen: &mut Pen) {
        self.world.locks[lock].asts -= 1;
        if self.world.locks[lock].gone && self.world.locks[lock].asts == 0 {
            self.say_last_put(lock, pen);
            if self.world.locks[lock].released {
                self.world.locks.release(lock);
            }
        }
    }

    /// A writer said how large its file is.
    fn learn_size(&mut self, callback: &Callback, pen: &mut Pen) {
        let object = self.world.locks[callback.lock].object;
        let state = &mut self.world.objects[object];
        let (fid, size_bytes, mtime_s) = (state.fid, state.size_bytes, state.mtime_s);
        let Some((old_bytes, _)) = state.known.replace((size_bytes, mtime_s)) else { return };
        if old_bytes == size_bytes {
            return;
        }
        say!(self, pen, lvb_size(fid, old_bytes, size_bytes));
        say!(self, pen, lvb_atime(fid, 0, mtime_s));
        let (old, new) = (old_bytes.div_ceil(512), size_bytes.div_ceil(512));
        say!(self, pen, lvb_blocks(fid, old, new));
    }
}

impl World {
    /// As `Sending RPC` shows it.
    fn sent(&self, callback: usize) -> Rpc<'_> {
        let state = &self.callbacks[callback];
        Rpc {
            pointer: state.pointer,
            thread: self.thread_name(state),
            uuid: &self.targets[state.target].uuid,
            references: None,
            pid: state.pid,
            xid: state.xid,
            nid: self.nid(state.mount),
            opcode: state.opcode,
            job: "",
        }
    }

    fn thread_name(&self, callback: &Callback) -> &str {
        callback.request.map_or("ldlm_bl_03", |request| {
            let request = &self.requests[request];
            &self.parts[request.part].threads[request.thread].name
        })
    }

    /// As DEBUG_REQ shows it.
    pub(crate) fn own<'a>(&'a self, callback: usize, phase: &'a str) -> Request<'a> {
        let state = &self.callbacks[callback];
        Request {
            wording: self.wording,
            pointer: state.pointer,
            xid: state.xid,
            transno: 0,
            opcode: state.opcode,
            peer: &self.targets[state.target].name,
            nid: self.nid(state.mount),
            portals: PORTALS,
            lens: (REQUEST_BYTES, REPLY_BYTES),
            timed_out: false,
            deadline_s: state.sent_us / 1_000_000 + AST_TIMEOUT_US / 1_000_000 + 1,
            phase,
            flags: (0, u32::MAX),
            rc: (0, -1),
            job: "",
            owner: (u32::MAX, u32::MAX, u32::MAX),
        }
    }
}
