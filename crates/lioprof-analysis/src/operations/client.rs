//! What a client's log tells: operations, RPCs, lock requests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lioprof_model::{ClientEvent, ClientLog, ClientStep, Evidence, SentRpc, Symbol};
use lustre_debuglog::Opcode;
use lustre_debuglog::vocab::OperationKind;
use rustc_hash::FxHashMap;

use super::infer::infer;
use super::marks::{Marks, What};
use super::requests::{Bulk, LockRequest, OrphanReply, Sent};
use super::servers::RpcKey;
use super::threads::{Found, FoundAll, Ghost, Thread};

/// The log of one client, or of a server that sends RPCs.
#[derive(Default)]
pub(super) struct Client {
    threads: FxHashMap<u32, Thread>,
    found: FxHashMap<u32, FoundAll>,
    pub(super) rpcs: Vec<Sent>,
    pub(super) by_key: FxHashMap<RpcKey, usize>,
    pub(super) locks: Vec<LockRequest>,
    pub(super) orphans: Vec<OrphanReply>,
    /// Lock requests of which only the end is in the log: from the thread's reply before it.
    pub(super) unasked: Vec<LockRequest>,
    /// When threads' last replies came, and to which RPCs.
    last_reply: FxHashMap<u32, (i64, usize)>,
    /// What else there is to infer operations from.
    pub(super) marks: Marks,
    /// Lock requests by handle.
    by_cookie: FxHashMap<u64, usize>,
    /// Lock requests that their threads have begun and not sent yet.
    to_send: FxHashMap<u32, usize>,
    /// Lock requests that threads have just ended for others: the reply's line follows.
    just_ended: FxHashMap<u32, usize>,
}

impl Client {
    pub(super) fn sent_rpc(&mut self, sent: &SentRpc) {
        let SentRpc { time_us, pid, opcode, device, xid, round_trip_us, .. } = *sent;
        let key = (device, xid.0);
        let ended = self.just_ended.remove(&pid);
        let to_send = self.to_send.remove(&pid);
        let thread = self.threads.entry(pid).or_default();
        let found = self.found.entry(pid).or_default();
        if round_trip_us.is_none() {
            thread.sent(opcode, time_us, found);
            let lock = to_send.filter(|_| opcode == Opcode::LDLM_ENQUEUE);
            let at = self.rpcs.len();
            let sent_us = time_us;
            let (answered_us, bulk, intent, sent_for) = (None, None, None, None);
            self.rpcs.push(Sent { key, opcode, pid, sent_us, answered_us, bulk, lock, intent, sent_for });
            if !is_data(opcode) {
                self.marks.add(pid, time_us, What::Sent(at));
            }
            self.by_key.insert(key, at);
            if let Some(lock) = lock {
                self.locks[lock].rpc = Some(at);
            }
            return;
        }
        thread.replied(time_us, found);
        let Some(&at) = self.by_key.get(&key) else { return };
        self.last_reply.insert(pid, (time_us, at));
        if !is_data(opcode) {
            self.marks.add(pid, time_us, What::Replied(at));
        }
        let rpc = &mut self.rpcs[at];
        rpc.answered_us = Some(time_us);
        if let Some(ended) = ended
            && let lock = &mut self.locks[ended]
            && (opcode, rpc.lock, lock.rpc) == (Opcode::LDLM_ENQUEUE, None, None)
            && rpc.sent_us >= lock.started_us
        {
            rpc.lock = Some(ended);
            lock.rpc = Some(at);
        }
    }

