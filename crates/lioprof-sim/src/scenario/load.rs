//! Something is the bottleneck.

use super::base::{Hardware, MIB, base};
use super::options::Options;
use crate::cluster::{ClientConfig, Cluster, DiskConfig, ServerConfig, Threads};

/// Two I/O threads for many clients, and a disk that takes its time but has room for more.
///
/// To find: the queue is much longer than the service.
pub(super) fn thread_starved(options: &Options) -> Cluster {
    let server = ServerConfig { threads: Threads { ost_io: 1, other: 8 }, ..ServerConfig::default() };
    let disk = DiskConfig { latency_us: 3_000, ..DiskConfig::default() };
    base(options, Hardware { server, disk, ..Hardware::default() }).write_everywhere(16 * MIB * options.size)
}

/// A disk of 100 MB/s under all clients, and threads for all requests.
///
/// To find: the service takes long, the queue is short.
pub(super) fn disk_bound(options: &Options) -> Cluster {
    let server = ServerConfig { threads: Threads { ost_io: 256, other: 8 }, ..ServerConfig::default() };
    let disk = DiskConfig { bytes_per_s: 100_000_000, ..DiskConfig::default() };
    base(options, Hardware { server, disk, ..Hardware::default() }).write_everywhere(16 * MIB * options.size)
}

/// Clients with one request in flight and a long way to the servers, which have threads for all.
///
/// To find: servers that are idle most of the time; neither queue nor service is long.
pub(super) fn client_bound(options: &Options) -> Cluster {
    let client = ClientConfig { max_in_flight: 1, rtt_us: 8_000, ..ClientConfig::default() };
    let server = ServerConfig { threads: Threads { ost_io: 256, other: 8 }, ..ServerConfig::default() };
    base(options, Hardware { client, server, ..Hardware::default() }).write_everywhere(8 * MIB * options.size)
}

/// One request in two hundred takes a hundred times as long.
///
/// To find: a median as usual and a 99.9th percentile far away.
pub(super) fn heavy_tail(options: &Options) -> Cluster {
    let disk = DiskConfig { tail_ppm: 5_000, tail_factor: 100, ..DiskConfig::default() };
    base(options, Hardware { disk, ..Hardware::default() }).write_everywhere(128 * MIB * options.size)
}
