//! Opens, closes, stats, fsyncs and reads of directories of clients that log none (2.12, 2.15): from the lines with which they begin (mask
//! vfstrace) and from their requests.
//!
//! A thread runs one call after the other, and each request that it sends itself is of the call that it is in. A call is found by what only
//! its kind does (see [`Evidence`]). It begins with its walk along the path, its first line or its first request, and ends with the last
//! line or reply that is certainly its own: the real call lasted at least so long. Requests that may be of one call or of another are of
//! none.
//!
//! What the kinds do, read in `lustre/llite` at 2.12.9, 2.15.8 and 2.17.57:
//!
//! * An open tests `MAY_OPEN` once: a file that exists before its request, one that is created after it.
//! * A stat asks `ll_inode_revalidate`; so does every walk, for the root, followed by the test of the root's permission.
//! * fsync writes the pages, waits, sends MDS_SYNC itself, and then has `ptlrpcd` send an OST_SYNC for each object.
//! * A close sends MDS_CLOSE, unless the open handle is kept; then a later unlink may send it.

use lioprof_model::{BeginEvidence, Evidence, WalkOf};
use lustre_debuglog::vocab::OperationKind;
use lustre_debuglog::{Fid, Opcode};
use rustc_hash::FxHashMap;

use super::marks::{Mark, Marks, What};
use super::requests::{LockRequest, Sent};
use super::threads::{Found, Ghost};
use super::walk::{MAY_OPEN, MAY_OTHERS, REST_US, Walk, is_by_the_way, is_of_walk};

/// After its MDS_SYNC an fsync has its OST_SYNCs sent at once: `ptlrpcd` may be busy, but not for longer.
const LATE_SYNC_US: i64 = 1_000_000;

/// What was inferred of a client's threads.
#[derive(Default, Debug)]
pub(super) struct Inferred {
    /// By thread, in order.
    pub(super) operations: FxHashMap<u32, Vec<Found>>,
    pub(super) ghosts: Vec<Ghost>,
}

/// Finds calls between the operations that have lines of their own. RPCs that other threads sent for one of them are given its thread.
pub(super) fn infer(
    marks: &Marks,
    rpcs: &mut [Sent],
    locks: &[LockRequest],
    logged: &FxHashMap<u32, Vec<Found>>,
) -> Inferred {
    let mut all = Inferred::default();
    if !marks.tell_of_calls() {
        return all;
    }
    let mut syncs = Vec::new();
    let mut threads: Vec<&u32> = marks.by_thread.keys().filter(|pid| !marks.kernel.contains(pid)).collect();
    threads.sort_unstable();
    for &pid in threads {
        let windows = logged.get(&pid).map(Vec::as_slice).unwrap_or_default();
        let mut thread =
            Thread { log: marks, rpcs, locks, call: None, built_us: None, found: Vec::new(), ghosts: Vec::new() };
        thread.run(&marks.by_thread[&pid], windows);
        all.ghosts.append(&mut thread.ghosts);
        let found = std::mem::take(&mut thread.found);
        let of_fsyncs = found.iter().enumerate().filter(|(_, (found, _))| found.kind == OperationKind::Fsync);
        syncs.extend(of_fsyncs.map(|(at, (found, until_us))| Sync {
            pid,
            at,
            asked_us: found.end_us,
            until_us: *until_us,
        }));
        if !found.is_empty() {
            all.operations.insert(pid, found.into_iter().map(|(found, _)| found).collect());
        }
    }
    own_syncs(syncs, rpcs, &mut all);
    all
}

/// An fsync whose MDS_SYNC is answered.
struct Sync {
    pid: u32,
    at: usize,
    asked_us: i64,
    /// When its thread goes on.
    until_us: i64,
}