    pub(super) fn event(&mut self, event: &ClientEvent) {
        let ClientEvent { time_us, pid, step, .. } = *event;
        if matches!(step, ClientStep::IsKernelThread) {
            self.marks.kernel.insert(pid);
            return;
        }
        self.mark(pid, time_us, step);
        let thread = self.threads.entry(pid).or_default();
        let found = self.found.entry(pid).or_default();
        // The thread sends its request at once, or it leaves that to another one.
        self.to_send.remove(&pid);
        match step {
            ClientStep::Started { kind, fid, name } => thread.started((kind, fid), name, time_us, found),
            ClientStep::Completed { kind, fid, rc } => thread.completed((kind, fid), rc, time_us, found),
            ClientStep::Called { kind, fid, name } => thread.called((kind, fid), name, time_us, found),
            ClientStep::Walked { fid, name, is_root, access, .. } => {
                thread.walked(fid, (name, is_root), access, time_us, found);
            }
            ClientStep::WentOn => thread.went_on(time_us, found),
            ClientStep::Entered { kind, .. } => thread.entered(kind, time_us, found),
            ClientStep::MovedData | ClientStep::IsKernelThread => {}
            ClientStep::Answered { xid, intent } => {
                let last = self.last_reply.get(&pid).map(|(_, at)| &mut self.rpcs[*at]);
                if let Some(rpc) = last.filter(|rpc| rpc.key.1 == xid.0) {
                    rpc.intent = Some(intent);
                    self.marks.has_intents = true;
                }
            }
            ClientStep::EnqueueStarted { cookie, is_glimpse } => {
                let at = self.locks.len();
                self.locks.push(LockRequest { pid, started_us: time_us, ended_us: None, rpc: None, is_glimpse });
                self.by_cookie.insert(cookie, at);
                self.to_send.insert(pid, at);
                self.marks.add(pid, time_us, What::Locking(at));
            }
            ClientStep::EnqueueEnded { cookie } => self.enqueue_ended(cookie, time_us, pid),
            ClientStep::BulkSent { xid, fid, is_write, built_us, built_by } => {
                // The RPC is the one that was sent just before.
                if let Some(rpc) = self.rpcs.last_mut().filter(|rpc| rpc.key.1 == xid.0) {
                    rpc.bulk = Some(Bulk { fid, is_write, built_us, built_by });
                    self.marks.add(built_by, built_us, What::Built);
                }
            }
            ClientStep::OrphanReply { device, xid, opcode } => {
                self.just_ended.remove(&pid);
                self.orphans.push(OrphanReply { key: (device, xid.0), opcode, pid, time_us });
            }
        }
    }

    /// Keeps what operations may be inferred from.
    fn mark(&mut self, pid: u32, time_us: i64, step: ClientStep) {
        let what = match step {
            ClientStep::Started { kind, .. } | ClientStep::Completed { kind, .. } => {
                self.marks.logged.insert(kind);
                self.marks.has_data |= matches!(kind, OperationKind::Read | OperationKind::Write);
                What::Other
            }
            ClientStep::Called { kind, .. } => {
                self.marks.called.insert(kind);
                self.marks.has_steps = true;
                What::Other
            }
            ClientStep::MovedData => {
                self.marks.has_data = true;
                What::Other
            }
            ClientStep::Walked { fid, name, is_root, access, of } => What::Walked { fid, name, is_root, access, of },
            ClientStep::Entered { kind, fid } => What::Entered { kind, fid },
            ClientStep::WentOn | ClientStep::EnqueueEnded { .. } | ClientStep::Answered { .. } => What::WentOn,
            ClientStep::EnqueueStarted { .. }
            | ClientStep::BulkSent { .. }
            | ClientStep::OrphanReply { .. }
            | ClientStep::IsKernelThread => return,
        };
        self.marks.add(pid, time_us, what);
    }

    fn enqueue_ended(&mut self, cookie: u64, time_us: i64, pid: u32) {
        let Some(at) = self.by_cookie.remove(&cookie) else {
            let started_us = self.last_reply.get(&pid).map_or(time_us, |(us, _)| *us);
            let ended_us = Some(time_us);
            self.unasked.push(LockRequest { pid, started_us, ended_us, rpc: None, is_glimpse: false });
            return;
        };
        let lock = &mut self.locks[at];
        lock.ended_us = Some(time_us);
        if self.to_send.get(&lock.pid) == Some(&at) {
            self.to_send.remove(&lock.pid);
        }
        if lock.rpc.is_none() && pid != lock.pid {
            self.just_ended.insert(pid, at);
        }
    }

