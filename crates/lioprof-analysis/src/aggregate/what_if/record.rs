//! Requests that are kept: of each node the beginning, so that all that was under way at a time is there or is not.

use lioprof_model::parts::sums::ReplayFacts;
use lioprof_model::traffic::OperationClass;
use lioprof_model::{Direction, RpcRow, RpcSize, Symbol};
use lustre_debuglog::message::ObjectName;
use lustre_debuglog::{Opcode, TargetKind};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::super::entries::TargetKey;
use super::super::series::clipped;
use crate::renumber::Renumber;
use crate::what_if::Kind;

/// Requests kept, of a node and of all nodes together: a replay of so many takes a tenth of a second.
const MOST: usize = 1 << 15;

/// Smallest gap.
const PAGE_BYTES: u64 = 4096;

/// Stands for a part that is not known.
const UNKNOWN: u32 = u32::MAX;

/// A request, or a client's wait for a lock, in 40 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) end_us: i64,
    pub(super) total_us: u32,
    pub(super) service_us: u32,
    before_us: u32,
    transfer_us: u32,
    pub(super) bytes: u32,
    /// Hash of the object; 0: not known.
    pub(super) object: u32,
    pub(super) client: Symbol,
    pub(super) place: u16,
    pub(super) kind: Kind,
    /// Between its first and its last byte some are left out.
    pub(super) gapped: bool,
}

impl Kept {
    pub(super) fn new(end_us: i64, total_us: u64, service_us: u64, client: Symbol, place: u16, kind: Kind) -> Self {
        let total_us = short(total_us);
        Self {
            end_us,
            total_us,
            service_us: short(service_us).min(total_us),
            before_us: UNKNOWN,
            transfer_us: UNKNOWN,
            bytes: 0,
            object: 0,
            client,
            place,
            kind,
            gapped: false,
        }
    }

    pub(super) fn with_data(mut self, bytes: u32, object: u32, parts: Option<(u32, u32)>) -> Self {
        (self.bytes, self.object) = (bytes, object);
        (self.before_us, self.transfer_us) = parts.unwrap_or((UNKNOWN, UNKNOWN));
        self
    }

    pub(super) fn with_gaps(self, gapped: bool) -> Self {
        Self { gapped, ..self }
    }

    /// Time before the transfer and of the transfer.
    pub(super) fn parts(self) -> Option<(u32, u32)> {
        (self.before_us != UNKNOWN).then_some((self.before_us, self.transfer_us))
    }
}

/// What is kept.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(super) places: Vec<TargetKey>,
    numbers: FxHashMap<TargetKey, u16>,
    pub(super) kept: Vec<Kept>,
    pub(super) facts: ReplayFacts,
}

impl Renumber for Record {
    fn renumber(&mut self, to: &[Symbol]) {
        let Self { places, numbers, kept, facts: _ } = self;
        places.renumber(to);
        *numbers = (0..).zip(&*places).map(|(number, &place)| (place, number)).collect();
        kept.iter_mut().for_each(|kept| kept.client.renumber(to));
    }
}

impl Record {
    /// Whether each request is of a place that is there.
    pub(crate) fn check(&self) -> Result<(), String> {
        let is_whole = self.kept.iter().all(|kept| usize::from(kept.place) < self.places.len());
        is_whole.then_some(()).ok_or_else(|| "expected requests of places that are in their list".to_owned())
    }

    /// Keeps a request of a client.
    pub(crate) fn row(&mut self, row: &RpcRow, key: TargetKey, direction: Option<Direction>) {
        let Some(kind) = kind(row.opcode, direction, key.kind) else { return };
        self.facts.requests += 1;
        if kind.is_waited_for() {
            self.facts.last_us = self.facts.last_us.max(Some(row.end_us));
        }
        if kind.uses_disk() {
            self.facts.last_bulk_us = self.facts.last_bulk_us.max(Some(row.end_us));
        }
        let (Some(service_us), Some(total_us)) = (row.service_us, row.total_us) else { return };
        if self.is_cut(row.end_us) {
            return;
        }
        let Some(place) = self.place(key) else { return };
        let mut kept = Kept::new(row.end_us, total_us, service_us, row.nid, place, kind);
        if direction.is_some() {
            let bytes = row.size.best_bytes().map_or(0, short);
            let bulk = row.bulk.filter(|bulk| bulk.is_within(row.service_us));
            let parts = bulk.map(|bulk| (short(bulk.before_us), short(bulk.transfer_us)));
            kept = kept.with_data(bytes, row.object.map_or(0, hash), parts).with_gaps(has_gaps(row));
        }
        self.keep(kept);
    }

