//! What scenarios have in common.

use super::options::Options;
use crate::cluster::{Access, ClientConfig, Cluster, DiskConfig, Op, Program, ServerConfig};

pub(super) const MIB: u64 = 1 << 20;

/// Servers with OSTs, and clients.
pub(super) struct BaseCluster {
    pub(super) cluster: Cluster,
    pub(super) osts: Vec<usize>,
    pub(super) clients: Vec<usize>,
}

/// Differences from the usual cluster.
#[derive(Clone, Copy, Default)]
pub(super) struct Hardware {
    pub(super) server: ServerConfig,
    pub(super) disk: DiskConfig,
    pub(super) client: ClientConfig,
}

/// A usual cluster of the size asked for.
pub(super) fn base(options: &Options, traits: Hardware) -> BaseCluster {
    base_with(options, traits, |_| traits.disk)
}

/// The same without anything unusual.
pub(super) fn usual(options: &Options) -> BaseCluster {
    base(options, Hardware::default())
}

/// A cluster with a disk for each OST.
pub(super) fn base_with(options: &Options, traits: Hardware, disk: impl Fn(usize) -> DiskConfig) -> BaseCluster {
    let mut cluster = Cluster::new(options.seed, options.start_us);
    cluster.wording = options.wording;
    cluster.follow = options.follow;
    cluster.interest = options.interest;
    let servers: Vec<usize> = (0..options.servers.max(1)).map(|_| cluster.server(traits.server)).collect();
    let osts = (0..options.osts.max(1)).map(|ost| cluster.ost(servers[ost % servers.len()], disk(ost))).collect();
    let clients = (0..options.clients.max(1)).map(|_| cluster.client(traits.client)).collect();
    BaseCluster { cluster, osts, clients }
}

impl BaseCluster {
    /// A file over all OSTs in stripes of 1 MiB.
    pub(super) fn striped_file(&mut self) -> usize {
        self.cluster.file(MIB, &self.osts)
    }

    /// A file on one OST, counted round and round.
    pub(super) fn file_on(&mut self, ost: usize) -> usize {
        self.cluster.file(MIB, &[self.osts[ost % self.osts.len()]])
    }

    /// A process on each client; `steps` gets the number of the client.
    pub(super) fn on_clients<I>(mut self, job: &str, steps: impl Fn(u64) -> I) -> Cluster
    where
        I: Iterator<Item = Op> + Send + 'static,
    {
        for (number, &client) in (0..).zip(&self.clients) {
            self.cluster.process(client, job, program(steps(number)));
        }
        self.cluster
    }

    /// A process on each client with a file of its own, on one OST after the other; `steps` gets the numbers of both.
    pub(super) fn on_clients_with_file<I>(mut self, job: &str, steps: impl Fn(u64, usize) -> I) -> Cluster
    where
        I: Iterator<Item = Op> + Send + 'static,
    {
        let files: Vec<usize> = (0..self.clients.len()).map(|client| self.file_on(client)).collect();
        for ((number, &client), file) in (0..).zip(&self.clients).zip(files) {
            self.cluster.process(client, job, program(steps(number, file)));
        }
        self.cluster
    }

    /// On each client a process for each OST with a file of its own there; `steps` gets the numbers of both.
    pub(super) fn on_osts<I>(mut self, job: &str, steps: impl Fn(usize, usize) -> I) -> Cluster
    where
        I: Iterator<Item = Op> + Send + 'static,
    {
        for &client in &self.clients {
            for (ost, &target) in self.osts.iter().enumerate() {
                let file = self.cluster.file(MIB, &[target]);
                self.cluster.process(client, job, program(steps(ost, file)));
            }
        }
        self.cluster
    }

    /// Each client writes a file of its own on each OST, in pieces of 1 MiB.
    pub(super) fn write_everywhere(self, bytes: u64) -> Cluster {
        self.on_osts("ior.1000", |_, file| stream(Access::write(file, 0, 0), bytes, MIB).chain([Op::Drain]))
    }
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
