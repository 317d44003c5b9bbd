//! Names by number: the same few come again and again, and the page has each once.

use std::collections::HashMap;
use std::hash::Hash;

/// Names in the order in which they were first asked for.
#[derive(Debug, Default)]
pub(crate) struct Numbered<K> {
    numbers: HashMap<K, u32>,
    pub(crate) names: Vec<K>,
}

impl<K: Copy + Eq + Hash> Numbered<K> {
    pub(crate) fn number(&mut self, name: K) -> u32 {
        *self.numbers.entry(name).or_insert_with(|| {
            self.names.push(name);
            u32::try_from(self.names.len() - 1).expect("fewer names than would fit into a page")
        })
    }

    /// The number of a name that has one.
    pub(crate) fn known(&self, name: K) -> Option<u32> {
        self.numbers.get(&name).copied()
    }
}
