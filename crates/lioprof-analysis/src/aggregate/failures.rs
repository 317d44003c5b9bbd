//! Requests that ended with an error: rows without one cost one test.

use lioprof_model::parts::sums::FailureSums;
use lioprof_model::units::seconds;
use lioprof_model::{Failure, RpcRow, Symbol, Symbols, everyday};
use lustre_debuglog::{Errno, Opcode};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::entries::TargetKey;
use crate::renumber::{Renumber, renumber_fields, renumber_keys};

/// What failed requests are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct FailureKey {
    opcode: Opcode,
    rc: i32,
    target: TargetKey,
    nid: Symbol,
    job: Option<Symbol>,
}

renumber_fields!(FailureKey { target, nid, job } without { opcode, rc });

/// Requests that ended with an error.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Failures(FxHashMap<FailureKey, FailureSums>);

impl Renumber for Failures {
    fn renumber(&mut self, to: &[Symbol]) {
        renumber_keys(&mut self.0, to);
    }
}

impl Failures {
    /// Counts a request if it failed.
    #[inline]
    pub(super) fn row(&mut self, row: &RpcRow, target: TargetKey) {
        if row.rc < 0 {
            let RpcRow { opcode, rc, nid, job, end_us, .. } = *row;
            let sums = FailureSums { rpcs: 1, first_us: Some(end_us), last_us: Some(end_us) };
            self.add(FailureKey { opcode, rc, target, nid, job }, &sums);
        }
    }

    fn add(&mut self, key: FailureKey, sums: &FailureSums) {
        self.0.entry(key).or_default().merge(sums);
    }

    /// What was of an unknown target is of a known one.
    pub(super) fn rename(&mut self, from: TargetKey, to: TargetKey) {
        let keys: Vec<FailureKey> = self.0.keys().filter(|key| key.target == from).copied().collect();
        for key in keys {
            if let Some(sums) = self.0.remove(&key) {
                self.add(FailureKey { target: to, ..key }, &sums);
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|(key, sums)| self.add(*key, sums));
    }

    /// How many requests of each client ended so.
    pub(super) fn by_client(&self, rc: i32) -> impl Iterator<Item = (Symbol, &FailureSums)> {
        self.0.iter().filter(move |(key, _)| key.rc == rc).map(|(key, sums)| (key.nid, sums))
    }

    /// All of them, most first.
    pub(super) fn finish(&self, symbols: &Symbols) -> Vec<Failure> {
        let failure = |(key, sums): (&FailureKey, &FailureSums)| {
            let error = Errno(key.rc.unsigned_abs());
            Failure {
                opcode: key.opcode.0,
                name: key.opcode.to_string(),
                rc: key.rc,
                error: error.to_string(),
                everyday: everyday(key.opcode, error).map(str::to_owned),
                node: symbols.text(key.target.node),
                target: key.target.target(),
                nid: symbols.text(key.nid),
                job: key.job.map(|job| symbols.text(job)),
                rpcs: sums.rpcs,
                first: seconds(sums.first_us.unwrap_or(0)),
                last: seconds(sums.last_us.unwrap_or(0)),
            }
        };
        let mut failures: Vec<Failure> = self.0.iter().map(failure).collect();
        failures.sort_by(|a, b| {
            let place =
                |it: &Failure| (it.opcode, it.rc, it.node.clone(), it.target.clone(), it.nid.clone(), it.job.clone());
            // Two targets whose names are not known look the same here.
            let times = || a.first.total_cmp(&b.first).then(a.last.total_cmp(&b.last));
            b.rpcs.cmp(&a.rpcs).then_with(|| place(a).cmp(&place(b))).then_with(times)
        });
        failures
    }
}
