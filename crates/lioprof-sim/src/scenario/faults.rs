//! What fails: clients, writes, disks.

use super::base::{Hardware, MIB, base, base_with, program, stream, usual};
use super::options::Options;
use crate::cluster::{Access, ClientConfig, ClientFaults, Cluster, DiskConfig, Op, ServerConfig, Threads};

/// Clients that keep a lock or do not answer are thrown out and come back; requests are sent twice, or wait until
/// their time is over.
///
/// To find: two evictions on the first OST, requests dropped for their deadline, resent requests, and those that
/// were turned away as duplicates. Another client's enqueue waits for each eviction.
pub(super) fn evictions(options: &Options) -> Cluster {
    let threads = Threads { ost_io: 1, ..Threads::default() };
    let server = ServerConfig { threads, cpts: 1, ..ServerConfig::default() };
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

/// One client's user has used up his quota after a few writes; he goes on without looking at the errors.
///
/// To find: direct writes of one client and job that end with -122, on all OSTs.
pub(super) fn over_quota(options: &Options) -> Cluster {
    let mut base = usual(options);
    let client = base.cluster.client(ClientConfig { quota_bytes: 4 * MIB, ..ClientConfig::default() });
    let file = base.striped_file();
    let writes = (0..40 * options.size).map(move |step| Op::Io(Access::write(file, step * MIB, MIB).direct()));
    base.cluster.process(client, "grow.1001", program(writes));
    base.on_clients_with_file("ior.1000", |_, file| {
        (0..40 * options.size).map(move |step| Op::Io(Access::write(file, step * MIB, MIB)))
    })
}

/// The last OST is full after a few writes.
///
/// To find: writes to one OST that end with -28, of all clients.
pub(super) fn full_ost(options: &Options) -> Cluster {
    let last = options.osts.max(1) - 1;
    let full = DiskConfig { room_bytes: 8 * MIB, ..DiskConfig::default() };
    let base = base_with(options, Hardware::default(), |ost| if ost == last { full } else { DiskConfig::default() });
    base.write_everywhere(16 * MIB * options.size)
}

/// Each client writes one MiB after the other to each OST but the last one, for 20 seconds; the two writes that each client sends to
/// the last one never end.
///
/// To find: writes to one OST that have been in the handler for nearly as long as the log is when it ends.
pub(super) fn hung_requests(options: &Options) -> Cluster {
    let last = options.osts.max(1) - 1;
    let hangs = DiskConfig { hangs_after: 0, ..DiskConfig::default() };
    let base = base_with(options, Hardware::default(), |ost| if ost == last { hangs } else { DiskConfig::default() });
    let seconds = 20 * options.size;
    base.on_osts("ior.1000", move |ost, file| {
        let (writes, pause_us) = if ost == last { (2, 0) } else { (10 * seconds, 100_000) };
        (0..writes).flat_map(move |step| [Op::Io(Access::write(file, step * MIB, MIB).ahead()), Op::Sleep(pause_us)])
    })
}

/// All clients of a job keep their locks when another job wants them.
///
/// To find: as many evictions as the job has clients, all within a few seconds.
pub(super) fn eviction_storm(options: &Options) -> Cluster {
    let mut base = usual(options);
    base.cluster.lock_timeout_s = 20;
    let keeps = ClientFaults { keeps_locks: true, deaf: false };
    for ost in base.osts.clone().into_iter().cycle().take(6) {
        let file = base.cluster.file(MIB, &[ost]);
        let bad = base.cluster.client(ClientConfig { faults: keeps, ..ClientConfig::default() });
        let write = move || Op::Io(Access::write(file, 0, MIB));
        base.cluster.process(bad, "bad.0", program([write(), Op::Sleep(30_000_000), write()].into_iter()));
        base.cluster.process(base.clients[0], "good.0", program([Op::Sleep(500_000), write()].into_iter()));
    }
    for &client in &base.clients[1..] {
        let file = base.cluster.file(MIB, &base.osts[..1]);
        let writes = (0..60 * options.size)
            .flat_map(move |step| [Op::Io(Access::write(file, step * MIB, MIB)), Op::Sleep(500_000)]);
        base.cluster.process(client, "ior.1000", program(writes));
    }
    base.cluster
}
