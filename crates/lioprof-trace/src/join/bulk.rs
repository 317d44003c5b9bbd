//! Which bulk transfer belongs to which request: what of a request's service time lies before, in and behind its transfer.
//!
//! A service thread logs `Transferring` once LNet has all of a transfer's memory descriptors, and then sleeps until the last of
//! them is done. LNet's threads log an event for each step, with a pointer of the transfer that no other line names. What is certain:
//!
//! * a transfer's first event comes after the last line that its thread logged before `Transferring`;
//! * when the thread logs its next line, each of the N descriptors that `Transferring` counts has been sent, and has been
//!   answered: the data of a write have come, those of a read have arrived;
//! * a transfer is of one request, and a request has one transfer.
//!
//! A request and a transfer are put together when nothing else is possible, and only then. Where these rules contradict each other
//! lines are missing, and all transfers then under way remain unknown.

use lioprof_model::BulkSpan;
use lustre_debuglog::Opcode;
use rustc_hash::{FxHashMap, FxHashSet};
use slab::Slab;

use crate::decode::event::BulkStep;

/// Requests that were handled and may still explain a transfer. More are forgotten.
const MAX_LEFT: usize = 256;

/// More descriptors than a transfer can have (`PTLRPC_BULK_OPS_LIMIT` is 64).
const MAX_DESCRIPTORS: u64 = 4096;

/// A request whose transfer is not decided when it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TransferId(u64);

/// What is known of a request's transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It had none, or nothing will be known of it.
    Nothing,
    /// When it was.
    Span(BulkSpan),
    /// What others do next will tell; [`Transfers::decided`] says it.
    Later(TransferId),
}

/// Which way the data of a transfer go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Data {
    ToClient,
    FromClient,
}

impl Data {
    /// The way of an opcode's data, if all of its transfers go the same way.
    fn of(opcode: Opcode) -> Option<Self> {
        match opcode {
            Opcode::OST_READ | Opcode::MDS_READPAGE => Some(Self::ToClient),
            Opcode::OST_WRITE => Some(Self::FromClient),
            _ => None,
        }
    }
}

/// Whether requests of this opcode may have a transfer (`ptlrpc_prep_bulk_exp` is called for these).
fn may_transfer(opcode: Opcode) -> bool {
    let others = [Opcode::MDS_BATCH, Opcode::MGS_CONFIG_READ, Opcode::OBD_IDX_READ, Opcode::OUT_UPDATE];
    Data::of(opcode).is_some() || others.contains(&opcode)
}

/// A request that may have a transfer.
#[derive(Debug)]
struct Request {
    id: TransferId,
    handling_us: i64,
    data: Option<Data>,
    /// `Transferring`: when, and how many descriptors.
    started: Option<(i64, u32)>,
    /// The thread's next line after it.
    awake_us: Option<i64>,
    /// Handled.
    is_over: bool,
    /// Lines are missing: it may have any transfer.
    is_doubtful: bool,
    /// Transfers that may be its own.
    candidates: Vec<usize>,
    /// The one that is.
    transfer: Option<usize>,
    /// When that one ended.
    ended_us: Option<i64>,
}

/// What a pointer stands for, from its first event until the thread that waits for it is awake.
#[derive(Debug)]
struct Transfer {
    pointer: u64,
    last_us: i64,
    last_sent_us: i64,
    sent: u32,
    answered: u32,
    data: Option<Data>,
    has_failed: bool,
    /// Requests that it may be of.
    candidates: Vec<usize>,
    /// The one that it is of.
    request: Option<usize>,
    /// It may be of a request that is not among them.
    may_be_of_others: bool,
}

impl Request {
    fn span(&self) -> Option<BulkSpan> {
        let ((started_us, _), ended_us) = self.started.zip(self.ended_us)?;
        let started_us = started_us.min(ended_us);
        Some(BulkSpan {
            before_us: u64::try_from(started_us - self.handling_us).ok()?,
            transfer_us: u64::try_from(ended_us - started_us).ok()?,
        })
    }
}

