//! Who else used the OSTs of a run.

use std::collections::{BTreeMap, BTreeSet};

use lioprof_model::traffic::row_is_on_mdt;
use lioprof_model::{Analysis, ReadWrite, RowSink, RpcRow, Symbol, Symbols, TraceSummary};
use lustre_debuglog::TargetName;
use rustc_hash::FxHashMap;

use crate::config::Selection;

/// A client's job on an OST.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct User {
    /// Name of the OST.
    pub target: String,
    /// Job id; empty: RPCs without one.
    pub job: String,
    /// Network id of the client.
    pub nid: String,
}

/// What the others did, for rows of all who used some targets: a sink of them.
#[derive(Debug)]
pub struct Others<'a> {
    run: &'a Selection,
    /// Of a node, until it ends: symbols are those of its rows.
    open: FxHashMap<(TargetName, Option<Symbol>, Symbol), ReadWrite>,
    sums: BTreeMap<User, ReadWrite>,
}

/// The OSTs that a run used.
#[must_use]
pub fn targets_of(own: &Analysis) -> BTreeSet<TargetName> {
    own.flows.iter().filter_map(|flow| flow.target.as_ref()?.parse().ok()).collect()
}

impl<'a> Others<'a> {
    /// Others than those that `run` selects.
    #[must_use]
    pub fn than(run: &'a Selection) -> Self {
        Self { run, open: FxHashMap::default(), sums: BTreeMap::new() }
    }

    /// Who used which OST how much, most bytes first, then by name.
    #[must_use]
    pub fn users(&self) -> Vec<(User, ReadWrite)> {
        most_first(self.sums.iter().map(|(user, of)| (user.clone(), of.clone())).collect())
    }

    /// The same, added up by a name.
    #[must_use]
    pub fn by<K: Ord>(&self, name: impl Fn(&User) -> K) -> Vec<(K, ReadWrite)> {
        let mut sums: BTreeMap<K, ReadWrite> = BTreeMap::new();
        self.sums.iter().for_each(|(user, of)| sums.entry(name(user)).or_default().merge(of));
        most_first(sums)
    }
}

fn most_first<K: Ord>(sums: BTreeMap<K, ReadWrite>) -> Vec<(K, ReadWrite)> {
    let mut sums: Vec<(K, ReadWrite)> = sums.into_iter().collect();
    // Stable: the same bytes stay in the order of the names.
    sums.sort_by_key(|(_, of)| std::cmp::Reverse(of.bytes()));
    sums
}

impl RowSink for Others<'_> {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        let (Some(direction), Some(target)) = (row.direction(), row.target) else { return };
        if !row_is_on_mdt(row, symbols) && !self.run.takes(row, symbols) {
            self.open.entry((target, row.job, row.nid)).or_default().add(row, direction);
        }
    }

    fn node_end(&mut self, _: &str, _: &TraceSummary, symbols: &Symbols) {
        for ((target, job, nid), of) in self.open.drain() {
            let job = job.map(|job| symbols.text(job)).unwrap_or_default();
            let user = User { target: target.to_string(), job, nid: symbols.text(nid) };
            self.sums.entry(user).or_default().merge(&of);
        }
    }
}

#[cfg(test)]
mod tests {
    use lioprof_model::RpcSize;
    use lustre_debuglog::Opcode;

    use super::*;

    #[test]
    fn what_is_not_the_runs_is_the_others() {
        let run = Selection { jobs: vec!["mine".to_owned()], ..Selection::default() };
        let mut others = Others::than(&run);
        let mut symbols = Symbols::default();
        let mut row = |target: &str, nid: &str, job: Option<&str>, opcode: Opcode, bytes: u64| {
            let mut symbol = |text: &str| symbols.intern(text.as_bytes());
            let row = RpcRow {
                nid: symbol(nid),
                job: job.map(&mut symbol),
                target: target.parse().ok(),
                size: RpcSize::Exact(bytes),
                ..RpcRow::made_up(symbol("ll_ost_io00_001"), opcode, 0)
            };
            others.rpc(&row, &symbols);
        };
        row("fs-OST0000", "a", Some("mine"), Opcode::OST_WRITE, 5);
        row("fs-OST0000", "b", Some("large"), Opcode::OST_WRITE, 20);
        row("fs-OST0001", "b", Some("large"), Opcode::OST_WRITE, 30);
        row("fs-OST0000", "c", Some("large"), Opcode::OST_READ, 7);
        // The run's client has another job, too.
        row("fs-OST0000", "a", Some("small"), Opcode::OST_READ, 2);
        row("fs-OST0000", "a", None, Opcode::OST_READ, 1);
        row("fs-MDT0000", "b", Some("large"), Opcode::OST_WRITE, 100);
        row("fs-OST0000", "b", Some("large"), Opcode::OST_STATFS, 0);
        others.node_end("oss1", &TraceSummary::default(), &symbols);
        let by_job = others.by(|user| (user.target.clone(), user.job.clone()));
        let by_job: Vec<_> = by_job.iter().map(|((ost, job), of)| (&ost[3..], job.as_str(), of.bytes())).collect();
        assert_eq!(
            by_job,
            [("OST0001", "large", 30), ("OST0000", "large", 27), ("OST0000", "small", 2), ("OST0000", "", 1)]
        );
        let users = others.users();
        assert_eq!((users.len(), users[1].0.nid.as_str(), users[1].1.write.rpcs), (5, "b", 1));
    }

    #[test]
    fn a_run_used_the_osts_of_its_flows() {
        let flow = |target: Option<&str>| lioprof_model::Flow {
            nid: "a".to_owned(),
            target: target.map(str::to_owned),
            node: "oss1".to_owned(),
            read: lioprof_model::Io::default(),
            write: lioprof_model::Io::default(),
        };
        let flows = vec![flow(Some("fs-OST0001")), flow(None), flow(Some("fs-OST0001"))];
        let targets = targets_of(&Analysis { flows, ..Analysis::default() });
        assert_eq!(targets.iter().map(ToString::to_string).collect::<Vec<_>>(), ["fs-OST0001"]);
    }
}
