//! The tier with dlmtrace: a lock's life, by its cookie.
//!
//! Messages and their order: `ldlm_lockd.c`, `ldlm_lock.c`, `ldlm_resource.c`, `ldlm_extent.c`, stable from
//! Lustre 2.5 to master. A request that is in conflict prints the *holder* ("lock incompatible"); the waiter
//! is the lock that the same thread is enqueueing.

use lioprof_model::{Direction, LockEvent, LockState, LockStep, RpcRow, Symbol};
use lustre_debuglog::{Extent, LockMode, ResourceId, TargetName};
use rustc_hash::FxHashMap;

use super::enqueues::WaitFor;
use super::heaviest::ObjectKey;
use super::object::{Held, Waited};
use super::parties::{Kind, Overlap, Party, ServedRequest};
use super::rules::Rules;
use super::sums::{Contention, LockSums, Modes};

/// A lock between its first and last line.
#[derive(Clone, Debug)]
struct Lock {
    target: TargetName,
    resource: ResourceId,
    mode: LockMode,
    owner: Party,
    job: Option<Symbol>,
    requested: Option<Extent>,
    granted: Option<Extent>,
    /// Its birth was seen.
    born: bool,
    blocked_us: Option<i64>,
    /// It waits, or waited, for another client.
    contended: bool,
    /// It is in conflict with a lock of its own client or of the server.
    other_conflict: bool,
    granted_us: Option<i64>,
    ast_us: Option<i64>,
    released: bool,
    /// Bytes its holder wrote since the callback.
    flushed: u64,
    /// Its callback was sent for another client.
    ast_for_client: bool,
    /// Conflicts whose overlap is not known until its extent is.
    undecided: Vec<Conflict>,
}

/// A conflict as it was noticed.
#[derive(Clone, Copy, Debug)]
struct Conflict {
    time_us: i64,
    holder: Symbol,
    waiter: Symbol,
    holder_mode: LockMode,
    requested: Option<Extent>,
    granted: Option<Extent>,
    counts: bool,
}

/// What a service thread is enqueueing.
#[derive(Clone, Debug, Default)]
struct Enqueue {
    /// Between START and END of the enqueue handler.
    inside: bool,
    cookie: Option<u64>,
    /// Conflicts of a lock that has not been named yet.
    undecided: Vec<Conflict>,
}

#[derive(Clone)]
pub(super) struct DlmTracker {
    node: Symbol,
    pub(super) rules: Rules,
    /// The rules were chosen by the user.
    chosen: bool,
    pub(super) sums: LockSums,
    /// The log holds lock lines.
    pub(super) saw_locks: bool,
    locks: FxHashMap<u64, Lock>,
    threads: FxHashMap<u32, Enqueue>,
    /// Locks under callback, with their holders.
    under_ast: FxHashMap<(TargetName, ResourceId), Vec<(Symbol, u64)>>,
}

impl DlmTracker {
    pub(super) fn new(node: Symbol, rules: Option<Rules>) -> Self {
        Self {
            node,
            chosen: rules.is_some(),
            rules: rules.unwrap_or(Rules::TO_2_17),
            sums: LockSums::default(),
            saw_locks: false,
            locks: FxHashMap::default(),
            threads: FxHashMap::default(),
            under_ast: FxHashMap::default(),
        }
    }

    /// The thread begins or ends an enqueue.
    pub(super) fn enqueue(&mut self, pid: u32, inside: bool) {
        self.saw_locks = true;
        self.threads.insert(pid, Enqueue { inside, ..Enqueue::default() });
    }

    pub(super) fn lock(&mut self, event: &LockEvent, step: LockStep, info: &LockState, served: &ServedRequest) {
        self.saw_locks = true;
        let time_us = event.time_us;
        let created = matches!(step, LockStep::Created | LockStep::LocalCreated);
        self.learn(info, created, served);
        match step {
            LockStep::Created => self.created(event, info, served),
            LockStep::LocalCreated => {
                self.name(event.pid, info.cookie);
                self.decide(info.cookie);
                self.grant(time_us, info, served, false);
            }
            LockStep::Incompatible => self.incompatible(event, info, served),
            LockStep::Queued if info.granted_mode == LockMode::None => {
                self.name(event.pid, info.cookie);
                self.decide(info.cookie);
                self.block(time_us, info.cookie, served);
            }
            LockStep::Queued => {
                self.decide(info.cookie);
                self.grant(time_us, info, served, false);
            }
            LockStep::Reply => {
                // A resent enqueue finds its lock and creates none.
                self.name(event.pid, info.cookie);
                self.decide(info.cookie);
                if info.granted_mode != LockMode::None {
                    self.grant(time_us, info, served, false);
                }
            }
            LockStep::Granted => self.grant(time_us, info, served, true),
            LockStep::BlockingAst => self.blocking_ast(time_us, info, served),
            LockStep::Released => self.release(time_us, info.cookie, served.counts),
            LockStep::Evicted => {
                if served.counts {
                    self.sums.sums_of(self.node, info.target).evictions += 1;
                }
                self.release(time_us, info.cookie, served.counts);
            }
            LockStep::Freed => {
                self.release(time_us, info.cookie, served.counts);
                self.forget(time_us, info.cookie, served.counts);
            }
        }
    }