impl Transfer {
    /// Whether all of it was over when a thread logged its next line.
    fn is_complete(&self, descriptors: u32, awake_us: i64) -> bool {
        !self.has_failed && (self.sent, self.answered) == (descriptors, descriptors) && self.last_us <= awake_us
    }

    /// Whether it can still become that of a request.
    fn fits(&self, request: &Request) -> bool {
        let is_alike = request.data.is_none() || self.data.is_none() || request.data == self.data;
        is_alike && request.started.is_none_or(|(_, n)| self.sent <= n && self.answered <= n)
    }
}

/// The rules contradict each other.
struct Contradiction;

type Sure<T = ()> = Result<T, Contradiction>;

/// The transfers of one node.
#[derive(Debug, Default)]
pub(super) struct Transfers {
    requests: Slab<Request>,
    transfers: Slab<Transfer>,
    /// Requests being handled, by thread.
    threads: FxHashMap<u32, usize>,
    /// Transfers under way, by pointer.
    pointers: FxHashMap<u64, usize>,
    /// Requests that are over and not put together with a transfer, oldest first.
    left: Vec<usize>,
    /// Requests up to now.
    count: u64,
    /// What has become known of requests that are over.
    decided: Vec<(TransferId, Option<BulkSpan>)>,
    /// Doubtful requests that are not over.
    doubtful: usize,
    /// A line of a transfer has been seen.
    is_logged: bool,
    /// Pointers whose first events were of a transfer that was given up.
    torn: FxHashSet<u64>,
}

impl Transfers {
    /// `Handling RPC`.
    pub(super) fn handling(&mut self, pid: u32, opcode: Opcode, now_us: i64) {
        if !may_transfer(opcode) {
            // Most logs have more of these. One that has a transfer all the same is a contradiction.
            if !self.threads.is_empty() {
                self.end_is_lost(pid);
            }
            return;
        }
        self.end_is_lost(pid);
        self.count += 1;
        let request = Request {
            id: TransferId(self.count),
            handling_us: now_us,
            data: Data::of(opcode),
            started: None,
            awake_us: None,
            is_over: false,
            is_doubtful: false,
            candidates: Vec::new(),
            transfer: None,
            ended_us: None,
        };
        let at = self.requests.insert(request);
        self.threads.insert(pid, at);
    }

    /// What a thread handled before, and never ended, is over. `line` has shown that the thread is awake.
    fn end_is_lost(&mut self, pid: u32) {
        if let Some(at) = self.threads.remove(&pid) {
            self.leave(at);
        }
    }

    /// A thread logs anything but `Transferring`.
    #[inline]
    pub(super) fn line(&mut self, pid: u32, now_us: i64) {
        // Without mask net, nothing ever moves.
        if self.is_logged {
            self.thread_line(pid, now_us);
        }
    }

    fn thread_line(&mut self, pid: u32, now_us: i64) {
        if let Some(&at) = self.threads.get(&pid)
            && (self.requests[at].started.is_some() || !self.requests[at].candidates.is_empty())
        {
            let sure = self.thread_goes_on(at, now_us);
            self.or_give_up(sure);
        }
    }

    /// `Transferring`.
    pub(super) fn transferring(&mut self, pid: u32, match_bits: (u64, u64), now_us: i64) {
        self.is_logged = true;
        let descriptors = match_bits.1.checked_sub(match_bits.0).filter(|&more| more < MAX_DESCRIPTORS);
        let at = self.threads.get(&pid).copied();
        let sure = match (at, descriptors.and_then(|more| u32::try_from(more + 1).ok())) {
            (Some(at), Some(descriptors)) if self.requests[at].started.is_none() => {
                self.requests[at].started = Some((now_us, descriptors));
                self.keep_fitting(at)
            }
            _ => Err(Contradiction),
        };
        self.or_give_up(sure);
    }

