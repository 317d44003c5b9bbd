//! A cluster at work: its state and its events.

use super::log::Entry;
use super::{Account, Event, Events, Log, Rng, Timer, TrueOperation, World};
use crate::counters::Counters;
use crate::record::{SimRecord, Workload};

/// Seconds for which servers are up when a run begins.
pub(super) const UPTIME_S: u64 = 1000;

/// A cluster at work.
pub struct Simulation {
    pub(super) world: World,
    pub(super) events: Events,
    pub(super) log: Log,
    pub(super) account: Account,
    pub(super) rng: Rng,
    pub(super) timers: Vec<Timer>,
    pub(super) now_us: u64,
    pub(super) start_us: u64,
    pub(super) lock_timeout_s: u64,
    pub(super) resend_us: Option<u64>,
    /// Processes that are not at their end.
    pub(super) running: usize,
    pub(super) follow: Option<usize>,
    pub(super) servers: usize,
    /// Of clients that log, those that have ended.
    pub(super) operations: Vec<TrueOperation>,
}

impl Simulation {
    /// The next record and the server that logs it.
    pub fn next_of_any(&mut self, record: &mut SimRecord) -> Option<usize> {
        loop {
            match self.log.pop(self.events.next_us(), record) {
                Some(Entry::Record(node)) => return Some(node),
                Some(Entry::Effect(effect)) => self.account.apply(&self.world, effect),
                None => {
                    let (now_us, event) = self.events.pop()?;
                    self.now_us = now_us;
                    self.happen(event);
                }
            }
        }
    }

    /// The truth so far, of the server that is followed or of all.
    pub fn counters(&self) -> Counters {
        self.account.counters(&self.world, self.follow)
    }

    /// The truth so far of one server.
    pub fn counters_of(&self, node: usize) -> Counters {
        self.account.counters(&self.world, Some(node))
    }

    /// Servers: their records have numbers below this, those of clients that log the ones from it on.
    pub fn server_count(&self) -> usize {
        self.servers
    }

    /// NIDs of the servers, and of the clients that log.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.world.nodes.iter().map(|node| node.nid.as_str())
    }

    /// Processes that have not reached the end of their programs.
    pub fn running(&self) -> usize {
        self.running
    }

    pub(super) fn happen(&mut self, event: Event) {
        match event {
            Event::Process(process) => self.run_process(process),
            Event::Sending(request) => self.say_sending(request),
            Event::Arrive(request) => self.arrive(request),
            Event::Thread(part, thread) => self.thread(part, thread),
            Event::Queue(part, thread, request) => self.queue(part, thread, request),
            Event::Ready(part) => self.wake_thread(part, self.now_us),
            Event::Step(request) => self.step(request),
            Event::Reply(request) => self.reply(request),
            Event::Callback(callback) => self.callback(callback),
            Event::CallbackReply(callback) => self.callback_reply(callback),
            Event::Cancel(mount, lock) => self.cancel(mount, lock),
            Event::LockTimeout(lock, cookie) => self.lock_timeout(lock, cookie),
            Event::CallbackTimeout(callback) => self.callback_timeout(callback),
            Event::Resend(request, xid) => self.resend(request, xid),
            Event::Timer(timer) => self.timer(timer),
        }
    }

    /// A hashed address for something that lives in a place of its list.
    pub(super) fn pointer_of(&self, place: usize) -> u32 {
        let mixed = u64::try_from(place).unwrap_or(0).wrapping_add(self.start_us).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        u32::try_from(mixed >> 32).unwrap_or(1)
    }
}

impl Workload for Simulation {
    fn next(&mut self, record: &mut SimRecord) -> bool {
        self.next_of_any(record).is_some()
    }
}
