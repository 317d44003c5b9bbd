//! The tier without dlmtrace: callbacks inside the windows of requests.
//!
//! A service thread sends blocking callbacks while it handles the request that is in conflict, and
//! completion callbacks while it handles the request that released a lock; callbacks name their target. What
//! rpctrace does not show is inferred and labelled: the object from what holder and waiter read and wrote
//! around the callback, the end of a wait from the next completion to that client on that target (but see [`Waiting::ended`]), a change
//! of owner from the order of completions (every mode is taken for an exclusive one).
//!
//! Only a request for a lock ends so. For direct reads and writes, truncation and the like the server takes the lock itself, within the
//! request: nobody is told, and the wait ends with the request, at the latest.

use std::collections::VecDeque;

use lioprof_model::{RpcRow, Symbol};
use lustre_debuglog::message::ObjectName;
use lustre_debuglog::{LockMode, Opcode, ResourceId, TargetName, Xid};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::heaviest::ObjectKey;
use super::parties::{Kind, Overlap, Party, ServedRequest};
use super::rules::Rules;
use super::sums::{Contention, LockSums};
use super::waits::{GIVE_UP_US, Waiting, Waits};

/// How far around a callback reads and writes are taken for what it was about.
const AROUND_US: i64 = 2_000_000;
/// Clients on targets whose objects are remembered at least.
const MIN_FORGET: usize = 1 << 12;
/// Objects remembered per client and target.
const MAX_RECENT: usize = 64;

/// The LDLM resource of an object as a message names it.
pub(super) fn resource_of(object: ObjectName) -> ResourceId {
    match object {
        ObjectName::Fid(fid) => fid.to_resource(),
        ObjectName::Resource(first, second) => ResourceId([first, second, 0, 0]),
    }
}

/// A client on a target.
type On = (TargetName, Symbol);

/// What was read or written last, by clients on targets.
type Recent = FxHashMap<On, SmallVec<[(ResourceId, i64); 1]>>;

/// When a client last read or wrote any object of a target.
fn last_use(recent: &Recent, on: On) -> Option<i64> {
    recent.get(&on)?.iter().map(|(_, last_us)| *last_us).max()
}

/// What still needs an object.
#[derive(Clone, Copy, Debug)]
enum About {
    Conflict,
    /// A grant, with the microseconds waited, if they are known.
    Grant(Option<u64>),
}

/// Something between two clients whose object will show in what they read and write next.
#[derive(Clone, Copy, Debug)]
struct Open {
    time_us: i64,
    target: TargetName,
    from: Symbol,
    to: Symbol,
    about: About,
}

#[derive(Clone)]
pub(super) struct RpcTracker {
    node: Symbol,
    pub(super) rules: Rules,
    pub(super) sums: LockSums,
    waits: FxHashMap<On, Waits>,
    /// Requests for which the server itself waits, by their sender and xid.
    inside: FxHashMap<(Symbol, Xid), (TargetName, Waiting)>,
    /// With so many of them, those whose end is not in the log are given up.
    give_up_at: usize,
    /// The last enqueue of each client: end of its handling, job.
    enqueues: FxHashMap<Symbol, Waiting>,
    /// When a client was last in conflict with another one on a target.
    in_conflict: FxHashMap<On, i64>,
    /// Last use of objects, by those who used any lately.
    recent: Recent,
    /// With so many of them, those who did so long ago are forgotten.
    forget_at: usize,
    open: VecDeque<Open>,
    /// The request (by pid's client and xid) that has been counted as blocked already.
    last_blocked: Option<(Symbol, Xid)>,
}

impl RpcTracker {
    pub(super) fn new(node: Symbol, rules: Rules) -> Self {
        Self {
            node,
            rules,
            sums: LockSums::default(),
            waits: FxHashMap::default(),
            inside: FxHashMap::default(),
            give_up_at: MIN_FORGET,
            enqueues: FxHashMap::default(),
            in_conflict: FxHashMap::default(),
            recent: FxHashMap::default(),
            forget_at: MIN_FORGET,
            open: VecDeque::new(),
            last_blocked: None,
        }
    }

    /// The node sends a callback.
    pub(super) fn sending(
        &mut self,
        time_us: i64,
        opcode: Opcode,
        target: TargetName,
        nid: Symbol,
        served: &ServedRequest,
    ) {
        self.settle(time_us - AROUND_US);
        match opcode {
            Opcode::LDLM_BL_CALLBACK => self.blocking(time_us, target, nid, served),
            Opcode::LDLM_CP_CALLBACK => self.completion(time_us, target, nid, served),
            _ => {}
        }
    }

