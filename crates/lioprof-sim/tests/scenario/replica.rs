//! The workloads of real captures, played by the simulated cluster.

use lioprof_sim::cluster::{Access, Cluster, DiskConfig, Op, ServerConfig, Threads};
use lioprof_sim::wording::Wording;

use crate::records::{Rec, drain};

const MIB: u64 = 1 << 20;

fn cluster(wording: &'static Wording) -> (Cluster, Vec<usize>, Vec<usize>) {
    let mut cluster = Cluster::new(7, 1_795_250_600_000_000);
    cluster.wording = wording;
    let server = cluster.server(ServerConfig {
        cpus: 2,
        cpts: 1,
        threads: Threads { ost_io: 8, other: 4, ..Threads::default() },
        ..ServerConfig::default()
    });
    let osts = (0..2).map(|_| cluster.ost(server, DiskConfig::default())).collect();
    let clients = (0..2).map(|_| cluster.client(Default::default())).collect();
    (cluster, osts, clients)
}

/// `lock_pingpong_dlm`: two clients write the even and the odd MiB of one object, each write to disk, with pauses;
/// then one asks for the size.
pub(crate) fn lock_pingpong(wording: &'static Wording) -> Vec<Rec> {
    let (mut cluster, osts, clients) = cluster(wording);
    let file = cluster.file(MIB, &osts[1..]);
    for (parity, &client) in (0..).zip(&clients) {
        let writes = (0..64).flat_map(move |step| {
            let offset = (2 * step + parity) * MIB;
            [Op::Io(Access::write(file, offset, MIB)), Op::Sync(file), Op::Sleep(50_000)]
        });
        let last = (parity == 0).then_some(Op::Stat(file));
        let steps = std::iter::once(Op::Sleep(parity * 20_000)).chain(writes).chain([Op::Sleep(100_000)]).chain(last);
        let steps = steps.chain([Op::Sleep(10_000), Op::DropLocks(file)]);
        cluster.process(client, "python3.0", Box::new(steps));
    }
    drain(cluster.start())
}

/// `masks`: buffered I/O of a striped file, then direct I/O and small records of another, written and read.
pub(crate) fn masks(wording: &'static Wording) -> Vec<Rec> {
    let (mut cluster, osts, clients) = cluster(wording);
    for &client in &clients {
        let wide = cluster.file(MIB, &osts);
        let direct = cluster.file(MIB, &osts[1..]);
        let small = cluster.file(MIB, &osts[1..]);
        let accesses = |write: bool| {
            let access = move |file, offset, bytes| Access { write, ..Access::write(file, offset, bytes) };
            let buffered = (0..5).map(move |step| access(wide, step * 4 * MIB, 4 * MIB));
            let pages = (0..20).map(move |step| access(direct, step * 65_536, 4096).direct());
            let odd = (0..10).map(move |step| access(direct, 4 * MIB + step * 65_536, 28_672).direct());
            let records = (0..10).map(move |step| access(small, step * 8192, 4096));
            buffered.chain(pages).chain(odd).chain(records).map(Op::Io)
        };
        // The reader keeps a lock on what it reads directly, as one that asked for the size before.
        let between = [Op::Sync(wide), Op::Sync(small), Op::DropLocks(wide), Op::DropLocks(small), Op::Sleep(50_000)];
        let size = Op::Io(Access::read(direct, 8 * MIB, MIB));
        let steps = accesses(true).chain(between).chain([size]).chain(accesses(false)).chain([Op::Drain]);
        cluster.process(client, "python3.0", Box::new(steps));
    }
    drain(cluster.start())
}
