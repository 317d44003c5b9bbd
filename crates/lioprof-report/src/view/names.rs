//! Targets, clients and objects by number: each name is in the page once.

use std::collections::HashMap;

use serde::Serialize;

/// Numbers of names.
#[derive(Debug, Default)]
pub(crate) struct NameNumbers<'a> {
    targets: Numbered<&'a str>,
    clients: Numbered<&'a str>,
    objects: Numbered<(Option<u32>, &'a str)>,
}

#[derive(Debug)]
struct Numbered<K> {
    numbers: HashMap<K, u32>,
    names: Vec<K>,
}

impl<K> Default for Numbered<K> {
    fn default() -> Self {
        Self { numbers: HashMap::new(), names: Vec::new() }
    }
}

impl<K: Copy + Eq + std::hash::Hash> Numbered<K> {
    fn number(&mut self, name: K) -> u32 {
        *self.numbers.entry(name).or_insert_with(|| {
            self.names.push(name);
            u32::try_from(self.names.len() - 1).expect("fewer names than would fit into a page")
        })
    }
}

impl<'a> NameNumbers<'a> {
    pub(crate) fn target(&mut self, name: &'a str) -> u32 {
        self.targets.number(name)
    }

    pub(crate) fn client(&mut self, nid: &'a str) -> u32 {
        self.clients.number(nid)
    }

    /// An object: its target, where known, and its FID.
    pub(crate) fn object(&mut self, target: Option<u32>, fid: &'a str) -> u32 {
        self.objects.number((target, fid))
    }

    /// The number of a target that has one.
    pub(crate) fn known_target(&self, name: &str) -> Option<u32> {
        self.targets.numbers.get(name).copied()
    }

    pub(crate) fn into_view(self) -> NamesView<'a> {
        NamesView { targets: self.targets.names, clients: self.clients.names, objects: self.objects.names }
    }
}

/// The names, by number.
#[derive(Debug, Serialize)]
pub(crate) struct NamesView<'a> {
    targets: Vec<&'a str>,
    clients: Vec<&'a str>,
    /// Number of the target or `null`, FID.
    objects: Vec<(Option<u32>, &'a str)>,
}
