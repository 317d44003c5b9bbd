//! What runs on clients: programs of file operations.

use super::{Op, Pause, Purpose, Simulation, opcode};

/// RPCs of a process that may be under way before it has to wait, as dirty pages limit it.
const MAX_OPEN: usize = 64;

/// What an application does between two calls, microseconds.
const THINK_US: u64 = 20;

impl Simulation {
    /// Runs a process until it has to wait.
    pub(super) fn run_process(&mut self, process: usize) {
        while self.world.processes[process].pause == Pause::None {
            let state = &mut self.world.processes[process];
            let Some(op) = state.pending.take().or_else(|| state.program.next()) else {
                state.pause = Pause::Done;
                self.running -= 1;
                return;
            };
            self.begin_operation(process, &op, self.now_us);
            if !self.run_op(process, op) {
                return;
            }
        }
    }

    /// One step; `false` if an event will wake the process.
    fn run_op(&mut self, process: usize, op: Op) -> bool {
        let mount = self.world.processes[process].mount;
        match op {
            Op::Io(access) => {
                self.access(process, &access);
                let limit = if access.wait { 0 } else { MAX_OPEN };
                return self.pause(process, limit);
            }
            Op::Drain => return self.pause(process, 0),
            Op::Sync(file) => {
                if self.world.processes[process].open > 0 {
                    self.world.processes[process].pending = Some(Op::Sync(file));
                } else {
                    for object in self.world.files[file].objects.clone() {
                        self.request_object(process, opcode::OST_SYNC, object);
                    }
                }
                return self.pause(process, 0);
            }
            Op::Sleep(us) => {
                self.resume(process, self.now_us + us);
                return false;
            }
            Op::Until(us) => {
                let time_us = self.start_us + us;
                if time_us > self.now_us {
                    self.resume(process, time_us);
                    return false;
                }
            }
            Op::Barrier { id, processes } => return self.barrier(process, id, processes),
            Op::Stat(file) => {
                for object in self.world.files[file].objects.clone() {
                    self.glimpse(process, object);
                }
                return self.pause(process, 0);
            }
            Op::DropLocks(file) => {
                for object in self.world.files[file].objects.clone() {
                    self.drop_locks(mount, object);
                }
            }
            Op::Plain { opcode, target } => {
                self.request(process, opcode, target, None);
                return self.pause(process, 0);
            }
            Op::Destroy(file) => {
                for object in self.world.files[file].objects.clone() {
                    self.request_object(process, opcode::OST_DESTROY, object);
                }
                return self.pause(process, MAX_OPEN);
            }
            Op::Mark(text) => self.mark(&text),
        }
        true
    }

    /// Waits until at most `open` requests are unanswered.
    fn pause(&mut self, process: usize, open: usize) -> bool {
        let state = &self.world.processes[process];
        if state.open > open || state.locks > 0 {
            self.world.processes[process].pause = Pause::Open(open);
            return false;
        }
        self.go_on(process);
        false
    }

    /// A request of a process was answered.
    pub(super) fn answered(&mut self, process: usize) {
        self.world.processes[process].open -= 1;
        self.wake(process);
    }

    /// A process got a lock that it asked for.
    pub(super) fn locked(&mut self, process: usize) {
        self.world.processes[process].locks -= 1;
        self.wake(process);
    }

    /// The call has returned, unless a part of it is left; the next one comes a little later.
    fn go_on(&mut self, process: usize) {
        if self.world.processes[process].pending.is_none() {
            self.end_operation(process);
        }
        self.resume(process, self.now_us + THINK_US);
    }

    fn wake(&mut self, process: usize) {
        let state = &mut self.world.processes[process];
        if let Pause::Open(limit) = state.pause
            && state.open <= limit
            && state.locks == 0
        {
            state.pause = Pause::None;
            self.go_on(process);
        }
    }

    fn barrier(&mut self, process: usize, id: usize, processes: usize) -> bool {
        self.world.processes[process].pause = Pause::Barrier(id);
        let there: Vec<usize> = (0..self.world.processes.len())
            .filter(|&other| self.world.processes[other].pause == Pause::Barrier(id))
            .collect();
        if there.len() >= processes {
            for other in there {
                self.world.processes[other].pause = Pause::None;
                self.resume(other, self.now_us + THINK_US);
            }
        }
        false
    }

    /// A request about an object that a process waits for.
    fn request_object(&mut self, process: usize, opcode: u16, object: usize) {
        let target = self.world.objects[object].target;
        self.request(process, opcode, target, Some(object));
    }

    fn request(&mut self, process: usize, opcode: u16, target: usize, object: Option<usize>) {
        let state = &mut self.world.processes[process];
        state.open += 1;
        let (mount, job, owner, pid) = (state.mount, state.job, state.owner, state.pid);
        let request = self.send(mount, target, opcode, Purpose::Process(process));
        // A client's OST_SYNC is sent by `ptlrpcd`, which a log of the client shows.
        let logs = self.world.log_of_client(mount).is_some();
        let pid = if logs && opcode == opcode::OST_SYNC { self.world.mounts[mount].ptlrpcd_pids[0] } else { pid };
        let request = &mut self.world.requests[request];
        (request.pid, request.job, request.owner, request.object) = (pid, job, owner, object);
        request.process = Some(process);
    }
}
