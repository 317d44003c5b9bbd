//! Logs of several servers in one.
//!
//! A service thread has one pid at a time and handles one request at a time. A log in which one thread has two pids at overlapping times,
//! or handles two requests at once, was put together of several servers' logs (`sort -m`, `cat`), or the clock was set back meanwhile and the
//! log sorted.

use lioprof_model::units::seconds;
use lioprof_model::{SeveralServers, Symbol, Symbols};
use rustc_hash::FxHashMap;

use crate::identity::contents::is_whole;
use crate::identity::groups::SHORTEST_OVERLAP_US;

/// Requests at once that are no accident, as torn or repeated lines are.
const CERTAIN: u64 = 3;
/// A service cannot have been started twice within this time. After a boot threads may have pids that they had before.
const NO_TWO_STARTS_US: i64 = 60_000_000;
/// Threads that were replaced: one alone may have ended and begun again.
const NAMES_OF_A_SERVER: u64 = 2;
/// Pids that a thread had before, as many as are remembered: those of as many other servers.
const REMEMBERED: usize = 4;
/// Requests of a thread that are kept while it seems to handle others: three of other servers.
const KEPT: usize = 3;

/// What was seen of several servers.
#[derive(Debug, Default)]
pub(super) struct Several {
    /// Who has each service thread's name.
    owners: FxHashMap<Symbol, Owner>,
    /// A thread with two pids at overlapping times; how many times.
    two_pids: Option<(Symbol, [u32; 2])>,
    pids_seen: u64,
    /// A thread that handled two requests at once; how many times.
    at_once: Option<(Symbol, u32)>,
    at_once_seen: u64,
    /// When the first thread began a request under a name that another one had had before, and how many names that are.
    replaced_since_us: Option<i64>,
    replaced: Option<(Symbol, [u32; 2])>,
    replaced_names: u64,
    /// Requests whose threads have begun others, and whether their ends were counted as lost.
    displaced: FxHashMap<u32, Vec<(u32, bool)>>,
}

/// Who has the name of a service thread.
#[derive(Debug)]
struct Owner {
    pid: u32,
    /// Since when, microseconds since the epoch.
    since_us: i64,
    /// Who had it before, and when each was last seen under it; the latest last.
    before: Vec<(u32, i64)>,
}

impl Several {
    pub(super) fn is_certain(&self) -> bool {
        self.pids_seen > 0 || self.at_once_seen >= CERTAIN
    }

    /// Whether from some time on all threads are others: the server was booted, or this is another one. `last_us` is when a thread began its
    /// last request.
    fn all_are_replaced(&self, last_us: impl Fn(u32) -> i64) -> bool {
        let Some(since_us) = self.replaced_since_us.filter(|_| self.replaced_names >= NAMES_OF_A_SERVER) else {
            return false;
        };
        self.owners.values().all(|owner| owner.since_us >= since_us || last_us(owner.pid) < since_us)
    }

    /// What shows that the log is one of several servers, if it is.
    pub(super) fn evidence(&self, symbols: &Symbols, last_us: impl Fn(u32) -> i64) -> Option<SeveralServers> {
        if !self.is_certain() {
            let (thread, pids) = self.replaced.filter(|_| self.all_are_replaced(last_us))?;
            let since = self.replaced_since_us.map(seconds);
            return Some(SeveralServers { thread: symbols.text(thread), pids, seen: self.replaced_names, since });
        }
        let found = match (self.two_pids, self.at_once) {
            (Some((thread, pids)), _) => (thread, pids, self.pids_seen),
            (None, Some((thread, pid))) => (thread, [pid, pid], self.at_once_seen),
            (None, None) => return None,
        };
        let (thread, pids, seen) = found;
        Some(SeveralServers { thread: symbols.text(thread), pids, seen, since: None })
    }

    pub(super) fn symbols(&mut self, renamed: &mut impl FnMut(Symbol) -> Symbol) {
        self.owners = self.owners.drain().map(|(name, owner)| (renamed(name), owner)).collect();
        self.two_pids = self.two_pids.map(|(name, pids)| (renamed(name), pids));
        self.at_once = self.at_once.map(|(name, pid)| (renamed(name), pid));
        self.replaced = self.replaced.map(|(name, pids)| (renamed(name), pids));
    }

    /// The thread `pid` begins a request under a name that was another's before, or nobody's. Returns who had it, and whether it is the first
    /// thread that follows on another; `last_us` is when that one began its last request.
    #[cold]
    pub(super) fn takes_name(
        &mut self,
        (pid, now_us): (u32, i64),
        name: Symbol,
        symbols: &Symbols,
        last_us: impl FnOnce(u32) -> i64,
    ) -> Option<(u32, bool)> {
        if !is_whole(symbols.bytes(name)) {
            return None;
        }
        let owner = self.owners.entry(name).or_insert_with(|| Owner { pid, since_us: now_us, before: Vec::new() });
        let (other, since_us) = (owner.pid, owner.since_us);
        if other == pid {
            return None;
        }
        (owner.pid, owner.since_us) = (pid, now_us);
        let last_us = last_us(other);
        // Logs one after the other: the time at which it begins is one at which the other was there already.
        let goes_back = (since_us..last_us).contains(&now_us);
        // Logs merged: both take turns.
        let mine = owner.before.iter().find(|(before, _)| *before == pid);
        let takes_turns = mine.is_some_and(|(_, last_us)| now_us - last_us <= NO_TWO_STARTS_US);
        self.replaced_names += u64::from(owner.before.is_empty());
        owner.before.retain(|(before, _)| *before != other);
        owner.before.push((other, last_us));
        if owner.before.len() > REMEMBERED {
            owner.before.remove(0);
        }
        if goes_back || takes_turns {
            self.two_pids.get_or_insert((name, [other, pid]));
            self.pids_seen += 1;
        }
        let is_first = self.replaced_since_us.is_none();
        self.replaced_since_us.get_or_insert(now_us);
        self.replaced.get_or_insert((name, [other, pid]));
        Some((other, is_first))
    }

    /// Keeps a request whose thread has begun another one before its end; `known`: that was counted as lost. Returns one that is kept no
    /// longer.
    pub(super) fn displace(&mut self, pid: u32, at: u32, known: bool) -> Option<u32> {
        let displaced = self.displaced.entry(pid).or_default();
        displaced.push((at, known));
        (displaced.len() > KEPT).then(|| displaced.remove(0).0)
    }

    /// The request of a thread that ends now, if its thread has begun another one meanwhile: so there are two threads.
    pub(super) fn take_up(&mut self, pid: u32, is_it: impl Fn(u32) -> bool) -> Option<(u32, bool)> {
        let displaced = self.displaced.get_mut(&pid)?;
        let found = displaced.iter().position(|(at, _)| is_it(*at))?;
        Some(displaced.remove(found))
    }

    /// A thread ends a request so long after it has begun another one.
    pub(super) fn at_once(&mut self, thread: Symbol, pid: u32, overlap_us: i64) {
        if overlap_us > SHORTEST_OVERLAP_US {
            self.at_once.get_or_insert((thread, pid));
            self.at_once_seen += 1;
        }
    }
}

#[cfg(test)]
#[path = "several_tests.rs"]
mod tests;
