//! Extent locks: what may stand side by side, how far a grant grows.

use super::request::Io;
use super::world::World;
use crate::wording::ldlm::{self, flags};

/// The last byte there can be.
pub(crate) const EOF: u64 = u64::MAX;

/// A grant to a writer grows no further than this beyond its request where more than this many locks are near.
const MANY_LOCKS: usize = 32;
const MAX_GROWN_BYTES: u64 = 32 << 20;

/// A lock, on the server and, for those that clients have, on the client.
pub(crate) struct Lock {
    pub(crate) pointer: u32,
    pub(crate) cookie: u64,
    pub(crate) remote: u64,
    pub(crate) object: usize,
    /// `None` for the server's own.
    pub(crate) mount: Option<usize>,
    pub(crate) write: bool,
    pub(crate) request: (u64, u64),
    pub(crate) extent: (u64, u64),
    pub(crate) granted: bool,
    pub(crate) ast_sent: bool,
    /// It waited for its grant.
    pub(crate) waited: bool,
    pub(crate) gone: bool,
    /// Blocking ASTs under way: each refers to the lock.
    pub(crate) asts: u32,
    /// The client is done with it; its place is free once no AST refers to it.
    pub(crate) released: bool,
    pub(crate) pid: u32,
    pub(crate) blocked_us: u64,
    pub(crate) ast_us: u64,
    pub(crate) timeout_s: u64,
    /// The reply to the enqueue reached the client.
    pub(crate) replied: bool,
    /// The client heard of the grant, from that reply or from a completion AST.
    pub(crate) told: bool,
    /// The server granted it before it replied.
    pub(crate) granted_in_reply: bool,
    /// The client uses it.
    pub(crate) ready: bool,
    pub(crate) users: u32,
    /// The client must give it back.
    pub(crate) closing: bool,
    pub(crate) cancelled: bool,
    /// The process that asked for it, until it has it.
    pub(crate) asker: Option<usize>,
    /// I/O of the client that waits for it.
    pub(crate) waiters: Vec<Io>,
}

impl Lock {
    pub(crate) fn new(object: usize, mount: Option<usize>, write: bool, request: (u64, u64)) -> Self {
        Self {
            pointer: 0,
            cookie: 0,
            remote: 0,
            object,
            mount,
            write,
            request,
            extent: request,
            granted: false,
            ast_sent: false,
            waited: false,
            gone: false,
            asts: 0,
            released: false,
            pid: 0,
            blocked_us: 0,
            ast_us: 0,
            timeout_s: 0,
            replied: false,
            told: false,
            granted_in_reply: false,
            ready: false,
            users: 0,
            closing: false,
            cancelled: false,
            asker: None,
            waiters: Vec::new(),
        }
    }

    fn mode(&self) -> &'static str {
        if self.write { "PW" } else { "PR" }
    }

    /// Flags that stay with a lock: on the server, waited for, called back.
    fn base_flags(&self) -> u64 {
        let mut bits = flags::SERVER;
        if self.waited {
            bits |= flags::NO_TIMEOUT;
        }
        if self.ast_sent {
            bits |= flags::AST_SENT;
        }
        bits
    }
}

fn overlap(a: (u64, u64), b: (u64, u64)) -> bool {
    a.0 <= b.1 && b.0 <= a.1
}

/// What a lock line shows of the moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) references: u32,
    /// `--` or the mode.
    pub(crate) granted: bool,
    /// Bits beside the lasting ones.
    pub(crate) flags: u64,
    /// Only what is known at birth: no extent, no client.
    pub(crate) newborn: bool,
    /// The server itself reads or writes under it.
    pub(crate) pinned: bool,
    /// It asked for the size only.
    pub(crate) glimpse: bool,
}

impl Look {
    pub(crate) const fn held(references: u32, flags: u64) -> Self {
        Self { references, granted: true, flags, newborn: false, pinned: false, glimpse: false }
    }

    pub(crate) const fn waiting(references: u32, flags: u64) -> Self {
        Self { references, granted: false, flags, newborn: false, pinned: false, glimpse: false }
    }
}

impl World {
    /// A lock as a line shows it.
    pub(crate) fn lock_line(&self, lock: usize, look: Look) -> ldlm::Lock<'_> {
        let lock = &self.locks[lock];
        let object = &self.objects[lock.object];
        let client = lock.mount.filter(|_| !look.newborn);
        let others = object.granted.len() + object.waiting.len();
        ldlm::Lock {
            target: &self.targets[object.target].name,
            pointer: lock.pointer,
            cookie: lock.cookie,
            references: (look.references, u32::from(look.pinned && !lock.write), u32::from(look.pinned && lock.write)),
            granted: if look.granted { lock.mode() } else { "--" },
            mode: lock.mode(),
            resource: object.resource,
            resource_references: u32::try_from(others).unwrap_or(u32::MAX).saturating_add(1).max(2),
            extent: if look.newborn { (0, 0) } else { lock.extent },
            request: if look.newborn { (0, 0) } else { lock.request },
            flags: lock.base_flags() | look.flags,
            nid: client.map_or("local", |mount| self.nid(mount)),
            remote: lock.remote,
            export_references: client.map_or(-99, |mount| self.export(mount, object.target).references()),
            pid: lock.pid,
            timeout_s: lock.timeout_s,
            lvb_type: u32::from(look.glimpse),
        }
    }

    fn compatible(&self, held: usize, asked: usize) -> bool {
        !self.locks[held].write && !self.locks[asked].write
    }

    /// Granted locks in the way of `lock`, and those that wait longer.
    pub(crate) fn conflicts(&self, lock: usize) -> (Vec<usize>, Vec<usize>) {
        let object = &self.objects[self.locks[lock].object];
        let request = self.locks[lock].request;
        let in_the_way = |other: usize, extent: (u64, u64)| !self.compatible(other, lock) && overlap(extent, request);
        let granted =
            object.granted.iter().copied().filter(|&held| in_the_way(held, self.locks[held].extent)).collect();
        let waiting = object.waiting.iter().copied().take_while(|&other| other != lock);
        (granted, waiting.filter(|&other| in_the_way(other, self.locks[other].request)).collect())
    }

    /// The largest extent around the request that no other lock needs.
    ///
    /// As `ldlm_extent_policy`: up to the neighbours that are held or asked for. Next to many locks a grant does
    /// not grow to the left, and a writer's by 32 MiB at most.
    pub(crate) fn expanded(&self, lock: usize) -> (u64, u64) {
        let object = &self.objects[self.locks[lock].object];
        let request = self.locks[lock].request;
        let (mut first, mut last) = (0, EOF);
        let mut near = 0;
        let held = object.granted.iter().map(|&other| (other, self.locks[other].extent));
        let asked = object.waiting.iter().map(|&other| (other, self.locks[other].request));
        for (other, extent) in held.chain(asked) {
            if other == lock || self.compatible(other, lock) {
                continue;
            }
            near += 1;
            if extent.1 < request.0 {
                first = first.max(extent.1 + 1);
            } else if extent.0 > request.1 {
                last = last.min(extent.0 - 1);
            } else {
                return request;
            }
        }
        if near > 4 {
            first = request.0;
        }
        if near > MANY_LOCKS && self.locks[lock].write {
            last = last.min(request.1.saturating_add(MAX_GROWN_BYTES)).max(request.1);
        }
        (first, last)
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
            !lock.closing && (lock.write || !io.write) && extent.0 <= io.first && io.last <= extent.1
        })
    }
}
