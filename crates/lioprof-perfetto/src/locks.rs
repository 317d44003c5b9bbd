//! Locks that somebody waited for: what they waited, how long they were held, who was called back for whom.
//!
//! A lock that was granted at once and never called back is not drawn: a server holds a million of them. Which lines make
//! up a lock's life: `ldlm_lockd.c`, `ldlm_lock.c`. A request in conflict prints the *holder*; the waiter is the lock that
//! the same thread puts on the waiting list next.

use lioprof_model::{LockEvent, LockHappening, LockState, LockStep, Symbol, Symbols};
use lustre_debuglog::{Extent, LockMode, ResourceId, TargetName};
use rustc_hash::FxHashMap;

use crate::packets::{Argument, Label, TraceFile, Value, ns};
use crate::tracks::{NodeTracks, On};

/// Conflicts of one waiter that get an arrow.
const MAX_ARROWS: usize = 64;

/// A lock between its first and last line.
#[derive(Clone, Debug)]
struct Lock {
    target: TargetName,
    resource: ResourceId,
    mode: LockMode,
    nid: Option<Symbol>,
    job: Option<Symbol>,
    requested: Option<Extent>,
    granted: Option<Extent>,
    first_us: i64,
    waiting_us: Option<i64>,
    granted_us: Option<i64>,
    blocking_ast_us: Option<i64>,
    /// Arrows from its wait to those who are in its way, and from them to its hold.
    as_waiter: Vec<u64>,
    /// Arrows that others have to it.
    as_holder: Vec<u64>,
}

/// How many were drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LockCounts {
    pub(crate) waits: u64,
    pub(crate) holds: u64,
    pub(crate) blocking_asts: u64,
    /// All lanes were taken.
    pub(crate) not_drawn: u64,
}

/// Follows the locks of one node.
#[derive(Debug, Default)]
pub(crate) struct LockLives {
    locks: FxHashMap<u64, Lock>,
    /// Holders that a thread's request is in conflict with.
    in_the_way: FxHashMap<u32, Vec<u64>>,
    next_arrow: u64,
    pub(crate) counts: LockCounts,
}

impl LockLives {
    pub(crate) fn event(
        &mut self,
        event: &LockEvent,
        symbols: &Symbols,
        tracks: &mut NodeTracks,
        file: &mut TraceFile,
    ) {
        match &event.happening {
            LockHappening::Lock(step, state) => {
                self.learn(event, state);
                self.step(event, *step, state);
                if matches!(step, LockStep::Released | LockStep::Evicted | LockStep::Freed)
                    && let Some(lock) = self.locks.remove(&state.cookie)
                {
                    self.draw(&lock, Some(event.time_us), symbols, tracks, file);
                }
            }
            LockHappening::EnqueueStart | LockHappening::EnqueueEnd => {
                self.in_the_way.remove(&event.pid);
            }
            LockHappening::KernelContention { .. }
            | LockHappening::CallbackTimedOut { .. }
            | LockHappening::SilentEvicted { .. } => {}
        }
    }

    /// The node's log is over: locks that are still waited for or held have no end.
    pub(crate) fn finish(&mut self, symbols: &Symbols, tracks: &mut NodeTracks, file: &mut TraceFile) {
        let mut open: Vec<(u64, Lock)> = self.locks.drain().collect();
        open.sort_unstable_by_key(|(cookie, lock)| (lock.first_us, *cookie));
        for (_, lock) in open {
            self.draw(&lock, None, symbols, tracks, file);
        }
    }

    fn learn(&mut self, event: &LockEvent, state: &LockState) {
        let lock = self.locks.entry(state.cookie).or_insert_with(|| Lock {
            target: state.target,
            resource: state.resource,
            mode: state.requested_mode,
            nid: None,
            job: None,
            requested: None,
            granted: None,
            first_us: event.time_us,
            waiting_us: None,
            granted_us: None,
            blocking_ast_us: None,
            as_waiter: Vec::new(),
            as_holder: Vec::new(),
        });
        lock.resource = state.resource;
        lock.mode = state.requested_mode;
        lock.nid = state.nid.or(lock.nid);
        lock.requested = state.requested.or(lock.requested);
        if state.granted_mode != LockMode::None {
            lock.granted = state.granted;
        }
    }

