//! Locks of the world's objects.

use super::{Io, Look, World};
use crate::wording::Extent;
use crate::wording::lock::Lock;

impl World {
    /// A lock as a line shows it.
    pub(crate) fn lock_line(&self, lock: usize, look: Look) -> Lock<'_> {
        let lock = &self.locks[lock];
        let object = &self.objects[lock.object];
        let client = lock.mount.filter(|_| !look.newborn);
        let others = object.granted.len() + object.waiting.len();
        Lock {
            wording: self.wording,
            target: &self.targets[object.target].name,
            pointer: lock.pointer,
            cookie: lock.cookie,
            references: (look.references, u32::from(look.pinned && !lock.write), u32::from(look.pinned && lock.write)),
            granted: if look.granted { lock.mode() } else { "--" },
            mode: lock.mode(),
            resource: object.resource,
            resource_references: u32::try_from(others).unwrap_or(u32::MAX).saturating_add(1).max(2),
            extent: if look.newborn { Extent::default() } else { lock.extent },
            request: if look.newborn { Extent::default() } else { lock.request },
            flags: lock.base_flags() | look.flags,
            nid: client.map_or("local", |mount| self.nid(mount)),
            remote: lock.remote,
            export_references: client.map_or(-99, |mount| self.export(mount, object.target).references()),
            pid: lock.pid,
            timeout_s: lock.timeout_s,
            lvb_type: u32::from(look.glimpse),
        }
    }

    pub(super) fn compatible(&self, held: usize, asked: usize) -> bool {
        !self.locks[held].write && !self.locks[asked].write
    }

    /// Granted locks in the way of `lock`, and those that wait longer.
    pub(crate) fn conflicts(&self, lock: usize) -> (Vec<usize>, Vec<usize>) {
        let object = &self.objects[self.locks[lock].object];
        let request = self.locks[lock].request;
        let in_the_way = |other: usize, extent: Extent| !self.compatible(other, lock) && extent.overlaps(request);
        let granted =
            object.granted.iter().copied().filter(|&held| in_the_way(held, self.locks[held].extent)).collect();
        let waiting = object.waiting.iter().copied().take_while(|&other| other != lock);
        (granted, waiting.filter(|&other| in_the_way(other, self.locks[other].request)).collect())
    }

    /// The largest extent around the request that no other lock needs.
    ///
    /// As `ldlm_extent_policy`: up to the neighbours that are held or asked for. Next to many locks a grant does
    /// not grow to the left, and a writer's by 32 MiB at most.
    pub(crate) fn expanded(&self, lock: usize) -> Extent {
        let object = &self.objects[self.locks[lock].object];
        let request = self.locks[lock].request;
        let Extent { mut first, mut last } = Extent::ALL;
        let mut near = 0;
        let held = object.granted.iter().map(|&other| (other, self.locks[other].extent));
        let asked = object.waiting.iter().map(|&other| (other, self.locks[other].request));
        for (other, extent) in held.chain(asked) {
            if other == lock || self.compatible(other, lock) {
                continue;
            }
            near += 1;
            if extent.last < request.first {
                first = first.max(extent.last + 1);
            } else if extent.first > request.last {
                last = last.min(extent.first - 1);
            } else {
                return request;
            }
        }
        if near > 4 {
            first = request.first;
        }
        if near > MANY_LOCKS && self.locks[lock].write {
            last = last.min(request.last.saturating_add(MAX_GROWN_BYTES)).max(request.last);
        }
        Extent { first, last }
    }

    /// Waiting locks that can be granted now, in the order in which they asked; each is granted and grown.
    pub(crate) fn grant_waiting(&mut self, object: usize) -> Vec<usize> {
        let mut grown = Vec::new();
        let mut place = 0;
        while let Some(&lock) = self.objects[object].waiting.get(place) {
            let (granted, waiting) = self.conflicts(lock);
            if granted.is_empty() && waiting.is_empty() {
                self.objects[object].waiting.remove(place);
                if self.locks[lock].mount.is_some() {
                    self.locks[lock].extent = self.expanded(lock);
                }
                self.grant(lock);
                grown.push(lock);
            } else {
                place += 1;
            }
        }
        grown
    }

    /// Puts a lock on the list of granted ones.
    pub(crate) fn grant(&mut self, lock: usize) {
        self.locks[lock].granted = true;
        self.objects[self.locks[lock].object].granted.push(lock);
    }

    /// Takes a lock from whatever list it is on.
    pub(crate) fn unlink(&mut self, lock: usize) {
        self.locks[lock].gone = true;
        let object = &mut self.objects[self.locks[lock].object];
        object.granted.retain(|&other| other != lock);
        object.waiting.retain(|&other| other != lock);
    }

    /// A lock of `mount` that covers an I/O, or will: an enqueue that is on its way.
    pub(crate) fn client_lock(&self, mount: usize, io: &Io) -> Option<usize> {
        self.mounts[mount].locks.get(&io.object)?.iter().copied().find(|&lock| {
            let lock = &self.locks[lock];
            let extent = if lock.ready { lock.extent } else { lock.request };
            !lock.closing && (lock.write || !io.write) && extent.covers(io.extent)
        })
    }
}

/// A grant to a writer grows no further than this beyond its request where more than this many locks are near.
const MANY_LOCKS: usize = 32;

const MAX_GROWN_BYTES: u64 = 32 << 20;
