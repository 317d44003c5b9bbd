//! Clients: locks that they keep, I/O that they send.

use super::{Event, Io, Lock, Purpose, Request, Simulation, opcode};
use crate::wording::Extent;

const PAGE_BYTES: u64 = 4096;

/// Handles of one node are so far apart.
const COOKIE_STEP: u64 = 7;

/// How long a server waits for a request of its clients, seconds: the deadline in the lines.
const DEADLINE_S: u64 = 11;

impl Simulation {
    /// Sends an I/O as soon as there is a lock over it; asks for one over `extent` if none is on its way.
    pub(super) fn submit(&mut self, mount: usize, io: Io, extent: Extent) {
        if io.direct {
            self.queue_io(mount, io);
            return;
        }
        match self.world.client_lock(mount, &io) {
            Some(lock) if self.world.locks[lock].ready => self.use_lock(mount, lock, io),
            Some(lock) => self.world.locks[lock].waiters.push(io),
            None => {
                let (first, last) = (extent.first / PAGE_BYTES * PAGE_BYTES, extent.last | (PAGE_BYTES - 1));
                let lock = self.new_lock(mount, io.object, io.write, Extent { first, last });
                let state = &mut self.world.locks[lock];
                state.waiters.push(io);
                state.asker = Some(io.process);
                self.world.processes[io.process].locks += 1;
                self.world.mounts[mount].locks.entry(io.object).or_default().push(lock);
                self.enqueue(mount, io.process, lock, Purpose::Enqueue(lock));
            }
        }
    }

    fn new_lock(&mut self, mount: usize, object: usize, write: bool, extent: Extent) -> usize {
        let host = &mut self.world.hosts[self.world.mounts[mount].host];
        host.next_cookie += COOKIE_STEP;
        let mut lock = Lock::new(object, Some(mount), write, extent);
        lock.remote = host.next_cookie;
        self.world.locks.insert(lock)
    }

    fn enqueue(&mut self, mount: usize, process: usize, lock: usize, purpose: Purpose) {
        let object = self.world.locks[lock].object;
        let request = self.send(mount, self.world.objects[object].target, opcode::LDLM_ENQUEUE, purpose);
        let logs = self.world.log_of_client(mount).is_some();
        let state = &self.world.processes[process];
        // A client leaves it to `ptlrpcd` to ask for the size, which its log shows.
        let by_daemon = logs && matches!(purpose, Purpose::Glimpse(_));
        let pid = if by_daemon { self.world.mounts[mount].ptlrpcd_pids[1] } else { state.pid };
        let request = &mut self.world.requests[request];
        (request.pid, request.job, request.owner) = (pid, state.job, state.owner);
        (request.object, request.process) = (Some(object), Some(process));
    }

    /// Asks the lock server for the size of an object.
    pub(super) fn glimpse(&mut self, process: usize, object: usize) {
        let mount = self.world.processes[process].mount;
        self.world.processes[process].open += 1;
        let lock = self.new_lock(mount, object, false, Extent::ALL);
        self.enqueue(mount, process, lock, Purpose::Glimpse(lock));
    }

    fn use_lock(&mut self, mount: usize, lock: usize, mut io: Io) {
        self.world.locks[lock].users += 1;
        io.lock = Some(lock);
        self.queue_io(mount, io);
    }

    fn queue_io(&mut self, mount: usize, io: Io) {
        let target = self.world.objects[io.object].target;
        self.world.export_mut(mount, target).queue.push_back(io);
        self.pump(mount, target, Some(io.process));
    }

    /// Sends I/O while the mount's limit for the target allows it; a process does so, or `ptlrpcd` after a reply.
    fn pump(&mut self, mount: usize, target: usize, by: Option<usize>) {
        let limit = self.world.mounts[mount].config.max_in_flight;
        loop {
            let export = self.world.export_mut(mount, target);
            if export.in_flight >= limit {
                return;
            }
            let Some(io) = export.queue.pop_front() else { return };
            export.in_flight += 1;
            self.send_io(mount, target, io, by);
        }
    }

    fn send_io(&mut self, mount: usize, target: usize, io: Io, by: Option<usize>) {
        let request = self.send(mount, target, io.opcode(), Purpose::Io);
        let state = &self.world.processes[io.process];
        let daemon = usize::from(self.world.export(mount, target).sent.is_multiple_of(2));
        let pid = self.world.mounts[mount].ptlrpcd_pids[daemon];
        let request = &mut self.world.requests[request];
        (request.pid, request.job, request.owner) = (pid, state.job, state.owner);
        (request.io, request.object) = (Some(io), Some(io.object));
        request.builder = by.filter(|&process| io.waits && process == io.process);
    }

    /// How long a message is on its way between a server and a mount, without what either way takes longer.
    pub(super) fn way_us(&mut self, mount: usize) -> u64 {
        self.rng.about(self.world.mounts[mount].config.rtt_us / 2).max(1)
    }

