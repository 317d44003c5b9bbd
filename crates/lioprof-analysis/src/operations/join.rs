//! Operations, RPCs and servers' rows put together.

use std::sync::Arc;

use lioprof_model::{
    Asked, BeginEvidence, Direction, Evidence, OperationRow, OperationRpc, Operations, Part, ServedRpc, Symbol,
};
use lustre_debuglog::vocab::OperationKind;
use lustre_debuglog::{Fid, Opcode};
use rustc_hash::{FxHashMap, FxHashSet};

use super::client::Client;
use super::requests::{OrphanReply, Sent};
use super::servers::{LockWaits, RpcKey, Served, Servers, Work};
use super::threads::{Found, Ghost};
use super::timeline::{Claim, Strength, cut};
use crate::align::NodeClocks;
use crate::config::Selection;
use crate::select::TargetPattern;

/// An RPC whose reply is not in the log has come back, or was given up, after this time (`obd_timeout`).
const LONGEST_RPC_US: i64 = 100_000_000;

/// A request or a reply is on its way no longer than this.
const LONGEST_REPLY_US: i64 = 1_000_000;

/// A server cannot have been at a request for longer than the client waited for it, but for this much: clocks are read at different
/// moments, and run at different rates.
const LONGER_US: i64 = 1_000;

/// Everything that the logs tell.
pub(super) struct Joiner<'a> {
    pub(super) clients: FxHashMap<Symbol, Client>,
    pub(super) servers: Servers,
    pub(super) nodes: FxHashMap<Symbol, Arc<str>>,
    /// NIDs of clients, and jobs.
    pub(super) texts: FxHashMap<Symbol, Arc<str>>,
    /// Names of files, if they were asked for.
    pub(super) names: FxHashMap<Symbol, Arc<str>>,
    pub(super) clocks: NodeClocks,
    /// Which operations are wanted.
    pub(super) chosen: &'a Selection,
}