    /// An event of a transfer.
    pub(super) fn event(&mut self, pointer: u64, step: Option<BulkStep>, now_us: i64) {
        self.is_logged = true;
        let sure = self.step(pointer, step, now_us);
        self.or_give_up(sure);
    }

    /// `Handled RPC`, which `line` has seen.
    pub(super) fn handled(&mut self, pid: u32, opcode: Opcode) -> Known {
        let Some(at) = self.threads.remove(&pid) else {
            if may_transfer(opcode) && !self.pointers.is_empty() {
                // Its start is lost, and it may have had a transfer.
                self.give_up();
            }
            return Known::Nothing;
        };
        let request = &self.requests[at];
        let known = match request.span() {
            Some(span) => Known::Span(span),
            None if request.is_doubtful || request.candidates.is_empty() => Known::Nothing,
            None => Known::Later(request.id),
        };
        self.leave(at);
        known
    }

    /// What has become known since the last call.
    pub(super) fn decided(&mut self) -> Option<(TransferId, Option<BulkSpan>)> {
        self.decided.pop()
    }

    /// Nothing else will be known of a request that is over.
    fn remove(&mut self, at: usize) {
        let request = self.requests.remove(at);
        self.decided.push((request.id, request.span()));
    }

    /// A request is over: it is forgotten, unless it may still explain a transfer.
    fn leave(&mut self, at: usize) {
        let request = &mut self.requests[at];
        request.is_over = true;
        if std::mem::take(&mut request.is_doubtful) {
            self.doubtful -= 1;
            self.forget_torn();
        }
        if self.requests[at].candidates.is_empty() {
            self.requests.remove(at);
            return;
        }
        self.left.push(at);
        if self.left.len() > MAX_LEFT {
            self.forget_left();
        }
    }

    fn thread_goes_on(&mut self, at: usize, now_us: i64) -> Sure {
        let request = &mut self.requests[at];
        if request.is_doubtful || request.awake_us.is_some() {
            return Ok(());
        }
        if request.started.is_none() {
            // What has begun by now is not its own, unless `Transferring` is lost.
            self.forget_candidates(at);
            return Ok(());
        }
        request.awake_us = Some(now_us);
        if request.candidates.is_empty() { Err(Contradiction) } else { self.keep_fitting(at) }
    }

    /// Parts a request from the transfers that cannot be its own. One that lacks a single event when its thread is awake may be its own
    /// all the same, and that line lost: the next event that is seen of it tells.
    fn keep_fitting(&mut self, at: usize) -> Sure {
        for transfer in self.requests[at].candidates.clone() {
            let (Some(request), Some(it)) = (self.requests.get(at), self.transfers.get(transfer)) else { continue };
            let lacks = |(_, n): (i64, u32)| 2 * n - it.sent.min(n) - it.answered.min(n);
            let is_unfinished = request.awake_us.and(request.started).is_some_and(|started| lacks(started) > 1);
            if is_unfinished || !it.fits(request) {
                self.part(at, transfer)?;
            }
        }
        self.is_decided(at)
    }

    fn step(&mut self, pointer: u64, step: Option<BulkStep>, now_us: i64) -> Sure {
        let at = match self.pointers.get(&pointer) {
            Some(&at) if !self.is_used_again(at)? => at,
            _ => self.begin(pointer)?,
        };
        let transfer = &mut self.transfers[at];
        transfer.last_us = now_us;
        match step {
            Some(BulkStep::Sent) => {
                transfer.sent += 1;
                transfer.last_sent_us = now_us;
            }
            Some(BulkStep::Received) => {
                transfer.answered += 1;
                transfer.data = Some(Data::FromClient);
            }
            Some(BulkStep::Acknowledged) => {
                transfer.answered += 1;
                transfer.data = Some(Data::ToClient);
            }
            None => transfer.has_failed = true,
        }
        for request in transfer.candidates.clone() {
            let (Some(it), Some(transfer)) = (self.requests.get(request), self.transfers.get(at)) else { continue };
            let is_not_its_own = match it.awake_us {
                None => !transfer.fits(it),
                // What is sent may be another transfer's with the same pointer, if lines of its own are lost.
                Some(awake_us) => transfer.last_sent_us <= awake_us,
            };
            if is_not_its_own {
                self.part(request, at)?;
            }
        }
        Ok(())
    }

