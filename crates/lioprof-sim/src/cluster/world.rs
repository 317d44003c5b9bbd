//! Everything that a simulated cluster has: nodes, targets, clients, objects, and what they are busy with.

use std::collections::VecDeque;

use super::slab::Slab;
use super::{Callback, ClientConfig, Disk, Io, Link, Lock, Policy, Process, Request, Service};
use crate::wording::{Fid, Wording};

/// A server.
pub(crate) struct Node {
    pub(crate) nid: String,
    pub(crate) cpus: u16,
    pub(crate) cpts: u16,
    /// Threads of the network driver; they log what arrives.
    pub(crate) lnd_pids: Vec<u32>,
    /// `ldlm_bl_NN`.
    pub(crate) bl_pids: Vec<u32>,
    pub(crate) next_xid: u64,
    pub(crate) next_cookie: u64,
    pub(crate) link: Link,
}

impl Node {
    /// A client that logs: one CPU, no services.
    pub(crate) fn of_client(nid: String) -> Self {
        Self {
            nid,
            cpus: 1,
            cpts: 1,
            lnd_pids: vec![352],
            bl_pids: vec![2192],
            next_xid: 0,
            next_cookie: 0,
            link: Link::default(),
        }
    }
}

/// An OST or MDT.
pub(crate) struct Target {
    pub(crate) name: String,
    /// `NAME_UUID`.
    pub(crate) uuid: String,
    pub(crate) node: usize,
    pub(crate) index: u32,
    pub(crate) mdt: bool,
    pub(crate) disk: Disk,
    pub(crate) next_transno: u64,
    pub(crate) next_object: u64,
}

/// A machine with clients.
pub(crate) struct Host {
    pub(crate) nid: String,
    pub(crate) next_xid: u64,
    pub(crate) next_cookie: u64,
}

/// A client of the file system: a mount, or the MDT as a client of the OSTs.
pub(crate) struct Mount {
    pub(crate) uuid: String,
    pub(crate) host: usize,
    pub(crate) server: bool,
    pub(crate) ptlrpcd_pids: [u32; 2],
    pub(crate) bl_pid: u32,
    pub(crate) ping_job: usize,
    pub(crate) bl_job: usize,
    pub(crate) config: ClientConfig,
    pub(crate) link: Link,
    /// Node whose log shows what it sends.
    pub(crate) log_node: Option<usize>,
    /// Locks by object.
    pub(crate) locks: rustc_hash::FxHashMap<usize, Vec<usize>>,
}

/// A mount's connection to a target, both ends of it.
#[derive(Default)]
pub(crate) struct Export {
    pub(crate) pointer: u32,
    pub(crate) connected: bool,
    /// Locks that the client has.
    pub(crate) locks: u32,
    /// Requests on the server.
    pub(crate) requests: u32,
    /// I/O that was sent.
    pub(crate) in_flight: usize,
    /// I/O to be sent.
    pub(crate) queue: VecDeque<Io>,
    pub(crate) last_us: u64,
    pub(crate) sent: u64,
}

impl Export {
    /// As the lines show it.
    pub(crate) fn references(&self) -> i32 {
        i32::try_from(4 + self.locks + self.requests).unwrap_or(i32::MAX)
    }
}

/// An object on an OST.
#[derive(Default)]
pub(crate) struct Object {
    pub(crate) target: usize,
    /// The file that it is a part of.
    pub(crate) file: usize,
    pub(crate) fid: Fid,
    pub(crate) resource: Fid,
    pub(crate) size_bytes: u64,
    pub(crate) mtime_s: u64,
    /// What the lock server believes of size and time; `None` without locks.
    pub(crate) known: Option<(u64, u64)>,
    pub(crate) granted: Vec<usize>,
    pub(crate) waiting: Vec<usize>,
    /// A handler has it until then.
    pub(crate) busy_us: u64,
    pub(crate) contention: (u64, u64),
    pub(crate) contended_us: u64,
}

/// A file: its objects and how bytes go round them.
pub(crate) struct StripedFile {
    pub(crate) stripe_bytes: u64,
    pub(crate) objects: Vec<usize>,
}

/// A thread of a service.
pub(crate) struct ServiceThread {
    pub(crate) pid: u32,
    /// Cut to fifteen characters, as the kernel keeps it.
    pub(crate) name: String,
    pub(crate) cpu: u16,
}

/// Requests that wait for a thread.
#[derive(Default)]
pub(crate) struct Queue {
    pub(crate) requests: VecDeque<usize>,
    /// Number that the scheduler gives to the next one.
    pub(crate) next_sequence: u64,
}

/// The part of a service on one CPU partition: threads and queues.
pub(crate) struct ServicePart {
    pub(crate) node: usize,
    pub(crate) service: Service,
    pub(crate) threads: Vec<ServiceThread>,
    pub(crate) idle: VecDeque<usize>,
    /// Nobody looked at these yet.
    pub(crate) incoming: VecDeque<usize>,
    pub(crate) regular: Queue,
    pub(crate) urgent: Queue,
    /// Of the regular queue; `None` is `fifo`.
    pub(crate) policy: Option<Policy>,
    /// Of a token bucket filter: by job, mount and operation, when its bucket is full again.
    pub(crate) classes: rustc_hash::FxHashMap<(usize, usize, u16), u64>,
}

/// The whole cluster.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) wording: &'static Wording,
    pub(crate) nodes: Vec<Node>,
    pub(crate) targets: Vec<Target>,
    pub(crate) hosts: Vec<Host>,
    pub(crate) mounts: Vec<Mount>,
    pub(crate) jobs: Vec<String>,
    pub(crate) objects: Vec<Object>,
    pub(crate) files: Vec<StripedFile>,
    pub(crate) parts: Vec<ServicePart>,
    /// First part of (node, service); the CPU partitions follow.
    pub(crate) part_of: rustc_hash::FxHashMap<(usize, Service), usize>,
    /// By mount, then target.
    pub(crate) exports: Vec<Export>,
    pub(crate) processes: Vec<Process>,
    pub(crate) requests: Slab<Request>,
    pub(crate) callbacks: Slab<Callback>,
    pub(crate) locks: Slab<Lock>,
}

impl World {
    pub(crate) fn nid(&self, mount: usize) -> &str {
        &self.hosts[self.mounts[mount].host].nid
    }

    pub(crate) fn export(&self, mount: usize, target: usize) -> &Export {
        &self.exports[mount * self.targets.len() + target]
    }

    pub(crate) fn export_mut(&mut self, mount: usize, target: usize) -> &mut Export {
        &mut self.exports[mount * self.targets.len() + target]
    }

    pub(crate) fn next_xid(&mut self, mount: usize) -> u64 {
        let Mount { server, log_node, host, .. } = self.mounts[mount];
        if let Some(node) = log_node.filter(|_| server) {
            // One counter for all that a server sends.
            let node = &mut self.nodes[node];
            node.next_xid += self.wording.xid_step;
            return node.next_xid;
        }
        let host = &mut self.hosts[host];
        host.next_xid += self.wording.xid_step;
        host.next_xid
    }

    /// The part of a service that takes requests of a mount: clients are spread over the CPU partitions.
    pub(crate) fn part_for(&self, mount: usize, target: usize, service: Service) -> usize {
        let node = self.targets[target].node;
        let cpts = usize::from(self.nodes[node].cpts);
        self.part_of[&(node, service)] + self.mounts[mount].host % cpts
    }
}