    fn step(&mut self, event: &LockEvent, step: LockStep, state: &LockState) {
        let waits = state.granted_mode == LockMode::None;
        if step == LockStep::Incompatible {
            self.in_the_way.entry(event.pid).or_default().push(state.cookie);
            return;
        }
        if matches!(step, LockStep::Queued | LockStep::Reply) && waits {
            self.arrows(event.pid, state.cookie);
        }
        let Some(lock) = self.locks.get_mut(&state.cookie) else { return };
        match step {
            LockStep::Created | LockStep::LocalCreated => {
                lock.job = event.window.and_then(|window| window.job);
                // Its first lines do not show the client: it is whose request made it.
                lock.nid = lock.nid.or_else(|| event.window.map(|window| window.nid));
                if step == LockStep::LocalCreated {
                    lock.granted_us = Some(event.time_us);
                }
            }
            LockStep::Queued if waits => {
                if lock.granted_us.is_none() {
                    lock.waiting_us.get_or_insert(event.time_us);
                }
            }
            LockStep::Queued | LockStep::Granted => {
                lock.granted_us.get_or_insert(event.time_us);
            }
            LockStep::Reply if !waits => {
                lock.granted_us.get_or_insert(event.time_us);
            }
            LockStep::BlockingAst => {
                lock.blocking_ast_us.get_or_insert(event.time_us);
            }
            LockStep::Reply | LockStep::Incompatible | LockStep::Released | LockStep::Evicted | LockStep::Freed => {}
        }
    }

    /// The thread's lock waits for those that were in its way.
    fn arrows(&mut self, pid: u32, waiter: u64) {
        for holder in self.in_the_way.remove(&pid).into_iter().flatten() {
            let room = self.locks.get(&waiter).is_some_and(|lock| lock.as_waiter.len() < MAX_ARROWS);
            if holder == waiter || !room {
                continue;
            }
            if let Some(lock) = self.locks.get_mut(&holder) {
                self.next_arrow += 1;
                lock.as_holder.push(self.next_arrow);
                if let Some(lock) = self.locks.get_mut(&waiter) {
                    lock.as_waiter.push(self.next_arrow);
                }
            }
        }
    }

    fn draw(
        &mut self,
        lock: &Lock,
        end_us: Option<i64>,
        symbols: &Symbols,
        tracks: &mut NodeTracks,
        file: &mut TraceFile,
    ) {
        if lock.waiting_us.is_none() && lock.blocking_ast_us.is_none() {
            return;
        }
        // Granted before the log began: it is held since it was first seen. Should the clock have stepped, what comes
        // later is not drawn earlier: slices have to nest.
        let held_us = lock.granted_us.or_else(|| lock.waiting_us.is_none().then_some(lock.first_us));
        let held_us = held_us.map(|held| held.max(lock.waiting_us.unwrap_or(held)));
        let begin_us = lock.waiting_us.or(held_us).unwrap_or(lock.first_us);
        let called_us = lock.blocking_ast_us.map(|at| at.max(held_us.unwrap_or(at)));
        let end_us = end_us.map(|end| end.max(held_us.unwrap_or(begin_us)).max(called_us.unwrap_or(end)));
        // Without an end the lane is taken for good.
        let taken_until_us = end_us.unwrap_or(i64::MAX);
        let Some(lane) = tracks.target_lane(Some(lock.target), On::Locks, (begin_us, taken_until_us), file) else {
            self.counts.not_drawn += 1;
            return;
        };
        let arguments = arguments(lock, end_us.is_none(), symbols);
        let end_ns = end_us.and_then(ns);
        let close = |file: &mut TraceFile, at: Option<u64>| {
            if let Some(at) = at {
                file.end(lane, at);
            }
        };
        if let Some(from) = lock.waiting_us.and_then(ns) {
            let name = format!("wait {}", lock.mode);
            let label = Label {
                category: "lock_wait",
                name: &name,
                arguments: &arguments,
                flows: &lock.as_waiter,
                ..Label::default()
            };
            file.begin(lane, from, &label);
            close(file, held_us.and_then(ns).or(end_ns));
            self.counts.waits += 1;
        }
        let Some(from) = held_us.and_then(ns) else { return };
        let name = format!("hold {}", lock.mode);
        let label = Label {
            category: "lock_hold",
            name: &name,
            arguments: &arguments,
            flows: &[],
            terminating_flows: &lock.as_waiter,
        };
        file.begin(lane, from, &label);
        self.counts.holds += 1;
        if let Some(called) = called_us.and_then(ns) {
            let label =
                Label { category: "blocking_ast", name: "blocking AST", flows: &lock.as_holder, ..Label::default() };
            file.begin(lane, called, &label);
            close(file, end_ns);
            self.counts.blocking_asts += 1;
        }
        close(file, end_ns);
    }
}

fn arguments(lock: &Lock, open: bool, symbols: &Symbols) -> Vec<Argument> {
    let client = lock.nid.map_or_else(|| "server".to_owned(), |nid| symbols.text(nid));
    let mut out = vec![("client", Value::Text(client)), ("resource", Value::Text(lock.resource.to_string()))];
    let mut add = |name, value: Option<Value>| out.extend(value.map(|value| (name, value)));
    add("job", lock.job.map(|job| Value::Text(symbols.text(job))));
    add("requested", lock.requested.map(|extent| Value::Text(extent.to_string())));
    add("granted", lock.granted.map(|extent| Value::Text(extent.to_string())));
    let before = lock.waiting_us.is_none() && lock.granted_us.is_none();
    add("granted_before_the_log", before.then_some(Value::Bool(true)));
    add("no_end_in_the_log", open.then_some(Value::Bool(true)));
    out
}