    /// Whether the next event with this pointer is of another transfer, because this one is over. Its thread may have freed the
    /// descriptor without having logged anything since.
    fn is_used_again(&self, at: usize) -> Sure<bool> {
        let transfer = &self.transfers[at];
        if transfer.sent != transfer.answered || transfer.has_failed {
            return Ok(false);
        }
        let is_over = |&&request: &&usize| self.requests[request].started.is_some_and(|(_, n)| n == transfer.sent);
        match transfer.candidates.iter().filter(is_over).count() {
            all if all == transfer.candidates.len() => Ok(true),
            0 => Ok(false),
            // If it is of one of them it is over, if of another one it goes on.
            _ => Err(Contradiction),
        }
    }

    /// The first event with a pointer.
    fn begin(&mut self, pointer: u64) -> Sure<usize> {
        let may_start = |request: &Request| {
            let is_waiting = request.started.is_none() || request.awake_us.is_none();
            is_waiting && request.transfer.is_none() && !request.is_over && !request.is_doubtful
        };
        let requests = self.requests.iter().filter(|(_, request)| may_start(request));
        let candidates: Vec<usize> = requests.map(|(at, _)| at).collect();
        let at = self.transfers.insert(Transfer {
            pointer,
            last_us: 0,
            last_sent_us: i64::MIN,
            sent: 0,
            answered: 0,
            data: None,
            has_failed: false,
            candidates: candidates.clone(),
            request: None,
            may_be_of_others: self.doubtful > 0 || self.torn.contains(&pointer),
        });
        for request in candidates {
            self.requests[request].candidates.push(at);
        }
        if let Some(last) = self.pointers.insert(pointer, at) {
            self.forget_unclaimed(last);
        }
        self.is_whose(at)?;
        Ok(at)
    }

    /// A transfer is not that of a request.
    fn part(&mut self, request: usize, transfer: usize) -> Sure {
        let Some(it) = self.requests.get_mut(request) else { return Ok(()) };
        it.candidates.retain(|&it| it != transfer);
        if it.transfer == Some(transfer) {
            return Err(Contradiction);
        }
        if let Some(it) = self.transfers.get_mut(transfer) {
            it.candidates.retain(|&it| it != request);
        }
        self.is_whose(transfer)?;
        self.forget_unclaimed(transfer);
        self.is_decided(request)
    }

    /// Puts a transfer and its only possible request together.
    fn is_whose(&mut self, at: usize) -> Sure {
        let Some(transfer) = self.transfers.get(at) else { return Ok(()) };
        if transfer.request.is_some() || transfer.may_be_of_others {
            return Ok(());
        }
        match transfer.candidates[..] {
            [] => Err(Contradiction),
            [request] => self.join(request, at),
            _ => Ok(()),
        }
    }