    /// Keeps a client's wait for a lock of a target.
    pub(crate) fn lock_wait(&mut self, client: Symbol, target: TargetKey, from_us: i64, to_us: i64) {
        if self.is_cut(to_us) {
            return;
        }
        let Some(place) = self.place(target) else { return };
        let wait_us = to_us.abs_diff(clipped(from_us, to_us));
        self.keep(Kept::new(to_us, wait_us, 0, client, place, Kind::Wait));
    }

    pub(super) fn keep(&mut self, kept: Kept) {
        self.kept.push(kept);
        // Cut now and then only: it takes a pass over all.
        if self.kept.len() >= 2 * MOST {
            self.limit();
        }
    }

    fn is_cut(&self, end_us: i64) -> bool {
        self.facts.cut_us.is_some_and(|cut_us| end_us >= cut_us)
    }

    /// The number of a target; `None` if there are too many.
    pub(super) fn place(&mut self, key: TargetKey) -> Option<u16> {
        if let Some(&place) = self.numbers.get(&key) {
            return Some(place);
        }
        let place = u16::try_from(self.places.len()).ok()?;
        self.places.push(key);
        self.numbers.insert(key, place);
        Some(place)
    }

    /// Cut, and no spare room: no more rows of the node will come.
    pub(crate) fn keep_little(&mut self) {
        self.limit();
        self.kept.shrink_to_fit();
    }

    /// Keeps the beginning: whatever ended before a time.
    pub(crate) fn limit(&mut self) {
        if let Some(cut_us) = self.facts.cut_us {
            self.kept.retain(|kept| kept.end_us < cut_us);
        }
        if self.kept.len() > MOST {
            let (_, first_too_many, _) = self.kept.select_nth_unstable_by_key(MOST, |kept| kept.end_us);
            let cut_us = first_too_many.end_us;
            self.facts.cut_us = Some(cut_us);
            self.kept.retain(|kept| kept.end_us < cut_us);
        }
    }

    /// Adds another node's.
    pub(crate) fn merge(&mut self, other: Self) {
        self.merge_facts(other.facts);
        let places: Vec<Option<u16>> = other.places.iter().map(|&key| self.place(key)).collect();
        for kept in other.kept.into_iter().filter(|kept| self.facts.cut_us.is_none_or(|cut_us| kept.end_us < cut_us)) {
            if let Some(place) = places[usize::from(kept.place)] {
                self.kept.push(Kept { place, ..kept });
            }
        }
        // Not for each of a hundred nodes: it takes a pass over all.
        if self.kept.len() >= 2 * MOST {
            self.limit();
        }
    }

    pub(super) fn merge_facts(&mut self, other: ReplayFacts) {
        self.facts.requests += other.requests;
        self.facts.last_us = self.facts.last_us.max(other.last_us);
        self.facts.last_bulk_us = self.facts.last_bulk_us.max(other.last_bulk_us);
        self.facts.cut_us = self.facts.cut_us.into_iter().chain(other.cut_us).min();
    }

    /// What belongs to one target belongs to another.
    pub(crate) fn rename(&mut self, from: TargetKey, to: TargetKey) {
        let Some(from) = self.numbers.get(&from).copied() else { return };
        let Some(to) = self.place(to) else { return };
        self.kept.iter_mut().filter(|kept| kept.place == from).for_each(|kept| kept.place = to);
    }
}

