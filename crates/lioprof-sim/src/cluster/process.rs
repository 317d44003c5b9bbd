//! What runs on clients: programs of file operations.

use super::request::Purpose;
use super::{Event, Simulation, opcode};

/// A read or write of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Which file, in the order of [`Cluster::file`](super::Cluster::file).
    pub file: usize,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub bytes: u64,
    /// Write, or read.
    pub write: bool,
    /// O_DIRECT: the server takes the lock. It does not call back locks of clients, so it is for files on which none
    /// has a lock in the way.
    pub direct: bool,
    /// The process goes on only when it is done.
    pub wait: bool,
    /// Contiguous pieces with gaps of one page between them, within `bytes`; 1 for no gaps.
    pub pieces: u64,
}

impl Access {
    /// A write that the process waits for.
    pub fn write(file: usize, offset: u64, bytes: u64) -> Self {
        Self { file, offset, bytes, write: true, direct: false, wait: true, pieces: 1 }
    }

    /// A read that the process waits for.
    pub fn read(file: usize, offset: u64, bytes: u64) -> Self {
        Self { write: false, ..Self::write(file, offset, bytes) }
    }

    /// Goes on without waiting, as with write-back and read-ahead.
    pub fn ahead(self) -> Self {
        Self { wait: false, ..self }
    }

    /// With O_DIRECT.
    pub fn direct(self) -> Self {
        Self { direct: true, ..self }
    }
}

/// One step of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Reads or writes.
    Io(Access),
    /// Waits for all I/O of the process and writes the file to disk.
    Sync(usize),
    /// Waits for all I/O of the process.
    Drain,
    /// Does nothing for so many microseconds.
    Sleep(u64),
    /// Waits until so many microseconds after the start.
    Until(u64),
    /// Waits until so many processes stand at this barrier.
    Barrier {
        /// Its number.
        id: usize,
        /// Processes that meet there.
        processes: usize,
    },
    /// Asks for the size of a file.
    Stat(usize),
    /// Gives back the locks on a file.
    DropLocks(usize),
    /// Cuts a file to nothing.
    Truncate(usize),
    /// An operation without an object on a target: ping, statfs, the operations of an MDT.
    Plain {
        /// Operation.
        opcode: u16,
        /// Target.
        target: usize,
    },
    /// Deletes the objects of a file, as the MDT does it.
    Destroy(usize),
    /// Connects to a target (again).
    Connect(usize),
    /// `lctl mark` on all servers.
    Mark(String),
}

/// A program: its steps in order.
pub type Program = Box<dyn Iterator<Item = Op> + Send>;

/// Why a process does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// It does, or an event will wake it.
    None,
    /// Until this many requests or fewer are open, and it has its locks.
    Open(usize),
    Barrier(usize),
    Done,
}

pub(crate) struct Process {
    pub(crate) mount: usize,
    pub(crate) pid: u32,
    pub(crate) job: usize,
    pub(crate) owner: (u32, u32, u32),
    pub(crate) program: Program,
    /// A step to repeat after a wait.
    pub(crate) pending: Option<Op>,
    /// Requests of the process that are not answered.
    pub(crate) open: usize,
    /// Locks that it asked for and does not have: a call goes on only under its lock.
    pub(crate) locks: usize,
    pub(crate) pause: Pause,
}

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
                self.events.at(self.now_us + us, Event::Process(process));
                return false;
            }
            Op::Until(us) => {
                let time_us = self.start_us + us;
                if time_us > self.now_us {
                    self.events.at(time_us, Event::Process(process));
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
            Op::Truncate(file) => {
                for object in self.world.files[file].objects.clone() {
                    self.truncate(process, object);
                }
                return self.pause(process, 0);
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
            Op::Connect(target) => {
                self.request(process, opcode::OST_CONNECT, target, None);
                return self.pause(process, 0);
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
        self.events.at(self.now_us + THINK_US, Event::Process(process));
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

    fn wake(&mut self, process: usize) {
        let state = &mut self.world.processes[process];
        if let Pause::Open(limit) = state.pause
            && state.open <= limit
            && state.locks == 0
        {
            state.pause = Pause::None;
            self.events.at(self.now_us + THINK_US, Event::Process(process));
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
                self.events.at(self.now_us + THINK_US, Event::Process(other));
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
        let request = &mut self.world.requests[request];
        (request.pid, request.job, request.owner, request.object) = (pid, job, owner, object);
    }
}
