//! Small clusters made up to measure: what clients do, and what is wrong.

use std::fs;

use lioprof_analysis::{Analysis, Config, analyze};
use lioprof_insight::{Limits, find};
use lioprof_sim::cluster::{
    Access, ClientConfig, Cluster, DiskConfig, LinkConfig, Op, Policy, ServerConfig, Service, Simulation, Threads,
};
use lioprof_sim::{SimRecord, text};

pub(crate) const KIB: u64 = 1 << 10;
pub(crate) const MIB: u64 = 1 << 20;

/// What a usual cluster of these tests has: disks and links as slow as those of small systems, so that requests overlap.
pub(crate) const USUAL: DiskConfig = DiskConfig {
    bytes_per_s: 100_000_000,
    latency_us: 2_000,
    tail_ppm: 0,
    tail_factor: 1,
    sync_us: 2_500,
    room_bytes: u64::MAX,
    hangs_after: u64::MAX,
};

/// A cluster in the making: servers with OSTs, clients, and the files of these.
pub(crate) struct Made {
    pub(crate) cluster: Cluster,
    pub(crate) osts: Vec<usize>,
    pub(crate) clients: Vec<usize>,
}

/// What is out of the ordinary.
#[derive(Clone, Default)]
pub(crate) struct Odd {
    /// Disks by the number of the OST.
    pub(crate) disks: Vec<(usize, DiskConfig)>,
    /// Links by the number of the server, bytes per second.
    pub(crate) server_links: Vec<(usize, u64)>,
    /// Links by the number of the client; and that of all others.
    pub(crate) client_links: Vec<(usize, u64)>,
    pub(crate) other_client_links: u64,
    /// Requests that a client has in flight to an OST; 0: as usual.
    pub(crate) in_flight: usize,
    /// What hands requests of a service to threads, on all servers.
    pub(crate) scheduler: Option<(Service, Policy)>,
    /// Bytes of the largest request; 0: as usual.
    pub(crate) rpc_bytes: u64,
}

impl Made {
    /// So many servers, OSTs and clients.
    pub(crate) fn new(seed: u64, (servers, osts, clients): (usize, usize, usize), odd: &Odd) -> Self {
        let mut cluster = Cluster::new(seed, 1_795_250_600_000_000);
        let of = |list: &[(usize, u64)], number: usize| list.iter().find(|(of, _)| *of == number).map(|it| it.1);
        let servers: Vec<usize> = (0..servers)
            .map(|number| {
                let link = LinkConfig { bytes_per_s: of(&odd.server_links, number).unwrap_or(0) };
                let threads = Threads { ost_io: 128, ..Threads::default() };
                cluster.server(ServerConfig { cpus: 4, cpts: 1, threads, link, scheduler: odd.scheduler })
            })
            .collect();
        let disk = |number: usize| odd.disks.iter().find(|(of, _)| *of == number).map_or(USUAL, |it| it.1);
        let osts = (0..osts).map(|number| cluster.ost(servers[number * servers.len() / osts], disk(number))).collect();
        let usual = ClientConfig::default();
        let clients = (0..clients)
            .map(|number| {
                let bytes_per_s = of(&odd.client_links, number).unwrap_or(odd.other_client_links);
                cluster.client(ClientConfig {
                    link: LinkConfig { bytes_per_s },
                    max_in_flight: if odd.in_flight > 0 { odd.in_flight } else { usual.max_in_flight },
                    max_rpc_bytes: if odd.rpc_bytes > 0 { odd.rpc_bytes } else { MIB },
                    ..usual
                })
            })
            .collect();
        Self { cluster, osts, clients }
    }

    /// A file on one OST.
    pub(crate) fn file(&mut self, ost: usize) -> usize {
        self.cluster.file(MIB, &[self.osts[ost]])
    }

    /// A process of a client.
    pub(crate) fn process(&mut self, client: usize, job: &str, steps: Vec<Op>) {
        self.cluster.process(self.clients[client], job, Box::new(steps.into_iter()));
    }

    /// Every client has a file of its own on each of these OSTs, and goes through it in `rpcs` requests, one of which waits for nothing.
    pub(crate) fn everywhere(mut self, osts: &[usize], rpcs: u64, write: bool) -> Self {
        for client in 0..self.clients.len() {
            for &ost in osts {
                let file = self.file(ost);
                let access = Access { write, ..Access::write(file, 0, MIB) };
                let steps = (0..rpcs).map(|rpc| Op::Io(Access { offset: rpc * MIB, ..access }.ahead()));
                self.process(client, "ior.1000", steps.chain([Op::Drain]).collect());
            }
        }
        self
    }

    /// What the findings say of it.
    pub(crate) fn judged(self) -> Analysis {
        let mut simulation = self.cluster.start();
        judged(&mut simulation)
    }
}

/// Runs a simulation, and analyzes the logs of its servers.
fn judged(simulation: &mut Simulation) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    let mut logs: Vec<Vec<u8>> = simulation.servers().map(|_| Vec::new()).collect();
    let mut record = SimRecord::default();
    while let Some(node) = simulation.next_of_any(&mut record) {
        text::write_record(&mut logs[node], &record, false).unwrap();
    }
    for (node, log) in logs.iter().enumerate().filter(|(_, log)| !log.is_empty()) {
        let server = folder.path().join(format!("oss{node}"));
        fs::create_dir(&server).unwrap();
        fs::write(server.join("rpc.txt"), log).unwrap();
    }
    let outcome = analyze(&[folder.path().to_owned()], &Config::default(), None).unwrap();
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    let mut analysis = outcome.analysis;
    find(&mut analysis, &Limits::default());
    analysis
}
