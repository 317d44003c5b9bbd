//! Workloads without a fault.

use super::base::{MIB, Traits, base, program, stream, wide};
use super::options::Options;
use crate::cluster::{Access, Cluster, DiskConfig, Op, ServerConfig, Threads};

/// Each client writes a file of its own on each OST in 4 MiB RPCs, then reads it back.
///
/// Nothing to find: no conflict between clients, bytes equal on all OSTs.
pub(super) fn file_per_process(options: &Options) -> Cluster {
    let mut base = base(options, Traits::default());
    let bytes = 24 * MIB * options.size;
    for client in base.clients {
        for &ost in &base.osts {
            let file = base.cluster.file(MIB, &[ost]);
            let steps = stream(Access::write(file, 0, 0), bytes, MIB * 4)
                .chain([Op::Sync(file), Op::DropLocks(file), Op::Sleep(20_000)])
                .chain(stream(Access::read(file, 0, 0), bytes, MIB * 4))
                .chain([Op::Drain, Op::DropLocks(file)]);
            base.cluster.process(client, "python3.0", program(steps));
        }
    }
    base.cluster
}

/// Clients write disjoint, aligned parts of one file that is striped over all OSTs.
///
/// Nothing to find but a few conflicts at the start, when the first lock on an object still covers all of it.
pub(super) fn shared_aligned(options: &Options) -> Cluster {
    let mut base = base(options, Traits::default());
    let file = base.cluster.file(MIB, &base.osts);
    let bytes = 16 * MIB * options.size * wide(base.osts.len());
    for (index, &client) in base.clients.iter().enumerate() {
        let first = Access::write(file, bytes * wide(index), 0);
        let steps = stream(first, bytes, 4 * MIB * wide(base.osts.len())).chain([Op::Sync(file)]);
        base.cluster.process(client, "ior.1000", program(steps));
    }
    base.cluster
}

/// Writes of 1 MiB under locks that are held from the start, [`Options::rate`] of them per second.
///
/// For load: as many records per second as one asks for, of the kinds that a busy server writes.
pub(super) fn steady(options: &Options) -> Cluster {
    let mut base = base(options, Traits::default());
    let clients = wide(base.clients.len());
    let interval_us = (clients * 1_000_000 / options.rate.max(1)).max(1);
    let writes = options.rate.max(1) * options.duration_s / clients;
    for (index, &client) in base.clients.iter().enumerate() {
        let ost = base.osts[index % base.osts.len()];
        let file = base.cluster.file(MIB, &[ost]);
        let first_us = interval_us * wide(index) / clients;
        let steps = (0..writes).flat_map(move |write| {
            let until = Op::Until(first_us + write * interval_us);
            [until, Op::Io(Access::write(file, write % 4096 * MIB, MIB).ahead())]
        });
        base.cluster.process(client, "fio.1000", program(steps.chain([Op::Drain])));
    }
    base.cluster
}

/// Reads and writes of 1 MiB, some small ones and a few locks, [`Options::rate`] reads and writes per second, on disks
/// that keep up with it.
///
/// For load: the mix of records of a busy server. Each client has a file of its own; one small file belongs to all.
pub(super) fn busy(options: &Options) -> Cluster {
    let disk = DiskConfig { bytes_per_s: 200_000_000_000, latency_us: 200, ..DiskConfig::default() };
    let server = ServerConfig { threads: Threads { ost_io: 64, other: 16 }, ..ServerConfig::default() };
    let mut base = base(options, Traits { disk, server, ..Traits::default() });
    let clients = wide(base.clients.len());
    let rate = options.rate.max(1);
    let interval_us = move |calls: u64| calls * clients * 1_000_000 / rate;
    let calls = rate * options.duration_s / clients;
    let shared = base.cluster.file(MIB, &base.osts[..1]);
    for (index, &client) in base.clients.iter().enumerate() {
        let file = base.cluster.file(MIB, &[base.osts[index % base.osts.len()]]);
        let first_us = interval_us(1) * wide(index) / clients;
        let steps = (0..calls).flat_map(move |call| {
            let until = Op::Until(first_us + interval_us(call));
            let offset = call % 4096 * MIB;
            let io = match call % 16 {
                0..=6 => Access::write(file, offset, MIB).ahead(),
                7..=13 => Access::read(file, offset, MIB).ahead(),
                14 => Access::write(file, offset, 4096).ahead(),
                _ => Access::read(file, offset, 16 << 10).ahead(),
            };
            // Every few hundred calls a look at the size, new locks, and a place where clients meet.
            let more = match call % 512 {
                100 => Some(Op::Stat(file)),
                200 => Some(Op::DropLocks(file)),
                300 => Some(Op::Io(Access::write(shared, 0, 4096))),
                _ => None,
            };
            [Some(until), Some(Op::Io(io)), more].into_iter().flatten()
        });
        base.cluster.process(client, "fio.1000", program(steps.chain([Op::Drain])));
    }
    base.cluster
}

/// Clients that do nothing but ask whether their targets are there, and the MDT's statfs.
///
/// To find: no I/O at all.
pub(super) fn idle(options: &Options) -> Cluster {
    let mut base = base(options, Traits::default());
    let steps = [Op::Sleep(options.duration_s * 1_000_000)];
    base.cluster.process(base.clients[0], "", program(steps.into_iter()));
    base.cluster
}
