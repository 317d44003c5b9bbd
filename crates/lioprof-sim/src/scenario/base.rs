//! What scenarios have in common.

use super::options::Options;
use crate::cluster::{Access, ClientConfig, Cluster, DiskConfig, Op, Program, ServerConfig};

pub(super) const MIB: u64 = 1 << 20;

/// Servers with OSTs, and clients.
pub(super) struct Base {
    pub(super) cluster: Cluster,
    pub(super) osts: Vec<usize>,
    pub(super) clients: Vec<usize>,
}

/// Differences from the usual cluster.
#[derive(Clone, Copy, Default)]
pub(super) struct Traits {
    pub(super) server: ServerConfig,
    pub(super) disk: DiskConfig,
    pub(super) client: ClientConfig,
}

/// A usual cluster of the size asked for.
pub(super) fn base(options: &Options, traits: Traits) -> Base {
    base_with(options, traits, |_| traits.disk)
}

/// The same, with a disk for each OST.
pub(super) fn base_with(options: &Options, traits: Traits, disk: impl Fn(usize) -> DiskConfig) -> Base {
    let mut cluster = Cluster::new(options.seed, options.start_us);
    cluster.wording = options.wording;
    cluster.follow = options.follow;
    cluster.interest = options.interest;
    let servers: Vec<usize> = (0..options.servers.max(1)).map(|_| cluster.server(traits.server)).collect();
    let osts = (0..options.osts.max(1)).map(|ost| cluster.ost(servers[ost % servers.len()], disk(ost))).collect();
    let clients = (0..options.clients.max(1)).map(|_| cluster.client(traits.client)).collect();
    Base { cluster, osts, clients }
}

/// A program from its steps.
pub(super) fn program(steps: impl Iterator<Item = Op> + Send + 'static) -> Program {
    Box::new(steps)
}

/// Writes or reads `bytes` from `offset` on in pieces of `step_bytes`, without waiting for each.
pub(super) fn stream(access: Access, bytes: u64, step_bytes: u64) -> impl Iterator<Item = Op> + Send {
    let steps = bytes.div_ceil(step_bytes);
    (0..steps).map(move |step| {
        let done = step * step_bytes;
        Op::Io(Access { offset: access.offset + done, bytes: step_bytes.min(bytes - done), ..access }.ahead())
    })
}

/// A number as a count of things in a list.
pub(super) fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