impl Joiner<'_> {
    /// The operations that are wanted.
    pub(super) fn operations(mut self) -> Operations {
        let mut out = Operations { clocks_known: true, ..Operations::default() };
        let mut clients: Vec<(Symbol, Client)> = std::mem::take(&mut self.clients).into_iter().collect();
        clients.sort_by_key(|(node, _)| self.nodes.get(node).cloned());
        let never_granted = self.servers.never_granted();
        for (node, mut client) in clients {
            let (operations, ghosts) = client.finish();
            if operations.is_empty() {
                out.clients.extend(client.is_programs().then(|| client.log(self.name(node), &[], |_| None)));
                continue;
            }
            out.from_clients = true;
            let one = OneClient { joiner: &self, node, client: &client, never_granted: &never_granted };
            one.operations(operations, &ghosts, &mut out);
        }
        if !out.from_clients {
            self.as_servers_tell(&never_granted, &mut out);
        }
        out
    }

    /// RPCs as operations of which nothing but the server's part is known.
    fn as_servers_tell(&self, never_granted: &FxHashSet<RpcKey>, out: &mut Operations) {
        let mut rows: Vec<(&str, u64, OperationRow)> = Vec::new();
        for (key, served) in self.servers.all() {
            if !self.takes(served.opcode, Some(served)) {
                continue;
            }
            if !is_waited_for(served.opcode) {
                out.unawaited_rpcs += 1;
                continue;
            }
            let mut claims = Vec::new();
            self.server_claims(key, served, never_granted, |us| us, served.end_us, &mut claims);
            claims.push(claim_rpc(served.end_us, (served.arrival_us, served.start_us), Part::ServerQueue));
            let nid = self.texts.get(&served.nid).map(|nid| &**nid).unwrap_or_default();
            let stretches = cut(served.arrival_us, served.end_us, claims);
            let row = OperationRow {
                node: self.name(served.node),
                pid: served.pid,
                asked: Asked::Rpc(served.opcode),
                evidence: Evidence::Logged,
                fid: None,
                name: None,
                begin_us: served.arrival_us,
                duration_us: u64::try_from(served.end_us - served.arrival_us).unwrap_or(0),
                begin_evidence: BeginEvidence::FirstLine,
                result: None,
                rpcs: 1,
                joined_rpcs: 1,
                parts: stretches.iter().copied().collect(),
                stretches,
                sent: Vec::new(),
                axis_us: 0,
            };
            rows.push((nid, key.1, row));
        }
        let order =
            |(nid, xid, row): &(&str, u64, OperationRow)| (row.node.clone(), row.begin_us, (*nid).to_owned(), *xid);
        rows.sort_by_cached_key(order);
        out.rows = rows.into_iter().map(|(.., row)| row).collect();
    }

    fn name(&self, node: Symbol) -> Arc<str> {
        self.nodes.get(&node).cloned().unwrap_or_else(|| Arc::from(""))
    }

    /// Whether an RPC makes its operation one of those that are wanted, as `analyze` chooses RPCs.
    fn takes(&self, opcode: Opcode, served: Option<&Served>) -> bool {
        let Selection { targets, jobs, opcodes, .. } = self.chosen;
        let is_target = TargetPattern::takes(targets, served.and_then(|served| served.target));
        let is_job = || {
            let job = served.and_then(|served| self.texts.get(&served.job?));
            job.is_some_and(|job| jobs.iter().any(|wanted| **wanted == **job))
        };
        is_target && (jobs.is_empty() || is_job()) && (opcodes.is_empty() || opcodes.contains(&opcode))
    }

    /// The server's work and lock waits, on another clock.
    fn server_claims(
        &self,
        key: RpcKey,
        served: &Served,
        never_granted: &FxHashSet<RpcKey>,
        there: impl Fn(i64) -> i64,
        answered_us: i64,
        claims: &mut Vec<Claim>,
    ) {
        let (start_us, end_us) = (served.start_us, served.end_us);
        let mut add = |from_us: i64, to_us: i64, part| {
            claims.push(claim_rpc(answered_us, (there(from_us), there(to_us)), part));
        };
        let waits = self.servers.lock_waits(key, served, never_granted);
        match (&waits, served.work) {
            (LockWaits::Unknown, _) | (_, Work::Unsplit) => add(start_us, end_us, Part::Unknown),
            (_, Work::Plain) => add(start_us, end_us, Part::ServerWork),
            (_, Work::Bulk { direction, before_us, transfer_us }) => {
                let from_us = start_us.saturating_add_unsigned(before_us);
                let to_us = from_us.saturating_add_unsigned(transfer_us);
                let [before, between, after] = match direction {
                    Direction::Write => [Part::ServerWork, Part::NetworkOut, Part::Disk],
                    Direction::Read => [Part::Disk, Part::NetworkBack, Part::ServerWork],
                };
                add(start_us, from_us, before);
                add(from_us, to_us, between);
                add(to_us, end_us, after);
            }
        }
        if let LockWaits::Known(waits) = waits {
            for &(from_us, to_us) in waits {
                let span = (there(from_us.max(start_us)), there(to_us.min(end_us)));
                let strength = Strength::Rpc { answered_us, is_wait: true };
                claims.push(Claim { strength, from_us: span.0, to_us: span.1, part: Part::LockWait });
            }
        }
    }
}

fn claim_rpc(answered_us: i64, (from_us, to_us): (i64, i64), part: Part) -> Claim {
    Claim { strength: Strength::Rpc { answered_us, is_wait: false }, from_us, to_us, part }
}

/// Whether programs wait for RPCs of this kind: pings and the return of locks go on by themselves.
fn is_waited_for(opcode: Opcode) -> bool {
    !matches!(
        opcode,
        Opcode::OBD_PING
            | Opcode::LDLM_CANCEL
            | Opcode::LDLM_CONVERT
            | Opcode::LDLM_BL_CALLBACK
            | Opcode::LDLM_CP_CALLBACK
            | Opcode::LDLM_GL_CALLBACK
            | Opcode::OST_STATFS
            | Opcode::MDS_STATFS
    )
}

/// Whether an operation of this kind may wait for an RPC of this kind that another thread has sent.
fn may_cause(kind: OperationKind, opcode: Opcode) -> bool {
    use OperationKind::{Close, Fault, Fsync, Mkwrite, Read, Seek, Write};
    match opcode {
        // Only calls by path look up names, many ahead (statahead).
        Opcode::MDS_BATCH => !matches!(kind, Read | Write | Fsync | Close | Seek | Fault | Mkwrite),
        Opcode::OST_SYNC => kind == Fsync,
        _ => true,
    }
}