/// Gives each OST_SYNC to the only fsync that can have caused it.
fn own_syncs(mut syncs: Vec<Sync>, rpcs: &mut [Sent], all: &mut Inferred) {
    syncs.sort_by_key(|sync| sync.asked_us);
    for rpc in rpcs.iter_mut().filter(|rpc| rpc.opcode == Opcode::OST_SYNC) {
        if all.operations.contains_key(&rpc.pid) {
            continue;
        }
        let from = syncs.partition_point(|sync| sync.asked_us < rpc.sent_us.saturating_sub(LATE_SYNC_US));
        let to = syncs.partition_point(|sync| sync.asked_us <= rpc.sent_us);
        let mut can = syncs[from..to].iter().filter(|sync| sync.until_us >= rpc.sent_us);
        let (Some(only), None, Some(answered_us)) = (can.next(), can.next(), rpc.answered_us) else { continue };
        if let Some(found) = all.operations.get_mut(&only.pid).and_then(|found| found.get_mut(only.at)) {
            rpc.sent_for = Some(only.pid);
            found.end_us = found.end_us.max(answered_us.min(only.until_us));
        }
    }
}

/// A call.
#[derive(Debug)]
struct Call {
    begin_us: i64,
    begin_evidence: BeginEvidence,
    /// Its last line or reply so far.
    last_us: i64,
    /// Until its kind is known.
    walk: Option<Walk>,
    is: Option<Is>,
    /// Its RPCs without a reply so far.
    in_flight: u32,
    /// Locks that it asked for.
    locks: Vec<usize>,
}

/// What kind of call it is.
#[derive(Clone, Copy, Debug)]
struct Is {
    kind: OperationKind,
    fid: Option<Fid>,
    evidence: Evidence,
    /// Its own first line has come.
    entered: bool,
    /// `MAY_OPEN` was tested, or attributes were asked for.
    tested: bool,
    /// The RPC that its kind sends has been sent.
    asked: bool,
}

impl Is {
    fn new(kind: OperationKind, fid: Option<Fid>, evidence: Evidence) -> Self {
        Self { kind, fid, evidence, entered: false, tested: false, asked: false }
    }
}

struct Thread<'a> {
    log: &'a Marks,
    rpcs: &'a [Sent],
    locks: &'a [LockRequest],
    call: Option<Call>,
    /// When the first of the bulk RPCs was put together that nothing else of the thread has followed.
    built_us: Option<i64>,
    /// Calls, each with the time of the thread's next line.
    found: Vec<(Found, i64)>,
    ghosts: Vec<Ghost>,
}

