//! The list of scenarios.

use super::options::Scenario;
use super::{case_studies, control, faults, healthy, load, locks, placement, shapes};

pub(super) static ALL: &[Scenario] = &[
    Scenario {
        name: "file-per-process",
        summary: "healthy: each client writes and reads files of its own",
        build: healthy::file_per_process,
    },
    Scenario {
        name: "shared-aligned",
        summary: "healthy: clients write disjoint, aligned parts of one striped file",
        build: healthy::shared_aligned,
    },
    Scenario { name: "idle", summary: "healthy: pings and statfs, no I/O", build: healthy::idle },
    Scenario {
        name: "metadata",
        summary: "healthy: small files made and deleted; only the MDT calls back locks",
        build: control::metadata,
    },
    Scenario {
        name: "steady",
        summary: "healthy: 1 MiB writes at a constant rate, for load tests",
        build: healthy::steady,
    },
    Scenario {
        name: "busy",
        summary: "healthy: reads and writes of 1 MiB, small ones and a few locks at a constant rate, for load tests",
        build: healthy::busy,
    },
    Scenario {
        name: "direct-io",
        summary: "healthy: direct I/O of several sizes under the server's own locks",
        build: shapes::direct_io,
    },
    Scenario {
        name: "lock-pingpong",
        summary: "clients write the same megabyte by turns",
        build: locks::lock_pingpong,
    },
    Scenario {
        name: "false-sharing",
        summary: "clients write interleaved records of one object: only expanded grants conflict",
        build: locks::false_sharing,
    },
    Scenario {
        name: "many-writers",
        summary: "several clients write each object at the same time",
        build: locks::many_writers,
    },
    Scenario {
        name: "read-not-lustre-aware",
        summary: "all clients read from all OSTs, at any moment most of them from the same one",
        build: case_studies::read_not_lustre_aware,
    },
    Scenario {
        name: "read-lustre-aware",
        summary: "the same bytes with one reader per OST",
        build: case_studies::read_lustre_aware,
    },
    Scenario {
        name: "hdf5-metadata",
        summary: "small reads of headers by all clients between large writes",
        build: case_studies::hdf5_metadata,
    },
    Scenario {
        name: "hdf5-collective-metadata",
        summary: "the same with one client that reads the headers",
        build: case_studies::hdf5_collective_metadata,
    },
    Scenario { name: "sluggish-ost", summary: "one OST is ten times slower", build: placement::sluggish_ost },
    Scenario { name: "imbalance", summary: "OSTs get very different amounts", build: placement::imbalance },
    Scenario { name: "single-writer", summary: "one client writes for all", build: placement::single_writer },
    Scenario { name: "hot-ost", summary: "all files lie on one OST", build: placement::hot_ost },
    Scenario { name: "small-rpcs", summary: "random writes of 4 KiB", build: shapes::small_rpcs },
    Scenario { name: "unaligned", summary: "records of 47,008 bytes", build: shapes::unaligned },
    Scenario { name: "gapped", summary: "requests of sixteen pieces with gaps", build: shapes::gapped },
    Scenario { name: "strided-read", summary: "64 KiB of every MiB", build: shapes::strided_read },
    Scenario { name: "backward-read", summary: "a file read from its end", build: shapes::backward_read },
    Scenario {
        name: "thread-starved",
        summary: "too few I/O threads: long queue, short service",
        build: load::thread_starved,
    },
    Scenario { name: "disk-bound", summary: "a slow disk: long service, short queue", build: load::disk_bound },
    Scenario {
        name: "client-bound",
        summary: "one request in flight over a slow network: idle servers",
        build: load::client_bound,
    },
    Scenario { name: "metadata-bound", summary: "a busy MDT and idle OSTs", build: control::metadata_bound },
    Scenario { name: "ping-storm", summary: "clients that ping without end", build: control::ping_storm },
    Scenario {
        name: "statfs-storm",
        summary: "clients that ask for free space without end",
        build: control::statfs_storm,
    },
    Scenario {
        name: "heavy-tail",
        summary: "one request in two hundred takes a hundred times as long",
        build: load::heavy_tail,
    },
    Scenario {
        name: "unfair",
        summary: "one client with 64 requests in flight among clients with one",
        build: placement::unfair,
    },
    Scenario {
        name: "evictions",
        summary: "clients that keep locks or do not answer; resends, drops, reconnects",
        build: faults::evictions,
    },
];
