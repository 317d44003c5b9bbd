//! Clients that fight for locks.

use super::base::{MIB, program, usual, wide};
use super::options::Options;
use crate::cluster::{Access, ClientConfig, Cluster, Op};

/// Pairs of clients write the same 1 MiB by turns, with a pause after each write.
///
/// To find: on each pair's object nearly every enqueue calls back the lock of the other client and waits for it; the
/// requests themselves overlap.
pub(super) fn lock_pingpong(options: &Options) -> Cluster {
    const PAUSE_US: u64 = 2_000;
    let mut base = usual(options);
    let files: Vec<usize> = (0..base.clients.len().div_ceil(2)).map(|pair| base.file_on(pair)).collect();
    base.on_clients("python3.0", |client| {
        let file = files[usize::try_from(client / 2).unwrap_or(0)];
        let turns =
            (0..64 * options.size).flat_map(move |_| [Op::Io(Access::write(file, 0, MIB)), Op::Sleep(2 * PAUSE_US)]);
        std::iter::once(Op::Sleep(client % 2 * PAUSE_US)).chain(turns)
    })
}

/// Clients write interleaved records of 64 KiB into one object.
///
/// To find: as many conflicts as with [`lock_pingpong`], but no two requests overlap: grants that cover more than
/// was asked for are all there is to fight about.
pub(super) fn false_sharing(options: &Options) -> Cluster {
    const RECORD_BYTES: u64 = 64 << 10;
    let mut base = usual(options);
    let file = base.file_on(0);
    let clients = wide(base.clients.len());
    base.on_clients("python3.0", |client| {
        (0..200 * options.size)
            .map(move |record| Op::Io(Access::write(file, (record * clients + client) * RECORD_BYTES, RECORD_BYTES)))
    })
}

/// Several clients at a time write disjoint parts of the same objects.
///
/// To find: all clients write to every object at once; conflicts from expanded grants at the start of each part.
pub(super) fn many_writers(options: &Options) -> Cluster {
    let mut base = usual(options);
    let file = base.striped_file();
    let part_bytes = 8 * MIB * wide(base.osts.len());
    let clients = wide(base.clients.len());
    base.on_clients("ior.1000", |client| {
        let steps = (0..4 * options.size).flat_map(move |part| {
            let first = (part * clients + client) * part_bytes;
            (0..part_bytes / MIB).map(move |step| Op::Io(Access::write(file, first + step * MIB, MIB).ahead()))
        });
        steps.chain([Op::Sync(file)])
    })
}

/// One client writes a file over all OSTs, from a place that is far away; all others ask how large it is as fast as they can.
///
/// To find: callbacks to the writer, and clients that wait for its answers.
pub(super) fn glimpse_storm(options: &Options) -> Cluster {
    let mut base = usual(options);
    let file = base.striped_file();
    let writer = base.cluster.client(ClientConfig { rtt_us: 20_000, ..ClientConfig::default() });
    let writes = (0..200 * options.size).map(move |step| Op::Io(Access::write(file, step * MIB, MIB)));
    base.cluster.process(writer, "solver.1000", program(writes));
    base.on_clients("ls.1000", |_| (0..150 * options.size).map(move |_| Op::Stat(file)))
}