    /// The log has ended: the operations by thread, in order, and what is only half known.
    pub(super) fn finish(&mut self) -> (FxHashMap<u32, Vec<Found>>, Vec<Ghost>) {
        let mut ghosts = Vec::new();
        let mut operations = FxHashMap::default();
        for (pid, thread) in &mut self.threads {
            let found = self.found.entry(*pid).or_default();
            thread.finish(found);
            ghosts.append(&mut found.ghosts);
            if !found.operations.is_empty() {
                operations.insert(*pid, std::mem::take(&mut found.operations));
            }
        }
        for marks in self.marks.by_thread.values_mut() {
            // What is put together is told when it is sent.
            marks.sort_by_key(|mark| mark.time_us);
        }
        let inferred = infer(&self.marks, &mut self.rpcs, &self.locks, &operations);
        for (pid, mut found) in inferred.operations {
            let of_thread: &mut Vec<Found> = operations.entry(pid).or_default();
            of_thread.append(&mut found);
            of_thread.sort_by_key(|found| found.begin_us);
        }
        ghosts.extend(inferred.ghosts);
        (operations, ghosts)
    }

    /// Whether programs run on this node: servers send other RPCs.
    pub(super) fn is_programs(&self) -> bool {
        const OF_PROGRAMS: [Opcode; 9] = [
            Opcode::OST_READ,
            Opcode::OST_WRITE,
            Opcode::MDS_GETATTR,
            Opcode::MDS_GETATTR_NAME,
            Opcode::MDS_CLOSE,
            Opcode::MDS_REINT,
            Opcode::MDS_READPAGE,
            Opcode::MDS_SYNC,
            Opcode::MDS_GETXATTR,
        ];
        let marks = &self.marks;
        marks.has_steps || marks.has_intents || self.rpcs.iter().any(|rpc| OF_PROGRAMS.contains(&rpc.opcode))
    }

    /// What the log holds. `evidence` says what the operation is known by that an RPC belongs to.
    pub(super) fn log(
        &self,
        node: Arc<str>,
        operations: &[Found],
        evidence: impl Fn(usize) -> Option<Evidence>,
    ) -> ClientLog {
        let inferred: BTreeSet<OperationKind> =
            operations.iter().filter(|it| it.evidence != Evidence::Logged).map(|it| it.kind).collect();
        let mut log = ClientLog {
            node,
            logged: self.marks.logged.union(&self.marks.called).copied().collect(),
            inferred: inferred.into_iter().collect(),
            rpcs: self.rpcs.len() as u64,
            logged_rpcs: 0,
            inferred_rpcs: 0,
            no_operation: BTreeMap::new(),
        };
        for (at, rpc) in self.rpcs.iter().enumerate() {
            match evidence(at) {
                Some(Evidence::Logged) => log.logged_rpcs += 1,
                Some(_) => log.inferred_rpcs += 1,
                None => {
                    let sum = log.no_operation.entry(rpc.opcode).or_default();
                    sum.rpcs += 1;
                    let took_us = rpc.answered_us.map_or(0, |answered_us| answered_us - rpc.sent_us);
                    sum.round_trip_us += u64::try_from(took_us).unwrap_or(0);
                }
            }
        }
        log
    }

    /// Uuids under which the client is known to servers.
    pub(super) fn uuids(&self) -> impl Iterator<Item = Symbol> {
        let mut uuids: Vec<Symbol> = self.rpcs.iter().map(|rpc| rpc.key.0).collect();
        uuids.sort_unstable();
        uuids.dedup();
        uuids.into_iter()
    }
}

/// Whether an RPC moves data: no thread of a program sends those itself.
fn is_data(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::OST_READ | Opcode::OST_WRITE | Opcode::OBD_PING)
}
