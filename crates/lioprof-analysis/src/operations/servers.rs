//! The servers' side of RPCs.

use lioprof_model::{Direction, LockEvent, LockHappening, LockStep, RpcRow, SizeEvidence, Symbol};
use lustre_debuglog::{LockMode, Opcode};
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
        let &RpcRow { node, nid, opcode, pid, end_us, .. } = row;
        Some(Served { node, nid, opcode, pid, arrival_us, start_us, end_us, work })
    }

    pub(super) fn lock_event(&mut self, event: &LockEvent) {
        let LockHappening::Lock(step, lock) = event.happening else { return };
        let id = (event.node, lock.cookie);
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

    /// The RPC, if its server's log has it, once.
    pub(super) fn get(&self, key: RpcKey) -> Option<&Served> {
        self.rpcs.get(&key)?.as_ref()
    }

    /// All RPCs.
    pub(super) fn all(&self) -> impl Iterator<Item = (RpcKey, &Served)> {
        self.rpcs.iter().filter_map(|(key, served)| Some((*key, served.as_ref()?)))
    }

    /// RPCs that wait for a lock whose grant is not in the log.
    pub(super) fn never_granted(&self) -> FxHashSet<RpcKey> {
        self.waiting.values().map(|(_, key)| *key).chain(self.unsettled.iter().copied()).collect()
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
        if strange || never_granted.contains(&key) {
            return LockWaits::Unknown;
        }
        LockWaits::Known(self.waits.get(&key).map(Vec::as_slice).unwrap_or_default())
    }
}