    /// Takes over what a line says of the lock; a lock whose birth is missing is taken as it is found.
    fn learn(&mut self, info: &LockState, created: bool, served: &ServedRequest) {
        if !created && info.nid.is_some() && served.counts && !self.locks.contains_key(&info.cookie) {
            self.sums.sums_of(self.node, info.target).unborn_locks += 1;
        }
        let lock = self.locks.entry(info.cookie).or_insert_with(|| Lock {
            target: info.target,
            resource: info.resource,
            mode: info.requested_mode,
            owner: Party::Unknown,
            job: None,
            requested: None,
            granted: None,
            born: created,
            blocked_us: None,
            contended: false,
            other_conflict: false,
            granted_us: None,
            ast_us: None,
            released: false,
            flushed: 0,
            ast_for_client: false,
            undecided: Vec::new(),
        });
        lock.resource = info.resource;
        lock.mode = info.requested_mode;
        // Locks that an MDT takes on a client's behalf log no creation line.
        let made = created || (info.nid.is_none() && lock.owner == Party::Unknown);
        if made {
            lock.job = served.job();
        }
        match info.nid {
            Some(nid) => lock.owner = Party::Client(nid),
            // Whoever's request made it, unless that is known better: the first lines of a client's lock show no client.
            None if made => lock.owner = served.party,
            None => {}
        }
        if created {
            return;
        }
        lock.requested = info.requested;
        if info.granted_mode != LockMode::None {
            lock.granted = info.granted;
        }
    }

    fn created(&mut self, event: &LockEvent, info: &LockState, served: &ServedRequest) {
        self.threads.entry(event.pid).or_default().cookie = Some(info.cookie);
        if served.counts && served.party != Party::Server {
            self.sums.sums_of(self.node, info.target).enqueues += 1;
            self.sums.jobs.entry(served.job()).or_default().enqueues += 1;
        }
    }

    /// The thread works on this lock: conflicts that it met before belong to it.
    fn name(&mut self, pid: u32, cookie: u64) {
        if let Some(thread) = self.threads.get_mut(&pid)
            && let Some(lock) = self.locks.get_mut(&cookie)
            && !thread.undecided.is_empty()
        {
            lock.contended = true;
            lock.undecided.append(&mut thread.undecided);
        }
    }

    fn incompatible(&mut self, event: &LockEvent, info: &LockState, served: &ServedRequest) {
        let Some(holder) = self.locks.get(&info.cookie) else { return };
        let kind = Kind::new(holder.owner, served.party);
        let conflict = |holder_nid, waiter| Conflict {
            time_us: event.time_us,
            holder: holder_nid,
            waiter,
            holder_mode: holder.mode,
            requested: holder.requested,
            granted: holder.granted,
            counts: served.counts,
        };
        let client = match kind {
            Kind::Client { holder, waiter } => Some(conflict(holder, waiter)),
            Kind::Own | Kind::Server => None,
        };
        let key = self.object_key(info.target, info.resource);
        let thread = self.threads.entry(event.pid).or_default();
        let named = thread.cookie.filter(|_| thread.inside);
        if client.is_none()
            && let Some(waiter) = named.and_then(|cookie| self.locks.get_mut(&cookie))
        {
            waiter.other_conflict = true;
        }
        if served.counts {
            self.sums.target(self.node, info.target).conflict(kind);
            // The kernel's rule knows no kinds. Objects without contention between clients are not kept.
            if client.is_some() || self.sums.objects.contains(&key) {
                let object = self.sums.objects.of(key);
                object.contended.conflict(event.time_us, &self.rules);
                if let Some(conflict) = &client {
                    object.owners.seed(conflict.holder, conflict.holder_mode);
                }
            }
        }
        let Some(conflict) = client else { return };
        if let Some(holder) = self.locks.get_mut(&info.cookie) {
            holder.ast_for_client = true;
        }
        match named.and_then(|cookie| self.locks.get_mut(&cookie)) {
            Some(waiter) => {
                waiter.contended = true;
                waiter.undecided.push(conflict);
            }
            None => self.threads.entry(event.pid).or_default().undecided.push(conflict),
        }
    }

