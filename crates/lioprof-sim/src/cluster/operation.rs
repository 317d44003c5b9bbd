//! Operations of processes on clients that log: their lines, and the truth about them.

use super::running::File;
use super::truth::{Call, TrueLock, TrueRpc};
use super::{Event, Op, Pen, Purpose, Running, Simulation, TrueOperation, World, opcode, say};
use crate::wording::{ClientLock, ClientLockKind, Fid};

/// A process says that an operation begins so long before it sends anything, microseconds.
const WORK_US: u64 = 12;
/// The root of the file system.
const ROOT: Fid = Fid(0x2_0000_0007, 1);
/// Files of the clients.
const FILES: u64 = 0x2_0000_0401;
/// Files of operations that are about no file of the simulation.
const OTHER_FILES: u64 = 0x2_0000_0402;
/// `MAY_EXEC`; `MAY_OPEN | MAY_READ | MAY_WRITE`.
const ENTER: u32 = 1;
const OPEN: u32 = 0o46;
const PAGE_BYTES: u64 = 4096;
/// Flag of an enqueue with an intent.
const HAS_INTENT: u64 = 0x1000;

impl Simulation {
    /// Operations that ended on clients that log, in the order of their ends.
    pub fn operations(&self) -> &[TrueOperation] {
        &self.operations
    }

    /// A pen of a process on a client that logs, behind its last line.
    fn process_pen(&self, process: usize) -> Option<Pen> {
        let state = &self.world.processes[process];
        let node = self.world.log_of_client(state.mount)?;
        Some(Pen { node, cpu: 0, pid: state.pid, now_us: self.now_us.max(state.pen_us) })
    }

    /// The process goes on at a time. If an operation is next, it begins a little before.
    pub(super) fn resume(&mut self, process: usize, at_us: u64) {
        self.events.at(at_us, Event::Process(process));
        if self.process_pen(process).is_none() || self.world.processes[process].operation.is_some() {
            return;
        }
        let state = &mut self.world.processes[process];
        state.pending = state.pending.take().or_else(|| state.program.next());
        if let Some(op) = state.pending.clone() {
            self.begin_operation(process, &op, at_us.saturating_sub(WORK_US));
        }
    }

    /// Writes an operation's first lines, if the step is one and has none yet.
    pub(super) fn begin_operation(&mut self, process: usize, op: &Op, at_us: u64) {
        let Some(mut pen) = self.process_pen(process) else { return };
        let (Some(call), None) = (self.call_of(op), &self.world.processes[process].operation) else { return };
        pen.now_us = pen.now_us.max(at_us);
        let begin_us = pen.now_us;
        let file = self.file_of(process, op);
        let File { name, fid, inode } = &file;
        let (fid, inode) = (*fid, *inode);
        if matches!(call, Call::Open | Call::Stat | Call::Unlink) {
            say!(self, &mut pen, revalidate(ROOT, 1, "/"));
            say!(self, &mut pen, permission(ROOT, 1, 0x41ed, ENTER));
            say!(self, &mut pen, dentry(name));
        }
        let mut moved = (0, 0);
        match call {
            Call::Open => {
                say!(self, &mut pen, permission(fid, inode, 0x81a4, OPEN));
                say!(self, &mut pen, open_start(name, fid, inode));
                say!(self, &mut pen, old_open(fid, inode));
            }
            Call::Close => {
                say!(self, &mut pen, close_start(name, fid, inode));
                say!(self, &mut pen, old_close(fid, inode));
            }
            Call::Fsync => {
                say!(self, &mut pen, fsync_start(name, fid));
                say!(self, &mut pen, old_fsync(fid, inode));
            }
            Call::Stat => say!(self, &mut pen, stat_start(name, fid, inode)),
            Call::Unlink => say!(self, &mut pen, unlink(name, ROOT, 1)),
            Call::Read | Call::Write => {
                let Op::Io(access) = op else { return };
                moved = (access.offset + access.bytes, access.bytes);
                let (offset, bytes) = (access.offset, access.bytes);
                if call == Call::Write {
                    say!(self, &mut pen, write_start(name, fid, offset, bytes));
                    say!(self, &mut pen, old_write_start(name, fid, offset, bytes));
                } else {
                    say!(self, &mut pen, read_start(name, fid, offset, bytes));
                    say!(self, &mut pen, old_read_start(name, fid, offset, bytes));
                }
            }
        }
        let (node, pid) = (pen.node, pen.pid);
        let truth = TrueOperation { call, node, pid, begin_us, end_us: 0, rpcs: Vec::new(), locks: Vec::new() };
        let state = &mut self.world.processes[process];
        state.pen_us = pen.now_us;
        state.operation = Some(Running { file, moved, truth });
    }

