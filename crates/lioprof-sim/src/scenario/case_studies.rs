//! The two case studies that LIOProf was made for, each before and after.

use super::base::{Base, MIB, Traits, base, program, wide};
use super::options::Options;
use crate::cluster::{Access, Cluster, Op};

const STRIPES: u64 = 32;

fn shared_file(options: &Options) -> (Base, usize) {
    let mut base = base(options, Traits::default());
    let file = base.cluster.file(MIB, &base.osts);
    (base, file)
}

/// Each client reads a part of a striped file from end to end, and all start on the same OST.
///
/// To find: every client reads from every OST, and at any moment most of the reads are on one OST while the others
/// have little to do.
pub(super) fn read_not_lustre_aware(options: &Options) -> Cluster {
    let (mut base, file) = shared_file(options);
    let clients = base.clients.len();
    let part_bytes = STRIPES * options.size * wide(base.osts.len()) * MIB;
    for (index, &client) in base.clients.iter().enumerate() {
        let first = wide(index) * part_bytes;
        let steps = (0..part_bytes / MIB).flat_map(move |step| {
            [
                Op::Io(Access::read(file, first + step * MIB, MIB)),
                Op::Barrier { id: usize::try_from(step).unwrap_or(0), processes: clients },
            ]
        });
        base.cluster.process(client, "h5dump.1000", program(steps));
    }
    base.cluster
}

/// The same bytes read by one client per OST.
///
/// To find: each client reads from one OST only, and all OSTs are busy all the time.
pub(super) fn read_lustre_aware(options: &Options) -> Cluster {
    let (mut base, file) = shared_file(options);
    let osts = wide(base.osts.len());
    let rounds = STRIPES * options.size * wide(base.clients.len());
    let aggregators = wide(base.clients.len().min(base.osts.len()));
    for (index, &client) in base.clients.iter().enumerate().take(base.osts.len()) {
        let index = wide(index);
        let mine = (0..osts).filter(move |ost| ost % aggregators == index);
        let steps = mine.flat_map(move |ost| {
            (0..rounds).map(move |round| Op::Io(Access::read(file, (round * osts + ost) * MIB, MIB).ahead()))
        });
        base.cluster.process(client, "h5dump.1000", program(steps.chain([Op::Drain])));
    }
    base.cluster
}

/// Bytes of the file's headers that HDF5 reads again and again.
const HEADER_BYTES: u64 = 2048;

fn hdf5(options: &Options, collective: bool) -> Cluster {
    let (mut base, file) = shared_file(options);
    let clients = base.clients.len();
    for (index, &client) in base.clients.iter().enumerate() {
        let first = 64 * MIB + wide(index) * 16 * MIB * options.size;
        let steps = (0..16 * options.size).flat_map(move |step| {
            let mut round = Vec::new();
            if index == 0 || !collective {
                for header in 0..4 {
                    // The headers are at the beginning of the file, hence on its first OST.
                    let offset = (step * 4 + header) % 256 * 4096;
                    round.push(Op::Io(Access::read(file, offset, HEADER_BYTES)));
                }
            }
            round.push(Op::Barrier { id: usize::try_from(step).unwrap_or(0), processes: clients });
            round.push(Op::Io(Access::write(file, first + step * MIB, MIB)));
            round
        });
        base.cluster.process(client, "vpic.1000", program(steps));
    }
    base.cluster
}

/// Every client reads the file's headers between its large writes.
///
/// To find: four small reads per client and large write, all on the file's first OST.
pub(super) fn hdf5_metadata(options: &Options) -> Cluster {
    hdf5(options, false)
}

/// One client reads the headers for all.
///
/// To find: as many large writes as in [`hdf5_metadata`], and small reads from one client only.
pub(super) fn hdf5_collective_metadata(options: &Options) -> Cluster {
    hdf5(options, true)
}