/// The only kinds of operations that cause RPCs of this kind, which `ptlrpcd` sends for them.
fn kinds_of(opcode: Opcode) -> &'static [OperationKind] {
    match opcode {
        Opcode::OST_SYNC => &[OperationKind::Fsync],
        Opcode::OST_SETATTR | Opcode::OST_PUNCH => &[OperationKind::Setattr],
        _ => &[],
    }
}

/// A stretch of time in which something was under way that may concern an operation.
struct Stretch {
    /// It was an RPC of another thread for the file; else it may have been the operation's.
    is_other: bool,
    from_us: i64,
    to_us: i64,
    /// What was under way; `None`: something of the operation itself.
    opcode: Option<Opcode>,
    /// Only operations of this thread; `None`: of any.
    pid: Option<u32>,
    /// Only operations on this file.
    fid: Option<Fid>,
}

/// Stretches in the order of their begins, with the latest end up to each.
struct Stretches(Vec<(Stretch, i64)>);

impl Stretches {
    fn new(mut stretches: Vec<Stretch>) -> Self {
        stretches.sort_by_key(|stretch| stretch.from_us);
        let mut latest_us = i64::MIN;
        let with_latest = |stretch: Stretch| {
            latest_us = latest_us.max(stretch.to_us);
            (stretch, latest_us)
        };
        Self(stretches.into_iter().map(with_latest).collect())
    }

    fn within(&self, begin_us: i64, end_us: i64) -> impl Iterator<Item = &Stretch> {
        let end = self.0.partition_point(|(stretch, _)| stretch.from_us < end_us);
        let before = self.0.get(..end).unwrap_or_default();
        let all = before.iter().rev().take_while(move |(_, latest_us)| *latest_us > begin_us);
        all.map(|(stretch, _)| stretch).filter(move |stretch| stretch.to_us > begin_us)
    }
}

/// The operations of a client, by thread and then in the order of time.
struct Windows(FxHashMap<u32, Vec<(Found, usize)>>);

impl Windows {
    /// The operation of a thread at a time.
    fn at(&self, pid: u32, time_us: i64) -> Option<usize> {
        let of_thread = self.0.get(&pid)?;
        let at = of_thread.partition_point(|(found, _)| found.begin_us <= time_us).checked_sub(1)?;
        of_thread.get(at).filter(|(found, _)| time_us <= found.end_us).map(|(_, index)| *index)
    }
}

/// One client's log with everything to compare it with.
struct OneClient<'a> {
    joiner: &'a Joiner<'a>,
    node: Symbol,
    client: &'a Client,
    never_granted: &'a FxHashSet<RpcKey>,
}