    /// The process returns from its call.
    pub(super) fn end_operation(&mut self, process: usize) {
        let Some(mut pen) = self.process_pen(process) else { return };
        let Some(Running { file, moved: (end, bytes), mut truth }) = self.world.processes[process].operation.take()
        else {
            return;
        };
        let File { name, fid, inode } = &file;
        let (fid, inode) = (*fid, *inode);
        // Without a last line it ends with the reply.
        truth.end_us = match truth.call {
            Call::Unlink => truth.rpcs.iter().map(|rpc| rpc.answered_us).max().unwrap_or(truth.begin_us),
            _ => pen.now_us,
        };
        match truth.call {
            Call::Open => say!(self, &mut pen, open_end(name, fid, inode)),
            Call::Close => say!(self, &mut pen, close_end(name, fid, inode)),
            Call::Fsync => say!(self, &mut pen, fsync_end(name, fid)),
            Call::Stat => say!(self, &mut pen, stat_end(name, fid, inode)),
            Call::Unlink => {}
            Call::Write => {
                say!(self, &mut pen, write_end(name, fid, end, bytes));
                say!(self, &mut pen, old_write_end(name, fid, end));
            }
            Call::Read => {
                say!(self, &mut pen, read_end(name, fid, end, bytes));
                say!(self, &mut pen, old_read_end(name, fid, end));
            }
        }
        self.world.processes[process].pen_us = pen.now_us;
        if self.shows(truth.call) {
            self.operations.push(truth);
        }
    }

    /// Whether the release logs both ends of such operations.
    fn shows(&self, call: Call) -> bool {
        let sites = &self.world.wording.sites;
        match call {
            Call::Open => sites.open_end.line > 0,
            Call::Close => sites.close_end.line > 0,
            Call::Fsync => sites.fsync_end.line > 0,
            Call::Stat => sites.stat_end.line > 0,
            Call::Read | Call::Write | Call::Unlink => true,
        }
    }

    /// The call that a step stands for.
    fn call_of(&self, op: &Op) -> Option<Call> {
        Some(match *op {
            Op::Io(access) if access.write => Call::Write,
            Op::Io(_) => Call::Read,
            Op::Sync(_) => Call::Fsync,
            Op::Stat(_) => Call::Stat,
            Op::Plain { opcode, target } if self.world.targets[target].mdt => match opcode {
                opcode::LDLM_ENQUEUE => Call::Open,
                opcode::MDS_CLOSE => Call::Close,
                opcode::MDS_REINT => Call::Unlink,
                _ => return None,
            },
            _ => return None,
        })
    }

    fn file_of(&self, process: usize, op: &Op) -> File {
        let wide = |number: usize| u64::try_from(number).unwrap_or(0) + 1;
        let (name, fid) = match *op {
            Op::Io(access) => (format!("f{}", access.file), Fid(FILES, wide(access.file))),
            Op::Sync(file) | Op::Stat(file) => (format!("f{file}"), Fid(FILES, wide(file))),
            _ => (format!("f{process}"), Fid(OTHER_FILES, wide(process))),
        };
        let inode = self.pointer_of(usize::try_from(fid.1).unwrap_or(0).wrapping_mul(5));
        File { name, fid, inode }
    }

