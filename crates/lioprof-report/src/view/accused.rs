//! Whom findings name: what has no room for all has room for these.

use std::collections::BTreeMap;

use lioprof_model::{Analysis, Finding};

/// Places of names: that of the first finding, worst first, that names it; whoever is named by none comes last.
#[derive(Debug)]
pub(crate) struct Accused<'a>(BTreeMap<&'a str, usize>);

impl<'a> Accused<'a> {
    /// `of`: the targets, clients or nodes of a finding.
    pub(crate) fn new(analysis: &'a Analysis, of: fn(&Finding) -> &Vec<String>) -> Self {
        let mut places = BTreeMap::new();
        for (place, finding) in analysis.findings.iter().enumerate() {
            for name in of(finding) {
                places.entry(name.as_str()).or_insert(place);
            }
        }
        Self(places)
    }

    pub(crate) fn place(&self, name: &str) -> usize {
        self.0.get(name).copied().unwrap_or(usize::MAX)
    }
}
