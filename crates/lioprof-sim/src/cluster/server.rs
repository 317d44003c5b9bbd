//! Servers: arrival, the threads of a service, its queues.
//!
//! A thread takes one request off the wire, looks at it and queues it; then it handles the first of the queue, which
//! may be another one.

use super::{Event, Pen, Purpose, Request, Simulation, Stage, lock::Look, opcode, say};
use crate::wording::lock::flags;

impl Simulation {
    /// The network driver hands a request to its service.
    pub(super) fn arrive(&mut self, request: usize) {
        let state = &mut self.world.requests[request];
        state.arrival_us = self.now_us;
        let (mount, target, part) = (state.mount, state.target, state.part);
        self.world.export_mut(mount, target).requests += 1;
        let pen = self.say_arrival(request);
        self.world.parts[part].incoming.push_back(request);
        self.wake_thread(part, pen.now_us);
    }

    /// Wakes a thread that has nothing to do.
    pub(super) fn wake_thread(&mut self, part: usize, now_us: u64) {
        if let Some(thread) = self.world.parts[part].idle.pop_front() {
            let node = &self.world.nodes[self.world.parts[part].node];
            let per_cpt = (node.cpus / node.cpts).max(1);
            let first = self.world.parts[part].threads[thread].cpu / per_cpt * per_cpt;
            let cpu = first + u16::try_from(self.rng.below(u64::from(per_cpt))).unwrap_or(0);
            self.world.parts[part].threads[thread].cpu = cpu;
            let wake_us = self.rng.about(30);
            self.events.at(now_us + wake_us, Event::Thread(part, thread));
        }
    }

    /// What the network driver says about a request that has come in; its pen.
    pub(super) fn say_arrival(&mut self, request: usize) -> Pen {
        let Request { mount, target, part, .. } = self.world.requests[request];
        let mut pen = self.driver(self.world.targets[target].node, mount);
        say!(self, &mut pen, event_in(self.world.parts[part].service.name()));
        say!(self, &mut pen, peer(self.world.nid(mount)));
        pen
    }

    /// A pen of the network driver's thread that talks to a mount's host.
    pub(super) fn driver(&mut self, node: usize, mount: usize) -> Pen {
        let host = self.world.mounts[mount].host;
        let drivers = &self.world.nodes[node].lnd_pids;
        let driver = host % drivers.len();
        let cpu = u16::try_from(driver).unwrap_or(0) % self.world.nodes[node].cpus;
        Pen { node, cpu, pid: drivers[driver], now_us: self.now_us }
    }

    /// A pen of a service thread.
    pub(super) fn thread_pen(&self, part: usize, thread: usize) -> Pen {
        let part = &self.world.parts[part];
        let thread = &part.threads[thread];
        Pen { node: part.node, cpu: thread.cpu, pid: thread.pid, now_us: self.now_us }
    }

    /// The pen of the thread that handles a request.
    pub(super) fn handler_pen(&self, request: usize) -> Pen {
        let request = &self.world.requests[request];
        self.thread_pen(request.part, request.thread)
    }

    /// A thread looks for something to do.
    pub(super) fn thread(&mut self, part: usize, thread: usize) {
        if let Some(request) = self.world.parts[part].incoming.pop_front() {
            self.look(part, thread, request);
        } else if let Some((request, urgent)) = self.take(part) {
            self.start(part, thread, request, urgent);
        } else {
            self.world.parts[part].idle.push_back(thread);
        }
    }

    /// The next request of the queues; urgent ones first.
    fn take(&mut self, part: usize) -> Option<(usize, bool)> {
        if let Some(request) = self.world.parts[part].urgent.requests.pop_front() {
            return Some((request, true));
        }
        if self.world.parts[part].policy.is_none() {
            return Some((self.world.parts[part].regular.requests.pop_front()?, false));
        }
        let ready_us = |&request: &usize| self.world.requests[request].ready_us;
        // The first one of those that have been ready for longest.
        let first = self.world.parts[part].regular.requests.iter().enumerate().min_by_key(|(_, it)| ready_us(it));
        let (place, _) = first.filter(|(_, it)| ready_us(it) <= self.now_us)?;
        Some((self.world.parts[part].regular.requests.remove(place)?, false))
    }

