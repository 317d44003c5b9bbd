//! Logs of several servers in one.
//!
//! A service thread has one pid at a time and handles one request at a time. A log in which one thread has two pids at overlapping times,
//! or handles two requests at once, was put together of several servers' logs (`sort -m`, `cat`), or the clock was set back meanwhile and the
//! log sorted.

use lioprof_model::{SeveralServers, Symbol, Symbols};
use rustc_hash::FxHashMap;

use super::{Join, OpenRequest};
use crate::decode::event::Event;
use crate::identity::contents::is_whole;
use crate::identity::groups::SHORTEST_OVERLAP_US;

/// Requests at once that are no accident, as torn or repeated lines are.
const CERTAIN: u64 = 3;
/// A service cannot have been started twice within this time. After a boot threads may have pids that they had before.
const NO_TWO_STARTS_US: i64 = 60_000_000;
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
    /// Requests whose threads have begun others, and whether their ends were counted as lost.
    displaced: FxHashMap<u32, Vec<(u32, bool)>>,
}

/// Who has the name of a service thread.
#[derive(Debug, Default)]
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

    fn evidence(&self, symbols: &Symbols) -> Option<SeveralServers> {
        let found = match (self.two_pids, self.at_once) {
            _ if !self.is_certain() => return None,
            (Some((thread, pids)), _) => (thread, pids, self.pids_seen),
            (None, Some((thread, pid))) => (thread, [pid, pid], self.at_once_seen),
            (None, None) => return None,
        };
        let (thread, pids, seen) = found;
        Some(SeveralServers { thread: symbols.text(thread), pids, seen })
    }

    pub(super) fn symbols(&mut self, renamed: &mut impl FnMut(Symbol) -> Symbol) {
        self.owners = self.owners.drain().map(|(name, owner)| (renamed(name), owner)).collect();
        self.two_pids = self.two_pids.map(|(name, pids)| (renamed(name), pids));
        self.at_once = self.at_once.map(|(name, pid)| (renamed(name), pid));
    }
}

impl Join {
    /// Why the log is one of several servers, if it is.
    pub(crate) fn several_servers(&self, symbols: &Symbols) -> Option<SeveralServers> {
        self.several.evidence(symbols)
    }

    /// A thread begins a request under a name that was another's before, or nobody's.
    #[cold]
    pub(super) fn takes_name(&mut self, event: &Event, name: Symbol, symbols: &Symbols) {
        let (pid, now_us) = (event.pid, event.time_us);
        self.threads.entry(pid).or_default().has_name = true;
        if !is_whole(symbols.bytes(name)) {
            return;
        }
        let owner = self.several.owners.entry(name).or_default();
        let (other, since_us) = (owner.pid, std::mem::replace(&mut owner.since_us, now_us));
        owner.pid = pid;
        if other == pid || other == 0 {
            return;
        }
        let thread = self.threads.entry(other).or_default();
        let last_us = thread.last_us;
        thread.has_name = false;
        // Logs one after the other: the time at which it begins is one at which the other was there already.
        let goes_back = (since_us..last_us).contains(&now_us);
        // Logs merged: both take turns.
        let mine = owner.before.iter().find(|(before, _)| *before == pid);
        let takes_turns = mine.is_some_and(|(_, last_us)| now_us - last_us <= NO_TWO_STARTS_US);
        owner.before.retain(|(before, _)| *before != other);
        owner.before.push((other, last_us));
        if owner.before.len() > REMEMBERED {
            owner.before.remove(0);
        }
        if goes_back || takes_turns {
            self.several.two_pids.get_or_insert((name, [other, pid]));
            self.several.pids_seen += 1;
        }
    }

    /// A thread has begun another request, and the end of this one was not in the log before that.
    pub(super) fn displace(&mut self, pid: u32, at: u32, known: bool) {
        self.unlink(at);
        let displaced = self.several.displaced.entry(pid).or_default();
        displaced.push((at, known));
        if displaced.len() > KEPT {
            let (oldest, _) = displaced.remove(0);
            self.free.push(oldest);
        }
    }

    /// The request that ends now, if its thread has begun another one meanwhile: so there are two threads.
    pub(super) fn take_up(&mut self, event: &Event, is_it: impl Fn(&OpenRequest) -> bool) -> Option<u32> {
        let displaced = self.several.displaced.get_mut(&event.pid)?;
        let found = displaced.iter().position(|(at, _)| is_it(&self.requests[*at as usize]))?;
        let (at, known) = displaced.remove(found);
        // They may have been told already.
        let loss = &mut self.counts.loss;
        loss.missing_handled = loss.missing_handled.saturating_sub(1);
        loss.lost_ends = loss.lost_ends.saturating_sub(u64::from(known));
        let last_us = self.threads.get(&event.pid).map_or(i64::MIN, |thread| thread.last_us);
        let pending = &mut self.requests[at as usize];
        if let Some(rpc) = pending.handling
            && event.time_us > last_us + SHORTEST_OVERLAP_US
        {
            self.several.at_once.get_or_insert((rpc.thread, event.pid));
            self.several.at_once_seen += 1;
        }
        pending.next_same_key = self.by_key.insert((pending.nid, pending.xid), at);
        Some(at)
    }
}

#[cfg(test)]
#[path = "several_tests.rs"]
mod tests;