    fn object_key(&self, target: TargetName, resource: ResourceId) -> ObjectKey {
        ObjectKey { node: self.node, target, resource, inferred: false }
    }

    /// Once a waiter's extent is known, its conflicts can be told apart.
    fn decide(&mut self, cookie: u64) {
        let Some(lock) = self.locks.get_mut(&cookie) else { return };
        let conflicts = std::mem::take(&mut lock.undecided);
        let (target, resource, requested, mode) = (lock.target, lock.resource, lock.requested, lock.mode);
        for conflict in conflicts {
            self.count(&conflict, target, resource, requested, mode);
        }
    }

    fn count(
        &mut self,
        conflict: &Conflict,
        target: TargetName,
        resource: ResourceId,
        requested: Option<Extent>,
        mode: LockMode,
    ) {
        if !conflict.counts {
            return;
        }
        let overlap = overlap(requested, conflict.requested, conflict.granted);
        let sum = self.sums.sums_of(self.node, target);
        match overlap {
            Overlap::True => sum.true_conflicts += 1,
            Overlap::Expansion => sum.expansion_conflicts += 1,
            Overlap::Unknown => sum.unclassified_conflicts += 1,
        }
        match modes(conflict.holder_mode, mode) {
            Modes::WriteWrite => sum.write_write += 1,
            Modes::ReadWrite => sum.read_write += 1,
            Modes::Group => sum.group += 1,
            Modes::Other => {}
        }
        let pair = self.sums.pair(target, conflict.holder, conflict.waiter);
        pair.conflicts += 1;
        pair.true_conflicts += u64::from(overlap == Overlap::True);
        pair.expansion_conflicts += u64::from(overlap == Overlap::Expansion);
        let key = self.object_key(target, resource);
        self.sums.objects.of(key).conflict(conflict.holder, conflict.waiter, overlap);
        let (holder, waiter) = (conflict.holder, conflict.waiter);
        let contention = Contention::Conflict { overlap, holder, waiter, resource: Some(resource) };
        self.sums.contention.push((conflict.time_us, target, contention));
    }

    fn block(&mut self, time_us: i64, cookie: u64, served: &ServedRequest) {
        let Some(lock) = self.locks.get_mut(&cookie) else { return };
        if lock.blocked_us.is_some() || lock.granted_us.is_some() {
            return;
        }
        lock.blocked_us = Some(time_us);
        // It may wait behind a lock that has been called back for somebody else already: no conflict is
        // printed then, but it waits for another client all the same, if that is what the object is fought over.
        let key = ObjectKey { node: self.node, target: lock.target, resource: lock.resource, inferred: false };
        lock.contended |= !lock.other_conflict && self.sums.objects.contains(&key);
        let (target, job) = (lock.target, lock.job);
        if served.counts && lock.contended {
            self.sums.sums_of(self.node, target).blocked += 1;
            self.sums.jobs.entry(job).or_default().blocked += 1;
        }
    }

    fn grant(&mut self, time_us: i64, info: &LockState, served: &ServedRequest, handed_over: bool) {
        let Some(lock) = self.locks.get_mut(&info.cookie) else { return };
        if lock.granted_us.is_some() {
            return;
        }
        lock.granted_us = Some(time_us);
        let Party::Client(client) = lock.owner else { return };
        let (target, resource, mode, job, blocked_us) =
            (lock.target, lock.resource, lock.mode, lock.job, lock.blocked_us);
        let (contended, requested, granted, born) = (lock.contended, lock.requested, lock.granted, lock.born);
        self.let_go(time_us, (target, resource), (mode, granted), info.cookie, served.counts);
        if !served.counts {
            return;
        }
        let key = self.object_key(target, resource);
        let object = self.sums.objects.known(&key);
        let changed = match object {
            Some(object) => object.owners.grant(time_us, client, mode, &self.rules),
            // Objects are kept from their first conflict on; the owner before it is the conflict's holder.
            None => false,
        };
        let Some(blocked_us) = blocked_us else {
            if born {
                self.sums.sums_of(self.node, target).granted_at_once += 1;
            }
            return;
        };
        // Who let it go: the request in whose window the grant happens.
        let from = match served.party {
            Party::Client(from) if handed_over && from != client => Some(from),
            _ => None,
        };
        self.sums.sums_of(self.node, target).handovers += u64::from(changed || from.is_some());
        if !contended {
            return;
        }
        let wait_us = self.sums.waited((self.node, target), (client, job), [blocked_us, time_us], [time_us; 2]);
        if let Some(from) = from {
            let pair = self.sums.pair(target, from, client);
            pair.handovers += 1;
            pair.wait_us += wait_us;
        }
        if let Some(object) = self.sums.objects.known(&key) {
            object.wait_us += wait_us;
            object.wait.add(wait_us);
        }
        if let (Some(requested), Some(timeline)) = (requested, self.sums.timeline(&key)) {
            timeline.wait(Waited { client, start_us: blocked_us, end_us: Some(time_us), requested });
        }
    }

