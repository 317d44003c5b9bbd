//! Clients that fight for locks.

use super::base::{MIB, Traits, base, program, wide};
use super::options::Options;
use crate::cluster::{Access, Cluster, Op};

/// Pairs of clients write the same 1 MiB by turns, with a pause after each write.
///
/// To find: on each pair's object nearly every enqueue calls back the lock of the other client and waits for it; the
/// requests themselves overlap.
pub(super) fn lock_pingpong(options: &Options) -> Cluster {
    let mut base = base(options, Traits::default());
    let files: Vec<usize> = (0..base.clients.len().div_ceil(2))
        .map(|pair| base.cluster.file(MIB, &[base.osts[pair % base.osts.len()]]))
        .collect();
    for (index, &client) in base.clients.iter().enumerate() {
        let file = files[index / 2];
        let pause_us = 2_000;
        let first_us = if index % 2 == 0 { 0 } else { pause_us };
        let steps = std::iter::once(Op::Sleep(first_us)).chain(
            (0..64 * options.size).flat_map(move |_| [Op::Io(Access::write(file, 0, MIB)), Op::Sleep(2 * pause_us)]),
        );
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
