//! Clients that fight for locks.

use super::Options;
use super::base::{MIB, Traits, base, program, wide};
use crate::cluster::{Access, Cluster, Op};

/// Clients write the same 1 MiB by turns, with a pause after each write.
///
/// To find: on one object nearly every enqueue calls back the lock of another client and waits for it; the requests
/// themselves overlap.
pub(super) fn lock_pingpong(options: &Options) -> Cluster {
    let mut base = base(options, Traits::default());
    let file = base.cluster.file(MIB, &[base.osts[0]]);
    for (index, &client) in base.clients.iter().enumerate() {
        let steps = std::iter::once(Op::Sleep(500 * wide(index)))
            .chain((0..64 * options.size).flat_map(move |_| [Op::Io(Access::write(file, 0, MIB)), Op::Sleep(2_000)]));
        base.cluster.process(client, "python3.0", program(steps));
    }
    base.cluster
}

/// Clients write interleaved records of 64 KiB into one object.
///
/// To find: as many conflicts as with [`lock_pingpong`], but no two requests overlap: grants that cover more than
/// was asked for are all there is to fight about.
pub(super) fn false_sharing(options: &Options) -> Cluster {
    const RECORD_BYTES: u64 = 64 << 10;
    let mut base = base(options, Traits::default());
    let file = base.cluster.file(MIB, &[base.osts[0]]);
    let clients = wide(base.clients.len());
    for (index, &client) in base.clients.iter().enumerate() {
        let index = wide(index);
        let steps = (0..200 * options.size)
            .map(move |record| Op::Io(Access::write(file, (record * clients + index) * RECORD_BYTES, RECORD_BYTES)));
        base.cluster.process(client, "python3.0", program(steps));
    }
    base.cluster
}

/// Several clients at a time write disjoint parts of the same objects.
///
/// To find: all clients write to every object at once; conflicts from expanded grants at the start of each part.
pub(super) fn many_writers(options: &Options) -> Cluster {
    let mut base = base(options, Traits::default());
    let file = base.cluster.file(MIB, &base.osts);
    let part_bytes = 8 * MIB * wide(base.osts.len());
    let clients = wide(base.clients.len());
    for (index, &client) in base.clients.iter().enumerate() {
        let index = wide(index);
        let steps = (0..4 * options.size).flat_map(move |part| {
            let first = (part * clients + index) * part_bytes;
            (0..part_bytes / MIB).map(move |step| Op::Io(Access::write(file, first + step * MIB, MIB).ahead()))
        });
        base.cluster.process(client, "ior.1000", program(steps.chain([Op::Sync(file)])));
    }
    base.cluster
}
