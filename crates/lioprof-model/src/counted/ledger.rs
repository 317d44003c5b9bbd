//! The counters of a server, and what its trace has of the same time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lustre_debuglog::TargetName;

use super::account::{Account, Accounts, Step};
use crate::counters::{CounterSnapshot, OfTarget, Reading};
use crate::io::ReadWrite;
use crate::row::RpcRow;
use crate::symbol::Symbols;
use crate::traffic::{counted_service, row_is_on_mdt};

/// Reads and writes by the counters, and those in the trace.
pub type IoAccount = Account<Reading, ReadWrite>;

/// The counters of clients or jobs, which are read in some samples only.
#[derive(Clone, Debug, Default)]
struct Many {
    accounts: Accounts<Vec<u8>, Reading, ReadWrite>,
    /// Not all were read: too many, or not when tracing began.
    cut: bool,
    /// A target vanished since they were read, and their counters with it.
    gone: bool,
}

impl Many {
    fn sample(&mut self, step: Step, shown: Option<&BTreeMap<OfTarget, Reading>>, cut: bool) {
        self.cut |= cut || step.begins && shown.is_none();
        self.gone |= step.gone;
        if self.cut {
            self.accounts = Accounts::default();
        } else if let Some(shown) = shown {
            let gone = std::mem::take(&mut self.gone);
            let shown = shown.iter().map(|((target, name), it)| (name.as_bytes().to_vec(), Arc::clone(target), *it));
            self.accounts.sample(Step { gone, ..step }, shown);
        }
    }

    fn get(&self) -> Option<&Accounts<Vec<u8>, Reading, ReadWrite>> {
        (!self.cut).then_some(&self.accounts)
    }
}

/// The counters of a server, sample by sample, and the requests of its trace that they should have counted.
///
/// [`Account`] says in which order both may come, and what is compared.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// First and last sample, microseconds since the epoch.
    pub interval_us: Option<(i64, i64)>,
    /// Requests of each service.
    pub services: Accounts<String, u64, u64>,
    /// Reads and writes of all OSTs.
    pub node: IoAccount,
    /// Of these the ones whose OST no log line names: each may belong to any OST of the node.
    pub unattributed: IoAccount,
    /// Reads and writes of each OST.
    pub targets: Accounts<TargetName, Reading, ReadWrite>,
    /// The trace has a read or write.
    pub has_io: bool,
    /// A read or write named its job, be it an empty one.
    pub names_jobs: bool,
    clients: Many,
    jobs: Many,
    /// Number of the stretch of tracing at hand.
    stretch: Option<u64>,
    /// OSTs of the last sample.
    osts: BTreeSet<Arc<str>>,
    latest_us: i64,
}

impl Ledger {
    /// Enters a sample. One of another stretch than the one before begins it.
    pub fn sample(&mut self, snapshot: &CounterSnapshot) {
        let begins = self.stretch.replace(snapshot.stretch) != Some(snapshot.stretch);
        let osts = snapshot.targets.keys().cloned().collect();
        let gone = !begins && !self.osts.is_subset(&osts);
        self.osts = osts;
        let at = snapshot.at;
        self.interval_us = Some((self.interval_us.map_or(at.begun_us, |(from_us, _)| from_us), at.begun_us));
        // An account that is one key's knows itself what has gone.
        let step = Step { at, begins, gone: false, latest_us: self.latest_us };
        let none = || Arc::from("");
        self.services.sample(step, snapshot.services.iter().map(|(name, it)| (name.to_string(), none(), *it)));
        self.node.sample(step, snapshot.targets.clone());
        self.unattributed.sample(step, snapshot.targets.clone());
        let targets = snapshot.targets.iter();
        let named = targets.filter_map(|(name, it)| Some((TargetName::parse_bytes(name.as_bytes())?, none(), *it)));
        self.targets.sample(step, named);
        let step = Step { gone, ..step };
        self.clients.sample(step, snapshot.clients.as_ref(), snapshot.clients_cut);
        self.jobs.sample(step, snapshot.jobs.as_ref(), snapshot.jobs_cut);
    }

    /// Not everything is traced after the last sample.
    pub fn end(&mut self) {
        self.stretch = None;
        self.services.end();
        self.node.end();
        self.unattributed.end();
        self.targets.end();
        self.clients.accounts.end();
        self.jobs.accounts.end();
    }

    /// Enters a request.
    pub fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.latest_us = self.latest_us.max(row.end_us);
        // `req_waittime` counts a request when its handling starts.
        let start_us = row.start_us().unwrap_or(row.end_us);
        if !self.services.by_key.is_empty()
            && let Some(service) = counted_service(symbols.bytes(row.thread))
            && let Some(requests) = self.services.request(service, start_us, start_us)
        {
            *requests += 1;
        }
        if counts_as_io(row, symbols) {
            self.io(row, start_us, symbols);
        }
    }

    /// `read_bytes` and `write_bytes` count an RPC somewhere in its handling.
    fn io(&mut self, row: &RpcRow, start_us: i64, symbols: &Symbols) {
        let end_us = row.end_us;
        let job = row.job.map(|job| symbols.bytes(job));
        self.has_io = true;
        self.names_jobs |= job.is_some();
        let sums = [
            self.node.request(start_us, end_us),
            match row.target {
                Some(target) => self.targets.request(&target, start_us, end_us),
                None => self.unattributed.request(start_us, end_us),
            },
            self.clients.accounts.request(symbols.bytes(row.nid), start_us, end_us),
            // `job_stats` leaves RPCs without a job out.
            job.filter(|job| !job.is_empty()).and_then(|job| self.jobs.accounts.request(job, start_us, end_us)),
        ];
        sums.into_iter().flatten().for_each(|sum| add(sum, row));
    }

    /// Whether no sample has shown a counter.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.services.by_key.is_empty() && self.targets.by_key.is_empty()
    }

    /// Microseconds between two times in which everything was traced.
    #[must_use]
    pub fn traced_us(&self, from_us: i64, to_us: i64) -> i64 {
        self.services.of_nobody.covered_us(from_us, to_us)
    }

    /// Those of each client on all OSTs, by the bytes of its NID; `None` if the counters of not all of them were read.
    #[must_use]
    pub fn clients(&self) -> Option<&Accounts<Vec<u8>, Reading, ReadWrite>> {
        self.clients.get()
    }

    /// Those of each job on all OSTs, by the bytes of its id; `None` if the counters of not all of them were read.
    #[must_use]
    pub fn jobs(&self) -> Option<&Accounts<Vec<u8>, Reading, ReadWrite>> {
        self.jobs.get()
    }
}

/// Whether the counters of OSTs count a request: a failed one moves nothing, and Data-on-MDT has other counters.
#[must_use]
pub fn counts_as_io(row: &RpcRow, symbols: &Symbols) -> bool {
    row.direction().is_some() && !row.failed() && !row_is_on_mdt(row, symbols)
}

/// Adds a read or write to a sum.
pub fn add(sum: &mut ReadWrite, row: &RpcRow) {
    if let Some(direction) = row.direction() {
        sum.add(row, direction);
    }
}

/// Lost requests, where a counter has so many more than the trace: none if the `edge` ones, which it may have counted or not,
/// explain the difference; else half of these are taken to be counted.
#[must_use]
pub fn lost(missing: u64, edge: u64) -> u64 {
    if missing <= edge { 0 } else { missing - edge / 2 }
}
