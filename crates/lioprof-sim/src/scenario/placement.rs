//! Load that is not where it should be.

use super::base::{Hardware, MIB, base, base_with, program, stream, usual, wide};
use super::options::Options;
use crate::cluster::{Access, ClientConfig, Cluster, DiskConfig, LinkConfig, Op};

/// One OST's disk is ten times slower than the others.
///
/// To find: the last OST has the same requests and bytes as the others and ten times their service time.
pub(super) fn sluggish_ost(options: &Options) -> Cluster {
    let last = options.osts.max(1) - 1;
    let usual = DiskConfig::default();
    let slow = DiskConfig { bytes_per_s: usual.bytes_per_s / 10, latency_us: usual.latency_us * 10, ..usual };
    let base = base_with(options, Hardware::default(), |ost| if ost == last { slow } else { usual });
    base.write_everywhere(32 * MIB * options.size)
}

/// OSTs get very different amounts: each half of the one before.
///
/// To find: bytes per OST fall by halves from the first one on.
pub(super) fn imbalance(options: &Options) -> Cluster {
    usual(options).on_osts("ior.1000", |ost, file| {
        let bytes = (64 * MIB * options.size) >> ost.min(6);
        stream(Access::write(file, 0, 0), bytes, MIB).chain([Op::Drain])
    })
}

/// One client writes for all; the others look how large the file has become.
///
/// To find: all bytes come from one client, through a link that is slower than the disks together, and the others are there.
pub(super) fn single_writer(options: &Options) -> Cluster {
    let client = ClientConfig { link: LinkConfig { bytes_per_s: 400_000_000 }, ..ClientConfig::default() };
    let mut base = base(options, Hardware { client, ..Hardware::default() });
    let file = base.striped_file();
    let clients = base.clients.len();
    let bytes = 32 * MIB * options.size * wide(clients);
    base.on_clients("solver.1000", |client| {
        let written = if client == 0 { bytes } else { 0 };
        stream(Access::write(file, 0, 0), written, 4 * MIB)
            .chain([Op::Drain, Op::Barrier { id: 0, processes: clients }])
            .chain((client > 0).then_some(Op::Stat(file)))
    })
}

/// All clients write files that lie on the first OST only; what they look at on the others is no data.
///
/// To find: one OST has all the bytes; each file has one object; there are other OSTs.
pub(super) fn hot_ost(options: &Options) -> Cluster {
    let mut base = usual(options);
    let others: Vec<usize> = base.osts[1..].iter().map(|&ost| base.cluster.file(MIB, &[ost])).collect();
    for &client in &base.clients {
        let file = base.cluster.file(MIB, &base.osts[..1]);
        let steps = stream(Access::write(file, 0, 0), 64 * MIB * options.size, MIB).chain([Op::Sync(file)]);
        let steps = others.clone().into_iter().map(Op::Stat).chain(steps);
        base.cluster.process(client, "ior.1000", program(steps));
    }
    base.cluster
}

/// One client keeps 64 requests in flight, the others one.
///
/// To find: on every OST one client gets far more than the others, and their requests wait behind its.
pub(super) fn unfair(options: &Options) -> Cluster {
    let modest = ClientConfig { max_in_flight: 1, ..ClientConfig::default() };
    let disk = DiskConfig { bytes_per_s: 500_000_000, ..DiskConfig::default() };
    let mut base = base(options, Hardware { client: modest, disk, ..Hardware::default() });
    let greedy = base.cluster.client(ClientConfig { max_in_flight: 64, ..ClientConfig::default() });
    let stop_us = 200_000 * options.size;
    for &client in base.clients.iter().chain([&greedy]) {
        for &ost in &base.osts {
            let file = base.cluster.file(MIB, &[ost]);
            let writes = if client == greedy { 200 * options.size } else { 20 * options.size };
            let steps = stream(Access::write(file, 0, 0), writes * MIB, MIB).chain([Op::Until(stop_us), Op::Drain]);
            base.cluster.process(client, if client == greedy { "hog.1000" } else { "ior.1000" }, program(steps));
        }
    }
    base.cluster
}

/// Every third client is on a network that is eight times as slow as that of the others.
///
/// To find: all clients of network tcp1 move data slowly, and no others.
pub(super) fn slow_network(options: &Options) -> Cluster {
    const BYTES_PER_S: u64 = 400_000_000;
    let link = |bytes_per_s| LinkConfig { bytes_per_s };
    let client = ClientConfig { link: link(BYTES_PER_S), max_rpc_bytes: MIB, ..ClientConfig::default() };
    let slow = ClientConfig { link: link(BYTES_PER_S / 8), network: "tcp1", ..client };
    let mut base = base(options, Hardware { client, ..Hardware::default() });
    let others = base.clients.len().div_ceil(2);
    base.clients.extend((0..others).map(|_| base.cluster.client(slow)).collect::<Vec<_>>());
    base.write_everywhere(16 * MIB * options.size)
}

/// Clients write small files and wait until they are stored. One OST's disk takes a hundred times as long for it.
///
/// To find: writes take as long on all OSTs; syncs to one of them take far longer.
pub(super) fn slow_syncs(options: &Options) -> Cluster {
    let last = options.osts.max(1) - 1;
    let usual = DiskConfig::default();
    let slow = DiskConfig { sync_us: 100 * usual.sync_us, ..usual };
    let base = base_with(options, Hardware::default(), |ost| if ost == last { slow } else { usual });
    let rounds = 8 * options.size;
    base.on_osts("db.1000", |_, file| {
        (0..rounds).flat_map(move |round| [Op::Io(Access::write(file, round * MIB, MIB).ahead()), Op::Sync(file)])
    })
}