    fn blocking(&mut self, time_us: i64, target: TargetName, holder: Symbol, served: &ServedRequest) {
        self.waits.entry((target, holder)).or_default().called_back(time_us);
        let kind = Kind::new(Party::Client(holder), served.party);
        if !served.counts {
            return;
        }
        self.sums.target(self.node, target).conflict(kind);
        let (Kind::Client { holder, waiter }, Some(rpc)) = (kind, served.window) else { return };
        self.sums.pair(target, holder, waiter).conflicts += 1;
        self.in_conflict.extend([((target, holder), time_us), ((target, waiter), time_us)]);
        let contention = Contention::Conflict { overlap: Overlap::Unknown, holder, waiter, resource: None };
        self.sums.contention.push((time_us, target, contention));
        self.open.push_back(Open { time_us, target, from: holder, to: waiter, about: About::Conflict });
        // One request may call several holders back; it waits once.
        if self.last_blocked.replace((rpc.nid, rpc.xid)) == Some((rpc.nid, rpc.xid)) {
            if rpc.opcode == Opcode::LDLM_ENQUEUE {
                self.waits.entry((target, waiter)).or_default().for_several();
            }
        } else {
            self.sums.sums_of(self.node, target).blocked += 1;
            self.sums.jobs.entry(rpc.job).or_default().blocked += 1;
            let waiting = Waiting::new(time_us, rpc.job, Some(holder));
            if rpc.opcode == Opcode::LDLM_ENQUEUE {
                self.waits.entry((target, waiter)).or_default().begin(waiting);
                self.enqueues.remove(&waiter);
            } else {
                if self.inside.len() >= self.give_up_at {
                    self.give_up_inside(time_us);
                }
                self.inside.insert((rpc.nid, rpc.xid), (target, waiting));
            }
        }
    }

    /// Forgets requests whose end is not in the log.
    fn give_up_inside(&mut self, now_us: i64) {
        for (_, (target, _)) in self.inside.extract_if(|_, (_, waiting)| now_us - waiting.since_us > GIVE_UP_US) {
            self.sums.sums_of(self.node, target).open_waits += 1;
        }
        self.give_up_at = MIN_FORGET.max(2 * self.inside.len());
    }

    /// A request has ended; whether it was one for which the server waited.
    pub(super) fn ended(&mut self, row: &RpcRow) -> bool {
        if self.inside.is_empty() {
            return false;
        }
        let Some((target, Waiting { since_us, job, .. })) = self.inside.remove(&(row.nid, row.xid)) else {
            return false;
        };
        // The lock may have been there long before: of the request it is all that is known.
        self.sums.waited((self.node, target), (row.nid, job), [since_us, row.end_us], [since_us, row.end_us]);
        true
    }

    fn completion(&mut self, time_us: i64, target: TargetName, waiter: Symbol, served: &ServedRequest) {
        let waits = self.waits.entry((target, waiter)).or_default();
        let given_up = waits.give_up(time_us);
        let recent = waits.answer_recent();
        // No callback was sent for it, because the holder had been called back already: it is the last
        // request of this client that was answered.
        let last = if recent.is_none() { self.enqueues.remove(&waiter) } else { None };
        // Who has used the target since, and long ago, had its lock then.
        let used_us = last_use(&self.recent, (target, waiter));
        let had = |last: &Waiting| used_us.is_some_and(|us| us > last.since_us && time_us - us > AROUND_US);
        let guessed = last.filter(|last| waits.is_recent(last.since_us) && !had(last));
        let known = if guessed.is_none() { recent.or_else(|| waits.answer_latest()) } else { None };
        if given_up > 0 {
            self.sums.sums_of(self.node, target).open_waits += given_up;
        }
        let from = match served.party {
            Party::Client(from) if from != waiter => Some(from),
            _ => None,
        };
        // A client whose lock was called back asks for it again at once, and gets it in the very request
        // that gives the old one back: its window shows the client itself.
        let fight = self.in_conflict.get(&(target, waiter)).is_some_and(|&last| time_us - last <= AROUND_US);
        if !served.counts || (known.is_none() && from.is_none() && !fight) {
            return;
        }
        if let (None, Some(waiting)) = (known, guessed) {
            self.sums.sums_of(self.node, target).blocked += 1;
            self.sums.jobs.entry(waiting.job).or_default().blocked += 1;
        }
        let waiting = known.or(guessed);
        self.sums.sums_of(self.node, target).handovers += u64::from(from.is_some());
        let wait_us = waiting.map(|it| {
            let last_us = it.holder.and_then(|holder| last_use(&self.recent, (target, holder)));
            let until_us = it.ended(time_us, from, last_us);
            self.sums.waited((self.node, target), (waiter, it.job), [it.since_us, until_us], [until_us, time_us])
        });
        if let Some(from) = from {
            let pair = self.sums.pair(target, from, waiter);
            pair.handovers += 1;
            pair.wait_us += wait_us.unwrap_or(0);
        }
        let from = from.unwrap_or(waiter);
        self.open.push_back(Open { time_us, target, from, to: waiter, about: About::Grant(wait_us) });
    }

