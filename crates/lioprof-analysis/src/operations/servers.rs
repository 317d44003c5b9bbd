//! The servers' side of RPCs.

use lioprof_model::{Direction, HalfRpc, LockEvent, LockHappening, LockStep, RpcRow, SizeEvidence, Symbol};
use lustre_debuglog::{LockMode, Opcode, ResourceId, TargetName};
use rustc_hash::{FxHashMap, FxHashSet};

/// A lock may be granted so long after the reply to the request that asked for it.
const GRANTED_LATER_US: i64 = 10_000_000;

/// Uuid of the client's connection and xid: what both sides print.
pub(super) type RpcKey = (Symbol, u64);

/// An RPC as its server tells, on the server's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Served {
    pub(super) node: Symbol,
    pub(super) nid: Symbol,
    pub(super) opcode: Opcode,
    pub(super) pid: u32,
    pub(super) target: Option<TargetName>,
    pub(super) job: Option<Symbol>,
    pub(super) arrival_us: i64,
    pub(super) start_us: i64,
    pub(super) end_us: i64,
    pub(super) work: Work,
}

/// What the service time consists of besides lock waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// No data are moved apart from the request.
    Plain,
    /// Data are moved in between: what goes before, and the transfer.
    Bulk { direction: Direction, before_us: u64, transfer_us: u64 },
    /// Data are moved, but the log does not tell when.
    Unsplit,
}

/// What servers' logs tell.
#[derive(Default)]
pub(super) struct Servers {
    /// `None`: two rows have this key, as when a request is sent again.
    rpcs: FxHashMap<RpcKey, Option<Served>>,
    /// Which RPC asked for each lock.
    created: FxHashMap<(Symbol, u64), RpcKey>,
    /// Locks that are waited for: when that began, and for which RPC.
    waiting: FxHashMap<(Symbol, u64), (i64, RpcKey)>,
    /// RPCs that waited for locks whose grants are not in the log.
    unsettled: Vec<RpcKey>,
    /// Times of lock waits.
    waits: FxHashMap<RpcKey, Vec<(i64, i64)>>,
    /// What RPCs met other locks on: such an RPC waits, or its lines about that are lost.
    conflicts: FxHashSet<(RpcKey, ResourceId)>,
    /// What RPCs waited for locks on.
    waited_on: FxHashSet<(RpcKey, ResourceId)>,
    /// Lines of a conflict by threads that handle no request as far as the log tells: the line of its start is lost.
    stray_conflicts: FxHashMap<(Symbol, u32), Vec<i64>>,
    /// Requests whose ends are lost.
    halves: Vec<HalfRpc>,
    /// When threads were found to have turned to something else before they had ended a request.
    cut_off: FxHashSet<(Symbol, u32, i64)>,
    /// Locks that were granted without a sign of a wait or of who asked for them: by node and client.
    strange_grants: FxHashMap<(Symbol, Option<Symbol>), Vec<i64>>,
}

/// Lock waits of an RPC.
pub(super) enum LockWaits<'a> {
    /// These, on the server's clock.
    Known(&'a [(i64, i64)]),
    /// A line about one is missing.
    Unknown,
}

impl Servers {
    pub(super) fn rpc(&mut self, row: &RpcRow) {
        let key = (row.client_uuid, row.xid.0);
        let served = Self::served(row);
        self.rpcs.entry(key).and_modify(|served| *served = None).or_insert(served);
    }

    fn served(row: &RpcRow) -> Option<Served> {
        let (arrival_us, start_us) = row.arrival_us().zip(row.start_us())?;
        let work = match (row.direction(), row.bulk) {
            (None, _) => Work::Plain,
            (Some(_), None) if row.failed() || row.size_evidence == SizeEvidence::Inline => Work::Plain,
            (Some(_), None) => Work::Unsplit,
            (Some(direction), Some(bulk)) => {
                Work::Bulk { direction, before_us: bulk.before_us, transfer_us: bulk.transfer_us }
            }
        };
        let &RpcRow { node, nid, opcode, pid, target, job, end_us, .. } = row;
        Some(Served { node, nid, opcode, pid, target, job, arrival_us, start_us, end_us, work })
    }