    /// A client that logs sends a request: what went before, and `Sending RPC`. Returns when it was sent.
    pub(super) fn say_sending_of_client(&mut self, request: usize, node: usize) -> u64 {
        let state = &self.world.requests[request];
        let (purpose, process, pid) = (state.purpose, state.process, state.pid);
        let own = self.own_thread(request);
        let mut pen =
            own.and_then(|process| self.process_pen(process)).unwrap_or(Pen { node, cpu: 0, pid, now_us: self.now_us });
        match (purpose, process) {
            (Purpose::Io, _) => pen.now_us = self.say_built(request, pen),
            (Purpose::Enqueue(_) | Purpose::Glimpse(_) | Purpose::Process(_), Some(process)) => {
                pen.now_us = self.say_asking(request, process, pen);
            }
            _ => {}
        }
        let sent_us = pen.now_us;
        say!(self, &mut pen, sending(self.world.outgoing(request)));
        if let Some(process) = own {
            self.world.processes[process].pen_us = pen.now_us;
        }
        self.world.requests[request].sent_us = sent_us;
        pen.now_us
    }

    /// The process, if it sends the request itself: `ptlrpcd` sends data, and requests that nobody waits for at once.
    fn own_thread(&self, request: usize) -> Option<usize> {
        let state = &self.world.requests[request];
        let mount = &self.world.mounts[state.mount];
        state.process.filter(|_| !mount.ptlrpcd_pids.contains(&state.pid))
    }

    /// A bulk RPC is put together, by the process that waits for it or by `ptlrpcd`; when that is done.
    fn say_built(&mut self, request: usize, pen: Pen) -> u64 {
        let state = &self.world.requests[request];
        let (Some(io), pointer) = (state.io, state.pointer) else { return pen.now_us };
        let builder = state.builder;
        let mut pen = builder.and_then(|process| self.process_pen(process)).unwrap_or(pen);
        let object = &self.world.objects[io.object];
        let (sequence, id, fid) = (object.fid.0, object.fid.1, Fid(FILES, u64::try_from(object.file).unwrap_or(0) + 1));
        let flights = self.world.export(self.world.requests[request].mount, object.target).in_flight;
        let flights = u64::try_from(flights).unwrap_or(0);
        let (first, end) = (io.extent.first, io.extent.last + 1);
        say!(self, &mut pen, brw(pointer, sequence, id, first, end));
        self.world.requests[request].queued_us = Some(pen.now_us);
        let (pages, what) = (io.bytes.div_ceil(PAGE_BYTES), if io.write { "write" } else { "read" });
        let (first, end) = (first / PAGE_BYTES, end.div_ceil(PAGE_BYTES));
        say!(self, &mut pen, built(fid, pages, what, first, end, flights));
        say!(self, &mut pen, old_built(fid, pages, what, first, end, flights));
        if let Some(process) = builder {
            self.world.processes[process].pen_us = pen.now_us;
        }
        pen.now_us
    }

    /// The process asks for a lock, and that is sent; when it has asked.
    fn say_asking(&mut self, request: usize, process: usize, pen: Pen) -> u64 {
        let state = &self.world.requests[request];
        if state.opcode != opcode::LDLM_ENQUEUE {
            return pen.now_us;
        }
        let purpose = state.purpose;
        let mut asks = self.process_pen(process).unwrap_or(pen);
        let asked_us = asks.now_us;
        match purpose {
            Purpose::Enqueue(lock) | Purpose::Glimpse(lock) => {
                say!(self, &mut asks, asking(0, self.world.client_lock_line(lock, false, asks.pid)));
            }
            _ => {
                let host = self.world.mounts[self.world.requests[request].mount].host;
                self.world.hosts[host].next_cookie += 7;
                self.world.requests[request].cookie = self.world.hosts[host].next_cookie;
                say!(self, &mut asks, asking(HAS_INTENT, self.world.intent_lock(request, false)));
            }
        }
        self.world.requests[request].queued_us = Some(asked_us);
        self.world.processes[process].pen_us = asks.now_us;
        asks.now_us.max(pen.now_us)
    }