    /// A request was handled.
    pub(super) fn row(&mut self, row: &RpcRow, server: bool) {
        if row.opcode == Opcode::LDLM_ENQUEUE {
            if !server && !row.failed() && self.last_blocked != Some((row.nid, row.xid)) {
                self.enqueues.insert(row.nid, Waiting::new(row.end_us, row.job, None));
            }
            return;
        }
        let Some(target) = row.target else { return };
        if !self.waits.is_empty()
            && let Some(waits) = self.waits.get_mut(&(target, row.nid))
            && let Some(arrival_us) = row.arrival_us()
        {
            waits.went_on(arrival_us);
        }
        let Some(object) = row.object else { return };
        if self.recent.len() >= self.forget_at {
            self.forget(row.end_us);
        }
        let resource = resource_of(object);
        let recent = self.recent.entry((target, row.nid)).or_default();
        match recent.iter_mut().find(|(known, _)| *known == resource) {
            Some((_, last_us)) => *last_us = row.end_us,
            None => {
                if recent.len() >= MAX_RECENT
                    && let Some(oldest) = (0..recent.len()).min_by_key(|&i| recent[i].1)
                {
                    recent.swap_remove(oldest);
                }
                recent.push((resource, row.end_us));
            }
        }
    }

    /// Forgets what was used too long ago for anything that is open or still to come.
    fn forget(&mut self, now_us: i64) {
        let oldest_us = self.open.iter().map(|open| open.time_us).fold(now_us, i64::min) - AROUND_US;
        self.recent.retain(|_, recent| recent.iter().any(|(_, last_us)| *last_us >= oldest_us));
        self.forget_at = MIN_FORGET.max(2 * self.recent.len());
    }

    /// Finds the objects of what happened up to this time.
    fn settle(&mut self, until_us: i64) {
        while let Some(open) = self.open.front().copied().filter(|open| open.time_us <= until_us) {
            self.open.pop_front();
            if let Some(resource) = self.common(&open) {
                self.about(&open, resource);
            }
        }
    }

    /// The one object that both clients used around that time; none if there are several.
    fn common(&self, open: &Open) -> Option<ResourceId> {
        let near = |client: Symbol| {
            let recent = self.recent.get(&(open.target, client)).map_or(&[][..], SmallVec::as_slice);
            recent.iter().filter(move |(_, last_us)| *last_us >= open.time_us - AROUND_US).map(|(object, _)| *object)
        };
        // Of a client's own objects only one that is known to be fought over will do.
        let fought = |resource: ResourceId| {
            let key = ObjectKey { node: self.node, target: open.target, resource, inferred: true };
            self.sums.objects.contains(&key)
        };
        let mut both = near(open.from)
            .filter(|object| near(open.to).any(|other| other == *object))
            .filter(|object| open.from != open.to || fought(*object));
        both.next().filter(|_| both.next().is_none())
    }

    fn about(&mut self, open: &Open, resource: ResourceId) {
        let key = ObjectKey { node: self.node, target: open.target, resource, inferred: true };
        let object = self.sums.objects.of(key);
        match open.about {
            About::Conflict => {
                object.conflict(open.from, open.to, Overlap::Unknown);
                object.contended.conflict(open.time_us, &self.rules);
            }
            About::Grant(wait_us) => {
                object.clients.extend([open.from, open.to]);
                object.owners.seed(open.from, LockMode::Pw);
                object.owners.grant(open.time_us, open.to, LockMode::Pw, &self.rules);
                if let Some(wait_us) = wait_us {
                    object.wait_us += wait_us;
                    object.wait.add(wait_us);
                }
            }
        }
    }

    /// The log is over.
    pub(super) fn finish(&mut self) {
        self.settle(i64::MAX);
        for (&(target, _), waits) in &self.waits {
            self.sums.sums_of(self.node, target).open_waits += waits.len();
        }
        for (target, _) in self.inside.values() {
            self.sums.sums_of(self.node, *target).open_waits += 1;
        }
        self.sums.objects.each(|object| object.owners.close(&self.rules));
    }
}

#[cfg(test)]
mod tests {
    use lioprof_model::{RpcWindow, TargetEvidence};
    use lustre_debuglog::Fid;

    use super::*;

    fn write(nid: u32, object: u32, end_us: i64) -> RpcRow {
        RpcRow {
            nid: Symbol(nid),
            client_uuid: Symbol(nid),
            xid: Xid(u64::from(nid)),
            service_us: Some(10),
            total_us: Some(20),
            target: Some(ost()),
            target_evidence: TargetEvidence::RefreshLine,
            object: Some(ObjectName::Fid(Fid { seq: 0x2_8000_0400, oid: object, ver: 0 })),
            ..RpcRow::made_up(Symbol(0), Opcode::OST_WRITE, end_us)
        }
    }

