//! Clients that fail.

use super::base::{Hardware, MIB, base, program, stream};
use super::options::Options;
use crate::cluster::{Access, ClientConfig, ClientFaults, Cluster, DiskConfig, Op, ServerConfig, Threads};

/// Clients that keep a lock or do not answer are thrown out and come back; requests are sent twice, or wait until
/// their time is over.
///
/// To find: two evictions on the first OST, requests dropped for their deadline, resent requests, and those that
/// were turned away as duplicates. Another client's enqueue waits for each eviction.
pub(super) fn evictions(options: &Options) -> Cluster {
    let server = ServerConfig { threads: Threads { ost_io: 1, other: 8 }, cpts: 1, ..ServerConfig::default() };
    let mut base = base(options, Hardware { server, ..Hardware::default() });
    base.cluster.lock_timeout_s = 20;
    base.cluster.ping_s = 5;
    base.cluster.resend_us = Some(7_000_000);
    let keeps = ClientFaults { keeps_locks: true, deaf: false };
    let deaf = ClientFaults { keeps_locks: false, deaf: true };
    for (number, faults) in [keeps, deaf].into_iter().enumerate() {
        let file = base.cluster.file(MIB, &base.osts[..1]);
        let bad = base.cluster.client(ClientConfig { faults, ..ClientConfig::default() });
        let write = move || Op::Io(Access::write(file, 0, MIB));
        let slow_us = if number == 0 { 25_000_000 } else { 60_000_000 };
        base.cluster.process(bad, "bad.0", program([write(), Op::Sleep(slow_us), write()].into_iter()));
        let start_us = if number == 0 { 1_000_000 } else { 30_000_000 };
        base.cluster.process(base.clients[0], "good.0", program([Op::Sleep(start_us), write()].into_iter()));
    }
    // An OST on which requests wait longer than their clients do.
    let disk = DiskConfig { latency_us: 8_000_000, ..DiskConfig::default() };
    let slow = base.cluster.ost(0, disk);
    let file = base.cluster.file(MIB, &[slow]);
    let steps = [Op::Sleep(70_000_000)].into_iter();
    let steps = steps.chain(stream(Access::write(file, 0, 0), 4 * MIB * options.size, MIB)).chain([Op::Drain]);
    base.cluster.process(base.clients[0], "slow.0", program(steps));
    base.cluster
}
