//! What a client's log tells: operations, RPCs, lock requests.

use lioprof_model::{ClientEvent, ClientStep, SentRpc, Symbol};
use lustre_debuglog::{Fid, Opcode};
use rustc_hash::FxHashMap;

use super::servers::RpcKey;
use super::threads::{Found, FoundAll, Ghost, Thread};

/// An RPC that the client sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) key: RpcKey,
    pub(super) opcode: Opcode,
    pub(super) pid: u32,
    pub(super) sent_us: i64,
    /// When the reply came; `None` if the log does not have it.
    pub(super) answered_us: Option<i64>,
    pub(super) bulk: Option<Bulk>,
    /// The lock request that it carries.
    pub(super) lock: Option<usize>,
}

/// What a bulk RPC is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bulk {
    pub(super) fid: Fid,
    pub(super) is_write: bool,
    pub(super) built_us: i64,
    pub(super) built_by: u32,
}

/// A thread's request for a lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct LockRequest {
    pub(super) pid: u32,
    pub(super) started_us: i64,
    pub(super) ended_us: Option<i64>,
    /// The RPC that carries it.
    pub(super) rpc: Option<usize>,
}

/// A reply to an RPC whose sending is not in the log.
#[derive(Clone, Copy, Debug)]
pub(super) struct OrphanReply {
    pub(super) key: RpcKey,
    pub(super) opcode: Opcode,
    pub(super) pid: u32,
    pub(super) time_us: i64,
}

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
    /// When threads' last replies came.
    last_reply_us: FxHashMap<u32, i64>,
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
            self.rpcs.push(Sent { key, opcode, pid, sent_us: time_us, answered_us: None, bulk: None, lock });
            self.by_key.insert(key, at);
            if let Some(lock) = lock {
                self.locks[lock].rpc = Some(at);
            }
            return;
        }
        thread.replied(time_us, found);
        self.last_reply_us.insert(pid, time_us);
        let Some(&at) = self.by_key.get(&key) else { return };
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
        let thread = self.threads.entry(pid).or_default();
        let found = self.found.entry(pid).or_default();
        // The thread sends its request at once, or it leaves that to another one.
        self.to_send.remove(&pid);
        match step {
            ClientStep::Started { kind, fid, name } => thread.started((kind, fid), name, time_us, found),
            ClientStep::Completed { kind, fid, rc } => thread.completed((kind, fid), rc, time_us, found),
            ClientStep::Called { kind, fid, name } => thread.called((kind, fid), name, time_us, found),
            ClientStep::Walked { fid, name, is_root, access } => {
                thread.walked(fid, (name, is_root), access, time_us, found);
            }
            ClientStep::WentOn => thread.went_on(time_us, found),
            ClientStep::EnqueueStarted { cookie } => {
                let at = self.locks.len();
                self.locks.push(LockRequest { pid, started_us: time_us, ended_us: None, rpc: None });
                self.by_cookie.insert(cookie, at);
                self.to_send.insert(pid, at);
            }
            ClientStep::EnqueueEnded { cookie } => self.enqueue_ended(cookie, time_us, pid),
            ClientStep::BulkSent { xid, fid, is_write, built_us, built_by } => {
                // The RPC is the one that was sent just before.
                if let Some(rpc) = self.rpcs.last_mut().filter(|rpc| rpc.key.1 == xid.0) {
                    rpc.bulk = Some(Bulk { fid, is_write, built_us, built_by });
                }
            }
            ClientStep::OrphanReply { device, xid, opcode } => {
                self.just_ended.remove(&pid);
                self.orphans.push(OrphanReply { key: (device, xid.0), opcode, pid, time_us });
            }
        }
    }

    fn enqueue_ended(&mut self, cookie: u64, time_us: i64, pid: u32) {
        let Some(at) = self.by_cookie.remove(&cookie) else {
            let started_us = self.last_reply_us.get(&pid).copied().unwrap_or(time_us);
            self.unasked.push(LockRequest { pid, started_us, ended_us: Some(time_us), rpc: None });
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
        (operations, ghosts)
    }

    /// Uuids under which the client is known to servers.
    pub(super) fn uuids(&self) -> impl Iterator<Item = Symbol> {
        let mut uuids: Vec<Symbol> = self.rpcs.iter().map(|rpc| rpc.key.0).collect();
        uuids.sort_unstable();
        uuids.dedup();
        uuids.into_iter()
    }
}
