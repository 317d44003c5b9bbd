//! The objects and pairs of clients that fight most.

use std::collections::hash_map;
use std::hash::Hash;

use lioprof_model::Symbol;
use lioprof_model::parts::sums::LockPairSums;
use lustre_debuglog::{ResourceId, TargetName};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::object::{ObjectLocks, Track};
use crate::few::keep_heaviest;
use crate::renumber::{Renumber, renumber_fields};

/// An object with contention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct ObjectKey {
    pub(crate) node: Symbol,
    pub(crate) target: TargetName,
    pub(crate) resource: ResourceId,
    pub(crate) inferred: bool,
}

renumber_fields!(ObjectKey { node } without { target, resource, inferred });

/// Two clients of which one has what the other one waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct PairKey {
    pub(crate) target: TargetName,
    pub(crate) holder: Symbol,
    pub(crate) waiter: Symbol,
}

renumber_fields!(PairKey { holder, waiter } without { target });

/// Objects that keep their timelines when there is too much in all of them: more than are shown.
const TIMELINES: usize = 32;

/// Objects with contention, each with a timeline.
pub(crate) type ContendedObjects = Heaviest<ObjectKey, ObjectLocks, 1024>;
/// Pairs of clients.
pub(crate) type ContendedPairs = Heaviest<PairKey, LockPairSums, 16_384>;

/// How much somebody fought or was fought over.
pub(crate) trait Weight {
    fn weight(&self) -> (u64, u64);
}

impl Weight for ObjectLocks {
    /// By conflicts or changes of owner, then by the time waited.
    fn weight(&self) -> (u64, u64) {
        (self.conflicts.max(self.owners.alternations), self.wait_us)
    }
}

impl Weight for LockPairSums {
    /// By conflicts, changes of owner or glimpses.
    fn weight(&self) -> (u64, u64) {
        (self.conflicts.max(self.handovers).max(self.glimpses), self.handovers)
    }
}

/// The heaviest of many. When there are twice as many as are kept, the lightest are forgotten; one of them that is heard of later starts
/// anew, so its figures are then a lower bound. Sums of targets have all of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(deserialize = "K: Deserialize<'de> + Eq + Hash, V: Deserialize<'de>"))]
pub(crate) struct Heaviest<K, V, const KEPT: usize> {
    kept: FxHashMap<K, V>,
    /// Whether some were forgotten.
    cut: bool,
}

impl<K, V, const KEPT: usize> Default for Heaviest<K, V, KEPT> {
    fn default() -> Self {
        Self { kept: FxHashMap::default(), cut: false }
    }
}

impl<K: Copy + Eq + Hash + Ord, V: Weight + Default, const KEPT: usize> Heaviest<K, V, KEPT> {
    /// The value, which is new if it is not known yet.
    pub(crate) fn of(&mut self, key: K) -> &mut V {
        // Not after it was made: the least of all would be forgotten at once.
        if self.kept.len() >= 2 * KEPT && !self.kept.contains_key(&key) {
            self.keep(KEPT);
        }
        self.kept.entry(key).or_default()
    }

    pub(crate) fn known(&mut self, key: &K) -> Option<&mut V> {
        self.kept.get_mut(key)
    }

    pub(crate) fn contains(&self, key: &K) -> bool {
        self.kept.contains_key(key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.kept.iter()
    }

    pub(crate) fn each(&mut self, change: impl FnMut(&mut V)) {
        self.kept.values_mut().for_each(change);
    }

    /// Adds what was summed up elsewhere. Targets live on one node at a time: an object of two nodes was moved, and keeps two rows.
    pub(crate) fn extend(&mut self, more: Self, merge: impl Fn(&mut V, V)) {
        self.cut |= more.cut;
        for (key, theirs) in more.kept {
            match self.kept.entry(key) {
                hash_map::Entry::Occupied(mine) => merge(mine.into_mut(), theirs),
                hash_map::Entry::Vacant(place) => drop(place.insert(theirs)),
            }
        }
        if self.kept.len() >= 2 * KEPT {
            self.keep(KEPT);
        }
    }

    /// Whether some were forgotten.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut
    }