    fn ost() -> TargetName {
        TargetName::parse_bytes(b"lustre-OST0001").unwrap()
    }

    #[test]
    fn what_the_server_waits_for_itself_ends_with_the_request() {
        let mut tracker = RpcTracker::new(Symbol(0), Rules::TO_2_17);
        let window = |opcode, xid| {
            let window = RpcWindow { nid: Symbol(2), client_uuid: Symbol(2), xid: Xid(xid), opcode, job: None };
            ServedRequest { window: Some(window), party: Party::Client(Symbol(2)), counts: true }
        };
        let (read, enqueue) = (window(Opcode::OST_READ, 5), window(Opcode::LDLM_ENQUEUE, 6));
        for served in [&read, &enqueue] {
            tracker.sending(1_000, Opcode::LDLM_BL_CALLBACK, ost(), Symbol(1), served);
        }
        let of = |xid, end_us| RpcRow { xid: Xid(xid), ..write(2, 7, end_us) };
        assert_eq!(
            [of(4, 2_000), of(5, 3_000), of(5, 4_000), of(6, 5_000)].map(|row| tracker.ended(&row)),
            [false, true, false, false]
        );
        // The completion belongs to the request for a lock.
        tracker.sending(61_000, Opcode::LDLM_CP_CALLBACK, ost(), Symbol(2), &window(Opcode::LDLM_CANCEL, 9));
        assert_eq!(tracker.sums.sums_of(Symbol(0), ost()).wait_us, 2_000 + 60_000);
        // Of a request that never ends, the wait stays open.
        tracker.sending(70_000, Opcode::LDLM_BL_CALLBACK, ost(), Symbol(1), &window(Opcode::OST_PUNCH, 10));
        tracker.finish();
        assert_eq!(tracker.sums.sums_of(Symbol(0), ost()).open_waits, 1);
    }

    #[test]
    fn requests_whose_end_is_missing_are_given_up() {
        let mut tracker = RpcTracker::new(Symbol(0), Rules::TO_2_17);
        let sent = 4 * MIN_FORGET as u64;
        for xid in 0..sent {
            let window = RpcWindow {
                nid: Symbol(2),
                client_uuid: Symbol(2),
                xid: Xid(xid),
                opcode: Opcode::OST_WRITE,
                job: None,
            };
            let served = ServedRequest { window: Some(window), party: Party::Client(Symbol(2)), counts: true };
            let time_us = i64::try_from(xid).unwrap() * 1_000_000;
            tracker.sending(time_us, Opcode::LDLM_BL_CALLBACK, ost(), Symbol(1), &served);
        }
        assert!(tracker.inside.len() <= MIN_FORGET, "{}", tracker.inside.len());
        tracker.finish();
        assert_eq!(tracker.sums.sums_of(Symbol(0), ost()).open_waits, sent);
    }

    #[test]
    fn what_a_conflict_was_about_is_known_however_many_clients_come_after_it() {
        const CLIENTS: u32 = 40_000;
        let mut tracker = RpcTracker::new(Symbol(0), Rules::TO_2_17);
        for (nid, us) in [(1, 0), (2, 1_000)] {
            tracker.row(&write(nid, 7, us), false);
        }
        let window =
            RpcWindow { nid: Symbol(2), client_uuid: Symbol(2), xid: Xid(5), opcode: Opcode::LDLM_ENQUEUE, job: None };
        let served = ServedRequest { window: Some(window), party: Party::Client(Symbol(2)), counts: true };
        tracker.sending(1_500_000, Opcode::LDLM_BL_CALLBACK, ost(), Symbol(1), &served);
        // A thousand per second, each with an object of its own.
        for nid in 3..CLIENTS {
            tracker.row(&write(nid, 100 + nid, 1_500_000 + 1_000 * i64::from(nid)), false);
        }
        let clients = tracker.recent.len();
        assert!(tracker.recent.contains_key(&(ost(), Symbol(1))));
        tracker.finish();
        let conflicts: u64 = tracker.sums.objects.iter().map(|(_, object)| object.conflicts).sum();
        assert_eq!((tracker.sums.objects.iter().count(), conflicts), (1, 1));
        // Nothing is open any more, but for what is still to come.
        for nid in CLIENTS..2 * CLIENTS {
            tracker.row(&write(nid, 100 + nid, 1_500_000 + 1_000 * i64::from(nid)), false);
        }
        assert_eq!(clients, CLIENTS as usize - 1);
        assert!(tracker.recent.len() <= 2 * MIN_FORGET, "{}", tracker.recent.len());
        assert!(!tracker.recent.contains_key(&(ost(), Symbol(1))));
    }
}
