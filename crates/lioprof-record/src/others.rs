//! Who else used the OSTs of a run.

use std::collections::{BTreeMap, BTreeSet};

use lioprof_model::{Analysis, Io};

/// Reads and writes of somebody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// Reads.
    pub reads: u64,
    /// Bytes that they moved, best estimate.
    pub read_bytes: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes that they moved, best estimate.
    pub write_bytes: u64,
}

impl Use {
    fn add(&mut self, read: &Io, write: &Io) {
        self.reads += read.rpcs;
        self.read_bytes += read.bytes;
        self.writes += write.rpcs;
        self.write_bytes += write.bytes;
    }

    /// All of it but the run's own part.
    fn without(self, own: Self) -> Self {
        Self {
            reads: self.reads.saturating_sub(own.reads),
            read_bytes: self.read_bytes.saturating_sub(own.read_bytes),
            writes: self.writes.saturating_sub(own.writes),
            write_bytes: self.write_bytes.saturating_sub(own.write_bytes),
        }
    }

    /// All bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.read_bytes + self.write_bytes
    }
}

/// Who else used the OSTs of a run, those with the most bytes first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Others {
    /// By OST and client (NID): what of the client's use is not the run's.
    pub clients: Vec<((String, String), Use)>,
    /// By job id, on all these OSTs together; empty: RPCs without one.
    pub jobs: Vec<(String, Use)>,
}

/// The OSTs that a run used, by name.
#[must_use]
pub fn targets_of(own: &Analysis) -> BTreeSet<String> {
    own.flows.iter().filter_map(|flow| flow.target.clone()).collect()
}

/// Compares a run with all that its OSTs did: `own` is the analysis of the run, `all` that of everybody on [`targets_of`] it.
#[must_use]
pub fn others(own: &Analysis, all: &Analysis) -> Others {
    Others { clients: rest(by_client(own), by_client(all)), jobs: rest(by_job(own), by_job(all)) }
}

fn by_client(analysis: &Analysis) -> BTreeMap<(String, String), Use> {
    let mut sums: BTreeMap<(String, String), Use> = BTreeMap::new();
    for flow in &analysis.flows {
        if let Some(target) = &flow.target {
            sums.entry((target.clone(), flow.nid.clone())).or_default().add(&flow.read, &flow.write);
        }
    }
    sums
}

fn by_job(analysis: &Analysis) -> BTreeMap<String, Use> {
    let mut sums: BTreeMap<String, Use> = BTreeMap::new();
    for job in &analysis.jobs {
        sums.entry(job.job.clone().unwrap_or_default()).or_default().add(&job.read, &job.write);
    }
    sums
}

fn rest<K: Ord>(own: BTreeMap<K, Use>, all: BTreeMap<K, Use>) -> Vec<(K, Use)> {
    let left = all.into_iter().map(|(key, all)| {
        let of_run = own.get(&key).copied().unwrap_or_default();
        (key, all.without(of_run))
    });
    let mut left: Vec<(K, Use)> = left.filter(|(_, left)| left.reads + left.writes > 0).collect();
    // Stable: the same bytes stay in the order of the names.
    left.sort_by_key(|(_, left)| std::cmp::Reverse(left.bytes()));
    left
}

#[cfg(test)]
mod tests {
    use lioprof_model::{Flow, Job};

    use super::*;

    fn io(rpcs: u64) -> Io {
        Io { rpcs, bytes: rpcs * 100, ..Io::default() }
    }

    fn analysis(flows: &[(&str, &str, u64)], jobs: &[(&str, u64)]) -> Analysis {
        let flow = |&(target, nid, writes): &(&str, &str, u64)| Flow {
            nid: nid.to_owned(),
            target: Some(target.to_owned()),
            node: "oss1".to_owned(),
            read: Io::default(),
            write: io(writes),
        };
        let job = |&(job, writes): &(&str, u64)| Job {
            job: Some(job.to_owned()),
            rpcs: writes,
            read: Io::default(),
            write: io(writes),
            clients: 1,
            targets: 1,
        };
        let (flows, jobs) = (flows.iter().map(flow).collect(), jobs.iter().map(job).collect());
        Analysis { flows, jobs, ..Analysis::default() }
    }

    #[test]
    fn what_is_not_the_runs_is_the_others() {
        let own = analysis(&[("OST0", "a", 5), ("OST1", "a", 1)], &[("mine", 6)]);
        // Client `a` runs another job, too.
        let all = analysis(
            &[("OST0", "a", 7), ("OST0", "b", 20), ("OST1", "a", 1)],
            &[("mine", 6), ("small", 2), ("large", 20)],
        );
        let others = others(&own, &all);
        let clients: Vec<_> =
            others.clients.iter().map(|((ost, nid), left)| (ost.as_str(), nid.as_str(), left.writes)).collect();
        assert_eq!(clients, [("OST0", "b", 20), ("OST0", "a", 2)]);
        let jobs: Vec<_> = others.jobs.iter().map(|(job, left)| (job.as_str(), left.bytes())).collect();
        assert_eq!(jobs, [("large", 2000), ("small", 200)]);
        assert_eq!(targets_of(&own).into_iter().collect::<Vec<_>>(), ["OST0", "OST1"]);
    }
}
