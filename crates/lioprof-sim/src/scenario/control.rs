//! Work without data: the name space, pings, free space.

use super::base::{program, usual, wide};
use super::options::Options;
use crate::cluster::{Access, Cluster, MDS, Op, ServerConfig, opcode};

/// Clients make small files; the MDT makes their objects and deletes them again while clients still have locks.
///
/// To find: blocking ASTs on OSTs, all of them from OST_DESTROY of the MDT: no client fights another.
pub(super) fn metadata(options: &Options) -> Cluster {
    let mut base = usual(options);
    let files = 50 * options.size;
    let everybody = base.clients.len() + 1;
    let mut all = Vec::new();
    for (index, &client) in base.clients.iter().enumerate() {
        let mut steps = Vec::new();
        for number in 0..files {
            let ost = base.osts[(index + usize::try_from(number).unwrap_or(0)) % base.osts.len()];
            let file = base.cluster.file(1 << 20, &[ost]);
            all.push(file);
            steps.push(Op::Io(Access::write(file, 0, 3000)));
            if number % 8 == 0 {
                steps.push(Op::Stat(file));
                steps.push(Op::Plain { opcode: opcode::OST_SETATTR, target: ost });
            }
        }
        steps.push(Op::Barrier { id: 0, processes: everybody });
        base.cluster.process(client, "tar.1000", program(steps.into_iter()));
    }
    let creates = base.osts.clone().into_iter().map(|target| Op::Plain { opcode: opcode::OST_CREATE, target });
    let steps = creates
        .chain([Op::Barrier { id: 0, processes: everybody }])
        .chain(all.into_iter().flat_map(|file| [Op::Destroy(file), Op::Sleep(300)]))
        .chain([Op::Drain]);
    base.cluster.process(MDS, "", program(steps));
    base.cluster
}

/// Clients do nothing but open, change and close files on the MDT.
///
/// To find: a busy MDS and idle OSTs.
pub(super) fn metadata_bound(options: &Options) -> Cluster {
    let mut base = usual(options);
    let server = base.cluster.server(ServerConfig::default());
    let target = base.cluster.mdt(server);
    base.on_clients("mdtest.1000", |_| {
        (0..200 * options.size).flat_map(move |_| {
            [opcode::LDLM_ENQUEUE, opcode::MDS_REINT, opcode::MDS_CLOSE].map(|opcode| Op::Plain { opcode, target })
        })
    })
}

fn plain(options: &Options, opcode: u16, job: &str) -> Cluster {
    let base = usual(options);
    let clients = wide(base.clients.len());
    let interval_us = (clients * 1_000_000 / options.rate.max(1)).max(1);
    let calls = options.rate * options.duration_s / clients;
    let targets = base.osts.clone();
    base.on_clients(job, |_| {
        let steps = (0..calls).zip(targets.clone().into_iter().cycle());
        steps.flat_map(move |(call, target)| [Op::Until(call * interval_us), Op::Plain { opcode, target }])
    })
}

/// Clients ask all the time whether their targets are there.
///
/// To find: OBD_PING is nearly all there is.
pub(super) fn ping_storm(options: &Options) -> Cluster {
    plain(options, opcode::OBD_PING, "")
}

/// Clients ask all the time how much space there is.
///
/// To find: OST_STATFS is nearly all there is, and from clients.
pub(super) fn statfs_storm(options: &Options) -> Cluster {
    plain(options, opcode::OST_STATFS, "df.1000")
}
