//! From bytes of a file to RPCs on its objects.

use super::program::Access;
use super::{Io, Simulation};
use crate::wording::Extent;

const PAGE_BYTES: u64 = 4096;

impl Simulation {
    /// Sends what a process reads or writes.
    pub(super) fn access(&mut self, process: usize, access: &Access) {
        let mount = self.world.processes[process].mount;
        for (object, extent) in self.split(access) {
            for io in self.rpcs(process, access, object, extent) {
                self.world.processes[process].open += 1;
                self.submit(mount, io, extent);
            }
        }
    }

    /// The extents of an access in the file's objects.
    fn split(&self, access: &Access) -> Vec<(usize, Extent)> {
        let file = &self.world.files[access.file];
        let width = u64::try_from(file.objects.len()).unwrap_or(1).max(1);
        let mut extents: Vec<(usize, Extent)> = Vec::new();
        let (mut offset, end) = (access.offset, access.offset + access.bytes);
        while offset < end {
            let stripe = offset / file.stripe_bytes;
            let bytes = (file.stripe_bytes - offset % file.stripe_bytes).min(end - offset);
            let object = file.objects[usize::try_from(stripe % width).unwrap_or(0)];
            let first = stripe / width * file.stripe_bytes + offset % file.stripe_bytes;
            match extents.iter_mut().find(|(other, extent)| *other == object && extent.last + 1 == first) {
                Some((_, extent)) => extent.last += bytes,
                None => extents.push((object, Extent { first, last: first + bytes - 1 })),
            }
            offset += bytes;
        }
        extents
    }

    /// An extent cut at the mount's RPC size.
    fn rpcs(&self, process: usize, access: &Access, object: usize, extent: Extent) -> Vec<Io> {
        let limit = self.world.mounts[self.world.processes[process].mount].config.max_rpc_bytes;
        let mut rpcs = Vec::new();
        let mut first = extent.first;
        while first <= extent.last {
            let last = (first / limit * limit + limit - 1).min(extent.last);
            let bytes = last - first + 1;
            let gaps = access.pieces.saturating_sub(1);
            let gaps = if gaps * PAGE_BYTES < bytes { gaps } else { 0 };
            rpcs.push(Io {
                process,
                object,
                extent: Extent { first, last },
                bytes: bytes - gaps * PAGE_BYTES,
                pieces: gaps + 1,
                write: access.write,
                direct: access.direct,
                waits: access.wait,
                lock: None,
            });
            first = last + 1;
        }
        rpcs
    }
}
