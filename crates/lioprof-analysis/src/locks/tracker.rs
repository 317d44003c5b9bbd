//! Follows the locks of one node, by both kinds of evidence at once.

use lioprof_model::traffic::is_from_server;
use lioprof_model::{LockEvent, LockEvidence, LockHappening, RpcRow, RpcWindow, SentRpc, Symbol, Symbols};
use lustre_debuglog::{Opcode, TargetName};
use rustc_hash::FxHashMap;

use super::dlm::DlmTracker;
use super::enqueues::EnqueueTracker;
use super::parties::{Party, ServedRequest};
use super::rpc::RpcTracker;
use super::rules::Rules;
use super::sums::{Contention, LockSums};
use crate::select::TargetPattern;

/// Follows the locks of one node.
#[derive(Clone)]
pub(crate) struct LockTracker {
    pub(super) node: Symbol,
    pub(super) dlm: DlmTracker,
    pub(super) rpc: RpcTracker,
    pub(super) enqueues: EnqueueTracker,
    /// Targets that callbacks' device names stand for.
    pub(super) devices: FxHashMap<Symbol, Option<TargetName>>,
    /// Uuids of servers.
    pub(super) server_uuids: FxHashMap<Symbol, bool>,
    /// Targets to count; empty: all.
    pub(super) targets: Vec<TargetPattern>,
}

impl LockTracker {
    /// Without `rules`, those of the version that the log looks like.
    pub(crate) fn new(node: Symbol, rules: Option<&Rules>, targets: &[TargetPattern]) -> Self {
        Self {
            node,
            dlm: DlmTracker::new(node, rules.cloned()),
            rpc: RpcTracker::new(node, rules.cloned().unwrap_or(Rules::TO_2_17)),
            enqueues: EnqueueTracker::new(targets),
            targets: targets.to_vec(),
            devices: FxHashMap::default(),
            server_uuids: FxHashMap::default(),
        }
    }

    /// Takes a line of the lock manager.
    pub(crate) fn lock_event(&mut self, event: &LockEvent, counts: bool, symbols: &Symbols) {
        match event.happening {
            LockHappening::Lock(step, lock) => {
                let counts = counts && self.selects(lock.target);
                let served = self.served(event.window, counts, symbols);
                self.dlm.lock(event, step, &lock, &served);
                let in_the_way = self.dlm.in_the_way(step, lock.cookie, &served);
                self.enqueues.lock(event, step, &lock, in_the_way);
            }
            LockHappening::EnqueueStart => self.dlm.enqueue(event.pid, true),
            LockHappening::EnqueueEnd => self.dlm.enqueue(event.pid, false),
            LockHappening::KernelContention { resource, added, window } => {
                self.dlm.kernel(event.pid, resource, added, window);
            }
            LockHappening::CallbackTimedOut { target, .. } => {
                if counts {
                    self.dlm.sums.sums_of(self.node, target).callback_timeouts += 1;
                    self.rpc.sums.sums_of(self.node, target).callback_timeouts += 1;
                }
            }
            // No lock is behind it.
            LockHappening::SilentEvicted { .. } => {}
        }
    }

    /// Takes an RPC that the node sends, or the answer to one.
    pub(crate) fn sent_rpc(&mut self, sent: &SentRpc, counts: bool, symbols: &Symbols) {
        let Some(target) = self.target(sent.device, symbols) else { return };
        let counts = counts && self.selects(target);
        match sent.round_trip_us {
            None => {
                if counts {
                    self.dlm.sums.callback(self.node, target, sent.opcode, sent.time_us);
                    self.rpc.sums.callback(self.node, target, sent.opcode, sent.time_us);
                }
                let served = self.served(sent.window, counts, symbols);
                self.rpc.sending(sent.time_us, sent.opcode, target, sent.nid, &served);
            }
            Some(round_trip_us) if counts && sent.opcode == Opcode::LDLM_BL_CALLBACK => {
                self.dlm.sums.target(self.node, target).blocking_ast.add(round_trip_us);
                self.rpc.sums.target(self.node, target).blocking_ast.add(round_trip_us);
            }
            Some(round_trip_us) if counts && sent.opcode == Opcode::LDLM_GL_CALLBACK => {
                let served = self.served(sent.window, counts, symbols);
                if let Party::Client(client) = served.party {
                    for sums in [&mut self.dlm.sums, &mut self.rpc.sums] {
                        let whose = (client, served.job());
                        sums.glimpsed((self.node, target), whose, sent.nid, (round_trip_us, sent.time_us));
                    }
                }
            }
            Some(_) => {}
        }
    }