    /// Unpacks a request and finds out how urgent it is.
    fn look(&mut self, part: usize, thread: usize, request: usize) {
        let mut pen = self.thread_pen(part, thread);
        let xid = self.world.requests[request].xid;
        self.world.requests[request].thread = thread;
        say!(self, &mut pen, unwrap(xid));
        say!(self, &mut pen, got(xid));
        pen.now_us += self.rng.about(20);
        let urgent = match self.world.requests[request].opcode {
            opcode::OST_READ | opcode::OST_WRITE => self.refresh(request, &mut pen, false) > 0,
            opcode::LDLM_CANCEL => self.is_wanted_back(request, &mut pen),
            opcode => opcode == opcode::OBD_PING,
        };
        self.world.requests[request].urgent = urgent;
        pen.now_us += self.rng.about(15);
        self.events.at(pen.now_us, Event::Queue(part, thread, request));
    }

    /// A cancel of a lock that somebody waits for goes first.
    fn is_wanted_back(&mut self, request: usize, pen: &mut Pen) -> bool {
        let Purpose::Cancel(lock) = self.world.requests[request].purpose else { return false };
        if !self.world.locks[lock].ast_sent || self.world.locks[lock].gone {
            return false;
        }
        say!(self, pen, hpreq_cancel(self.world.lock_line(lock, Look::held(4, flags::WAITED | flags::CBPENDING))));
        true
    }

    /// Puts a request into its queue; the thread goes on with the first of the queues.
    pub(super) fn queue(&mut self, part: usize, thread: usize, request: usize) {
        let (state, queues) = (&mut self.world.requests[request], &mut self.world.parts[part]);
        let queue = if state.urgent { &mut queues.urgent } else { &mut queues.regular };
        state.sequence = queue.next_sequence;
        queue.next_sequence += 1;
        queue.requests.push_back(request);
        self.schedule(part, thread, request);
        match self.take(part) {
            Some((next, urgent)) => self.start(part, thread, next, urgent),
            None => self.thread(part, thread),
        }
    }

    /// A thread begins to handle a request.
    fn start(&mut self, part: usize, thread: usize, request: usize, urgent: bool) {
        let mut pen = self.thread_pen(part, thread);
        let state = &mut self.world.requests[request];
        (state.thread, state.urgent, state.stage) = (thread, urgent, Stage::Started);
        let (mount, target, xid, opcode) = (state.mount, state.target, state.xid, state.opcode);
        self.say_taken(request, &mut pen);
        self.world.requests[request].start_us = pen.now_us;
        if self.drop_if_late(request, &mut pen) {
            return;
        }
        say!(self, &mut pen, handling(self.world.handling(request)));
        say!(self, &mut pen, got_again(xid));
        if !self.world.export(mount, target).connected && opcode != opcode::OST_CONNECT {
            say!(self, &mut pen, unconnected(opcode, self.world.nid(mount)));
            self.world.requests[request].rc = (super::evict::NOT_CONNECTED, super::evict::NOT_CONNECTED);
            self.finish(request, pen);
            return;
        }
        match opcode {
            opcode::OST_READ | opcode::OST_WRITE => self.start_io(request, pen),
            opcode::LDLM_ENQUEUE | opcode::LDLM_CANCEL | opcode::OST_DESTROY
                if self.world.requests[request].object.is_some() =>
            {
                let delay_us = self.rng.about(15);
                self.events.at(pen.now_us + delay_us, Event::Step(request));
            }
            _ => {
                let work_us = self.plain_us(opcode, target);
                self.world.requests[request].stage = Stage::Ending;
                self.events.at(pen.now_us + work_us, Event::Step(request));
            }
        }
    }