    fn keep(&mut self, count: usize) {
        self.cut |= !keep_heaviest(&mut self.kept, count, V::weight).is_empty();
    }
}

impl<K: Renumber + Eq + Hash, V: Renumber, const KEPT: usize> Renumber for Heaviest<K, V, KEPT> {
    fn renumber(&mut self, to: &[Symbol]) {
        self.kept.renumber(to);
    }
}

impl ContendedObjects {
    /// Drops the timelines of all but the heaviest; returns how many entries are left.
    pub(crate) fn keep_timelines(&mut self) -> usize {
        let mut order: Vec<(&ObjectKey, &mut ObjectLocks)> = self.kept.iter_mut().collect();
        order.sort_unstable_by(|a, b| b.1.weight().cmp(&a.1.weight()).then(a.0.cmp(b.0)));
        let mut left = 0;
        for (rank, (_, object)) in order.into_iter().enumerate() {
            if rank < TIMELINES {
                left += object.timeline.entries();
            } else if object.timeline.entries() > 0 {
                object.timeline = Track { truncated: true, ..Track::default() };
            }
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::super::parties::Overlap;
    use super::super::sums::LockSums;
    use super::*;

    fn key(number: usize) -> ObjectKey {
        let target = TargetName::parse_bytes(b"lustre-OST0001").unwrap();
        ObjectKey { node: Symbol(0), target, resource: ResourceId([number as u64, 0, 0, 0]), inferred: false }
    }

    /// As many as of objects.
    const KEPT: usize = 1024;

    #[test]
    fn those_with_fewest_conflicts_are_forgotten() {
        let mut objects = ContendedObjects::default();
        objects.of(key(0));
        assert!(!objects.is_cut());
        for number in 0..2 * KEPT + 1 {
            for _ in 0..1 + usize::from(number % 2 == 1) {
                objects.of(key(number)).conflict(Symbol(1), Symbol(2), Overlap::True);
            }
        }
        // Those with two conflicts, and the one that came when there were too many.
        assert_eq!(objects.iter().count(), KEPT + 1);
        assert!(objects.contains(&key(1)) && objects.contains(&key(2 * KEPT)) && !objects.contains(&key(2)));
        assert_eq!(objects.known(&key(1)).map(|object| object.conflicts), Some(2));
        let mut sum = ContendedObjects::default();
        sum.extend(objects, |_, _| {});
        assert!(sum.is_cut(), "what a node has forgotten is missing of all");
    }

    #[test]
    fn only_the_heaviest_keep_long_timelines() {
        let mut sums = LockSums::default();
        let light = TIMELINES + 3;
        for number in 0..light {
            for _ in number..light {
                sums.objects.of(key(number)).conflict(Symbol(1), Symbol(2), Overlap::True);
            }
            sums.timeline(&key(number)).unwrap().blocking_ast(1, Symbol(1));
        }
        assert_eq!(sums.objects.keep_timelines(), TIMELINES);
        let timeline = |number: usize| sums.timeline(&key(number)).map(|it| (it.entries(), it.truncated));
        let found: Vec<_> = [0, TIMELINES - 1, TIMELINES, light - 1].into_iter().map(timeline).collect();
        assert_eq!(found, [Some((1, false)), Some((1, false)), Some((0, true)), Some((0, true))]);
    }

    #[test]
    fn timelines_are_cut_down_when_there_is_much_in_them() {
        let mut sums = LockSums::default();
        for number in 0..1_000 {
            sums.objects.of(key(number)).conflict(Symbol(1), Symbol(2), Overlap::True);
            (0..1_000).for_each(|time_us| sums.timeline(&key(number)).unwrap().blocking_ast(time_us, Symbol(1)));
        }
        let left: usize = sums.objects.iter().map(|(_, object)| object.timeline.entries()).sum();
        assert!(left <= 200_000 + 1, "{left}");
        assert_eq!(sums.timeline(&key(0)).map(|it| it.entries()), Some(1_000));
    }
}
