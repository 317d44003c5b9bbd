//! From bytes of a file to RPCs on its objects.

use super::program::Access;
use super::request::Io;
use super::simulation::Simulation;

const PAGE_BYTES: u64 = 4096;

impl Simulation {
    /// Sends what a process reads or writes.
    pub(super) fn access(&mut self, process: usize, access: &Access) {
        let mount = self.world.processes[process].mount;
        for (object, first, last) in self.split(access) {
            for io in self.rpcs(process, access, object, first, last) {
                self.world.processes[process].open += 1;
                self.submit(mount, io, (first, last));
            }
        }
    }

    /// The extents of an access in the file's objects.
    fn split(&self, access: &Access) -> Vec<(usize, u64, u64)> {
        let file = &self.world.files[access.file];
        let width = u64::try_from(file.objects.len()).unwrap_or(1).max(1);
        let mut extents: Vec<(usize, u64, u64)> = Vec::new();
        let (mut offset, end) = (access.offset, access.offset + access.bytes);
        while offset < end {
            let stripe = offset / file.stripe_bytes;
            let bytes = (file.stripe_bytes - offset % file.stripe_bytes).min(end - offset);
            let object = file.objects[usize::try_from(stripe % width).unwrap_or(0)];
            let first = stripe / width * file.stripe_bytes + offset % file.stripe_bytes;
            match extents.iter_mut().find(|(other, _, last)| *other == object && *last + 1 == first) {
                Some((_, _, last)) => *last += bytes,
                None => extents.push((object, first, first + bytes - 1)),
            }
            offset += bytes;
        }
        extents
    }

    /// An extent cut at the mount's RPC size.
    fn rpcs(&self, process: usize, access: &Access, object: usize, mut first: u64, last: u64) -> Vec<Io> {
        let limit = self.world.mounts[self.world.processes[process].mount].max_rpc_bytes;
        let mut rpcs = Vec::new();
        while first <= last {
            let end = (first / limit * limit + limit - 1).min(last);
            let bytes = end - first + 1;
            let gaps = access.pieces.saturating_sub(1);
            let gaps = if gaps * PAGE_BYTES < bytes { gaps } else { 0 };
            rpcs.push(Io {
                process,
                object,
                first,
                last: end,
                bytes: bytes - gaps * PAGE_BYTES,
                pieces: gaps + 1,
                write: access.write,
                direct: access.direct,
                lock: None,
            });
            first = end + 1;
        }
        rpcs
    }
}
