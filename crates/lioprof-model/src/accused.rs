//! Whom findings name: what has no room for all has room for these, and marks them.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::Analysis;
use crate::findings::{Finding, MAX_NAMES, Severity};
use crate::target::TargetKindName;
use crate::units::RULES;

/// Mark before the name of whom a finding names.
pub const ACCUSED: &str = RULES.accused;

/// Targets, clients, jobs or nodes that findings name.
#[derive(Debug)]
pub struct Accused<'a> {
    places: BTreeMap<&'a str, usize>,
    marked: BTreeSet<&'a str>,
}

impl<'a> Accused<'a> {
    /// Targets that findings name.
    #[must_use]
    pub fn targets(analysis: &'a Analysis) -> Self {
        let osts = analysis.targets.iter().filter(|it| it.kind == TargetKindName::Ost).count();
        Self::new(analysis, osts, |it| &it.targets)
    }

    /// Clients that findings name.
    #[must_use]
    pub fn clients(analysis: &'a Analysis) -> Self {
        Self::new(analysis, analysis.clients.iter().filter(|it| !it.server).count(), |it| &it.clients)
    }

    /// Nodes that findings name.
    #[must_use]
    pub fn nodes(analysis: &'a Analysis) -> Self {
        Self::new(analysis, analysis.nodes.len(), |it| &it.nodes)
    }

    /// Jobs that findings name.
    #[must_use]
    pub fn jobs(analysis: &'a Analysis) -> Self {
        Self::new(analysis, analysis.jobs.len(), |it| &it.jobs)
    }

    /// `all`: how many there are. Who names them all names nobody, and nor does a list that ends at its limit with most of them.
    fn new(analysis: &'a Analysis, all: usize, of: fn(&Finding) -> &Vec<String>) -> Self {
        let (mut places, mut marked) = (BTreeMap::new(), BTreeSet::new());
        for (place, finding) in analysis.findings.iter().enumerate() {
            let names = of(finding);
            for name in names {
                places.entry(name.as_str()).or_insert(place);
            }
            let tells_apart = names.len() < all.min(MAX_NAMES) || 2 * names.len() < all;
            if finding.severity != Severity::Info && tells_apart {
                marked.extend(names.iter().map(String::as_str));
            }
        }
        Self { places, marked }
    }

    /// Place of the first finding, worst first, that names it, if only as a fact; whoever is named by none comes last.
    #[must_use]
    pub fn place(&self, name: &str) -> usize {
        self.places.get(name).copied().unwrap_or(usize::MAX)
    }

    /// The same for whom a warning or worse names: sorted by it, these come first.
    #[must_use]
    pub fn first(&self, name: &str) -> usize {
        if self.marked.contains(name) { self.place(name) } else { usize::MAX }
    }

    /// `shown`, with a mark if findings name `name`.
    #[must_use]
    pub fn mark(&self, name: &str, shown: &str) -> String {
        if self.marked.contains(name) { format!("{ACCUSED} {shown}") } else { shown.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Client;

    #[test]
    fn whom_warnings_name_comes_first_and_who_names_all_names_nobody() {
        let names = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let finding = |severity, clients| Finding { severity, clients, ..Finding::default() };
        let findings = vec![
            finding(Severity::Critical, names(&["a", "b", "c"])),
            finding(Severity::Info, names(&["a"])),
            finding(Severity::Warning, names(&["b"])),
        ];
        let client = |nid: &str| Client { nid: nid.to_owned(), ..Client::default() };
        let clients = ["a", "b", "c"].map(client).into();
        let analysis = Analysis { findings, clients, ..Analysis::default() };
        let accused = Accused::clients(&analysis);
        assert_eq!(["a", "b", "c"].map(|it| accused.first(it)), [usize::MAX, 0, usize::MAX]);
        assert_eq!(["a", "b", "d"].map(|it| accused.mark(it, it)), ["a", "▲ b", "d"]);
        assert_eq!(["a", "d"].map(|it| accused.place(it)), [0, usize::MAX]);
    }
}
