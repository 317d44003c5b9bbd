//! Something is the bottleneck.

use super::base::{Base, MIB, Traits, base, program, stream};
use super::options::Options;
use crate::cluster::{Access, ClientConfig, Cluster, DiskConfig, Op, ServerConfig, Threads};

/// Each client writes a file of its own on each OST.
fn write_all(base: Base, bytes: u64, step_bytes: u64) -> Cluster {
    let mut cluster = base.cluster;
    for &client in &base.clients {
        for &ost in &base.osts {
            let file = cluster.file(MIB, &[ost]);
            let steps = stream(Access::write(file, 0, 0), bytes, step_bytes).chain([Op::Drain]);
            cluster.process(client, "ior.1000", program(steps));
        }
    }
    cluster
}

/// Two I/O threads for many clients, and a disk that takes its time but has room for more.
///
/// To find: the queue is much longer than the service.
pub(super) fn thread_starved(options: &Options) -> Cluster {
    let server = ServerConfig { threads: Threads { ost_io: 1, other: 8 }, ..ServerConfig::default() };
    let disk = DiskConfig { latency_us: 3_000, ..DiskConfig::default() };
    let base = base(options, Traits { server, disk, ..Traits::default() });
    write_all(base, 16 * MIB * options.size, MIB)
}

/// A disk of 100 MB/s under all clients, and threads for all requests.
///
/// To find: the service takes long, the queue is short.
pub(super) fn disk_bound(options: &Options) -> Cluster {
    let server = ServerConfig { threads: Threads { ost_io: 256, other: 8 }, ..ServerConfig::default() };
    let disk = DiskConfig { bytes_per_s: 100_000_000, ..DiskConfig::default() };
    let base = base(options, Traits { server, disk, ..Traits::default() });
    write_all(base, 16 * MIB * options.size, MIB)
}

/// Clients with one request in flight and a long way to the servers, which have threads for all.
///
/// To find: servers that are idle most of the time; neither queue nor service is long.
pub(super) fn client_bound(options: &Options) -> Cluster {
    let client = ClientConfig { max_in_flight: 1, rtt_us: 8_000, ..ClientConfig::default() };
    let server = ServerConfig { threads: Threads { ost_io: 256, other: 8 }, ..ServerConfig::default() };
    let base = base(options, Traits { client, server, ..Traits::default() });
    write_all(base, 8 * MIB * options.size, MIB)
}

/// One request in two hundred takes a hundred times as long.
///
/// To find: a median as usual and a 99.9th percentile far away.
pub(super) fn heavy_tail(options: &Options) -> Cluster {
    let disk = DiskConfig { tail_ppm: 5_000, tail_factor: 100, ..DiskConfig::default() };
    let base = base(options, Traits { disk, ..Traits::default() });
    write_all(base, 128 * MIB * options.size, MIB)
}
