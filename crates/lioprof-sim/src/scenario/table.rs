//! All scenarios, by name.

use thiserror::Error;

use super::options::Options;
use super::{case_studies, control, faults, healthy, load, locks, placement, shapes};
use crate::cluster::{Cluster, Simulation};

/// A scenario.
pub struct Scenario {
    /// How one asks for it.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    build: fn(&Options) -> Cluster,
}

/// A row for each: its name, what builds it, a line about it.
macro_rules! scenarios {
    ($($name:literal: $build:path, $summary:literal;)+) => {
        static ALL: &[Scenario] = &[$(Scenario { name: $name, summary: $summary, build: $build },)+];
    };
}

scenarios! {
    "file-per-process": healthy::file_per_process, "healthy: each client writes and reads files of its own";
    "shared-aligned": healthy::shared_aligned, "healthy: clients write disjoint, aligned parts of one striped file";
    "idle": healthy::idle, "healthy: pings and statfs, no I/O";
    "metadata": control::metadata, "healthy: small files made and deleted; only the MDT calls back locks";
    "steady": healthy::steady, "healthy: 1 MiB writes at a constant rate, for load tests";
    "busy": healthy::busy,
        "healthy: reads and writes of 1 MiB, small ones and a few locks at a constant rate, for load tests";
    "direct-io": shapes::direct_io, "healthy: direct I/O of several sizes under the server's own locks";
    "lock-pingpong": locks::lock_pingpong, "clients write the same megabyte by turns";
    "false-sharing": locks::false_sharing,
        "clients write interleaved records of one object: only expanded grants conflict";
    "many-writers": locks::many_writers, "several clients write each object at the same time";
    "read-not-lustre-aware": case_studies::read_not_lustre_aware,
        "all clients read from all OSTs, at any moment most of them from the same one";
    "read-lustre-aware": case_studies::read_lustre_aware, "the same bytes with one reader per OST";
    "hdf5-metadata": case_studies::hdf5_metadata, "small reads of headers by all clients between large writes";
    "hdf5-collective-metadata": case_studies::hdf5_collective_metadata,
        "the same with one client that reads the headers";
    "sluggish-ost": placement::sluggish_ost, "one OST is ten times slower";
    "imbalance": placement::imbalance, "OSTs get very different amounts";
    "single-writer": placement::single_writer, "one client writes for all";
    "hot-ost": placement::hot_ost, "all files lie on one OST";
    "small-rpcs": shapes::small_rpcs, "random writes of 4 KiB";
    "unaligned": shapes::unaligned, "records of 47,008 bytes";
    "gapped": shapes::gapped, "requests of sixteen pieces with gaps";
    "strided-read": shapes::strided_read, "64 KiB of every MiB";
    "backward-read": shapes::backward_read, "a file read from its end";
    "thread-starved": load::thread_starved, "too few I/O threads: long queue, short service";
    "disk-bound": load::disk_bound, "a slow disk: long service, short queue";
    "client-bound": load::client_bound, "one request in flight over a slow network: idle servers";
    "metadata-bound": control::metadata_bound, "a busy MDT and idle OSTs";
    "ping-storm": control::ping_storm, "clients that ping without end";
    "statfs-storm": control::statfs_storm, "clients that ask for free space without end";
    "heavy-tail": load::heavy_tail, "one request in two hundred takes a hundred times as long";
    "unfair": placement::unfair, "one client with 64 requests in flight among clients with one";
    "ost-starved": load::ost_starved, "too few threads for what is no I/O of OSTs";
    "cancel-starved": load::cancel_starved, "too few threads for locks that are given back";
    "mdt-starved": load::mdt_starved, "too few threads of the MDT";
    "metadata-hog": load::metadata_hog, "one job sends nearly all there is to an MDT that others need, too";
    "tbf": load::tbf, "a rule of a token bucket filter for one job";
    "nrs-delay": load::nrs_delay, "a policy that delays every request to the MDT";
    "slow-network": placement::slow_network, "a third of the clients are on an LNet network that is slow";
    "slow-syncs": placement::slow_syncs, "an OST that takes what is written at once, and its time to store it";
    "glimpse-storm": locks::glimpse_storm, "clients ask again and again how large a file is that another one writes";
    "over-quota": faults::over_quota, "writes of a user whose quota is used up";
    "full-ost": faults::full_ost, "writes to an OST that is full";
    "hung-requests": faults::hung_requests, "writes that an OST has not ended when the log does";
    "eviction-storm": faults::eviction_storm, "all clients of a job are thrown out";
    "evictions": faults::evictions, "clients that keep locks or do not answer; resends, drops, reconnects";
}

/// There is no scenario of this name.
#[derive(Debug, Error)]
#[error("no scenario is called `{name}`: there are {known}")]
pub struct UnknownScenario {
    /// What was asked for.
    pub name: String,
    /// All names.
    pub known: String,
}

impl Scenario {
    /// All of them.
    pub fn all() -> &'static [Self] {
        ALL
    }

    /// All of them for people, one per line.
    pub fn list() -> String {
        Self::all().iter().map(|scenario| format!("{:26} {}\n", scenario.name, scenario.summary)).collect()
    }

    /// Starts the scenario of a name.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn named(name: &str, options: &Options) -> Result<Simulation, UnknownScenario> {
        let scenario = Self::all().iter().find(|scenario| scenario.name == name).ok_or_else(|| UnknownScenario {
            name: name.to_owned(),
            known: Self::all().iter().map(|scenario| scenario.name).collect::<Vec<_>>().join(", "),
        })?;
        Ok(scenario.start(options))
    }

    /// Starts it.
    pub fn start(&self, options: &Options) -> Simulation {
        let mut cluster = (self.build)(options);
        if options.client_logs {
            cluster.log_of_all_clients();
        }
        cluster.start()
    }
}