/// What a request is in a replay; `None`: nobody waits for it.
fn kind(opcode: Opcode, direction: Option<Direction>, target: TargetKind) -> Option<Kind> {
    match direction {
        Some(Direction::Read) => return Some(Kind::Read),
        Some(Direction::Write) => return Some(Kind::Write),
        None => {}
    }
    match opcode {
        Opcode::OST_STATFS
        | Opcode::MDS_STATFS
        | Opcode::OST_CONNECT
        | Opcode::OST_DISCONNECT
        | Opcode::MDS_CONNECT
        | Opcode::MDS_DISCONNECT => None,
        Opcode::OST_SYNC => Some(Kind::Sync),
        Opcode::LDLM_CANCEL => Some(Kind::Cancel),
        Opcode::LDLM_ENQUEUE if target != TargetKind::Mdt => Some(Kind::LockRequest),
        _ => match OperationClass::of(opcode) {
            OperationClass::Bulk | OperationClass::Metadata | OperationClass::Lock => Some(Kind::Other),
            OperationClass::Ping | OperationClass::Other => None,
        },
    }
}

fn short(value: u64) -> u32 {
    // The largest number stands for what is not known.
    u32::try_from(value).unwrap_or(UNKNOWN).min(UNKNOWN - 1)
}

/// A hash of an object that is the same on every machine; never 0.
/// Whether at least a page lies between the bytes of a request.
fn has_gaps(row: &RpcRow) -> bool {
    let RpcSize::Exact(bytes) = row.size else { return false };
    row.extent.is_some_and(|extent| extent.len_bytes() >= bytes.saturating_add(PAGE_BYTES))
}

fn hash(object: ObjectName) -> u32 {
    let (first, second) = match object {
        ObjectName::Fid(fid) => (fid.seq, u64::from(fid.oid) | u64::from(fid.ver) << 32),
        ObjectName::Resource(first, second) => (first, second),
    };
    let mixed = (first.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ second).wrapping_mul(0xff51_afd7_ed55_8ccd);
    ((mixed >> 32) as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(ends_us: impl Iterator<Item = i64>) -> Record {
        let mut record = Record::default();
        let key = TargetKey { node: Symbol(0), kind: TargetKind::Ost, name: None };
        let place = record.place(key).unwrap();
        for end_us in ends_us {
            record.keep(Kept::new(end_us, 10, 5, Symbol(1), place, Kind::Other));
        }
        record.limit();
        record
    }

    fn what(mut record: Record) -> (Vec<i64>, Option<i64>) {
        record.limit();
        record.kept.sort_unstable_by_key(|kept| kept.end_us);
        (record.kept.iter().map(|kept| kept.end_us).collect(), record.facts.cut_us)
    }

    #[test]
    fn the_beginning_is_kept_in_whatever_order_rows_and_nodes_come() {
        let requests = 3 * i64::try_from(MOST).unwrap();
        // Each moment three times, so that the limit falls on equal ones.
        let of_node = |node: i64| (0..requests).filter(move |n| n % 3 == node).map(|n| n / 3 * 2);
        let all = || (0..requests).map(|n| n / 3 * 2);
        let (kept, cut_us) = what(record(all()));
        assert!(kept.len() <= MOST && kept.len() + 3 > MOST, "{}", kept.len());
        assert!(kept.iter().all(|end_us| Some(*end_us) < cut_us));
        assert_eq!(what(record(all().rev())), (kept.clone(), cut_us));
        for nodes in [[0, 1, 2], [2, 0, 1]] {
            let records = nodes.map(|node| record(of_node(node)));
            let merged = records.into_iter().reduce(|mut sum, other| {
                sum.merge(other);
                sum
            });
            assert_eq!(what(merged.unwrap()), (kept.clone(), cut_us), "{nodes:?}");
        }
        assert_eq!(what(record(0..100)), ((0..100).collect(), None));
    }

    #[test]
    fn objects_differ() {
        let first = hash(ObjectName::Resource(7, 0));
        assert_ne!(first, hash(ObjectName::Resource(8, 0)));
        assert_ne!(first, 0);
        assert_eq!(kind(Opcode::OST_STATFS, None, TargetKind::Ost), None);
        assert_eq!(kind(Opcode::OBD_PING, None, TargetKind::Ost), None);
        assert_eq!(kind(Opcode::LDLM_ENQUEUE, None, TargetKind::Mdt), Some(Kind::Other));
    }
}