    /// The reply is there, and what comes of it at once.
    pub(super) fn say_completed_of_client(&mut self, request: usize, node: usize) {
        let state = &self.world.requests[request];
        let (purpose, process, pid, opcode) = (state.purpose, state.process, state.pid, state.opcode);
        let own = self.own_thread(request);
        let mut pen =
            own.and_then(|process| self.process_pen(process)).unwrap_or(Pen { node, cpu: 0, pid, now_us: self.now_us });
        if let Purpose::Glimpse(lock) = purpose {
            let asker = process.map_or(pid, |process| self.world.processes[process].pid);
            say!(self, &mut pen, aborted(self.world.client_lock_line(lock, false, asker)));
        }
        let answered_us = pen.now_us;
        say!(self, &mut pen, completed(self.world.outgoing(request)));
        let ended_us = pen.now_us;
        let has_intent = opcode == opcode::LDLM_ENQUEUE && matches!(purpose, Purpose::Process(_));
        if has_intent {
            say!(self, &mut pen, has_lock(self.world.intent_lock(request, true)));
        }
        let state = &self.world.requests[request];
        let owner = if purpose == Purpose::Io { state.builder } else { process };
        let rpc = TrueRpc {
            opcode,
            queued_us: state.queued_us,
            sent_us: state.sent_us,
            arrival_us: state.arrival_us,
            start_us: state.start_us,
            transfer_us: state.transfer_us,
            wait_us: None,
            end_us: state.end_us,
            answered_us,
        };
        let wait_us = match purpose {
            Purpose::Enqueue(lock) => {
                self.world.locks[lock].answered_us = answered_us;
                self.world.locks[lock].wait_us
            }
            _ => None,
        };
        let Some(process) = owner else { return };
        let state = &mut self.world.processes[process];
        // It goes on once the lines of the reply are written.
        state.pen_us = state.pen_us.max(pen.now_us);
        if let Some(running) = &mut state.operation {
            running.truth.rpcs.push(TrueRpc { wait_us, ..rpc });
            if has_intent {
                running.truth.locks.push(TrueLock { answered_us, ended_us });
            }
        }
    }

    /// The client has a lock that a process asked for.
    pub(super) fn say_has_lock(&mut self, lock: usize, process: usize) {
        let Some(mut pen) = self.process_pen(process) else { return };
        let ended_us = pen.now_us;
        say!(self, &mut pen, has_lock(self.world.client_lock_line(lock, true, pen.pid)));
        let answered_us = self.world.locks[lock].answered_us;
        let wait_us = self.world.locks[lock].wait_us;
        let state = &mut self.world.processes[process];
        state.pen_us = pen.now_us;
        if let Some(running) = &mut state.operation {
            running.truth.locks.push(TrueLock { answered_us, ended_us });
            // The server granted it after the reply had been counted.
            let asked = running.truth.rpcs.iter_mut().find(|rpc| rpc.answered_us == answered_us);
            if let Some(rpc) = asked {
                rpc.wait_us = wait_us;
            }
        }
    }
}

impl World {
    /// The node whose log shows what a client sends; `None` for servers and clients that do not log.
    pub(crate) fn log_of_client(&self, mount: usize) -> Option<usize> {
        self.mounts[mount].log_node.filter(|_| !self.mounts[mount].server)
    }

    /// The lock of an open on the MDT as the client shows it.
    fn intent_lock(&self, request: usize, has: bool) -> ClientLock<'_> {
        let state = &self.requests[request];
        ClientLock {
            wording: self.wording,
            target: &self.targets[state.target].name,
            pointer: state.pointer ^ 0x55,
            cookie: state.cookie,
            granted: if has { "CR" } else { "--" },
            mode: "CR",
            resource: Fid(OTHER_FILES, u64::try_from(state.process.unwrap_or(0)).unwrap_or(0) + 1),
            kind: ClientLockKind::Bits(if has { 0x13 } else { 0x2 }),
            remote: if has { state.cookie ^ 0xffff } else { 0 },
            pid: state.pid,
        }
    }

    /// A lock as its client shows it.
    fn client_lock_line(&self, lock: usize, has: bool, pid: u32) -> ClientLock<'_> {
        let state = &self.locks[lock];
        let object = &self.objects[state.object];
        ClientLock {
            wording: self.wording,
            target: &self.targets[object.target].name,
            pointer: state.pointer ^ 0x55,
            cookie: state.remote,
            granted: if has { state.mode() } else { "--" },
            mode: state.mode(),
            resource: object.resource,
            kind: ClientLockKind::Extent(if has { state.extent } else { state.request }, state.request),
            remote: if has { state.cookie } else { 0 },
            pid,
        }
    }
}
