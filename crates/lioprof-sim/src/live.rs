//! A scenario that runs on a simulated server while others read the server's counters.
//!
//! ```text
//! Simulation ── next record ──> player ──> kernel
//!      └─ counters so far ──> LiveStats ──> files of the control tree
//! ```
//!
//! The counters move when the record of an RPC's end is handed out, hence while the RPC is in service, as those of a real
//! server do (`ofd_commitrw` counts before the reply is sent).

mod brw_stats;
mod job_stats;
mod names;
mod stats;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use lioprof_model::{lock, time};

use crate::cluster::Simulation;
use crate::counters::Counters;
use crate::kernel::LustreVersion;
use crate::record::{SimRecord, Stamp, Workload};
use crate::tree::Stats;
use names::{CounterFile, TargetFile};
use stats::{Clock, Style};

/// What the one who plays and those who look share.
struct Shared {
    simulation: Simulation,
    /// The time of the last record, if records have their own time.
    now_us: i64,
    /// When each target's jobs were seen first.
    jobs_since: BTreeMap<(String, String), i64>,
}

/// A scenario as a workload; its counters are in [`Self::stats`].
pub struct LiveScenario {
    shared: Arc<Mutex<Shared>>,
    stats: Arc<LiveStats>,
}

/// The counters of a scenario's server as files.
pub struct LiveStats {
    shared: Arc<Mutex<Shared>>,
    style: Style,
    stamp: Stamp,
    /// Since when the counters count.
    since_us: i64,
    /// Whose counters these are.
    node: usize,
    /// uuids by NID.
    clients: BTreeMap<String, Vec<String>>,
    names: BTreeMap<String, CounterFile>,
}

impl LiveScenario {
    /// The log of one server, by its number, with files as those of a Lustre version. `stamp` is the one that the
    /// player is given: the files show the same time as the records.
    #[must_use]
    pub fn new(simulation: Simulation, node: usize, version: LustreVersion, stamp: Stamp) -> Self {
        let clients = simulation.clients();
        let names = names::all(&simulation, node, &clients);
        let since_us = match stamp {
            Stamp::Now => time::now_us(),
            Stamp::Original => simulation.start_us(),
        };
        let shared = Shared { simulation, now_us: since_us, jobs_since: BTreeMap::new() };
        let shared = Arc::new(Mutex::new(shared));
        let style = Style::of(version);
        let stats = LiveStats { shared: Arc::clone(&shared), style, stamp, since_us, node, clients, names };
        Self { shared, stats: Arc::new(stats) }
    }

    /// The counters as files.
    #[must_use]
    pub fn stats(&self) -> Arc<LiveStats> {
        Arc::clone(&self.stats)
    }
}

impl LiveStats {
    /// The truth so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        lock(&self.shared).simulation.counters_of(self.node)
    }

    fn clock(&self, shared: &Shared, since_us: i64) -> Clock {
        let now_us = match self.stamp {
            Stamp::Now => time::now_us(),
            Stamp::Original => shared.now_us,
        };
        Clock { now_us, since_us }
    }

    fn target_file(&self, target: &str, file: &TargetFile) -> Option<String> {
        let shared = lock(&self.shared);
        let style = self.style;
        let clock = self.clock(&shared, self.since_us);
        if matches!(file, TargetFile::Locks | TargetFile::LockResources) {
            let (locks, objects) = shared.simulation.lock_gauges(target);
            return Some(format!("{}\n", if *file == TargetFile::Locks { locks } else { objects }));
        }
        let counters = shared.simulation.target(target)?;
        Some(match file {
            TargetFile::Stats => stats::traffic(style, clock, &counters.traffic),
            TargetFile::MdStats => stats::metadata(style, clock, &counters.traffic),
            TargetFile::JobStats => {
                let since = |job: &str| {
                    let key = (target.to_owned(), job.to_owned());
                    self.clock(&shared, shared.jobs_since.get(&key).copied().unwrap_or(self.since_us))
                };
                job_stats::text(style, &counters.jobs, since)
            }
            TargetFile::BrwStats => brw_stats::text(clock, &counters.traffic),
            TargetFile::Evictions => {
                let evictions: u64 = counters.locks.clients.values().map(|client| client.evictions).sum();
                format!("{evictions}\n")
            }
            TargetFile::ExportStats(nid) => {
                let export = counters.exports.get(nid).cloned().unwrap_or_default();
                stats::traffic(style, clock, &export.traffic)
            }
            TargetFile::ExportLockStats(nid) => {
                let export = counters.exports.get(nid).cloned().unwrap_or_default();
                let locks = counters.locks.clients.get(nid).cloned().unwrap_or_default();
                stats::locks(style, clock, &export.traffic, &locks)
            }
            TargetFile::ExportUuid(nid) => {
                self.clients.get(nid)?.iter().map(|uuid| format!("{uuid}\n")).collect::<String>()
            }
            TargetFile::Locks | TargetFile::LockResources => return None,
        })
    }

    fn service(&self, service: &str) -> String {
        let shared = lock(&self.shared);
        let clock = self.clock(&shared, self.since_us);
        let counters = shared.simulation.services_of(self.node).get(service).copied().cloned().unwrap_or_default();
        let glimpses = match service {
            "ost" => {
                let targets = shared.simulation.targets_of(self.node);
                targets.filter_map(|name| shared.simulation.target(name)).map(|target| target.locks.glimpses).sum()
            }
            _ => 0,
        };
        stats::service(self.style, clock, service, &counters, glimpses)
    }
}

impl Stats for LiveStats {
    fn names(&self) -> Vec<String> {
        self.names.keys().cloned().collect()
    }

    fn read(&self, name: &str) -> Option<Vec<u8>> {
        let text = match self.names.get(name)? {
            CounterFile::Text(text) => text.clone(),
            CounterFile::Target(target, file) => self.target_file(target, file)?,
            CounterFile::Service(service) => self.service(service),
        };
        Some(text.into_bytes())
    }
}

impl Workload for LiveScenario {
    fn next(&mut self, record: &mut SimRecord) -> bool {
        let mut shared = lock(&self.shared);
        let Shared { simulation, now_us, jobs_since } = &mut *shared;
        let node = self.stats.node;
        loop {
            let Some(of) = simulation.next_of_any(record) else { return false };
            if of == node {
                break;
            }
        }
        *now_us = record.time_us;
        for job in simulation.take_new_jobs() {
            let now_us = if self.stats.stamp == Stamp::Now { time::now_us() } else { record.time_us };
            jobs_since.insert(job, now_us);
        }
        true
    }
}
