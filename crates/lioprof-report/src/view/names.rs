//! Targets, clients and objects by number: each name is in the page once.

use lioprof_model::names::{UNATTRIBUTED, file_system};
use serde::Serialize;

use crate::numbered::Numbered;

/// Numbers of names.
#[derive(Debug, Default)]
pub(crate) struct NameNumbers<'a> {
    targets: Numbered<&'a str>,
    clients: Numbered<&'a str>,
    objects: Numbered<(Option<u32>, &'a str)>,
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
    pub(crate) fn known_target(&self, name: &'a str) -> Option<u32> {
        self.targets.known(name)
    }

    pub(crate) fn into_view(self) -> NamesView<'a> {
        let file_system = file_system(self.targets.names.iter().copied()).unwrap_or_default();
        NamesView {
            file_system,
            unattributed: UNATTRIBUTED,
            targets: self.targets.names,
            clients: self.clients.names,
            objects: self.objects.names,
        }
    }
}

/// The names, by number.
#[derive(Debug, Serialize)]
pub(crate) struct NamesView<'a> {
    /// What all targets begin with, and what is left out for it.
    file_system: &'a str,
    /// Of what has no target.
    unattributed: &'static str,
    targets: Vec<&'a str>,
    clients: Vec<&'a str>,
    /// Number of the target or `null`, FID.
    objects: Vec<(Option<u32>, &'a str)>,
}