impl OneClient<'_> {
    fn operations(&self, by_thread: FxHashMap<u32, Vec<Found>>, ghosts: &[Ghost], out: &mut Operations) {
        let mut order: Vec<(u32, Found)> =
            by_thread.into_iter().flat_map(|(pid, found)| found.into_iter().map(move |found| (pid, found))).collect();
        order.sort_by_key(|(pid, found)| (found.begin_us, *pid));
        let mut windows: FxHashMap<u32, Vec<(Found, usize)>> = FxHashMap::default();
        for (index, (pid, found)) in order.iter().enumerate() {
            windows.entry(*pid).or_default().push((*found, index));
        }
        let windows = Windows(windows);
        let owners = self.owners(&windows, &order, ghosts);
        let chosen = self.joiner.chosen;
        if !chosen.clients.is_empty() && !self.client.rpcs.iter().any(|rpc| self.served(rpc).is_some()) {
            // The rows of clients that were not chosen are not here.
            return;
        }
        let mut owned: Vec<Vec<usize>> = vec![Vec::new(); order.len()];
        for (rpc, owner) in owners.iter().enumerate() {
            if let Some(owner) = owner {
                owned[*owner].push(rpc);
            }
        }
        let mut locks: Vec<Vec<usize>> = vec![Vec::new(); order.len()];
        for (at, lock) in self.client.locks.iter().enumerate() {
            if let Some(owner) = windows.at(lock.pid, lock.started_us) {
                locks[owner].push(at);
            }
        }
        let mut orphans: Vec<Vec<OrphanReply>> = vec![Vec::new(); order.len()];
        for orphan in &self.client.orphans {
            if let Some(owner) = windows.at(orphan.pid, orphan.time_us) {
                orphans[owner].push(*orphan);
            }
        }
        let stretches = Stretches::new(self.doubtful(&owners, &windows));
        let name = self.joiner.name(self.node);
        let takes_all = chosen.targets.is_empty() && chosen.jobs.is_empty() && chosen.opcodes.is_empty();
        for (index, (pid, found)) in order.iter().enumerate() {
            let own = owned[index].iter().map(|&rpc| &self.client.rpcs[rpc]);
            let is_wanted = takes_all
                || own.clone().any(|rpc| self.joiner.takes(rpc.opcode, self.served(rpc)))
                || orphans[index].iter().any(|it| self.joiner.takes(it.opcode, self.joiner.servers.get(it.key)));
            if !is_wanted {
                continue;
            }
            let mut claims = Vec::new();
            let mut joined_rpcs = 0;
            for rpc in own {
                joined_rpcs += u32::from(self.rpc_claims(rpc, found, &mut claims));
                out.clocks_known &= self.served(rpc).is_none_or(|served| self.clock(served.node).is_some());
            }
            for orphan in &orphans[index] {
                joined_rpcs += u32::from(self.orphan_claims(orphan, found, &mut claims));
            }
            for &lock in &locks[index] {
                self.lock_claims(lock, found, &mut claims);
            }
            for stretch in stretches.within(found.begin_us, found.end_us) {
                let is_its = stretch.pid.is_none_or(|owner| owner == *pid)
                    && stretch.fid.is_none_or(|fid| Some(fid) == found.fid)
                    && stretch.opcode.is_none_or(|opcode| may_cause(found.kind, opcode));
                let (strength, part) = match stretch.is_other {
                    true => (Strength::OtherRpc, Part::Other),
                    false => (Strength::Doubt, Part::Unknown),
                };
                if is_its {
                    claims.push(Claim { strength, from_us: stretch.from_us, to_us: stretch.to_us, part });
                }
            }
            let sent = owned[index].iter().filter_map(|&rpc| self.drawn(&self.client.rpcs[rpc], found)).collect();
            let stretches = cut(found.begin_us, found.end_us, claims);
            let rpcs = u32::try_from(owned[index].len() + orphans[index].len()).unwrap_or(u32::MAX);
            out.joined_rpcs += u64::from(joined_rpcs);
            out.owned_rpcs += u64::from(rpcs);
            out.rows.push(OperationRow {
                node: Arc::clone(&name),
                pid: *pid,
                asked: match found.evidence {
                    Evidence::Logged => Asked::Operation(found.kind),
                    _ => Asked::Inferred(found.kind),
                },
                evidence: found.evidence,
                fid: found.fid,
                name: found.name.and_then(|name| self.joiner.names.get(&name).cloned()),
                begin_us: found.begin_us,
                duration_us: u64::try_from(found.end_us - found.begin_us).unwrap_or(0),
                begin_evidence: found.begin_evidence,
                result: found.result,
                rpcs,
                joined_rpcs,
                parts: stretches.iter().copied().collect(),
                stretches,
                sent,
                axis_us: self.joiner.clocks.axis_us(&name, found.begin_us),
            });
        }
        out.unfinished += ghosts.len() as u64;
        out.rpcs += self.client.rpcs.len() as u64;
        let evidence = |rpc: usize| owners[rpc].map(|owner| order[owner].1.evidence);
        let found: Vec<Found> = order.iter().map(|(_, found)| *found).collect();
        out.clients.push(self.client.log(Arc::clone(&name), &found, evidence));
        for (rpc, owner) in self.client.rpcs.iter().zip(&owners) {
            if let (None, Some(bulk)) = (owner, rpc.bulk) {
                *if bulk.is_write { &mut out.write_back_rpcs } else { &mut out.read_ahead_rpcs } += 1;
            }
        }
    }

    /// The operation of each RPC.
    fn owners(&self, windows: &Windows, order: &[(u32, Found)], ghosts: &[Ghost]) -> Vec<Option<usize>> {
        let owner = |rpc: &Sent| {
            if let Some(bulk) = rpc.bulk {
                return windows.at(bulk.built_by, bulk.built_us);
            }
            if let Some(lock) = rpc.lock.map(|lock| &self.client.locks[lock]) {
                return windows.at(lock.pid, lock.started_us);
            }
            if let Some(pid) = rpc.sent_for {
                return windows.at(pid, rpc.sent_us);
            }
            windows.at(rpc.pid, rpc.sent_us).or_else(|| only_candidate(rpc, order, ghosts))
        };
        self.client.rpcs.iter().map(owner).collect()
    }

    /// What was under way and belongs to no operation that is known.
    fn doubtful(&self, owners: &[Option<usize>], windows: &Windows) -> Vec<Stretch> {
        let mut doubtful = Vec::new();
        // Threads of programs send for themselves only.
        let only = |pid: u32| windows.0.contains_key(&pid).then_some(pid);
        for (rpc, owner) in self.client.rpcs.iter().zip(owners) {
            if owner.is_some() || !is_waited_for(rpc.opcode) {
                continue;
            }
            let fid = rpc.bulk.map(|bulk| bulk.fid);
            let stretch = |is_other, from_us, to_us| {
                let opcode = Some(rpc.opcode);
                Stretch { is_other, from_us, to_us, pid: only(rpc.pid), fid, opcode }
            };
            if let Some(answered_us) = rpc.answered_us {
                doubtful.push(stretch(fid.is_some(), rpc.sent_us, answered_us));
                continue;
            }
            // The reply's line is missing: it came after the server had sent it.
            let handled_us = self.served(rpc).map(|served| self.there(served.node)(served.end_us).max(rpc.sent_us));
            let latest_us = match handled_us {
                Some(handled_us) => handled_us.saturating_add(LONGEST_REPLY_US),
                None => rpc.sent_us.saturating_add(LONGEST_RPC_US),
            };
            let handled_us = handled_us.unwrap_or(rpc.sent_us);
            doubtful.push(stretch(fid.is_some(), rpc.sent_us, handled_us));
            doubtful.push(stretch(false, handled_us, latest_us));
        }
        let mut seen: FxHashSet<RpcKey> = FxHashSet::default();
        for orphan in self.client.orphans.iter().filter(|orphan| is_waited_for(orphan.opcode)) {
            seen.insert(orphan.key);
            if only(orphan.pid).is_some() {
                // A program's thread waits for its RPCs: this one concerns the operation in which it was answered.
                continue;
            }
            let arrival_us =
                self.joiner.servers.get(orphan.key).map(|served| self.there(served.node)(served.arrival_us));
            let from_us = match arrival_us {
                Some(arrival_us) => arrival_us.saturating_sub(LONGEST_REPLY_US),
                None => orphan.time_us.saturating_sub(LONGEST_RPC_US),
            };
            doubtful.push(Stretch {
                is_other: false,
                from_us,
                to_us: orphan.time_us,
                pid: None,
                fid: None,
                opcode: Some(orphan.opcode),
            });
        }
        for ended in &self.client.unasked {
            let (from_us, to_us) = (ended.started_us, ended.ended_us.unwrap_or(ended.started_us));
            doubtful.push(Stretch { is_other: false, from_us, to_us, pid: only(ended.pid), fid: None, opcode: None });
        }
        // RPCs that the client sent without a line in its log.
        let uuids: FxHashSet<Symbol> = self.client.uuids().collect();
        for (key, served) in self.joiner.servers.all() {
            let is_lost = uuids.contains(&key.0) && !self.client.by_key.contains_key(&key) && !seen.contains(&key);
            if is_lost && is_waited_for(served.opcode) {
                let there = self.there(served.node);
                let (from_us, to_us) = (there(served.arrival_us), there(served.end_us));
                doubtful.push(Stretch {
                    is_other: false,
                    from_us,
                    to_us,
                    pid: None,
                    fid: None,
                    opcode: Some(served.opcode),
                });
            }
        }
        for half in self.joiner.servers.halves() {
            let key = (half.client_uuid, half.xid.0);
            let is_lost = uuids.contains(&key.0) && !self.client.by_key.contains_key(&key) && !seen.contains(&key);
            if is_lost && is_waited_for(half.opcode) {
                let there = self.there(half.node);
                let until_us = half.until_us.unwrap_or_else(|| half.from_us.saturating_add(LONGEST_RPC_US));
                doubtful.push(Stretch {
                    is_other: false,
                    from_us: there(half.from_us),
                    to_us: there(until_us),
                    pid: None,
                    fid: None,
                    opcode: Some(half.opcode),
                });
            }
        }
        doubtful
    }

    /// An RPC as it is drawn.
    fn drawn(&self, rpc: &Sent, found: &Found) -> Option<OperationRpc> {
        let Sent { opcode, sent_us, .. } = *rpc;
        let answered_us = rpc.answered_us?;
        let served = self.served(rpc).and_then(|served| {
            let there = self.placed(rpc, served)?;
            let [arrival_us, start_us, end_us] = [served.arrival_us, served.start_us, served.end_us].map(there);
            let node = self.joiner.name(served.node);
            Some(ServedRpc { node, target: served.target, arrival_us, start_us, end_us })
        });
        let mut claims = Vec::new();
        self.rpc_claims(rpc, found, &mut claims);
        claims.retain(|claim| claim.strength != Strength::Doubt);
        let begin_us = self.queued_us(rpc).unwrap_or(sent_us).min(sent_us);
        Some(OperationRpc { opcode, sent_us, answered_us, stretches: cut(begin_us, answered_us, claims), served })
    }

    /// When the client began to prepare an RPC, if it does not send it at once.
    fn queued_us(&self, rpc: &Sent) -> Option<i64> {
        match (rpc.bulk, rpc.lock) {
            (Some(bulk), _) => Some(bulk.built_us),
            (None, Some(lock)) => Some(self.client.locks[lock].started_us),
            (None, None) => None,
        }
    }

    /// From the server's clock to this client's for an RPC that was answered, if they could be compared. What the server did lies between
    /// its sending and its reply, whatever the comparison's error is, and takes as long as it took.
    fn placed(&self, rpc: &Sent, served: &Served) -> Option<impl Fn(i64) -> i64 + use<>> {
        let clock = self.clock(served.node)?;
        let (sent_us, answered_us) = (rpc.sent_us, rpc.answered_us?.max(rpc.sent_us));
        let late_us = (clock(served.end_us) - answered_us).max(0);
        let early_us = (sent_us - (clock(served.arrival_us) - late_us)).max(0);
        Some(move |us| (clock(us) - late_us + early_us).clamp(sent_us, answered_us))
    }

    fn served(&self, rpc: &Sent) -> Option<&Served> {
        self.joiner.servers.get(rpc.key).filter(|served| served.opcode == rpc.opcode)
    }

    /// From a server's clock to this client's, if they could be compared.
    fn clock(&self, server: Symbol) -> Option<impl Fn(i64) -> i64 + use<>> {
        let (from, to) = (self.joiner.name(server), self.joiner.name(self.node));
        self.joiner.clocks.between(&from, &to)
    }

    /// The same, or the clocks as they are.
    fn there(&self, server: Symbol) -> impl Fn(i64) -> i64 {
        let clock = self.clock(server);
        move |us| clock.as_ref().map_or(us, |clock| clock(us))
    }

    /// What an RPC of an operation claims; whether its server's row is there.
    fn rpc_claims(&self, rpc: &Sent, found: &Found, claims: &mut Vec<Claim>) -> bool {
        if let Some(from_us) = self.queued_us(rpc) {
            claims.push(Claim { strength: Strength::Queue, from_us, to_us: rpc.sent_us, part: Part::ClientQueue });
        }
        if rpc.opcode == Opcode::LDLM_ENQUEUE && rpc.lock.is_none() {
            // The line is missing with which the request began (mask dlmtrace): what went before may have been a wait.
            let mut doubt = |from_us, to_us| {
                claims.push(Claim { strength: Strength::Doubt, from_us, to_us, part: Part::Unknown });
            };
            doubt(rpc.sent_us - 1, rpc.sent_us);
            // The line is missing, too, with which it ended: the lock may have been granted long after the reply.
            if let Some(answered_us) = rpc.answered_us {
                doubt(answered_us, answered_us + 1);
            }
        }
        let served = self.served(rpc);
        let Some(answered_us) = rpc.answered_us else {
            // Whether the operation waited for the reply, and how long, is not in the log.
            let (from_us, to_us) = (rpc.sent_us, found.end_us);
            claims.push(Claim { strength: Strength::Doubt, from_us, to_us, part: Part::Unknown });
            return served.is_some();
        };
        let in_flight = (rpc.sent_us, answered_us);
        let Some(served) = served else {
            claims.push(claim_rpc(answered_us, in_flight, Part::Unknown));
            return false;
        };
        if served.end_us - served.arrival_us > answered_us - rpc.sent_us + LONGER_US {
            // The two are not about the same exchange.
            claims.push(claim_rpc(answered_us, in_flight, Part::Unknown));
            return true;
        }
        let within = |us: i64| us.clamp(rpc.sent_us, answered_us.max(rpc.sent_us));
        if let Some(there) = self.placed(rpc, served) {
            let (arrival_us, start_us) = (there(served.arrival_us), there(served.start_us));
            claims.push(claim_rpc(answered_us, (rpc.sent_us, arrival_us), Part::NetworkOut));
            claims.push(claim_rpc(answered_us, (arrival_us, start_us), Part::ServerQueue));
            self.joiner.server_claims(rpc.key, served, self.never_granted, &there, answered_us, claims);
            claims.push(claim_rpc(answered_us, (there(served.end_us), answered_us), Part::NetworkBack));
        } else {
            // The server's times are known, not how the rest is split: the server's stretch is put at the beginning.
            let there = |us: i64| within(us - served.arrival_us + rpc.sent_us);
            claims.push(claim_rpc(answered_us, (rpc.sent_us, there(served.start_us)), Part::ServerQueue));
            self.joiner.server_claims(rpc.key, served, self.never_granted, there, answered_us, claims);
            claims.push(claim_rpc(answered_us, (there(served.end_us), answered_us), Part::Unknown));
        }
        true
    }

    /// What an RPC claims whose sending is not in the log, because its line is lost or because it had to wait until the client was
    /// connected again: then it prints none. Whether its server's row is there.
    fn orphan_claims(&self, orphan: &OrphanReply, found: &Found, claims: &mut Vec<Claim>) -> bool {
        let served = self.joiner.servers.get(orphan.key);
        let clock = served.and_then(|served| self.clock(served.node));
        let arrival_us = served.zip(clock).map(|(served, clock)| clock(served.arrival_us));
        let sent_us = arrival_us.unwrap_or(orphan.time_us).clamp(found.begin_us, orphan.time_us);
        let OrphanReply { key, opcode, pid, time_us } = *orphan;
        let doubt = Claim { strength: Strength::Doubt, from_us: found.begin_us, to_us: sent_us, part: Part::Unknown };
        claims.push(doubt);
        if arrival_us.is_some() {
            let answered_us = Some(time_us);
            let (bulk, lock, intent, sent_for) = (None, None, None, None);
            let rpc = Sent { key, opcode, pid, sent_us, answered_us, bulk, lock, intent, sent_for };
            self.rpc_claims(&rpc, found, claims);
        }
        served.is_some()
    }

    /// What a lock request claims beside its RPC: the wait for the grant.
    fn lock_claims(&self, lock: usize, found: &Found, claims: &mut Vec<Claim>) {
        let lock = &self.client.locks[lock];
        let answered_us = lock.rpc.and_then(|rpc| self.client.rpcs[rpc].answered_us);
        claims.push(match (answered_us, lock.ended_us) {
            (Some(from_us), Some(to_us)) => Claim { strength: Strength::Lock, from_us, to_us, part: Part::LockWait },
            (from_us, to_us) => Claim {
                strength: Strength::Doubt,
                from_us: from_us.unwrap_or(lock.started_us),
                to_us: to_us.unwrap_or(found.end_us),
                part: Part::Unknown,
            },
        });
    }
}

/// The operation that an RPC of `ptlrpcd` is sent for, if its kind is caused by one kind of operation only, and only one of that kind runs.
fn only_candidate(rpc: &Sent, order: &[(u32, Found)], ghosts: &[Ghost]) -> Option<usize> {
    let kinds = kinds_of(rpc.opcode);
    if kinds.is_empty()
        || ghosts
            .iter()
            .any(|ghost| kinds.contains(&ghost.kind) && (ghost.from_us..=ghost.to_us).contains(&rpc.sent_us))
    {
        return None;
    }
    let from = order.partition_point(|(_, found)| found.begin_us < rpc.sent_us.saturating_sub(LONGEST_RPC_US));
    let to = order.partition_point(|(_, found)| found.begin_us <= rpc.sent_us);
    let mut candidates = (from..to).filter(|&at| {
        let (_, found) = &order[at];
        kinds.contains(&found.kind) && found.end_us >= rpc.sent_us
    });
    candidates.next().filter(|_| candidates.next().is_none())
}