    /// A lock is granted: those in its way are over, even if the lines that say so are missing, or come later.
    fn let_go(
        &mut self,
        time_us: i64,
        object: (TargetName, ResourceId),
        (mode, granted): (LockMode, Option<Extent>),
        cookie: u64,
        counts: bool,
    ) {
        let Some(granted) = granted else { return };
        let in_the_way = |other: u64| {
            let lock = self.locks.get(&other)?;
            let overlaps = lock.granted?.overlaps(granted);
            (other != cookie && overlaps && excludes(lock.mode, mode)).then_some(other)
        };
        let called_back = self.under_ast.get(&object).into_iter().flatten();
        let over: Vec<u64> = called_back.filter_map(|&(_, other)| in_the_way(other)).collect();
        for other in over {
            self.release(time_us, other, counts);
        }
    }

    fn blocking_ast(&mut self, time_us: i64, info: &LockState, served: &ServedRequest) {
        let Some(lock) = self.locks.get_mut(&info.cookie) else { return };
        lock.ast_us = Some(time_us);
        if let Party::Client(holder) = lock.owner {
            self.under_ast.entry((lock.target, lock.resource)).or_default().push((holder, info.cookie));
            let key = self.object_key(info.target, info.resource);
            if served.counts
                && let Some(timeline) = self.sums.timeline(&key)
            {
                timeline.blocking_ast(time_us, holder);
            }
        }
    }

    /// Whose lock is in the way of a request: of the one whose thread meets or calls back this lock, or that gets this one after a wait.
    /// `None`: the line says nothing of this kind, or it is not known.
    pub(super) fn in_the_way(&self, step: LockStep, cookie: u64, served: &ServedRequest) -> Option<WaitFor> {
        let lock = self.locks.get(&cookie)?;
        match step {
            LockStep::Incompatible | LockStep::BlockingAst if lock.owner != Party::Unknown => {
                let is_client = matches!(Kind::new(lock.owner, served.party), Kind::Client { .. });
                Some(if is_client { WaitFor::Client } else { WaitFor::Other })
            }
            LockStep::Granted => lock.contended.then_some(WaitFor::Client),
            _ => None,
        }
    }

    /// A write by the holder of a lock under callback: what it has to flush before it can give it back.
    pub(super) fn row(&mut self, row: &RpcRow) {
        if row.direction() != Some(Direction::Write) || self.under_ast.is_empty() {
            return;
        }
        let (Some(target), Some(object)) = (row.target, row.object) else { return };
        let resource = super::rpc::resource_of(object);
        let Some(bytes) = row.size.best_bytes() else { return };
        let called_back = self.under_ast.get(&(target, resource)).into_iter().flatten();
        for (_, cookie) in called_back.filter(|(holder, _)| *holder == row.nid) {
            if let Some(lock) = self.locks.get_mut(cookie) {
                lock.flushed += bytes;
            }
        }
    }

    fn release(&mut self, time_us: i64, cookie: u64, counts: bool) {
        let Some(lock) = self.locks.get_mut(&cookie) else { return };
        if lock.released {
            return;
        }
        lock.released = true;
        let Party::Client(client) = lock.owner else { return };
        let lock = lock.clone();
        if let Some(ast_us) = lock.ast_us {
            let under = (lock.target, lock.resource);
            if let Some(locks) = self.under_ast.get_mut(&under) {
                locks.retain(|&(_, other)| other != cookie);
                if locks.is_empty() {
                    self.under_ast.remove(&under);
                }
            }
            if counts && lock.ast_for_client {
                let sum = self.sums.target(self.node, lock.target);
                sum.release.add(u64::try_from(time_us - ast_us).unwrap_or(0));
                sum.sums.flushed_bytes += lock.flushed;
            }
        }
        self.hold(&lock, client, Some(time_us), counts);
    }