    /// Takes a row that the join has made; whether a wait for a lock has ended with it.
    pub(crate) fn row(&mut self, row: &RpcRow, counts: bool, symbols: &Symbols) -> bool {
        if row.opcode == Opcode::LDLM_ENQUEUE || row.direction().is_some() {
            let server = self.is_server(row.client_uuid, symbols);
            self.rpc.row(row, server);
            self.dlm.row(row);
        }
        if counts && row.opcode == Opcode::LDLM_CANCEL {
            self.dlm.sums.cancels += 1;
            self.rpc.sums.cancels += 1;
        }
        self.rpc.ended(row)
    }

    /// Takes a lock request that has been handled; `counts`: it is one of those that are looked at, whatever its target.
    pub(crate) fn enqueue(&mut self, row: &RpcRow, counts: bool) {
        self.enqueues.row(row, counts);
    }

    /// The sums of the better tier.
    pub(crate) fn finish(mut self) -> LockSums {
        self.enqueues.finish();
        let enqueues = std::mem::take(&mut self.enqueues.sums);
        LockSums { enqueues, ..self.finish_tier() }
    }

    fn finish_tier(mut self) -> LockSums {
        if self.dlm.saw_locks {
            self.dlm.finish();
            let mut sums = self.dlm.sums;
            sums.evidence.insert(self.node, LockEvidence::Dlmtrace);
            sums.rules.insert(self.node, self.dlm.rules.model());
            sums
        } else {
            self.rpc.finish();
            let mut sums = self.rpc.sums;
            // A node without any sign of locks does not weaken what others show.
            if !sums.targets.is_empty() {
                sums.evidence.insert(self.node, LockEvidence::Rpctrace);
            }
            sums.rules.insert(self.node, self.rpc.rules.model());
            sums
        }
    }

    /// What the series of the node still have to take.
    pub(crate) fn contention(&mut self) -> impl Iterator<Item = (i64, TargetName, Contention)> {
        let (best, other) = if self.dlm.saw_locks {
            (&mut self.dlm.sums, &mut self.rpc.sums)
        } else {
            (&mut self.rpc.sums, &mut self.dlm.sums)
        };
        other.contention.clear();
        best.contention.drain(..)
    }

    pub(super) fn selects(&self, target: TargetName) -> bool {
        TargetPattern::takes(&self.targets, Some(target))
    }

    pub(super) fn served(&mut self, window: Option<RpcWindow>, counts: bool, symbols: &Symbols) -> ServedRequest {
        ServedRequest { window, party: self.party(window, symbols), counts }
    }

    pub(super) fn party(&mut self, window: Option<RpcWindow>, symbols: &Symbols) -> Party {
        Party::behind(window, |uuid| self.is_server(uuid, symbols))
    }

    pub(super) fn is_server(&mut self, uuid: Symbol, symbols: &Symbols) -> bool {
        *self.server_uuids.entry(uuid).or_insert_with(|| is_from_server(symbols.bytes(uuid)))
    }

    pub(super) fn target(&mut self, device: Symbol, symbols: &Symbols) -> Option<TargetName> {
        *self.devices.entry(device).or_insert_with(|| TargetName::parse_bytes(symbols.bytes(device)))
    }
}
