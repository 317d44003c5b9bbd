//! Workloads without a fault.

use super::base::{Hardware, MIB, base, program, stream, usual, wide};
use super::options::Options;
use crate::cluster::{Access, Cluster, DiskConfig, Op, ServerConfig, Threads};

/// Each client writes a file of its own on each OST in 4 MiB RPCs, then reads it back.
///
/// Nothing to find: no conflict between clients, bytes equal on all OSTs.
pub(super) fn file_per_process(options: &Options) -> Cluster {
    let bytes = 24 * MIB * options.size;
    usual(options).on_osts("python3.0", |_, file| {
        stream(Access::write(file, 0, 0), bytes, MIB * 4)
            .chain([Op::Sync(file), Op::DropLocks(file), Op::Sleep(20_000)])
            .chain(stream(Access::read(file, 0, 0), bytes, MIB * 4))
            .chain([Op::Drain, Op::DropLocks(file)])
    })
}

/// Clients write disjoint, aligned parts of one file that is striped over all OSTs.
///
/// Nothing to find but a few conflicts at the start, when the first lock on an object still covers all of it.
pub(super) fn shared_aligned(options: &Options) -> Cluster {
    let mut base = usual(options);
    let file = base.striped_file();
    let osts = wide(base.osts.len());
    let bytes = 16 * MIB * options.size * osts;
    base.on_clients("ior.1000", |client| {
        stream(Access::write(file, bytes * client, 0), bytes, 4 * MIB * osts).chain([Op::Sync(file)])
    })
}

/// Writes of 1 MiB under locks that are held from the start, [`Options::rate`] of them per second.
///
/// For load: as many records per second as one asks for, of the kinds that a busy server writes.
pub(super) fn steady(options: &Options) -> Cluster {
    let base = usual(options);
    let clients = wide(base.clients.len());
    let interval_us = (clients * 1_000_000 / options.rate.max(1)).max(1);
    let writes = options.rate.max(1) * options.duration_s / clients;
    base.on_clients_with_file("fio.1000", |client, file| {
        let first_us = interval_us * client / clients;
        let steps = (0..writes).flat_map(move |write| {
            let until = Op::Until(first_us + write * interval_us);
            [until, Op::Io(Access::write(file, write % 4096 * MIB, MIB).ahead())]
        });
        steps.chain([Op::Drain])
    })
}

/// Reads and writes of 1 MiB, some small ones and a few locks, [`Options::rate`] reads and writes per second, on disks
/// that keep up with it.
///
/// For load: the mix of records of a busy server. Each client has a file of its own; one small file belongs to all.
pub(super) fn busy(options: &Options) -> Cluster {
    let disk = DiskConfig { bytes_per_s: 200_000_000_000, latency_us: 200, ..DiskConfig::default() };
    let server =
        ServerConfig { threads: Threads { ost_io: 64, other: 16, ..Threads::default() }, ..ServerConfig::default() };
    let mut base = base(options, Hardware { disk, server, ..Hardware::default() });
    let clients = wide(base.clients.len());
    let rate = options.rate.max(1);
    let interval_us = move |calls: u64| calls * clients * 1_000_000 / rate;
    let calls = rate * options.duration_s / clients;
    let shared = base.file_on(0);
    base.on_clients_with_file("fio.1000", |client, file| {
        let first_us = interval_us(1) * client / clients;
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
        steps.chain([Op::Drain])
    })
}

/// Clients that do nothing but ask whether their targets are there, and the MDT's statfs.
///
/// To find: no I/O at all.
pub(super) fn idle(options: &Options) -> Cluster {
    let mut base = usual(options);
    let steps = [Op::Sleep(options.duration_s * 1_000_000)];
    base.cluster.process(base.clients[0], "", program(steps.into_iter()));
    base.cluster
}