    fn hold(&mut self, lock: &Lock, client: Symbol, end_us: Option<i64>, counts: bool) {
        let key = self.object_key(lock.target, lock.resource);
        if let (true, Some(granted), Some(requested)) = (counts, lock.granted, lock.requested)
            && let Some(timeline) = self.sums.timeline(&key)
        {
            let start_us = lock.granted_us;
            timeline.hold(Held { client, mode: lock.mode, start_us, end_us, granted, requested });
        }
    }

    /// The lock is gone.
    fn forget(&mut self, time_us: i64, cookie: u64, counts: bool) {
        self.decide(cookie);
        let Some(lock) = self.locks.remove(&cookie) else { return };
        if let (Some(blocked_us), None, true, true) = (lock.blocked_us, lock.granted_us, lock.contended, counts) {
            self.open_wait(&lock, blocked_us, Some(time_us));
        }
    }

    /// A wait that ended without a grant, or not within the log.
    fn open_wait(&mut self, lock: &Lock, blocked_us: i64, end_us: Option<i64>) {
        self.sums.sums_of(self.node, lock.target).open_waits += 1;
        let key = self.object_key(lock.target, lock.resource);
        if let (Party::Client(client), Some(requested)) = (lock.owner, lock.requested)
            && let Some(timeline) = self.sums.timeline(&key)
        {
            timeline.wait(Waited { client, start_us: blocked_us, end_us, requested });
        }
    }

    /// The kernel's own count; its line names a resource but no target, which the thread's lock tells.
    pub(super) fn kernel(&mut self, pid: u32, resource: ResourceId, added: u32, window: u32) {
        // Only servers that have the sliding window print it.
        if !self.chosen {
            self.rules = Rules::MASTER;
        }
        let target = self
            .threads
            .get(&pid)
            .and_then(|thread| self.locks.get(&thread.cookie?))
            .filter(|lock| lock.resource == resource)
            .map(|lock| lock.target);
        if let Some(target) = target {
            let key = self.object_key(target, resource);
            if let Some(object) = self.sums.objects.known(&key) {
                object.kernel(added, window);
            }
        }
    }

    /// The log is over: what is still held or waited for.
    pub(super) fn finish(&mut self) {
        let mut cookies: Vec<u64> = self.locks.keys().copied().collect();
        cookies.sort_unstable();
        for cookie in cookies {
            self.decide(cookie);
            let Some(lock) = self.locks.get(&cookie).cloned() else { continue };
            if let (Some(blocked_us), None, true) = (lock.blocked_us, lock.granted_us, lock.contended) {
                self.open_wait(&lock, blocked_us, None);
            }
            if let (Party::Client(client), false) = (lock.owner, lock.released) {
                self.hold(&lock, client, None, true);
            }
        }
        self.sums.objects.each(|object| object.owners.close(&self.rules));
    }
}

/// Whether of two locks of the same bytes only one can be granted. Other modes than those for reads and writes are left open.
fn excludes(a: LockMode, b: LockMode) -> bool {
    matches!((a, b), (LockMode::Pw, LockMode::Pw | LockMode::Pr) | (LockMode::Pr, LockMode::Pw))
}

/// What was requested against what was requested and granted.
fn overlap(waiter: Option<Extent>, holder: Option<Extent>, holder_granted: Option<Extent>) -> Overlap {
    match (waiter, holder) {
        (Some(waiter), Some(holder)) if waiter.overlaps(holder) => Overlap::True,
        (Some(waiter), Some(_)) if holder_granted.is_none_or(|granted| waiter.overlaps(granted)) => Overlap::Expansion,
        _ => Overlap::Unknown,
    }
}

fn modes(holder: LockMode, waiter: LockMode) -> Modes {
    let write = |mode| matches!(mode, LockMode::Pw | LockMode::Ex | LockMode::Cw);
    match (holder, waiter) {
        (LockMode::Group, _) | (_, LockMode::Group) => Modes::Group,
        (a, b) if write(a) && write(b) => Modes::WriteWrite,
        (a, b) if write(a) || write(b) => Modes::ReadWrite,
        _ => Modes::Other,
    }
}
