//! The objects that are fought over most.

use lioprof_model::Symbol;
use lustre_debuglog::{ResourceId, TargetName};
use rustc_hash::FxHashMap;

use super::object::ObjectLocks;

/// Objects kept. When there are twice as many, those with fewest conflicts are forgotten; one of them that is fought over later starts
/// anew, so its figures are then a lower bound. Sums of targets have all of them.
const MAX_OBJECTS: usize = 1024;

/// An object with contention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ObjectKey {
    pub(crate) node: Symbol,
    pub(crate) target: TargetName,
    pub(crate) resource: ResourceId,
    pub(crate) inferred: bool,
}

/// Objects with contention.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContendedObjects(FxHashMap<ObjectKey, ObjectLocks>);

impl ContendedObjects {
    /// The object, which is new if it is not known yet.
    pub(crate) fn of(&mut self, key: ObjectKey) -> &mut ObjectLocks {
        // Not after it was made: the least of all would be forgotten at once.
        if self.0.len() >= 2 * MAX_OBJECTS && !self.0.contains_key(&key) {
            self.keep(MAX_OBJECTS);
        }
        self.0.entry(key).or_default()
    }

    pub(crate) fn known(&mut self, key: &ObjectKey) -> Option<&mut ObjectLocks> {
        self.0.get_mut(key)
    }

    pub(crate) fn contains(&self, key: &ObjectKey) -> bool {
        self.0.contains_key(key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&ObjectKey, &ObjectLocks)> {
        self.0.iter()
    }

    pub(crate) fn each(&mut self, change: impl FnMut(&mut ObjectLocks)) {
        self.0.values_mut().for_each(change);
    }

    /// Adds objects that were summed up elsewhere. Targets live on one node at a time: an object of two nodes was moved, and keeps two rows.
    pub(crate) fn extend(&mut self, more: impl IntoIterator<Item = (ObjectKey, ObjectLocks)>) {
        self.0.extend(more);
        if self.0.len() >= 2 * MAX_OBJECTS {
            self.keep(MAX_OBJECTS);
        }
    }

    fn keep(&mut self, count: usize) {
        let mut order: Vec<((u64, u64), ObjectKey)> =
            self.0.iter().map(|(key, object)| (object.weight(), *key)).collect();
        order.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, key) in order.iter().skip(count) {
            self.0.remove(key);
        }
    }
}

impl IntoIterator for ContendedObjects {
    type Item = (ObjectKey, ObjectLocks);
    type IntoIter = std::collections::hash_map::IntoIter<ObjectKey, ObjectLocks>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::super::parties::Overlap;
    use super::*;

    fn key(number: usize) -> ObjectKey {
        let target = TargetName::parse_bytes(b"lustre-OST0001").unwrap();
        ObjectKey { node: Symbol(0), target, resource: ResourceId([number as u64, 0, 0, 0]), inferred: false }
    }

    #[test]
    fn those_with_fewest_conflicts_are_forgotten() {
        let mut objects = ContendedObjects::default();
        for number in 0..2 * MAX_OBJECTS + 1 {
            for _ in 0..1 + usize::from(number % 2 == 1) {
                objects.of(key(number)).conflict(Symbol(1), Symbol(2), Overlap::True);
            }
        }
        // Those with two conflicts, and the one that came when there were too many.
        assert_eq!(objects.iter().count(), MAX_OBJECTS + 1);
        assert!(objects.contains(&key(1)) && objects.contains(&key(2 * MAX_OBJECTS)) && !objects.contains(&key(2)));
        assert_eq!(objects.known(&key(1)).map(|object| object.conflicts), Some(2));
    }
}
