//! ServiceThreads threads of a node: each handles one RPC at a time.

use lioprof_model::{Symbol, Symbols};

use crate::random::Random;

/// Threads of a service that is not busy.
const THREADS: usize = 32;
/// Threads that are asked before another one is started.
const ASKED: usize = 8;
const FIRST_PID: u32 = 30_000;

/// A thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thread {
    pub(super) name: Symbol,
    pub(super) pid: u32,
    busy_until_us: i64,
}

/// All threads of a node.
#[derive(Debug, Default)]
pub(super) struct Threads {
    threads: Vec<Thread>,
    services: Vec<ServiceThreads>,
}

/// Threads of one kind.
#[derive(Debug)]
struct ServiceThreads {
    kind: Vec<u8>,
    started: u32,
    /// Nobody's at the moment.
    free: Vec<usize>,
}

impl Threads {
    /// Number of the service whose threads are called so.
    pub(super) fn service(&mut self, kind: &[u8], symbols: &mut Symbols) -> usize {
        if let Some(at) = self.services.iter().position(|service| service.kind == kind) {
            return at;
        }
        let at = self.services.len();
        self.services.push(ServiceThreads { kind: kind.to_vec(), started: 0, free: Vec::new() });
        for _ in 0..THREADS {
            let thread = self.start(at, symbols);
            self.services[at].free.push(thread);
        }
        at
    }

    /// A thread that has been idle at this time; it is the caller's until it is given back.
    pub(super) fn take(&mut self, service: usize, at_us: i64, random: &mut Random, symbols: &mut Symbols) -> usize {
        let free = &mut self.services[service].free;
        for _ in 0..ASKED.min(free.len()) {
            let place = random.place(free.len());
            if self.threads[free[place]].busy_until_us <= at_us {
                return free.swap_remove(place);
            }
        }
        self.start(service, symbols)
    }

    /// The thread has nothing to do from this time on.
    pub(super) fn give_back(&mut self, service: usize, thread: usize, at_us: i64) {
        let busy_until_us = &mut self.threads[thread].busy_until_us;
        *busy_until_us = at_us.max(*busy_until_us);
        self.services[service].free.push(thread);
    }

    pub(super) fn thread(&self, thread: usize) -> Thread {
        self.threads[thread]
    }

    fn start(&mut self, service: usize, symbols: &mut Symbols) -> usize {
        let ServiceThreads { kind, started, .. } = &mut self.services[service];
        let name = format!("{}{:02}_{:03}", String::from_utf8_lossy(kind), *started % 4, *started / 4);
        *started += 1;
        let number = self.threads.len();
        let pid = FIRST_PID + u32::try_from(number).unwrap_or(u32::MAX - FIRST_PID);
        self.threads.push(Thread { name: symbols.intern(name.as_bytes()), pid, busy_until_us: i64::MIN });
        number
    }
}