impl Thread<'_> {
    fn run(&mut self, marks: &[Mark], windows: &[Found]) {
        let mut windows = windows.iter().peekable();
        for (at, mark) in marks.iter().enumerate() {
            while windows.next_if(|window| window.end_us < mark.time_us).is_some() {}
            if windows.peek().is_some_and(|window| window.begin_us <= mark.time_us) {
                self.end(mark.time_us);
                self.built_us = None;
                continue;
            }
            self.mark(mark, marks.get(at + 1..).unwrap_or_default());
        }
        self.end(i64::MAX);
    }

    fn mark(&mut self, mark: &Mark, next: &[Mark]) {
        let time_us = mark.time_us;
        let built_us = self.built_us.take();
        match mark.what {
            What::Walked { fid, name, is_root, access, of } => {
                self.rest(time_us);
                let access = access.unwrap_or(0);
                if access & MAY_OPEN != 0 {
                    self.may_open(fid, time_us);
                } else if access & MAY_OTHERS != 0 {
                    self.end(time_us);
                } else if of == WalkOf::Getattr && !(is_root && is_walk_of_root(next)) {
                    self.getattr(fid, time_us);
                } else if of == WalkOf::Open {
                    self.lookup_of_open(fid, name, time_us);
                } else {
                    self.step(fid, (name, is_root), Some(access).filter(|access| *access != 0), time_us);
                }
            }
            What::Entered { kind: Some(kind), fid } => self.entered(kind, fid, time_us),
            What::Entered { kind: None, .. } | What::Other => self.end(time_us),
            What::WentOn => {
                self.rest(time_us);
                if let Some(call) = &mut self.call {
                    call.last_us = time_us;
                }
            }
            What::Locking(lock) => {
                if let Some(call) = &mut self.call {
                    call.locks.push(lock);
                }
                self.built_us = built_us;
            }
            What::Built => self.built(built_us.unwrap_or(time_us), time_us),
            What::Sent(rpc) => self.sent(rpc, built_us, time_us),
            What::Replied(rpc) => {
                self.built_us = built_us;
                if let Some(call) = self.call.as_mut().filter(|call| call.begin_us <= self.rpcs[rpc].sent_us) {
                    call.in_flight = call.in_flight.saturating_sub(1);
                    call.last_us = time_us;
                }
            }
        }
    }

    /// After a rest, steps are those of another call.
    fn rest(&mut self, time_us: i64) {
        if self.call.as_ref().is_some_and(|call| call.in_flight == 0 && time_us - call.last_us > REST_US) {
            self.end(time_us);
        }
    }

    fn begin(&mut self, (begin_us, begin_evidence): (i64, BeginEvidence), is: Is, time_us: i64) {
        self.end(begin_us);
        let call = Call {
            begin_us,
            begin_evidence,
            last_us: time_us,
            walk: None,
            is: Some(is),
            in_flight: 0,
            locks: Vec::new(),
        };
        self.call = Some(call);
    }

    /// The walk has led to this call, or the call begins here.
    fn become_or_begin(&mut self, is: Is, time_us: i64) {
        match self.call.as_mut().filter(|call| call.is.is_none()) {
            Some(call) => {
                call.is = Some(is);
                call.walk = None;
                call.last_us = time_us;
            }
            None => self.begin((time_us, BeginEvidence::FirstLine), is, time_us),
        }
    }

    /// The kind of the call that the thread is in, if it is this one.
    fn is_in(&mut self, kind: OperationKind) -> Option<(&mut Is, &mut i64)> {
        let call = self.call.as_mut()?;
        let is = call.is.as_mut().filter(|is| is.kind == kind)?;
        Some((is, &mut call.last_us))
    }

    /// A step of a walk.
    fn step(
        &mut self,
        fid: Option<Fid>,
        name: (Option<lioprof_model::NameHash>, bool),
        access: Option<u32>,
        time_us: i64,
    ) {
        if self.call.as_ref().is_some_and(|call| call.is.is_some()) {
            self.end(time_us);
        }
        let call = self.call.get_or_insert_with(|| Call {
            begin_us: time_us,
            begin_evidence: BeginEvidence::PathWalk,
            last_us: time_us,
            walk: None,
            is: None,
            in_flight: 0,
            locks: Vec::new(),
        });
        let walk = call.walk.get_or_insert_with(|| Walk::begun(time_us));
        walk.step(fid, name, access, time_us);
        if call.begin_us != walk.begin_us {
            // What went before was a call of its own, which is not known.
            call.begin_us = walk.begin_us;
            call.locks.retain(|lock| self.locks[*lock].started_us >= walk.begin_us);
        }
        call.last_us = time_us;
    }

    /// `MAY_OPEN` is tested: once in each open.
    fn may_open(&mut self, fid: Option<Fid>, time_us: i64) {
        if let Some((is, last_us)) = self.is_in(OperationKind::Open)
            && !is.tested
        {
            is.tested = true;
            is.fid = is.fid.or(fid);
            *last_us = time_us;
            return;
        }
        let is = Is { tested: true, ..Is::new(OperationKind::Open, fid, Evidence::EntryLine) };
        self.become_or_begin(is, time_us);
    }

    /// A name is looked up in order to open it.
    fn lookup_of_open(&mut self, fid: Option<Fid>, name: Option<lioprof_model::NameHash>, time_us: i64) {
        if self.is_in(OperationKind::Open).is_some_and(|(is, _)| is.asked || is.entered || is.tested) {
            self.end(time_us);
        }
        if self.is_in(OperationKind::Open).is_none() {
            self.step(fid, (name, false), None, time_us);
            self.become_or_begin(Is::new(OperationKind::Open, None, Evidence::EntryLine), time_us);
        }
    }

    /// Attributes are asked for: a stat.
    fn getattr(&mut self, fid: Option<Fid>, time_us: i64) {
        if let Some((is, last_us)) = self.is_in(OperationKind::Stat)
            && is.entered
            && !is.tested
            && is.fid == fid
        {
            is.tested = true;
            *last_us = time_us;
            return;
        }
        let is = Is { tested: true, ..Is::new(OperationKind::Stat, fid, Evidence::EntryLine) };
        self.become_or_begin(is, time_us);
    }

    /// The first line of a call.
    fn entered(&mut self, kind: OperationKind, fid: Option<Fid>, time_us: i64) {
        let by_path = matches!(kind, OperationKind::Open | OperationKind::Stat);
        if by_path
            && let Some((is, last_us)) = self.is_in(kind)
            && !is.entered
            && (is.fid.is_none() || is.fid == fid)
        {
            is.entered = true;
            is.fid = fid;
            *last_us = time_us;
            return;
        }
        let is = Is { entered: true, ..Is::new(kind, fid, Evidence::EntryLine) };
        if by_path {
            self.rest(time_us);
            self.become_or_begin(is, time_us);
        } else if matches!(kind, OperationKind::Close | OperationKind::Fsync) {
            self.begin((time_us, BeginEvidence::FirstLine), is, time_us);
        } else {
            self.end(time_us);
        }
    }

    /// The thread puts a bulk RPC together: within an fsync, or in something else that writes.
    fn built(&mut self, first_us: i64, time_us: i64) {
        if let Some((is, last_us)) = self.is_in(OperationKind::Fsync)
            && !is.asked
        {
            *last_us = time_us;
            return;
        }
        self.end(time_us);
        self.built_us = Some(first_us);
    }

    fn sent(&mut self, rpc: usize, built_us: Option<i64>, time_us: i64) {
        let Sent { opcode, intent, answered_us, lock, .. } = self.rpcs[rpc];
        if is_by_the_way(opcode) {
            self.built_us = built_us;
            if let Some(call) = self.call.as_mut() {
                // The thread waits for some of these, and not for others.
                call.in_flight += u32::from(answered_us.is_some());
            }
            return;
        }
        if !self.belongs(rpc, time_us) {
            let begun = match opcode {
                Opcode::LDLM_ENQUEUE if intent.is_some_and(|intent| intent.is_open()) => {
                    Some((OperationKind::Open, Evidence::OpenIntent))
                }
                Opcode::LDLM_ENQUEUE if !self.log.has_steps && intent.is_some_and(|intent| intent.is_getattr()) => {
                    Some((OperationKind::Stat, Evidence::GetattrIntent))
                }
                Opcode::MDS_CLOSE if !self.log.entered.contains(&OperationKind::Close) => {
                    Some((OperationKind::Close, Evidence::CloseRequest))
                }
                Opcode::MDS_SYNC => Some((OperationKind::Fsync, Evidence::SyncRequest)),
                Opcode::MDS_READPAGE if !self.log.has_steps => {
                    Some((OperationKind::Readdir, Evidence::ReadpageRequest))
                }
                _ => None,
            };
            let Some((kind, evidence)) = begun else {
                self.drop_if_part_of(opcode, intent.is_some(), time_us);
                self.end(time_us);
                return;
            };
            self.drop_if_part_of(opcode, intent.is_some(), time_us);
            // What was put together just before is the fsync's, unless a write may have done that.
            let put_together_us = built_us.filter(|_| kind == OperationKind::Fsync && self.log.has_data);
            let asked_us = lock.map(|lock| self.locks[lock].started_us);
            let begin_us = put_together_us.or(asked_us).unwrap_or(time_us);
            self.begin((begin_us, BeginEvidence::FirstRequest), Is::new(kind, None, evidence), time_us);
        }
        if let Some(call) = &mut self.call {
            call.in_flight += 1;
            if let Some(is) = &mut call.is {
                is.asked = true;
            }
        }
    }

    /// Whether an RPC is of the call that the thread is in.
    fn belongs(&mut self, rpc: usize, time_us: i64) -> bool {
        let Sent { opcode, intent, lock, .. } = self.rpcs[rpc];
        let (has_intents, has_data, has_steps) = (self.log.has_intents, self.log.has_data, self.log.has_steps);
        let Some(call) = &mut self.call else { return false };
        let Some(is) = &mut call.is else {
            if intent.is_some_and(|intent| intent.is_open()) {
                self.become_or_begin(Is::new(OperationKind::Open, None, Evidence::OpenIntent), time_us);
                return true;
            }
            return is_of_walk(opcode);
        };
        let is_enqueue = opcode == Opcode::LDLM_ENQUEUE;
        match is.kind {
            OperationKind::Open if is_enqueue && has_steps => match intent {
                Some(intent) => intent.is_open(),
                // Nothing tells its kind but that it is the first one.
                None => !has_intents && !is.asked,
            },
            OperationKind::Stat if is_enqueue => match intent {
                Some(intent) => has_steps && intent.is_getattr(),
                None => {
                    let is_glimpse = lock.is_some_and(|lock| self.locks[lock].is_glimpse);
                    is_glimpse || has_steps && (has_data || !has_intents && !is.asked)
                }
            },
            OperationKind::Stat => matches!(opcode, Opcode::MDS_GETATTR | Opcode::MDS_GETATTR_NAME),
            OperationKind::Close => opcode == Opcode::MDS_CLOSE && !is.asked,
            OperationKind::Fsync => opcode == Opcode::MDS_SYNC && !is.asked || opcode == Opcode::OST_SYNC,
            _ => false,
        }
    }

    /// Without the lines of walks, a getattr may have been a step of the walk of what follows at once, and a close that of an unlink.
    fn drop_if_part_of(&mut self, opcode: Opcode, has_intent: bool, time_us: i64) {
        let Some(call) = &self.call else { return };
        let is_at_once = time_us - call.last_us <= REST_US;
        let is_part = match call.is.map(|is| is.evidence) {
            Some(Evidence::GetattrIntent) => has_intent,
            Some(Evidence::CloseRequest) => opcode == Opcode::MDS_REINT && !self.log.has_steps,
            _ => false,
        };
        if is_at_once && is_part {
            self.call = None;
        }
    }

    /// The thread does something else from then on.
    fn end(&mut self, until_us: i64) {
        let Some(call) = self.call.take() else { return };
        let Some(Is { kind, fid, evidence, .. }) = call.is else { return };
        if self.log.logged.contains(&kind) || self.log.called.contains(&kind) {
            return;
        }
        let Call { begin_us, begin_evidence, last_us, locks, in_flight, .. } = call;
        if in_flight > 0 {
            self.ghosts.push(Ghost { kind, from_us: begin_us, to_us: until_us.min(last_us) });
            return;
        }
        // Another thread may have brought the answer.
        let ends = locks.iter().flat_map(|&lock| {
            let LockRequest { ended_us, rpc, .. } = self.locks[lock];
            [ended_us, rpc.and_then(|rpc| self.rpcs[rpc].answered_us)]
        });
        let last = ends.flatten().filter(|us| *us <= until_us).fold(last_us, i64::max);
        let found = Found { kind, fid, begin_us, end_us: last, begin_evidence, evidence, result: None, name: None };
        self.found.push((found, until_us));
    }
}

/// Whether the line about the root is followed by a step of a walk: the test of its permission, as every walk from the root begins. If that
/// line is lost, it may be any other step.
fn is_walk_of_root(next: &[Mark]) -> bool {
    let next = next
        .iter()
        .find(|mark| !matches!(mark.what, What::Locking(_) | What::Sent(_) | What::Replied(_) | What::WentOn));
    matches!(next, Some(Mark { what: What::Walked { of, .. }, .. }) if *of != WalkOf::Getattr)
}