    pub(super) fn lock_event(&mut self, event: &LockEvent) {
        let LockHappening::Lock(step, lock) = event.happening else { return };
        let id = (event.node, lock.cookie);
        let is_conflict = match step {
            LockStep::Incompatible | LockStep::BlockingAst => true,
            LockStep::Queued => lock.granted_mode == LockMode::None,
            _ => false,
        };
        match &event.window {
            Some(window) if is_conflict => {
                let key = (window.client_uuid, window.xid.0);
                let met = if step == LockStep::Queued { &mut self.waited_on } else { &mut self.conflicts };
                met.insert((key, lock.resource));
            }
            None if is_conflict => {
                self.stray_conflicts.entry((event.node, event.pid)).or_default().push(event.time_us);
            }
            _ => {}
        }
        match step {
            LockStep::Created => {
                if let Some(window) = &event.window {
                    self.created.insert(id, (window.client_uuid, window.xid.0));
                }
            }
            LockStep::Queued if lock.granted_mode == LockMode::None => {
                if let Some(window) = &event.window {
                    let key = (window.client_uuid, window.xid.0);
                    self.waiting.entry(id).or_insert((event.time_us, key));
                }
            }
            LockStep::Granted => match self.waiting.remove(&id) {
                Some((from_us, key)) => self.waits.entry(key).or_default().push((from_us, event.time_us)),
                None => match self.created.get(&id) {
                    Some(key) => self.unsettled.push(*key),
                    None => self.strange_grants.entry((event.node, lock.nid)).or_default().push(event.time_us),
                },
            },
            // Given up, or the line of the grant is lost.
            LockStep::Freed => {
                self.created.remove(&id);
                let given_up = self.waiting.remove(&id);
                self.unsettled.extend(given_up.map(|(_, key)| key));
            }
            _ => {}
        }
    }

    pub(super) fn half_rpc(&mut self, half: &HalfRpc) {
        self.halves.push(*half);
        self.cut_off.extend(half.until_us.map(|until_us| (half.node, half.pid, until_us)));
    }

    /// Requests whose ends are lost.
    pub(super) fn halves(&self) -> &[HalfRpc] {
        &self.halves
    }

    /// The RPC, if its server's log has it, once.
    pub(super) fn get(&self, key: RpcKey) -> Option<&Served> {
        self.rpcs.get(&key)?.as_ref()
    }

    /// All RPCs.
    pub(super) fn all(&self) -> impl Iterator<Item = (RpcKey, &Served)> {
        self.rpcs.iter().filter_map(|(key, served)| Some((*key, served.as_ref()?)))
    }

    /// RPCs that wait for a lock whose grant is not in the log, or about whose waits another line is missing.
    pub(super) fn never_granted(&self) -> FxHashSet<RpcKey> {
        let unexplained = self.conflicts.difference(&self.waited_on).map(|(key, _)| *key);
        let waiting = self.waiting.values().map(|(_, key)| *key);
        waiting.chain(self.unsettled.iter().copied()).chain(unexplained).collect()
    }

    /// The lock waits of an RPC.
    pub(super) fn lock_waits(&self, key: RpcKey, served: &Served, never_granted: &FxHashSet<RpcKey>) -> LockWaits<'_> {
        let strange = [Some(served.nid), None].iter().any(|nid| {
            let grants = self.strange_grants.get(&(served.node, *nid));
            grants.is_some_and(|grants| {
                grants
                    .iter()
                    .any(|at_us| (served.start_us..=served.end_us.saturating_add(GRANTED_LATER_US)).contains(at_us))
            })
        });
        let thread = (served.node, served.pid);
        let is_stray = self
            .stray_conflicts
            .get(&thread)
            .is_some_and(|conflicts| conflicts.iter().any(|at_us| (served.start_us..=served.end_us).contains(at_us)));
        // Its lines count as those of the request before it, whose end and its own start are lost.
        let has_others_lines = self.cut_off.contains(&(served.node, served.pid, served.end_us));
        if strange || is_stray || has_others_lines || never_granted.contains(&key) {
            return LockWaits::Unknown;
        }
        LockWaits::Known(self.waits.get(&key).map(Vec::as_slice).unwrap_or_default())
    }
}
