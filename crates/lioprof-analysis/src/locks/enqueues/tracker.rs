//! Follows lock requests from their first line until their locks are granted, which may be after the reply.

use std::collections::hash_map::Entry;

use lioprof_model::{LockEvent, LockState, LockStep, RpcRow, Symbol};
use lustre_debuglog::{LockMode, Opcode, TargetName};
use rustc_hash::FxHashMap;

use super::request::{Handled, Request, WaitFor};
use super::sums::{EnqueueSums, Split};
use crate::select::TargetPattern;

/// A request of which no line came for so long is forgotten if its end is missing.
const FORGOTTEN_US: i64 = 900_000_000;
/// Requests under way from which on such are looked for.
const MANY: usize = 4096;

/// Uuid of the client's connection, and xid.
type Key = (Symbol, u64);

/// Follows the lock requests that a node handles.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct EnqueueTracker {
    pub(in super::super) sums: EnqueueSums,
    requests: FxHashMap<Key, Request>,
    /// Locks on waiting lists, and the request that waits; `None`: another operation.
    waiting: FxHashMap<u64, Option<Key>>,
    /// Targets to count; empty: all.
    targets: Vec<TargetPattern>,
}

impl EnqueueTracker {
    pub(in super::super) fn new(targets: &[TargetPattern]) -> Self {
        Self { targets: targets.to_vec(), ..Self::default() }
    }

    /// Takes a line about a lock, and whose lock is in the way as far as the line says so.
    pub(in super::super) fn lock(
        &mut self,
        event: &LockEvent,
        step: LockStep,
        lock: &LockState,
        in_the_way: Option<WaitFor>,
    ) {
        let (time_us, cookie) = (event.time_us, lock.cookie);
        let own = event.window.filter(|window| window.opcode == Opcode::LDLM_ENQUEUE);
        let own = own.map(|window| (window.client_uuid, window.xid.0));
        match step {
            LockStep::Queued if lock.granted_mode == LockMode::None => {
                if let Entry::Vacant(waiting) = self.waiting.entry(cookie) {
                    waiting.insert(own);
                    if let Some(key) = own {
                        self.request(key, time_us).waits(time_us, cookie);
                    }
                }
            }
            LockStep::Granted => match self.waiting.remove(&cookie) {
                Some(Some(key)) => self.change(key, |request| request.granted(time_us, cookie, in_the_way)),
                Some(None) => {}
                // The line that it waits is missing. If a server's thread waited, that is one of those under way.
                None if lock.nid.is_none() => {
                    let under_way = self.requests.values_mut().filter(|request| request.handled.is_none());
                    under_way.for_each(Request::doubt);
                }
                None => {}
            },
            LockStep::Freed => {
                // Given up, or the line of the grant is missing.
                if let Some(Some(key)) = self.waiting.remove(&cookie) {
                    self.change(key, Request::doubt);
                }
            }
            _ => {}
        }
        if let Some(key) = own {
            let in_the_way = in_the_way.filter(|_| step != LockStep::Granted);
            self.request(key, time_us).line(step, cookie, lock.target, in_the_way);
        }
    }

    /// Takes a lock request that has been handled. `counts`: it is one of those that are looked at, whatever its target.
    pub(in super::super) fn row(&mut self, row: &RpcRow, counts: bool) {
        let handled = Handled::new(row, counts);
        let key = (row.client_uuid, row.xid.0);
        match self.requests.get_mut(&key) {
            Some(request) if request.handled.is_none() => {
                request.handled = Some(handled);
                self.settle(key);
            }
            seen => {
                // Sent again while its lock is waited for: nobody knows which line belongs to which.
                if let Some(request) = seen {
                    request.doubt();
                    self.settle(key);
                }
                self.add(&handled, None, None);
            }
        }
        if self.requests.len() > MANY {
            self.requests.retain(|_, it| it.handled.is_some() || it.last_us + FORGOTTEN_US >= row.end_us);
        }
    }

    /// The log is over: locks that are still waited for are not granted within it.
    pub(in super::super) fn finish(&mut self) {
        for mut request in std::mem::take(&mut self.requests).into_values() {
            request.doubt();
            self.count(&request);
        }
    }

    fn request(&mut self, key: Key, time_us: i64) -> &mut Request {
        let request = self.requests.entry(key).or_insert_with(|| Request::new(time_us));
        request.last_us = time_us;
        request
    }

    fn change(&mut self, key: Key, how: impl FnOnce(&mut Request)) {
        if let Some(request) = self.requests.get_mut(&key) {
            how(request);
            self.settle(key);
        }
    }

    /// Counts the request once nothing more is to be expected.
    fn settle(&mut self, key: Key) {
        if self.requests.get(&key).is_some_and(Request::is_over)
            && let Some(request) = self.requests.remove(&key)
        {
            self.count(&request);
        }
    }

    fn count(&mut self, request: &Request) {
        if let Some(handled) = request.handled {
            self.add(&handled, request.target, request.split());
        }
    }

    fn add(&mut self, handled: &Handled, target: Option<TargetName>, split: Option<Split>) {
        let selected = TargetPattern::takes(&self.targets, target);
        if handled.counts && selected {
            self.sums.add(handled.node, target, handled.nid, split);
        }
    }
}