    /// Puts a request whose transfer is over and the only one that this can be together.
    fn is_decided(&mut self, at: usize) -> Sure {
        let Some(request) = self.requests.get(at) else { return Ok(()) };
        if request.awake_us.is_none() || request.is_doubtful || request.ended_us.is_some() {
            return Ok(());
        }
        match (request.transfer, &request.candidates[..]) {
            (Some(transfer), [_]) => self.end(at, transfer),
            (None, &[transfer]) if self.is_complete(at, transfer) => self.join(at, transfer),
            (None, []) if request.is_over => {
                self.give_up_on(at);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn join(&mut self, request: usize, transfer: usize) -> Sure {
        let (it, its) = (&mut self.requests[request], &mut self.transfers[transfer]);
        it.transfer = Some(transfer);
        its.request = Some(request);
        let (transfers, requests) = (it.candidates.clone(), its.candidates.clone());
        for other in requests.into_iter().filter(|&other| other != request) {
            self.part(other, transfer)?;
        }
        for other in transfers.into_iter().filter(|&other| other != transfer) {
            self.part(request, other)?;
        }
        self.is_decided(request)
    }

    /// Whether all of a transfer was seen by the time that a request's thread was awake.
    fn is_complete(&self, request: usize, transfer: usize) -> bool {
        let it = &self.requests[request];
        it.awake_us.zip(it.started).is_some_and(|(awake_us, (_, n))| self.transfers[transfer].is_complete(n, awake_us))
    }

    /// A request's thread is awake, and its transfer is known.
    fn end(&mut self, request: usize, transfer: usize) -> Sure {
        if !self.is_complete(request, transfer) {
            return Err(Contradiction);
        }
        let it = &mut self.requests[request];
        let Transfer { pointer, last_us, .. } = self.transfers.remove(transfer);
        if self.pointers.get(&pointer) == Some(&transfer) {
            self.pointers.remove(&pointer);
        }
        it.ended_us = Some(last_us);
        it.candidates.clear();
        if it.is_over {
            self.left.retain(|&left| left != request);
            self.remove(request);
        }
        Ok(())
    }

    /// Forgets a transfer that no known request can have had and whose pointer is used again.
    fn forget_unclaimed(&mut self, at: usize) {
        let Some(transfer) = self.transfers.get(at) else { return };
        if transfer.candidates.is_empty() && self.pointers.get(&transfer.pointer) != Some(&at) {
            self.transfers.remove(at);
        }
    }

    fn or_give_up(&mut self, sure: Sure) {
        if sure.is_err() {
            self.give_up();
        }
    }

    /// Lines are missing: nothing is known of what is under way, nor of what those requests may still begin.
    fn give_up(&mut self) {
        self.torn.extend(self.pointers.drain().map(|(pointer, _)| pointer));
        self.transfers.clear();
        for at in std::mem::take(&mut self.left) {
            self.remove(at);
        }
        for (_, request) in &mut self.requests {
            request.candidates.clear();
            request.transfer = None;
            if request.ended_us.is_none() && !request.is_doubtful {
                request.is_doubtful = true;
                self.doubtful += 1;
            }
        }
    }

    /// A doubtful request is over, so each of the torn pointers may be free, and the next event with it the first of another transfer.
    fn forget_torn(&mut self) {
        for pointer in std::mem::take(&mut self.torn) {
            let Some(at) = self.pointers.remove(&pointer) else { continue };
            // Or it has been one of theirs since.
            for request in self.transfers.remove(at).candidates {
                self.give_up_on(request);
                if let Some(request) = self.requests.get_mut(request)
                    && !request.is_doubtful
                {
                    request.is_doubtful = true;
                    self.doubtful += 1;
                }
            }
        }
    }

    /// The transfer of a request will not be known.
    fn give_up_on(&mut self, request: usize) {
        self.forget_candidates(request);
        if self.requests[request].is_over {
            self.left.retain(|&left| left != request);
            self.remove(request);
        }
    }

    /// Forgets the requests that are over.
    fn forget_left(&mut self) {
        for at in std::mem::take(&mut self.left) {
            self.forget_candidates(at);
            self.remove(at);
        }
    }

    /// A request is no longer looked at. What may have been its transfer may be that of a request that is not looked at.
    fn forget_candidates(&mut self, request: usize) {
        let it = &mut self.requests[request];
        it.transfer = None;
        for at in std::mem::take(&mut it.candidates) {
            let Some(transfer) = self.transfers.get_mut(at) else { continue };
            transfer.candidates.retain(|&it| it != request);
            transfer.request = transfer.request.filter(|&it| it != request);
            transfer.may_be_of_others = true;
            self.forget_unclaimed(at);
        }
    }
}

#[cfg(test)]
#[path = "bulk_tests.rs"]
mod tests;
