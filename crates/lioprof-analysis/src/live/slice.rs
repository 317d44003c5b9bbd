//! The sums of a second.

use lioprof_model::traffic::row_is_on_mdt;
use lioprof_model::{Direction, Merge, ReadWrite, RpcRow, Symbol, Symbols};
use lustre_debuglog::message::ObjectName;
use lustre_debuglog::{ResourceId, TargetKind, TargetName};
use rustc_hash::FxHashMap;

use crate::cells::RpcTimes;
use crate::locks::Contention;

/// Most keys of each kind; what others did is summed up.
const MAX_KEYS: usize = 20_000;

/// Where an RPC was handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place {
    /// `None`: the log does not name the target.
    pub(super) target: Option<TargetName>,
    /// By an MDT: not a read or write of an OST.
    pub(super) on_mdt: bool,
}

impl Place {
    pub(super) fn kind(self) -> TargetKind {
        match self.target {
            Some(target) => target.kind(),
            None if self.on_mdt => TargetKind::Mdt,
            None => TargetKind::Ost,
        }
    }
}

/// Who sent it, and where to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Cell {
    pub(super) nid: Symbol,
    pub(super) job: Option<Symbol>,
    pub(super) place: Place,
}

/// RPCs of all kinds, and the reads and writes among them.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    pub(super) rpcs: u64,
    pub(super) io: ReadWrite,
}

lioprof_model::merge_fields!(Sum { rpcs, io });

/// A client's use of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Access {
    pub(super) nid: Symbol,
    pub(super) target: TargetName,
    pub(super) object: ObjectName,
}

/// Two clients in conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Fight {
    pub(super) target: TargetName,
    pub(super) holder: Symbol,
    pub(super) waiter: Symbol,
    pub(super) resource: Option<ResourceId>,
}

/// Sums of rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Slice {
    pub(super) all: Sum,
    pub(super) cells: Limited<Cell, Sum>,
    pub(super) accesses: Limited<Access, ReadWrite>,
    pub(super) places: FxHashMap<Place, PlaceSum>,
    pub(super) fights: Limited<Fight, u64>,
    /// Conflicts by target, all of them.
    pub(super) conflicts: FxHashMap<TargetName, u64>,
    /// Microseconds that clients waited for locks of other clients.
    pub(super) waits: Limited<Symbol, u64>,
}

lioprof_model::merge_fields!(Slice { all, cells, accesses, places, fights, conflicts, waits });

/// RPCs of a place, and their times.
#[derive(Clone, Debug, Default)]
pub(super) struct PlaceSum {
    pub(super) sum: Sum,
    pub(super) times: RpcTimes,
}

lioprof_model::merge_fields!(PlaceSum { sum, times });

impl Slice {
    pub(super) fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        let on_mdt = row_is_on_mdt(row, symbols);
        let place = Place { target: row.target, on_mdt };
        let mut sum = Sum { rpcs: 1, io: ReadWrite::default() };
        let direction = row.direction();
        if let Some(direction) = direction {
            sum.io.add(row, direction);
        }
        let here = self.places.entry(place).or_default();
        here.sum.merge(&sum);
        // Of an OST's RPCs those count that move data: the others take no time, or that of a lock's holder.
        if direction.is_some() || on_mdt {
            here.times.add(row);
        }
        self.cells.add(Cell { nid: row.nid, job: row.job, place }, &sum);
        if let (Some(direction), Some(target), Some(object)) = (direction, row.target, row.object) {
            self.access(Access { nid: row.nid, target, object }, direction, row);
        }
        if on_mdt {
            // Data-on-MDT has counters of its own.
            sum.io = ReadWrite::default();
        }
        self.all.merge(&sum);
    }

    fn access(&mut self, access: Access, direction: Direction, row: &RpcRow) {
        let mut io = ReadWrite::default();
        io.add(row, direction);
        self.accesses.add(access, &io);
    }

    pub(super) fn contention(&mut self, target: TargetName, contention: Contention) {
        match contention {
            Contention::Conflict { holder, waiter, resource, .. } => {
                *self.conflicts.entry(target).or_default() += 1;
                self.fights.add(Fight { target, holder, waiter, resource }, &1);
            }
            Contention::Wait { wait_us, client, .. } => {
                self.waits.add(client, &u64::try_from(wait_us).unwrap_or(0));
            }
            Contention::BlockingAst => {}
        }
    }
}

/// Sums by key, up to a number of keys.
#[derive(Clone, Debug)]
pub(super) struct Limited<K, V> {
    pub(super) by_key: FxHashMap<K, V>,
    /// What had no room.
    pub(super) beyond: V,
}

impl<K, V: Default> Default for Limited<K, V> {
    fn default() -> Self {
        Self { by_key: FxHashMap::default(), beyond: V::default() }
    }
}

impl<K: Copy + Eq + std::hash::Hash, V: Clone + Default + Merge> Limited<K, V> {
    fn add(&mut self, key: K, value: &V) {
        if let Some(known) = self.by_key.get_mut(&key) {
            known.merge(value);
        } else if self.by_key.len() < MAX_KEYS {
            self.by_key.insert(key, value.clone());
        } else {
            self.beyond.merge(value);
        }
    }
}

impl<K: Copy + Eq + std::hash::Hash, V: Clone + Default + Merge> Merge for Limited<K, V> {
    fn merge(&mut self, other: &Self) {
        for (key, value) in &other.by_key {
            self.add(*key, value);
        }
        self.beyond.merge(&other.beyond);
    }
}