    /// A new request, on its way to the server.
    pub(super) fn send(&mut self, mount: usize, target: usize, opcode: u16, purpose: Purpose) -> usize {
        let xid = self.world.next_xid(mount);
        let service = opcode::Service::of(opcode, self.world.targets[target].mdt);
        let sender = &self.world.mounts[mount];
        let (pid, job, extra_us) = (sender.ptlrpcd_pids[0], sender.ping_job, sender.config.extra_there_us);
        let part = self.world.part_for(mount, target, service);
        let way_us = self.way_us(mount) + extra_us;
        let arrival_us = self.now_us + way_us;
        let request = self.world.requests.insert(Request {
            xid,
            opcode,
            mount,
            target,
            pid,
            job,
            purpose,
            part,
            arrival_us,
            deadline_s: self.now_us / 1_000_000 + DEADLINE_S,
            way_us,
            ..Request::default()
        });
        // Hashed addresses come back with the memory, as on a real server.
        self.world.requests[request].pointer = self.pointer_of(request);
        let now_us = self.now_us;
        if self.world.mounts[mount].log_node.is_some() {
            // The caller has still to fill in whose it is.
            self.events.at(now_us, Event::Sending(request));
        }
        let export = self.world.export_mut(mount, target);
        (export.last_us, export.sent) = (now_us, export.sent + 1);
        // A client that logs sends it once its lines are written.
        if self.world.log_of_client(mount).is_none() {
            self.events.at(arrival_us, Event::Arrive(request));
        }
        if let Some(us) = self.resend_us {
            self.events.at(now_us + us, Event::Resend(request, xid));
        }
        request
    }

    /// The reply to a request.
    pub(super) fn reply(&mut self, request: usize) {
        self.say_completed(request);
        let (mount, target, purpose) = {
            let request = &self.world.requests[request];
            (request.mount, request.target, request.purpose)
        };
        if self.world.requests[request].rc.0 == super::evict::NOT_CONNECTED {
            self.reconnect(request);
            return;
        }
        match purpose {
            Purpose::Io => {
                self.world.export_mut(mount, target).in_flight -= 1;
                if let Some(io) = self.world.requests[request].io {
                    if let Some(lock) = io.lock {
                        self.world.locks[lock].users -= 1;
                        self.close_if_unused(mount, lock);
                    }
                    self.answered(io.process);
                }
                self.pump(mount, target, None);
            }
            Purpose::Enqueue(lock) => {
                let state = &mut self.world.locks[lock];
                state.replied = true;
                state.told |= state.granted_in_reply;
                self.lock_ready(mount, lock);
            }
            Purpose::Glimpse(lock) => {
                self.world.locks.release(lock);
                self.answered_by(request);
            }
            Purpose::Cancel(lock) => {
                self.world.locks[lock].released = true;
                if self.world.locks[lock].asts == 0 {
                    self.world.locks.release(lock);
                }
            }
            Purpose::Process(process) => self.answered(process),
            Purpose::Nothing => {}
        }
        self.world.requests.release(request);
    }

    /// The process that asked for it goes on.
    fn answered_by(&mut self, request: usize) {
        if let Some(process) = self.world.requests[request].process {
            self.answered(process);
        }
    }

    /// Uses a lock if both the reply to its enqueue and its grant are there.
    pub(super) fn lock_ready(&mut self, mount: usize, lock: usize) {
        let state = &mut self.world.locks[lock];
        if state.ready || !state.replied || !state.told {
            return;
        }
        state.ready = true;
        let asker = state.asker.take();
        if let Some(process) = asker {
            self.say_has_lock(lock, process);
        }
        let state = &mut self.world.locks[lock];
        for io in std::mem::take(&mut state.waiters) {
            self.use_lock(mount, lock, io);
        }
        if let Some(process) = asker {
            self.locked(process);
        }
        self.close_if_unused(mount, lock);
    }

    /// Gives back a lock that somebody else wants, once no I/O needs it.
    pub(super) fn close_if_unused(&mut self, mount: usize, lock: usize) {
        let state = &self.world.locks[lock];
        if state.closing && state.ready && state.users == 0 && !state.cancelled {
            let delay_us = self.rng.about(150);
            self.events.at(self.now_us + delay_us, Event::Cancel(mount, lock));
        }
    }

    /// Sends LDLM_CANCEL.
    pub(super) fn cancel(&mut self, mount: usize, lock: usize) {
        let state = &mut self.world.locks[lock];
        if state.cancelled || state.users > 0 || state.gone {
            return;
        }
        state.cancelled = true;
        let object = state.object;
        if let Some(locks) = self.world.mounts[mount].locks.get_mut(&object) {
            locks.retain(|&other| other != lock);
        }
        let request = self.send(mount, self.world.objects[object].target, opcode::LDLM_CANCEL, Purpose::Cancel(lock));
        let (pid, job) = (self.world.mounts[mount].bl_pid, self.world.mounts[mount].bl_job);
        let request = &mut self.world.requests[request];
        (request.pid, request.job, request.object) = (pid, job, Some(object));
    }

    /// Gives back all unused locks on an object.
    pub(super) fn drop_locks(&mut self, mount: usize, object: usize) {
        let locks = self.world.mounts[mount].locks.get(&object).cloned().unwrap_or_default();
        for lock in locks {
            let state = &mut self.world.locks[lock];
            if state.ready && state.users == 0 && !state.closing {
                state.closing = true;
                self.cancel(mount, lock);
            }
        }
    }
}
