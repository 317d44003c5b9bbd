//! Requests of bad size, place or order.

use super::base::{MIB, usual};
use super::options::Options;
use crate::cluster::{Access, Cluster, Op};

/// Each client does this to a file of its own on one OST.
fn each(options: &Options, job: &str, ops: impl Fn(usize, u64) -> Access + Copy + Send + 'static) -> Cluster {
    usual(options).on_clients_with_file(job, |_, file| {
        (0..128 * options.size).map(move |step| Op::Io(ops(file, step))).chain([Op::Drain])
    })
}

/// Writes of 4 KiB all over a file.
///
/// To find: many RPCs, few bytes; the data travel inside the requests.
pub(super) fn small_rpcs(options: &Options) -> Cluster {
    each(options, "db.1000", |file, step| Access::write(file, step.wrapping_mul(2_654_435_761) % 65_536 * 4096, 4096))
}

/// Records of 47,008 bytes one after the other.
///
/// To find: requests that begin and end inside pages and stripes.
pub(super) fn unaligned(options: &Options) -> Cluster {
    each(options, "ior.1000", |file, step| Access::write(file, step * 47_008, 47_008))
}

/// Writes of scattered pages that clients put into one request each.
///
/// To find: sixteen pieces per request; the extent is larger than the bytes.
pub(super) fn gapped(options: &Options) -> Cluster {
    each(options, "hdf.1000", |file, step| Access { pieces: 16, ..Access::write(file, step * MIB, MIB) })
}

/// 64 KiB of every MiB.
///
/// To find: reads with a stride of 1 MiB; read-ahead would be of no use.
pub(super) fn strided_read(options: &Options) -> Cluster {
    each(options, "viz.1000", |file, step| Access::read(file, step * MIB, 64 << 10))
}

/// A file read from its end to its beginning.
///
/// To find: reads that follow each other downwards.
pub(super) fn backward_read(options: &Options) -> Cluster {
    let last = 128 * options.size - 1;
    each(options, "tac.1000", move |file, step| Access::read(file, (last - step) * MIB, MIB))
}

/// Direct I/O of small and large pieces, read and written.
///
/// To find: locks of the server itself; without dlmtrace nobody can tell which object it was.
pub(super) fn direct_io(options: &Options) -> Cluster {
    each(options, "dd.0", |file, step| {
        let sizes = [4096, 16 << 10, 28 << 10, MIB, 4 * MIB];
        let bytes = sizes[usize::try_from(step).unwrap_or(0) % sizes.len()];
        let access = if step % 2 == 0 { Access::write(file, 0, bytes) } else { Access::read(file, 0, bytes) };
        Access { offset: step * 4 * MIB, ..access }.direct()
    })
}
