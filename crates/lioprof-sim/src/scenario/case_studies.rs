//! The two case studies that LIOProf was made for, each before and after.

use super::base::{BaseCluster, MIB, usual, wide};
use super::options::Options;
use crate::cluster::{Access, Cluster, Op};

const STRIPES: u64 = 32;

fn shared_file(options: &Options) -> (BaseCluster, usize) {
    let mut base = usual(options);
    let file = base.striped_file();
    (base, file)
}

/// Each client reads a part of a striped file from end to end, and all start on the same OST.
///
/// To find: every client reads from every OST, and at any moment most of the reads are on one OST while the others
/// have little to do.
pub(super) fn read_not_lustre_aware(options: &Options) -> Cluster {
    let (base, file) = shared_file(options);
    let processes = base.clients.len();
    let part_bytes = STRIPES * options.size * wide(base.osts.len()) * MIB;
    base.on_clients("h5dump.1000", |client| {
        let first = client * part_bytes;
        (0..part_bytes / MIB).flat_map(move |step| {
            let meet = Op::Barrier { id: usize::try_from(step).unwrap_or(0), processes };
            [Op::Io(Access::read(file, first + step * MIB, MIB)), meet]
        })
    })
}

/// The same bytes read by one client per OST.
///
/// To find: each client reads from one OST only, and all OSTs are busy all the time.
pub(super) fn read_lustre_aware(options: &Options) -> Cluster {
    let (mut base, file) = shared_file(options);
    let osts = wide(base.osts.len());
    let rounds = STRIPES * options.size * wide(base.clients.len());
    base.clients.truncate(base.osts.len());
    let aggregators = wide(base.clients.len());
    base.on_clients("h5dump.1000", |client| {
        let mine = (0..osts).filter(move |ost| ost % aggregators == client);
        let reads = mine.flat_map(move |ost| {
            (0..rounds).map(move |round| Op::Io(Access::read(file, (round * osts + ost) * MIB, MIB).ahead()))
        });
        reads.chain([Op::Drain])
    })
}

/// Bytes of the file's headers that HDF5 reads again and again.
const HEADER_BYTES: u64 = 2048;

fn hdf5(options: &Options, collective: bool) -> Cluster {
    let (base, file) = shared_file(options);
    let processes = base.clients.len();
    base.on_clients("vpic.1000", |client| {
        let first = 64 * MIB + client * 16 * MIB * options.size;
        (0..16 * options.size).flat_map(move |step| {
            let headers = if client == 0 || !collective { 4 } else { 0 };
            // The headers are at the beginning of the file, hence on its first OST.
            let headers = (0..headers).map(move |header| {
                let offset = (step * 4 + header) % 256 * 4096;
                Op::Io(Access::read(file, offset, HEADER_BYTES))
            });
            let meet = Op::Barrier { id: usize::try_from(step).unwrap_or(0), processes };
            headers.chain([meet, Op::Io(Access::write(file, first + step * MIB, MIB))])
        })
    })
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