    /// How long an operation without bulk data takes.
    fn plain_us(&mut self, opcode: u16, target: usize) -> u64 {
        self.rng.about(match opcode {
            opcode::OBD_PING => 15,
            opcode::OST_STATFS | opcode::MDS_STATFS => 40,
            opcode::OST_CONNECT => 300,
            opcode::OST_SYNC => self.world.targets[target].disk.sync_us(),
            opcode::OST_CREATE => 2500,
            _ => 150,
        })
    }

    /// A handler goes on.
    pub(super) fn step(&mut self, request: usize) {
        let state = &self.world.requests[request];
        match (state.stage, state.opcode) {
            (Stage::Started, opcode::LDLM_ENQUEUE) => self.enqueue_step(request),
            (Stage::Callbacks, opcode::LDLM_ENQUEUE) => self.enqueue_end(request),
            (Stage::Started, opcode::LDLM_CANCEL) => self.cancel_step(request),
            (Stage::Callbacks, opcode::LDLM_CANCEL) => self.cancel_end(request),
            (Stage::Started, opcode::OST_DESTROY) => self.destroy_step(request),
            (Stage::Callbacks, opcode::OST_DESTROY) => self.destroy_end(request),
            (Stage::Moving, _) => self.write_io(request),
            (_, opcode::OST_READ | opcode::OST_WRITE) => self.end_io(request),
            _ => self.end_plain(request),
        }
    }

    /// The end of an operation that only takes time.
    fn end_plain(&mut self, request: usize) {
        let mut pen = self.handler_pen(request);
        match self.world.requests[request].opcode {
            opcode::OST_CONNECT => self.connect(request, &mut pen),
            opcode::OST_CREATE | opcode::OST_SETATTR | opcode::MDS_REINT | opcode::MDS_CLOSE => {
                self.new_transaction(request);
            }
            _ => {}
        }
        self.finish(request, pen);
    }

    /// Gives a request the number of its transaction.
    pub(super) fn new_transaction(&mut self, request: usize) {
        let target = &mut self.world.targets[self.world.requests[request].target];
        target.next_transno += 1;
        self.world.requests[request].transno = target.next_transno;
    }

    /// Lines about the object and extent of an I/O; the number of locks that it prolonged.
    pub(super) fn refresh(&mut self, request: usize, pen: &mut Pen, ended: bool) -> u64 {
        let state = &self.world.requests[request];
        let Some(io) = state.io.filter(|io| !io.direct) else { return 0 };
        let (part, thread, target) = (state.part, state.thread, state.target);
        if !self.world.export(state.mount, target).connected {
            return 0;
        }
        let phase = match (ended, state.urgent) {
            (false, _) => "New:",
            (true, false) => "Complete:",
            (true, true) => "Complete:H",
        };
        let target = &self.world.targets[target].name;
        let thread = &self.world.parts[part].threads[thread].name;
        let fid = self.world.objects[io.object].fid;
        say!(self, pen, refresh(target, thread, fid, io.extent, self.world.received(request, phase, ended)));
        let (pointer, xid) = (self.world.requests[request].pointer, self.world.requests[request].xid);
        say!(self, pen, prolong(pointer, xid, io.extent));
        let wanted: Vec<usize> = self.world.objects[io.object]
            .granted
            .iter()
            .copied()
            .filter(|&lock| {
                let lock = &self.world.locks[lock];
                lock.ast_sent && lock.extent.overlaps(io.extent)
            })
            .collect();
        for &lock in &wanted {
            self.prolong_lock(lock, pen);
        }
        let locks = u64::try_from(wanted.len()).unwrap_or(0);
        let target = &self.world.targets[self.world.requests[request].target].name;
        say!(self, pen, refreshed(target, locks, pointer));
        locks
    }

    /// A client gets more time for a lock under which it still writes.
    fn prolong_lock(&mut self, lock: usize, pen: &mut Pen) {
        let look = Look::held(4, flags::WAITED | flags::CBPENDING);
        let seconds = self.lock_timeout_s;
        say!(self, pen, prolong_one(seconds, self.world.lock_line(lock, look)));
        say!(self, pen, refresh_waiting(seconds, self.world.lock_line(lock, look)));
    }
}
